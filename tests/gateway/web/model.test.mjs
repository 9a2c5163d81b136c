// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// From /v1/topology to drawings.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bundles_of, model_of, most_routes, on_path, state_of, tally, traffic_of, uplinks_of }
	from '../../../gateway/web/src/map/model.js';

const columns = ['a', 'b', 'cables', 'not_active', 'degraded', 'max_routes_from_a',
	'max_routes_from_b', 'rate_gbps'];
const sw = (name, tier, group = null) =>
	({ type: 'switch', guid: `guid of ${name}`, name, group, tier, hosts: tier === 0 ? 4 : 0 });

const small = () => ({
	kind: 'tree', folded: false, tiers: [{ tier: 0, switches: 2 }, { tier: 1, switches: 2 }],
	groups: [], vertices: [sw('leaf-0', 0), sw('leaf-1', 0), sw('spine-0', 1), sw('spine-1', 1)],
	bundle_columns: columns,
	bundles: [[0, 2, 1, 0, 0, 5, 7, 100], [0, 3, 1, 1, 0, 5, 5, 100], [1, 2, 2, 0, 1, 9, 5, 100],
		[1, 3, 1, 0, 0, 5, 5, 100]],
});

const folded = () => ({
	kind: 'tree', folded: true, tiers: [{ tier: 0, switches: 4 }],
	groups: [0, 1].map((group) => ({ group, switches: 4, hosts: 8, tiers: [2, 2, 0], links: 4,
		not_active: group, degraded: 0, max_routes: 3 })),
	vertices: [{ type: 'group', group: 0, hosts: 8 }, { type: 'group', group: 1, hosts: 8 },
		sw('core-0', 2), sw('core-1', 2), sw('core-2', 2)],
	bundle_columns: columns,
	bundles: [[0, 2, 1, 0, 0, 1, 2, 100], [1, 2, 1, 0, 0, 3, 4, 100], [1, 4, 1, 0, 0, 5, 6, 100]],
});

test('the tiers of a small tree are rows, the leaves lowest', () => {
	const m = model_of(small());
	assert.equal(m.kind, 'rows');
	assert.ok(m.vertices[0].y > m.vertices[2].y, 'y grows downwards');
	assert.equal(m.vertices[0].y, m.vertices[1].y);
	assert.ok(m.vertices.every((v) => v.x > 0 && v.x < 1 && v.y > 0 && v.y < 1));
	assert.deepEqual(tally(m), { down: 1, degraded: 1, fine: 2 });
	assert.equal(most_routes(m), 9);
});

test('columns of bundles are found by name, not by place', () => {
	const t = small();
	const order = columns.map((_, i) => (i + 3) % columns.length);
	const before = bundles_of(t);
	t.bundle_columns = order.map((i) => columns[i]);
	t.bundles = t.bundles.map((b) => order.map((i) => b[i]));
	assert.deepEqual(bundles_of(t), before);
});

test('a folded tree is a matrix of pods and cores', () => {
	const m = model_of(folded());
	assert.equal(m.kind, 'matrix');
	assert.deepEqual([m.rows.length, m.columns.length, m.square], [2, 2, false]);
	assert.deepEqual(m.cells.map((c) => [c.row, c.column, c.routes]),
		[[0, 0, 2], [1, 0, 4], [1, 1, 6]]);
	assert.equal(state_of(m.rows[1]), 'down');
});

test('a torus is a matrix of all switches, each direction with its own routes', () => {
	const t = { ...small(), kind: 'matrix' };
	const m = model_of(t);
	assert.equal(m.square, true);
	assert.equal(m.cells.length, 8);
	const cell = (r, c) => m.cells.find((x) => x.row === r && x.column === c).routes;
	assert.deepEqual([cell(0, 2), cell(2, 0)], [5, 7]);
});

test('a pod shows its own switches; its uplinks are a matrix', () => {
	const t = folded();
	t.groups = t.groups.slice(0, 1);
	t.vertices = [sw('core-0', 2), sw('edge-0', 0, 0), sw('agg-0', 1, 0)];
	t.bundles = [[1, 2, 1, 0, 0, 1, 1, 100], [2, 0, 1, 0, 0, 8, 9, 100]];
	const m = model_of(t, 0);
	assert.deepEqual(m.vertices.map((v) => v.name), ['edge-0', 'agg-0']);
	assert.deepEqual(m.bundles.map((b) => [b.a, b.b]), [[0, 1]]);
	const up = uplinks_of(t, 0);
	assert.deepEqual([up.rows.length, up.columns.length, up.cells.length], [1, 1, 1]);
});

test('a path is found in a drawing, also by the pod of a switch', () => {
	assert.deepEqual(on_path(model_of(small()),
		['host', 'guid of leaf-0', 'guid of spine-1', 'guid of leaf-1', 'host']), [0, 3, 1]);
	const pods = new Map([['e0', 0], ['a0', 0], ['a1', 1], ['e1', 1]]);
	assert.deepEqual(on_path(model_of(folded()), ['e0', 'a0', 'guid of core-2', 'a1', 'e1'], pods),
		[0, 4, 1]);
});

test('traffic is that of the busiest cable of a bundle, in either direction', () => {
	const row = (a, b, utilization) => ({ node_guid: a, peer: b && { guid: b }, utilization });
	const rows = [row('guid of leaf-0', 'guid of spine-0', 0.25),
		row('guid of spine-0', 'guid of leaf-0', 0.5), row('guid of leaf-1', 'guid of spine-1', null),
		row('guid of leaf-1', 'a host', 1), row('guid of leaf-1', null, 1)];
	assert.deepEqual(traffic_of(model_of(small()), rows), [0.5, null, null, null]);
	const pods = new Map([['a0', 0], ['a1', 1]]);
	assert.deepEqual(traffic_of(model_of(folded()), [row('guid of core-2', 'a1', 0.75)], pods),
		[null, null, 0.75]);
});

test('nothing is drawn of nothing', () => {
	const none = { ...small(), tiers: [], vertices: [], bundles: [] };
	assert.equal(model_of(none).vertices.length, 0);
	assert.equal(model_of({ ...none, kind: 'matrix' }).cells.length, 0);
	assert.equal(most_routes(model_of(none)), 1);
});
