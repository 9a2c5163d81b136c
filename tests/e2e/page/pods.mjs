// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors
//
// The page of a simulated fat tree of 10 pods whose map is folded, while things break: the
// exceptions are what one sees, an alarm opens its pod, what is gone is in its place there.
//
//	node pods.mjs http://127.0.0.1:8620 /usr/bin/chromium BUILD-FOLDER SCREENSHOTS
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { accessible, browse, ink_of, on_phone } from './browser.mjs';

const [url, executablePath, bin, pictures] = process.argv.slice(2);
const ctl = (...words) => execFileSync(`${bin}/saguaro-sim`, ['ctl', ...words], { stdio: ['ignore', 'ignore', 'inherit'] });

await browse({ url, executablePath, pictures }, async ({ page, step, picture, fact, has_text, map }) => {
	const caption = page.locator('figcaption').first();
	const legend = (state) => page.locator('.legend').first().locator(`li.${state}`);
	const title = (text) => page.locator('.alarm', { hasText: text }).locator('.alarm-title');
	const whole = page.getByRole('button', { name: 'whole fabric' });

	await page.goto(url);
	await step('nothing wrong: all pods are quiet', async () => {
		await has_text(fact('Fabric'), '250 hosts, 125 switches');
		await has_text(page.locator('.verdict'), 'healthy');
		assert.equal(await page.locator('.tile.is-fine').count(), 10);
		assert.equal(await page.locator('.legend li').count(), 1);
		await map.focus();
		await page.keyboard.press('Enter'); // the first key selects the first cell, the second opens its row
		await has_text(caption, 'pod 0 - core-000-000: ');
		await page.keyboard.press('Enter');
		await page.locator('canvas[aria-label^="Map of pod 0: its switches and hosts"]').waitFor();
		assert.match(page.url(), /group=0/);
		await page.goBack();
		await page.locator('.tile').first().waitFor();
	});
	await step('the first key goes to the worst of thousands', async () => {
		ctl('link', 'worn', 'agg-007-002[7]');
		ctl('link', 'down', 'agg-004-001[8]');
		await has_text(legend('lost'), '1 with lost cables');
		await has_text(legend('degraded'), '1 degraded');
		await map.focus();
		await page.keyboard.press('ArrowDown');
		await has_text(caption, /pod 4 - core-001-002: no cable now, 1 cable lost for/);
		await page.keyboard.press('n');
		await has_text(caption, /pod 7 - core-002-001: .*1 degraded/);
		await accessible(page, 'exceptions in a matrix');
		await picture('pods-matrix');
	});
	await step('names stay at the edges when the map is zoomed and moved', async () => {
		for (let i = 0; i < 5; i++) {
			await page.keyboard.press('+');
		}
		await page.keyboard.press('ArrowDown');
		await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
		assert.ok(await ink_of(map, 0, 0.3, 0.05, 1) > 50, 'names of rows');
		assert.ok(await ink_of(map, 0.2, 0, 1, 0.1) > 50, 'names of columns');
		await picture('pods-zoom');
		await page.keyboard.press('0');
	});
	await step('a click on a cause opens its pod, with the switch and the hosts that are gone', async () => {
		ctl('node', 'down', 'edge-003-002');
		await title("switch 'edge-003-002' is gone: 5 hosts").click();
		await whole.waitFor();
		assert.match(await map.getAttribute('aria-label'), /Map of pod 3/);
		await has_text(legend('gone'), '6 gone, at its last place');
		await map.focus();
		await page.keyboard.press('ArrowUp');
		await has_text(caption, /edge-003-002: gone for/);
		await page.keyboard.press('ArrowDown');
		await has_text(caption, /node\d+ on edge-003-002 port 1: gone for/);
		await accessible(page, 'a pod with what is gone');
		await picture('pods-gone');
		await on_phone(page, 'a pod', () => picture('pods-gone-phone'));
		await whole.click();
		await has_text(page.locator('.tile.is-gone'), '1 switch gone');
		await on_phone(page, 'many pods', () => picture('pods-matrix-phone'));
	});
	await step('all of it ends', async () => {
		ctl('node', 'up', 'edge-003-002');
		ctl('link', 'up', 'agg-004-001[8]');
		ctl('link', 'up', 'agg-007-002[7]');
		await has_text(page.locator('.verdict'), 'healthy');
		await page.waitForFunction(() => document.querySelectorAll('.tile.is-fine').length === 10);
	});
});
