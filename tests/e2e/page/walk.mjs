// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors
//
// Walks through the page of a fabric of 648 hosts in Chromium, as a reader would: what is
// wrong, the map by pointer and by keyboard, a path, the ports of a switch, a what-if, the
// lists; then a port is disabled, and the page says so by itself. Each view is held to the
// rules of accessibility that axe knows.
//
//	node walk.mjs http://127.0.0.1:8620 /usr/bin/chromium build/saguaro SCREENSHOTS
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { accessible, browse, on_phone } from './browser.mjs';

const [url, executablePath, saguaro, pictures] = process.argv.slice(2);

await browse({ url, executablePath, pictures }, async ({ page, complaints, step, picture, fact, has_text, map }) => {
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
		await accessible(page, 'the first view');
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
		await accessible(page, 'ports of a switch');
		await picture('648-switch');
		await page.getByText('all on again').click();
		await page.locator('.whatif').waitFor({ state: 'detached' });
		await page.getByText('close').click();
	});
	await step('what if cables were clicked off on the map', async () => {
		await page.getByRole('button', { name: 'click cables off' }).click();
		await page.locator('.legend li.off').waitFor();
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
		await accessible(page, 'what if');
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
		await accessible(page, 'the table of the map');
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
		await accessible(page, 'a path');
		await picture('648-path');
	});
	await step('no such name is said', async () => {
		await page.locator('input[name=to]').fill('nobody');
		await page.keyboard.press('Enter');
		await has_text(page.locator('.path .warning'), 'nobody');
		complaints.length = 0; // Chromium notes each 404
		await page.getByRole('button', { name: 'clear' }).click();
	});
	await step('the lists', async () => {
		await page.locator('#tab-events').focus();
		await page.keyboard.press('ArrowRight');
		await has_text(page.locator('#list td'), '0x7fff');
		await accessible(page, 'partitions');
		await page.keyboard.press('ArrowRight');
		await has_text(page.locator('#list p'), 'No job has a partition');
		await page.keyboard.press('ArrowRight');
		await has_text(page.locator('#list p'), 'tier 0 to 1: 648 links');
		await accessible(page, 'load');
		await page.keyboard.press('ArrowRight');
		await has_text(page.locator('#list'), 'performance manager');
		await page.keyboard.press('ArrowRight');
		await has_text(page.locator('#list'), 'Compare routing engines');
		await accessible(page, 'engines');
		await page.keyboard.press('ArrowRight');
		await has_text(page.locator('#list td'), 'SUBNET UP');
	});
	await step('a job, by the keyboard', async () => {
		execFileSync(saguaro, ['partition', 'create', '0x1042', '--name=job-42', '--wait', 'node001', 'node002', 'node648'], { stdio: 'ignore' });
		await page.locator('#tab-events').focus();
		await page.keyboard.press('ArrowRight');
		await page.keyboard.press('ArrowRight');
		await has_text(page.locator('#list td'), '42');
		await page.locator('#list tbody tr').focus();
		await page.keyboard.press('Enter');
		await has_text(page.locator('#list h3'), 'Job 42');
		await has_text(page.locator('#list'), '6 pairs of ports, 1 to 3 switches apart; they use 6 links, each by 1.3 paths');
		await has_text(page.locator('#list .good'), 'Nothing is wrong on its paths.');
		assert.match(page.url(), /job=42&tab=jobs/);
		assert.equal(await page.getByRole('region', { name: 'Hosts of the job' }).locator('tbody tr').count(), 3);
		await accessible(page, 'a job');
		await picture('648-job');
		await on_phone(page, 'a job', () => picture('648-job-phone'));
		execFileSync(saguaro, ['port', 'disable', 'leaf-0035:18'], { stdio: 'ignore' });
		await has_text(page.locator('#list .warning'), '1 port not in the fabric');
		execFileSync(saguaro, ['port', 'enable', 'leaf-0035:18'], { stdio: 'ignore' });
		await page.locator('#list .warning').waitFor({ state: 'detached' });
		await page.getByRole('region', { name: 'Hosts of the job' }).locator('tbody tr').first().click();
		await has_text(page.locator('#node'), 'leaf-0000');
		await page.locator('.node').getByText('close').click();
		await page.locator('#list').getByRole('button', { name: 'close' }).click();
		await page.locator('#list h3').waitFor({ state: 'detached' });
		await page.locator('#tab-jobs').focus();
		await page.keyboard.press('ArrowLeft');
		await page.keyboard.press('ArrowLeft');
	});
	await step('a disabled port is shown without a reload', async () => {
		execFileSync(saguaro, ['port', 'disable', 'leaf-0003:20'], { stdio: 'ignore' });
		await has_text(page.locator('.alarm'), 'leaf-0003');
		await has_text(fact('Fabric'), '1,295 links');
		await has_text(page.locator('.legend li.drained'), '1 out of service');
		await page.getByText('as a table').first().click();
		await page.getByRole('button', { name: 'also', exact: true }).click();
		await has_text(page.locator('tr.is-drained').first(), 'leaf-0003');
		await page.getByText('as a table').first().click();
		await accessible(page, 'an alarm');
		await picture('648-alarm');
	});
	await step('the colours of the load say what they mean', async () => {
		await page.emulateMedia({ colorScheme: 'light' });
		await page.locator('select').first().selectOption('load');
		await has_text(page.locator('.note'), 'of an even spread');
		await has_text(page.locator('.note'), 'routes of one host');
		await accessible(page, 'the load on the map');
		await picture('648-load');
		await page.locator('select').first().selectOption('traffic');
		await page.getByText('There are no readings of port counters').waitFor();
		await accessible(page, 'traffic without readings');
	});
	await step('the keyboard goes through the page in the order of reading', async () => {
		await page.locator('select').first().selectOption('state');
		await page.locator('h1').click(); // the keyboard starts from there
		const seen = [];
		for (let i = 0; i < 100 && seen.at(-1) !== 'licences'; i++) {
			await page.keyboard.press('Tab');
			seen.push(await page.evaluate(() => {
				const e = document.activeElement;
				return e.name || e.id || e.getAttribute('aria-label')?.match(/^zoom in$/)?.[0] || (e.tagName === 'CANVAS' ? 'map' : e.textContent.trim());
			}));
		}
		const order = ['what if: click cables off', 'map', 'zoom in', 'from', 'to', 'show', 'tab-events', 'all resources',
			'licences'];
		assert.deepEqual(order, seen.filter((x) => order.includes(x)));
	});
});
