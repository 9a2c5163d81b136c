// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// Colours of the map as people see them who lack one kind of cone: the matrices are those of
// Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision
// Deficiency" (2009), table 1, severity 1, for linear RGB.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paper, scale_colour, state_colour } from '../../../gateway/web/src/map/colour.js';

const EYES = {
	usual: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
	protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
	deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
	tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
};

const numbers = (colour) => (colour[0] === '#'
	? [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16))
	: colour.match(/\d+/g).map(Number));
const linear = (colour) => numbers(colour).map((n) =>
	(n / 255 <= 0.04045 ? n / 255 / 12.92 : ((n / 255 + 0.055) / 1.055) ** 2.4));
const dot = (row, v) => row.reduce((sum, x, i) => sum + x * v[i], 0);
const seen = (colour, eye) => EYES[eye].map((row) => Math.min(1, Math.max(0, dot(row, linear(colour)))));
const luminance = (rgb) => dot([0.2126, 0.7152, 0.0722], rgb);

/* CIE 1976 L*a*b*, white D65. */
const lab = (rgb) => {
	const f = (t) => (t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27 * t + 16) / 116);
	const x = f(dot([0.4124, 0.3576, 0.1805], rgb) / 0.9505);
	const y = f(luminance(rgb));
	const z = f(dot([0.0193, 0.1192, 0.9505], rgb) / 1.089);
	return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
};
const difference = (p, q, eye) => {
	const [a, b] = [lab(seen(p, eye)), lab(seen(q, eye))];
	return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
};
const contrast = (p, q) => {
	const [hi, lo] = [luminance(linear(p)), luminance(linear(q))].sort((a, b) => b - a);
	return (hi + 0.05) / (lo + 0.05);
};

for (const theme of ['dark', 'light']) {
	for (const eye of Object.keys(EYES)) {
		test(`what is wrong differs from what is fine, ${theme}, ${eye}`, () => {
			for (const state of ['gone', 'lost', 'down', 'sick', 'degraded', 'loaded', 'drained', 'off']) {
				const d = difference(state_colour(theme, state), state_colour(theme, 'fine'), eye);
				assert.ok(d > 20, `${state}: ${d.toFixed(1)}`); // 2.3 is just noticeable
			}
		});
		test(`the scale goes one way, ${theme}, ${eye}`, () => {
			const steps = Array.from({ length: 17 }, (_, i) => luminance(seen(scale_colour(theme, i / 16), eye)));
			const signs = steps.slice(1).map((l, i) => Math.sign(l - steps[i]));
			assert.deepEqual([...new Set(signs)], [theme === 'dark' ? 1 : -1]);
		});
	}
	test(`what is wrong stands out from the paper, ${theme}`, () => {
		for (const state of ['gone', 'lost', 'down', 'sick', 'degraded', 'loaded', 'drained', 'off']) {
			const c = contrast(state_colour(theme, state), paper(theme).paper);
			assert.ok(c >= 3, `${state}: ${c.toFixed(2)}`); // WCAG 2.2, 1.4.11
		}
	});
}
