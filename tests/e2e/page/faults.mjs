// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors
//
// The page of a simulated fabric of 16 hosts, 4 leaves and 4 spines, while things break and are
// mended: it says each by itself, without a reload. At the end the subnet manager stops, goes
// on, and is killed.
//
//	node faults.mjs http://127.0.0.1:8620 /usr/bin/chromium BUILD-FOLDER SCREENSHOTS SAGUAROD-PID
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { accessible, browse, on_phone } from './browser.mjs';

const [url, executablePath, bin, pictures, daemon] = process.argv.slice(2);
const run = (program, ...words) => execFileSync(`${bin}/${program}`, words, { stdio: ['ignore', 'ignore', 'inherit'] });
const ctl = (...words) => run('saguaro-sim', 'ctl', ...words);
// Chromium notes each answer that is no success, and the feed that breaks when nobody writes it.
const ignore = /the server responded with a status of 503|ERR_INCOMPLETE_CHUNKED_ENCODING/;

await browse({ url, executablePath, pictures, ignore }, async ({ page, complaints, step, picture, fact, has_text, map }) => {
	const alarm = (text) => page.locator('.alarm', { hasText: text });
	const is_over = (locator) => locator.waitFor({ state: 'detached' });
	const banner = page.locator('.banner');
	const caption = page.locator('figcaption').first();
	const legend = (state) => page.locator(`.legend li.${state}`);

	await page.goto(url);
	await step('a degraded link', async () => {
		await has_text(fact('Fabric'), '16 hosts, 8 switches, 32 links');
		await has_text(page.locator('.good'), 'Nothing.');
		ctl('link', 'worn', 'leaf-0003[8]');
		await has_text(alarm('degraded'), 'leaf-0003 port 8 - spine-0003 port 4');
		await has_text(legend('degraded'), '1 degraded');
		await alarm('degraded').locator('.alarm-title').click();
		assert.match(page.url(), /alarm=/);
		await page.getByRole('button', { name: 'ports of leaf-0003' }).click();
		await has_text(page.locator('tr.is-degraded'), '▲ 4x EDR');
		await accessible(page, 'a degraded link');
		await picture('faults-degraded');
		await page.getByText('close').click();
		await alarm('degraded').locator('.alarm-title').click();
		ctl('link', 'up', 'leaf-0003[8]');
		await is_over(alarm('degraded'));
	});
	await step('what the configuration leaves open', async () => {
		const holes = page.locator('.holes');
		await has_text(holes.locator('summary'), 'The configuration leaves 3 things open to hosts');
		await holes.locator('summary').click();
		await has_text(holes.locator('li'), 'there is no m_key');
		await has_text(holes.locator('li'), 'set m_key_file auto');
		await accessible(page, 'what the configuration leaves open');
		await picture('faults-holes');
		await holes.locator('summary').click();
	});
	await step('a cable out, and in again', async () => {
		ctl('link', 'down', 'leaf-0000[5]');
		await has_text(alarm('link down'), "'leaf-0000' port 5 - 'spine-0000' port 1");
		await has_text(legend('lost'), '1 with lost cables');
		await has_text(page.locator('#list td'), "cable lost: 'leaf-0000' port 5");
		await has_text(alarm('link down').locator('.age'), /\d+ (s|min)/);
		await accessible(page, 'a lost cable');
		await picture('faults-cable');
		ctl('link', 'up', 'leaf-0000[5]');
		await is_over(alarm('link down'));
		await is_over(legend('lost'));
	});
	await step('a host gone, and back', async () => {
		ctl('node', 'down', 'node07');
		await has_text(alarm('host gone'), 'node07');
		await has_text(fact('Fabric'), '15 hosts');
		await has_text(legend('gone'), '1 gone');
		await map.focus();
		await page.keyboard.press('ArrowDown');
		await has_text(caption, /node07 on leaf-0001 port 3: gone for \d+ s/);
		await page.keyboard.press('Enter');
		await has_text(page.locator('.node'), 'It was on leaf-0001/3');
		await accessible(page, 'a host that is gone');
		await picture('faults-host');
		complaints.length = 0; // Chromium notes each 404
		await page.getByText('close').click();
		ctl('node', 'up', 'node07');
		await is_over(legend('gone'));
		await is_over(alarm('host gone'));
		await has_text(fact('Fabric'), '16 hosts');
	});
	await step('a switch gone, and back', async () => {
		ctl('node', 'down', 'spine-0002');
		await has_text(alarm('switch gone'), 'spine-0002');
		await has_text(fact('Fabric'), '7 switches');
		await has_text(legend('gone'), '1 gone, at its last place');
		assert.equal(await legend('lost').count(), 0, 'its cables are not faults of their own');
		await map.focus();
		await page.keyboard.press('n');
		await has_text(caption, /spine-0002: gone for \d+ s/);
		await alarm('switch gone').locator('.alarm-title').click();
		await page.getByRole('button', { name: 'unmark switch gone' }).waitFor();
		await on_phone(page, 'a switch that is gone', () => picture('faults-switch-phone'));
		await picture('faults-switch');
		await page.getByRole('button', { name: 'unmark switch gone' }).click();
		ctl('node', 'up', 'spine-0002');
		await is_over(alarm('switch gone'));
		await has_text(fact('Fabric'), '8 switches, 32 links');
	});
	await step('a leaf gone with its hosts: one cause, and by the keyboard', async () => {
		ctl('node', 'down', 'leaf-0001');
		await has_text(page.locator('.alarms > .alarm'), "switch 'leaf-0001' is gone: 4 hosts, 8 cables");
		await has_text(legend('gone'), '5 gone');
		const severity = alarm('switch gone').locator('.severity').first();
		assert.equal(await severity.locator('svg').count(), 1, 'a sign');
		assert.match(await severity.textContent(), /critical|error|warning/, 'and a word');
		await page.locator('.causes-list').focus();
		await page.keyboard.press('Tab');
		await page.keyboard.press('End');
		await page.keyboard.press('Home');
		assert.match(await page.evaluate(() => document.activeElement.textContent), /leaf-0001/);
		await page.keyboard.press('Enter');
		await page.getByRole('button', { name: 'unmark switch gone' }).waitFor();
		await accessible(page, 'a chosen cause');
		await picture('faults-leaf');
		ctl('node', 'up', 'leaf-0001');
		await is_over(alarm('switch gone'));
		await has_text(fact('Fabric'), '16 hosts, 8 switches');
		await is_over(legend('gone'));
	});
	await step('a path goes another way when its cable is out', async () => {
		await page.locator('input[name=from]').fill('node01');
		await page.locator('input[name=to]').fill('node16');
		await page.getByRole('button', { name: 'show' }).click();
		const hops = page.locator('.ladder > li .switch > .link');
		await has_text(hops, 'spine');
		const spine = await hops.nth(1).textContent();
		const port = `leaf-0000[${5 + Number(spine.slice(-4))}]`;
		ctl('link', 'down', port);
		await hops.nth(1).filter({ hasNotText: spine, hasText: 'spine' }).waitFor();
		ctl('link', 'up', port);
		await is_over(alarm('link down'));
		await page.getByRole('button', { name: 'clear' }).click();
	});
	await step('a partition comes', async () => {
		await page.locator('#tab-partitions').click();
		await has_text(page.locator('#list td'), '0x7fff');
		run('saguaro', 'partition', 'create', '0x8010', '--name', 'tenant-a', '--wait');
		await has_text(page.locator('#list td'), 'tenant-a');
		await page.locator('#tab-events').click();
	});
	await step('the subnet manager stops, and goes on', async () => {
		process.kill(daemon, 'SIGSTOP');
		await has_text(banner.locator('h2'), /The subnet manager is gone since \d\d:\d\d:\d\d, for \d+ s/);
		await has_text(banner, 'What follows is the last that was known');
		await has_text(banner.locator('code'), 'systemctl restart saguarod');
		await banner.getByRole('button').first().click();
		await has_text(banner.getByRole('button'), /copied|selected/);
		assert.equal(await map.evaluate((c) => getComputedStyle(c.closest('.map')).filter), 'grayscale(1)');
		assert.match(await page.title(), /^\? /);
		await has_text(fact('Fabric'), '16 hosts');
		await accessible(page, 'without a subnet manager');
		await picture('faults-stale');
		await on_phone(page, 'without a subnet manager', () => picture('faults-stale-phone'));
		process.kill(daemon, 'SIGCONT');
		await is_over(banner);
		assert.equal(await map.evaluate((c) => getComputedStyle(c.closest('.map')).filter), 'none');
	});
	await step('the subnet manager is killed', async () => {
		process.kill(daemon, 'SIGKILL');
		await has_text(banner, 'What follows is the last that was known');
		assert.equal(await fact('Fabric').textContent(), '16 hosts, 8 switches, 32 links');
	});
});
