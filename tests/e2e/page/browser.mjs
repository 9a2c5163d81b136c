// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors
//
// The page in Chromium, for its walks: what is said on the way, and what a walk looks for.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const PATIENCE = 600000; // a guard in ms: the machine may be busy
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Walks through the page: walk({page, step, ...}). Ends the browser; what went wrong is
 * printed and thrown. The page may ask nobody but the gateway and those of `also`, and Chromium must have nothing
 * to complain of, except what `ignore` matches.
 */
export const browse = async ({ url, also = [], executablePath, pictures, ignore = /^$/ }, walk) => {
	const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
	const page = await browser.newPage({
		viewport: { width: 1440, height: 1000 }, colorScheme: 'dark', reducedMotion: 'reduce',
		ignoreHTTPSErrors: also.length > 0, // a certificate of the test
	});
	const complaints = [];
	const complain = (text) => ignore.test(text) || complaints.push(text);
	page.setDefaultTimeout(PATIENCE);
	page.on('console', (m) => m.type() === 'error' && complain(m.text()));
	page.on('pageerror', (e) => complain(String(e)));
	page.on('request', (r) => [url, ...also].some((x) => r.url().startsWith(x)) || r.url().startsWith('data:') ||
		complain(`asks elsewhere: ${r.url()}`));
	const picture = (name) => page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });
	try {
		await walk({
			page,
			complaints,
			picture,
			step: async (what, f) => {
				await f();
				console.log(`ok: ${what}`);
			},
			fact: (name) => page.locator('.fact', { hasText: name }).locator('dd'),
			has_text: (locator, text) => locator.filter({ hasText: text }).first().waitFor(),
			map: page.locator('canvas').first(),
		});
		assert.deepEqual(complaints, [], 'the browser has nothing to complain of');
	} catch (e) {
		await picture('failed').catch(() => {});
		console.log(await page.locator('body').innerText({ timeout: 10000 }).catch(() => ''));
		console.log(complaints.join('\n'));
		throw e;
	} finally {
		await browser.close();
	}
};

/* Content-Security-Policy lets no script in, so axe comes by the debugger. */
const violations = async (page) => {
	await page.evaluate(axe);
	const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
	return found.violations.map((v) => `${v.id}: ${v.help}\n${v.nodes.slice(0, 5).map((n) =>
		`    ${n.target}\n    ${n.failureSummary}`).join('\n')}`);
};

/** Pixels of a canvas that differ from its corner, in a part of it given in parts of its size. */
export const ink_of = (canvas, x0, y0, x1, y1) => canvas.evaluate((c, part) => {
	const [x, y] = [part[0] * c.width, part[1] * c.height].map(Math.round);
	const [w, h] = [(part[2] - part[0]) * c.width, (part[3] - part[1]) * c.height].map(Math.round);
	const data = c.getContext('2d').getImageData(x, y, w, h).data;
	let n = 0;
	for (let i = 3; i < data.length; i += 4) {
		n += data[i] > 0;
	}
	return n;
}, [x0, y0, x1, y1]);

/** A phone: the causes come first, then the map, and nothing is wider than the screen. */
export const on_phone = async (page, what, look) => {
	await page.setViewportSize({ width: 390, height: 844 });
	const top = async (place) => (await page.locator(place).first().boundingBox()).y;
	const places = [await top('.causes'), await top('canvas'), await top('.path'), await top('#list')];
	assert.deepEqual(places, [...places].sort((a, b) => a - b), `${what}: what is wrong comes first on a phone`);
	assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 390), `${what}: as wide as the phone`);
	await accessible(page, `${what}, on a phone`);
	await look();
	await page.setViewportSize({ width: 1440, height: 1000 });
};

/** A view has no fault that axe knows, on dark and on light paper, and nothing moves in it. */
export const accessible = async (page, what) => {
	for (const colorScheme of ['light', 'dark']) {
		await page.emulateMedia({ colorScheme });
		assert.deepEqual(await violations(page), [], `${what}, ${colorScheme}`);
	}
	assert.equal(await page.evaluate(() => document.getAnimations().length), 0, `${what}: nothing moves`);
};
