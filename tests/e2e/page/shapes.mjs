// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors
//
// Fabrics that are no small trees: pods as tiles and a matrix of their cables, or a matrix of
// switches, by pointer and by keyboard, and a what-if on a cell.
//
//	node shapes.mjs tree|torus|dragonfly http://127.0.0.1:8620 /usr/bin/chromium SCREENSHOTS
import assert from 'node:assert/strict';
import { accessible, browse } from './browser.mjs';

const [shape, url, executablePath, pictures] = process.argv.slice(2);
const { tiles, cell, group, map_of } = {
	tree: { tiles: 26, cell: 'pod 0 - core-000-000', group: 'pod', map_of: 'cables from each pod to each switch above it' },
	torus: { tiles: 0, cell: 't-000-000-000 - t-000-000-001', map_of: 'cables from each row to each column' },
	dragonfly: { tiles: 17, cell: 'group 0 - group 1', group: 'group', map_of: 'cables from each row to each column' },
}[shape];

await browse({ url, executablePath, pictures }, async ({ page, step, picture, has_text, map }) => {
	const caption = page.locator('figcaption').first();

	await page.goto(url);
	await step(`a ${shape} is a matrix`, async () => {
		await map.waitFor();
		assert.match(await map.getAttribute('aria-label'), new RegExp(map_of));
		assert.equal(await page.locator('.tile').count(), tiles);
		await accessible(page, 'a matrix');
		await picture(`${shape}-map`);
	});
	await step('a cell by the keyboard, and what if its cables were off', async () => {
		await map.focus();
		await page.keyboard.press('ArrowRight');
		for (let i = 0; i < 3 && !(await caption.textContent()).startsWith(cell); i++) {
			await page.keyboard.press('ArrowRight');
		}
		await has_text(caption, `${cell}: `);
		await page.keyboard.press(' ');
		await has_text(page.locator('.whatif li'), 'of hosts');
		await has_text(caption, 'off in the what-if');
		await page.locator('select').first().selectOption('load');
		await has_text(page.locator('.note'), 'of an even spread');
		await accessible(page, 'what if in a matrix');
		await picture(`${shape}-whatif`);
		await page.getByText('all on again').click();
		await page.locator('.chips').waitFor({ state: 'detached' });
	});
	if (group) {
		await step('into a group, and out again', async () => {
			await page.locator('.tile').nth(2).click();
			await page.getByRole('button', { name: 'whole fabric' }).waitFor();
			assert.match(await map.getAttribute('aria-label'), new RegExp(`Map of ${group} 2`));
			await accessible(page, 'a group');
			await picture(`${shape}-group`);
			await page.getByRole('button', { name: 'whole fabric' }).click();
			await page.locator('.tile').first().waitFor();
		});
	}
});
