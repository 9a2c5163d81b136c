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
import { accessible, browse } from './browser.mjs';

const [url, executablePath, bin, pictures, daemon] = process.argv.slice(2);
const run = (program, ...words) => execFileSync(`${bin}/${program}`, words, { stdio: ['ignore', 'ignore', 'inherit'] });
const ctl = (...words) => run('saguaro-sim', 'ctl', ...words);
// Chromium notes each answer that is no success, and the feed that breaks when nobody writes it.
const ignore = /the server responded with a status of 503|ERR_INCOMPLETE_CHUNKED_ENCODING/;

await browse({ url, executablePath, pictures, ignore }, async ({ page, step, picture, fact, has_text }) => {
	const alarm = (text) => page.locator('.alarm', { hasText: text });
	const is_over = (locator) => locator.waitFor({ state: 'detached' });
	const stale = page.locator('header .warning');

	await page.goto(url);
	await step('a degraded link', async () => {
		await has_text(fact('Fabric'), '16 hosts, 8 switches, 32 links');
		await page.locator('.good').waitFor();
		ctl('link', 'worn', 'leaf-0003[8]');
		await has_text(alarm('degraded'), 'leaf-0003 port 8 - spine-0003 port 4');
		await page.getByText('1 degraded (dashed)').waitFor();
		await alarm('degraded').getByRole('button').click();
		await has_text(page.locator('tr.is-degraded'), '▲ 4x EDR');
		await accessible(page, 'a degraded link');
		await picture('faults-degraded');
		await page.getByText('close').click();
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
		await page.getByText('1 with lost cables').waitFor();
		await has_text(page.locator('#list td'), "cable lost: 'leaf-0000' port 5");
		await has_text(alarm('link down').locator('.age'), 'for');
		await accessible(page, 'a lost cable');
		await picture('faults-cable');
		ctl('link', 'up', 'leaf-0000[5]');
		await is_over(alarm('link down'));
		await is_over(page.getByText('with lost cables'));
	});
	await step('a host gone, and back', async () => {
		ctl('node', 'down', 'node07');
		await has_text(alarm('host gone'), 'node07');
		await has_text(fact('Fabric'), '15 hosts');
		ctl('node', 'up', 'node07');
		await is_over(alarm('host gone'));
		await has_text(fact('Fabric'), '16 hosts');
	});
	await step('a switch gone, and back', async () => {
		ctl('node', 'down', 'spine-0002');
		await has_text(alarm('switch gone'), 'spine-0002');
		await has_text(page.locator('.note'), 'Not on the map, because gone: spine-0002');
		await has_text(fact('Fabric'), '7 switches');
		ctl('node', 'up', 'spine-0002');
		await is_over(alarm('switch gone'));
		await has_text(fact('Fabric'), '8 switches, 32 links');
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
		await has_text(stale, 'What follows is the last that was known');
		await has_text(fact('Fabric'), '16 hosts');
		await accessible(page, 'without a subnet manager');
		await picture('faults-stale');
		process.kill(daemon, 'SIGCONT');
		await is_over(stale);
	});
	await step('the subnet manager is killed', async () => {
		process.kill(daemon, 'SIGKILL');
		await has_text(stale, 'What follows is the last that was known');
		assert.equal(await fact('Fabric').textContent(), '16 hosts, 8 switches, 32 links');
	});
});
