// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// What is under the pointer is what is drawn there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hit, layout, place_of } from '../../../gateway/web/src/map/place.js';
import { scale_colour } from '../../../gateway/web/src/map/colour.js';
import { model_of } from '../../../gateway/web/src/map/model.js';

const columns = ['a', 'b', 'cables', 'not_active', 'degraded', 'max_routes_from_a',
	'max_routes_from_b', 'rate_gbps'];
const fabric = (kind, n) => ({
	kind, folded: false, tiers: [{ tier: 0, switches: n }], groups: [], bundle_columns: columns,
	vertices: Array.from({ length: n }, (_, i) =>
		({ type: 'switch', guid: `${i}`, name: `s${i}`, group: null, tier: i % 3, hosts: 1 })),
	bundles: Array.from({ length: n - 1 }, (_, i) => [i, i + 1, 1, 0, 0, i, i, 100]),
});

for (const [width, height] of [[1200, 560], [300, 200], [77, 900]]) {
	test(`each switch is found at its place, ${width} x ${height}`, () => {
		const m = model_of(fabric('tree', 9));
		const at = layout(m, width, height);
		for (const v of m.vertices) {
			assert.ok(at.x(v) >= 0 && at.x(v) <= width && at.y(v) >= 0 && at.y(v) <= height);
			assert.deepEqual(hit(m, at, at.x(v) + 1, at.y(v) - 1, 14), { vertex: v.index });
		}
		assert.equal(hit(m, at, -100, -100, 14), null);
	});
	test(`each cable is found beside its ends, ${width} x ${height}`, () => {
		const m = model_of(fabric('tree', 9));
		const at = layout(m, width, height);
		for (const b of m.bundles) {
			const [p, q] = [m.vertices[b.a], m.vertices[b.b]];
			const x = (at.x(p) + at.x(q)) / 2;
			const y = (at.y(p) + at.y(q)) / 2;
			assert.equal(hit(m, at, x, y, 0.5), null);
			const found = m.bundles[hit(m, at, x, y, 0.5, 2).bundle];
			assert.ok(found, 'some cable, as others may cross there');
			assert.deepEqual(hit({ ...m, bundles: [b] }, at, x, y, 0.5, 2), { bundle: b.index });
		}
	});
	test(`each cell is found at its place, ${width} x ${height}`, () => {
		const m = model_of(fabric('matrix', 12));
		const at = layout(m, width, height);
		for (const c of m.cells) {
			const x = at.left + (c.column + 0.5) * at.cell_w;
			const y = at.top + (c.row + 0.5) * at.cell_h;
			assert.deepEqual(hit(m, at, x, y, 14), { row: c.row, column: c.column });
		}
		assert.deepEqual(hit(m, at, at.left - 1, at.top + at.cell_h / 2, 14), { row: 0, column: null });
		assert.deepEqual(hit(m, at, at.left + at.cell_w / 2, at.top - 1, 14), { row: null, column: 0 });
		assert.equal(hit(m, at, at.left - 1, at.top - 1, 14), null);
		assert.equal(hit(m, at, at.left + 1, height + 1, 14), null);
	});
}

test('names at the edges of a matrix stay while it is zoomed', () => {
	const m = model_of(fabric('matrix', 12));
	const all = layout(m, 600, 400);
	const near = layout(m, 600, 400, { k: 4, x: -900, y: -700 });
	assert.deepEqual(near.frame, all.frame);
	assert.equal(near.cell_w, 4 * all.cell_w);
	const { row, column } = hit(m, near, near.frame.x0 + 1, near.frame.y0 + 1, 14);
	assert.ok(row > 0 && column > 0);
	assert.deepEqual(hit(m, near, near.frame.x0 - 1, near.frame.y0 + 1, 14), { row, column: null });
});

for (const kind of ['tree', 'matrix']) {
	test(`each host is found at its place, ${kind}`, () => {
		const f = fabric(kind, 9);
		f.hosts = Array.from({ length: 9 * 18 }, (_, i) => ({ guid: `h${i}`, name: `h${i}`, port: 1,
			vertex: i % 9, switch_port: i, state: 'active', degraded: false }));
		const m = model_of(f);
		const at = layout(m, 900, 500);
		for (const host of m.hosts) {
			const p = at.host(host);
			assert.ok(p.x > 0 && p.x < 900 && p.y > 0 && p.y < 500);
			assert.deepEqual(hit(m, at, p.x, p.y, 14), { host: host.index });
			assert.deepEqual(place_of(m, at, { host: host.index }), p);
		}
	});
}

test('colours of a scale are colours, also beyond its ends', () => {
	for (const part of [-1, 0, 0.5, 1, 7]) {
		for (const theme of ['dark', 'light']) {
			assert.match(scale_colour(theme, part), /^rgb\(\d+, ?\d+, ?\d+\)$/);
		}
	}
});
