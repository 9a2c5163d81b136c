// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors
//
// Changes from the page of a simulated fabric of 16 hosts, 4 leaves and 4 spines, through
// saguaro-admin: an operator signs in, acknowledges an alarm and takes that back, looks at who
// would be cut off, puts a spine out of service and back. By the keyboard where there is a form.
//
//	node change.mjs http://127.0.0.1:8620 https://127.0.0.1:8621 http://127.0.0.1:8622 /usr/bin/chromium BUILD-FOLDER SCREENSHOTS OPERATOR VIEWER
//
// The third one is a gateway that knows no saguaro-admin. OPERATOR, VIEWER: NAME.SECRET.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { accessible, browse, on_phone } from './browser.mjs';

const [url, admin, plain, executablePath, bin, pictures, operator, viewer] = process.argv.slice(2);
const ctl = (...words) => execFileSync(`${bin}/saguaro-sim`, ['ctl', ...words], { stdio: ['ignore', 'ignore', 'inherit'] });
const ignore = /status of (400|401)|ERR_INCOMPLETE_CHUNKED_ENCODING/; // Chromium notes them

await browse({ url, also: [admin, plain], executablePath, pictures, ignore }, async ({ page, step, picture, has_text }) => {
	const alarm = (text) => page.locator('.alarm', { hasText: text });
	const is_over = (locator) => locator.waitFor({ state: 'detached' });
	const secret = page.locator('input[name=secret]');
	const out_of_service = page.getByRole('list', { name: 'Out of service' });
	const asks = [];
	page.on('request', (r) => r.url().startsWith(admin) && asks.push(r));

	ctl('link', 'down', 'leaf-0000[5]');
	await page.goto(plain);
	await step('without saguaro-admin there are commands', async () => {
		await alarm('link down').locator('.alarm-title').click();
		await has_text(page.locator('.command code'), 'saguaro alarm ack');
		await page.goto(`${plain}/#node=spine-0001`);
		await page.getByRole('button', { name: 'off: the switch' }).click();
		await has_text(page.locator('.command code'), 'saguaro maintenance start');
		assert.equal(await page.locator('form.change').count(), 0);
	});
	await page.goto(url);
	await step('with it somebody may sign in', async () => {
		await alarm('link down').locator('.alarm-title').click();
		await secret.waitFor();
		assert.equal(await alarm('link down').locator('.command').count(), 0);
		assert.equal(asks.length, 0, 'nobody is asked before');
		await accessible(page, 'the way to sign in');
		await secret.fill('ana.wrong');
		await page.keyboard.press('Enter');
		await page.locator('form.change [role=alert]').waitFor();
		assert.equal(await secret.inputValue(), '');
		await secret.fill(viewer);
		await page.keyboard.press('Enter');
		await has_text(alarm('link down'), 'changes need an operator');
		await page.getByRole('button', { name: 'sign out' }).click();
		await secret.fill(operator);
		await page.keyboard.press('Enter');
		await has_text(page.locator('.signed'), operator.split('.')[0]);
	});
	await step('an alarm is acknowledged, by the keyboard', async () => {
		await page.locator('input[name=note]').focus();
		await page.keyboard.type('cable ordered');
		await page.keyboard.press('Tab');
		await page.keyboard.type('2h');
		await accessible(page, 'an acknowledgement');
		await picture('change-ack');
		await page.keyboard.press('Enter');
		await has_text(page.locator('.taken'), /acknowledged by .*, until .*: cable ordered/);
	});
	await step('and that is taken back', async () => {
		await page.getByRole('button', { name: 'take the acknowledgement back' }).press('Enter');
		await is_over(page.locator('.taken'));
	});
	await step('a time that is none is refused in words', async () => {
		await page.locator('input[name=until]').fill('yesterday');
		await page.keyboard.press('Enter');
		await has_text(page.locator('form.change [role=alert]'), 'yesterday');
	});
	await step('the secret is kept nowhere', async () => {
		const text = operator.split('.')[1];
		const kept = await page.evaluate(() => [location.href, document.cookie, JSON.stringify({ ...localStorage }),
			JSON.stringify({ ...sessionStorage }), document.documentElement.outerHTML].join(' '));
		assert.ok(!kept.includes(text));
		assert.deepEqual(asks.filter((r) => r.url().includes(text)), []);
		assert.deepEqual(await page.context().cookies(), []);
	});
	ctl('link', 'up', 'leaf-0000[5]');
	await is_over(alarm('link down'));
	await step('who would be cut off comes first', async () => {
		await page.evaluate(() => { location.hash = 'node=leaf-0001'; });
		await page.getByRole('button', { name: 'off: the switch' }).click();
		await page.getByRole('button', { name: 'who is cut off?' }).press('Enter');
		await has_text(page.locator('.whatif form [role=status]'), 'leaf-0001: 4 hosts behind it');
		await page.getByRole('button', { name: 'all on again' }).click();
		assert.equal(await out_of_service.count(), 0);
	});
	await step('a spine goes out of service', async () => {
		await page.evaluate(() => { location.hash = 'node=spine-0001'; });
		await has_text(page.locator('#node'), 'spine-0001');
		await page.getByRole('button', { name: 'off: the switch' }).click();
		await has_text(page.locator('.whatif li'), 'take another route');
		await page.getByRole('button', { name: 'who is cut off?' }).press('Enter');
		await has_text(page.locator('.whatif form [role=status]'), 'spine-0001: nobody is cut off');
		await page.locator('.whatif input[name=note]').fill('fan');
		await accessible(page, 'a maintenance before it begins');
		await picture('change-maintenance');
		await on_phone(page, 'a maintenance before it begins', () => picture('change-maintenance-phone'));
		await page.getByRole('button', { name: 'start maintenance' }).press('Enter');
		await is_over(page.locator('.whatif'));
		await has_text(out_of_service, /spine-0001 drained.*by .*: fan/);
		await has_text(page.locator('.legend li.drained'), 'out of service');
		await accessible(page, 'a spine out of service');
		await picture('change-drained');
	});
	await step('and returns', async () => {
		await out_of_service.getByRole('button', { name: 'end the maintenance' }).press('Enter');
		await is_over(out_of_service);
		await is_over(page.locator('.legend li.drained'));
	});
	await step('nobody is signed in after a reload', async () => {
		await page.reload();
		await page.locator('canvas').first().waitFor();
		assert.equal(await page.locator('.signed').count(), 0);
	});
});
