// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors
//
//	node picture.mjs http://127.0.0.1:8620 /usr/bin/chromium BUILD-FOLDER FILE.png
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import { browse } from './browser.mjs';

const [url, executablePath, bin, file] = process.argv.slice(2);
const ctl = (...words) => execFileSync(`${bin}/saguaro-sim`, ['ctl', ...words], { stdio: 'ignore' });

/* A PNG as {width, height, rgb: a number per pixel}; a browser reads it. */
const pixels_of = async (page, png) => {
	const { width, height, text } = await page.evaluate(async (base64) => {
		const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
		const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
		const canvas = new OffscreenCanvas(image.width, image.height);
		const ctx = canvas.getContext('2d');
		ctx.drawImage(image, 0, 0);
		const { data } = ctx.getImageData(0, 0, image.width, image.height);
		const parts = [];
		for (let i = 0; i < data.length; i += 32768) {
			parts.push(String.fromCharCode(...data.subarray(i, i + 32768)));
		}
		return { width: image.width, height: image.height, text: btoa(parts.join('')) };
	}, png.toString('base64'));
	const data = Buffer.from(text, 'base64');
	return { width, height, rgb: Array.from({ length: width * height }, (_, i) => data.readUIntBE(4 * i, 3)) };
};

/* The 256 commonest colours, and a function to the nearest of them. What is wrong has strong
 * colours on few pixels, so these count for more than greys. */
const palette_of = (rgb) => {
	const count = new Map();
	rgb.forEach((c) => count.set(c, (count.get(c) ?? 0) + 1));
	const parts = (c) => [c >> 16, (c >> 8) & 255, c & 255];
	const weight = ([c, n]) => n * (1 + Math.max(...parts(c)) - Math.min(...parts(c)));
	const palette = [...count].sort((p, q) => weight(q) - weight(p)).slice(0, 256).map(([c]) => c);
	const far = (p, q) => parts(p).reduce((sum, v, i) => sum + (v - parts(q)[i]) ** 2, 0);
	const known = new Map(palette.map((c, i) => [c, i]));
	const nearest = (c) => {
		if (!known.has(c)) {
			known.set(c, palette.reduce((best, p, i) => (far(p, c) < far(palette[best], c) ? i : best), 0));
		}
		return known.get(c);
	};
	return { palette, nearest };
};

const CRC = Array.from({ length: 256 }, (_, n) => {
	let c = n;
	for (let i = 0; i < 8; i++) {
		c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
	}
	return c;
});

const chunk = (type, data) => {
	const body = Buffer.concat([Buffer.from(type), data]);
	const frame = Buffer.alloc(body.length + 8);
	frame.writeUInt32BE(data.length);
	body.copy(frame, 4);
	frame.writeUInt32BE(~body.reduce((c, b) => CRC[(c ^ b) & 255] ^ (c >>> 8), ~0) >>> 0, body.length + 4);
	return frame;
};

/* A PNG with a palette, a third of the size. */
const with_palette = ({ width, height, rgb }) => {
	const { palette, nearest } = palette_of(rgb);
	const head = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 3, 0, 0, 0]);
	head.writeUInt32BE(width, 0);
	head.writeUInt32BE(height, 4);
	const rows = Buffer.alloc(height * (width + 1));
	rgb.forEach((c, i) => (rows[i + 1 + Math.floor(i / width)] = nearest(c)));
	return Buffer.concat([
		Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
		chunk('IHDR', head),
		chunk('PLTE', Buffer.from(palette.flatMap((c) => [c >> 16, (c >> 8) & 255, c & 255]))),
		chunk('IDAT', deflateSync(rows, { level: 9 })),
		chunk('IEND', Buffer.alloc(0)),
	]);
};

await browse({ url, executablePath, pictures: '.' }, async ({ page, has_text }) => {
	await page.setViewportSize({ width: 1280, height: 860 });
	ctl('link', 'worn', 'edge-003-001[6]');
	ctl('link', 'down', 'agg-005-002[7]');
	await page.goto(`${url}/#src=node001&dst=node128`);
	await page.getByText('1 with lost cables').waitFor();
	await page.getByText('1 degraded').waitFor();
	await has_text(page.locator('.ladder'), 'edge-007-003');
	await page.mouse.move(0, 0);
	const png = await page.screenshot();
	const blank = await page.context().browser().newPage();
	writeFileSync(file, with_palette(await pixels_of(blank, png)));
});
