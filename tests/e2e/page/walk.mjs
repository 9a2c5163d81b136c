// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors
//
// Walks through the page of a fabric of 648 hosts in Chromium, as a reader would: what is
// wrong, the map by pointer and by keyboard, a path, the ports of a switch, a what-if, the
// lists; then a port is disabled, and the page says so by itself.
//
//	node walk.mjs http://127.0.0.1:8620 /usr/bin/chromium build/saguaro SCREENSHOTS
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chromium } from 'playwright-core';

const [url, executablePath, saguaro, pictures] = process.argv.slice(2);
const PATIENCE = 300000; // a guard: the machine may be busy

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 1440, height: 1000 }, colorScheme: 'dark' });
page.setDefaultTimeout(PATIENCE);
const complaints = [];
page.on('console', (m) => m.type() === 'error' && complaints.push(m.text()));
page.on('pageerror', (e) => complaints.push(String(e)));
page.on('request', (r) => r.url().startsWith(url) || r.url().startsWith('data:') ||
	complaints.push(`asks elsewhere: ${r.url()}`));

const step = async (what, f) => {
	await f();
	console.log(`ok: ${what}`);
};
const picture = (name) => page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });
const fact = (name) => page.locator('.fact', { hasText: name }).locator('dd');
const has_text = (locator, text) => locator.filter({ hasText: text }).first().waitFor();
const map = page.locator('canvas').first();

try {
	await page.goto(url);
	await step('the header says how the fabric is', async () => {
		await has_text(fact('Subnet manager'), 'master');
		await has_text(fact('Fabric'), '648 hosts, 54 switches, 1,296 links');
		await has_text(fact('Proof'), 'no loops, all pairs reachable');
		await has_text(fact('Events'), 'live');
		await has_text(page.locator('.good'), 'Nothing.');
	});
	await step('something is drawn', async () => {
		await map.waitFor();
		await page.waitForFunction(() => {
			const c = document.querySelector('canvas');
			const data = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
			let n = 0;
			for (let i = 3; i < data.length; i += 4) {
				n += data[i] > 0;
			}
			return n > 10000;
		});
		await picture('648-map');
	});
	await step('the keyboard moves over the map and opens a switch', async () => {
		await map.focus();
		await page.keyboard.press('ArrowRight');
		await has_text(page.locator('figcaption'), 'leaf-0000: 18 hosts');
		await page.keyboard.press('ArrowRight');
		await has_text(page.locator('figcaption'), 'leaf-0001');
		await page.keyboard.press('Enter');
		await has_text(page.locator('#node'), 'leaf-0001');
		assert.equal(await page.locator('.node tbody tr').count(), 37);
	});
	await step('what if a cable were down', async () => {
		await page.locator('.node tbody tr', { hasText: 'spine-0003' }).getByText('off').click();
		await has_text(page.locator('.whatif li'), 'take another route');
		await picture('648-switch');
		await page.getByText('all on again').click();
		await page.locator('.whatif').waitFor({ state: 'detached' });
		await page.getByText('close').click();
	});
	await step('what if cables were clicked off on the map', async () => {
		await page.getByRole('button', { name: 'click cables off' }).click();
		await page.getByText('off in the what-if (dotted').waitFor();
		const box = await map.boundingBox();
		const click = async (x, y) => {
			await page.mouse.move(box.x + x * box.width, box.y + y * box.height);
			await has_text(page.locator('figcaption'), '1 cable of 100 Gb/s');
			await page.mouse.down();
			await page.mouse.up();
		};
		const chips = (n) => page.waitForFunction((want) =>
			document.querySelectorAll('.chips li').length === want, n);
		await click(0.5, 0.4);
		await chips(1);
		await click(0.4, 0.5);
		await chips(2);
		await has_text(page.locator('.whatif li'), 'of hosts');
		await has_text(page.locator('.whatif th'), 'routes then');
		await picture('648-whatif');
		await click(0.4, 0.5);
		await chips(1);
		await page.getByText('all on again').click();
		await chips(0);
		await page.getByRole('button', { name: 'click cables off' }).click();
	});
	await step('the same by the keyboard', async () => {
		await map.focus();
		await page.keyboard.press('ArrowLeft');
		await page.keyboard.press('c');
		await page.keyboard.press('c');
		await has_text(page.locator('figcaption'), 'spine-0001: 1 cable');
		await page.keyboard.press('Shift+C');
		await has_text(page.locator('figcaption'), 'spine-0000: 1 cable');
		await page.keyboard.press(' ');
		await has_text(page.locator('.chips'), 'spine-0000');
		await has_text(page.locator('figcaption'), '1 off in the what-if');
		await page.keyboard.press(' ');
		await page.locator('.chips').waitFor({ state: 'detached' });
	});
	await step('the table beside the map has every bundle', async () => {
		await page.getByText('as a table').first().click();
		await has_text(page.locator('details button'), '448 more rows');
		await page.getByText('as a table').first().click();
	});
	await step('a path as a ladder', async () => {
		await page.locator('input[name=from]').fill('node001');
		await page.locator('input[name=to]').fill('node648');
		await page.getByRole('button', { name: 'show' }).click();
		await has_text(page.locator('.ladder'), 'leaf-0035');
		assert.equal(await page.locator('.ladder > li').count(), 5);
		await page.getByText('17 other ports not taken').first().click();
		await has_text(page.locator('.ladder li li'), 'spine-0001');
		assert.match(page.url(), /src=node001&dst=node648/);
		await picture('648-path');
	});
	await step('no such name is said', async () => {
		await page.locator('input[name=to]').fill('nobody');
		await page.keyboard.press('Enter');
		await has_text(page.locator('.side .warning'), 'nobody');
		complaints.length = 0; // Chromium notes each 404
		await page.getByRole('button', { name: 'clear' }).click();
	});
	await step('the lists', async () => {
		await page.locator('#tab-events').focus();
		await page.keyboard.press('ArrowRight');
		await has_text(page.locator('#list td'), '0x7fff');
		await page.keyboard.press('ArrowRight');
		await has_text(page.locator('#list p'), 'tier 0 to 1: 648 links');
		await page.keyboard.press('ArrowRight');
		await has_text(page.locator('#list'), 'performance manager');
		await page.keyboard.press('ArrowRight');
		await has_text(page.locator('#list td'), 'SUBNET UP');
	});
	await step('a disabled port is shown without a reload', async () => {
		execFileSync(saguaro, ['port', 'disable', 'leaf-0003:20'], { stdio: 'ignore' });
		await has_text(page.locator('.alarm'), 'leaf-0003');
		await has_text(fact('Fabric'), '1,295 links');
		await page.getByText('1 with lost cables').waitFor();
		await page.getByText('as a table').first().click();
		await page.getByRole('button', { name: 'lost', exact: true }).click();
		await has_text(page.locator('tr.is-lost').first(), 'leaf-0003');
		await page.getByText('as a table').first().click();
		await picture('648-alarm');
	});
	await step('light', async () => {
		await page.emulateMedia({ colorScheme: 'light' });
		await page.locator('select').first().selectOption('load');
		await picture('648-light');
	});
	assert.deepEqual(complaints, [], 'the browser has nothing to complain of');
} catch (e) {
	await picture('failed').catch(() => {});
	console.log(await page.locator('body').innerText().catch(() => ''));
	console.log(complaints.join('\n'));
	throw e;
} finally {
	await browser.close();
}
