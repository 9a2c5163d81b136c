// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors
//
// Figures of the page in headless Chromium, no test: how long after the navigation the map is
// drawn, what its scripts hold in memory then, and how many frames per second it has while it is panned at double size.
//
//	node bench.mjs NAME http://127.0.0.1:8620 /usr/bin/chromium [RUNS]
import { chromium } from 'playwright-core';

const [name, url, executablePath, runs = 5] = process.argv.slice(2);
const FRAMES = 90;
const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });

/* The map begins each drawing by clearing its canvas. */
const note_drawings = () => {
	const clear = CanvasRenderingContext2D.prototype.clearRect;
	window.drawings = [];
	CanvasRenderingContext2D.prototype.clearRect = function (...words) {
		clear.apply(this, words);
		requestAnimationFrame(() => window.drawings.push(performance.now())); // it is on the screen
	};
};

/* Moves the pressed pointer once per frame; returns frames per second and drawings. */
const pan = (frames) => new Promise((done) => {
	const canvas = document.querySelector('canvas');
	const box = canvas.getBoundingClientRect();
	const at = (i) => ({ bubbles: true, view: window, button: 0,
		clientX: box.x + box.width / 2 + 120 * Math.sin(i / 9), clientY: box.y + box.height / 2 });
	const before = window.drawings.length;
	let i = 0;
	let began = 0;
	const step = (now) => {
		began ||= now;
		if (i === frames) {
			window.dispatchEvent(new MouseEvent('mouseup', at(i)));
			done({ rate: 1000 * frames / (now - began), drawn: window.drawings.length - before });
			return;
		}
		window.dispatchEvent(new MouseEvent('mousemove', at(++i)));
		requestAnimationFrame(step);
	};
	canvas.dispatchEvent(new MouseEvent('mousedown', at(0)));
	requestAnimationFrame(step);
});

/* Bytes that scripts hold after a collection. */
const heap_of = async (page) => {
	const session = await page.context().newCDPSession(page);
	await session.send('HeapProfiler.collectGarbage');
	return (await session.send('Runtime.getHeapUsage')).usedSize;
};

const first = [];
const heaps = [];
const rates = [];
for (let i = 0; i < Number(runs); i++) {
	const context = await browser.newContext({ viewport: { width: 1440, height: 1000 } });
	const page = await context.newPage();
	page.setDefaultTimeout(120000);
	await page.addInitScript(note_drawings);
	await page.goto(url);
	await page.waitForFunction(() => window.drawings.length > 0);
	first.push(await page.evaluate(() => window.drawings[0]));
	heaps.push(await heap_of(page));
	await page.locator('canvas').first().focus();
	await page.keyboard.press('+');
	await page.keyboard.press('+');
	const { rate, drawn } = await page.evaluate(pan, FRAMES);
	if (drawn < FRAMES / 2) {
		throw new Error(`only ${drawn} of ${FRAMES} frames were drawn`);
	}
	rates.push(rate);
	await context.close();
}
await browser.close();
console.log(`${name}: first view ${(median(first) / 1000).toFixed(2)} s (${first.map((t) =>
	(t / 1000).toFixed(2)).join(' ')}), ${(median(heaps) / 1e6).toFixed(1)} MB of scripts, pan ${Math.round(median(rates))} frames/s (${rates.map(Math.round).join(' ')})`);
