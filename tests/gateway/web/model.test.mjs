// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// From /v1/topology to drawings.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fitted, with_short_names } from '../../../gateway/web/src/map/names.js';
import { bundles_of, chosen_of, exceptions_of, load_words, model_of, most_routes, off_bundles, on_path, state_of, tally,
	traffic_of, uplinks_of }
	from '../../../gateway/web/src/map/model.js';

const columns = ['a', 'b', 'cables', 'not_active', 'degraded', 'max_routes_from_a',
	'max_routes_from_b', 'rate_gbps'];
const sw = (name, tier, group = null) =>
	({ type: 'switch', guid: `guid of ${name}`, name, group, tier, hosts: tier === 0 ? 4 : 0 });

const found = (n) => Object.fromEntries(Object.entries(n).filter(([, v]) => v > 0));

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
	assert.deepEqual(found(tally(m)), { down: 1, degraded: 1, fine: 2 });
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

test('a group of a dragonfly shows its cables inside and to other groups', () => {
	const t = { ...folded(), kind: 'matrix' };
	t.vertices = [{ type: 'group', group: 1, hosts: 8 }, sw('s0', null, 0), sw('s1', null, 0)];
	t.bundles = [[1, 2, 1, 0, 0, 3, 4, 100], [0, 2, 1, 0, 0, 8, 9, 100]];
	const m = model_of(t, 0);
	assert.deepEqual([m.kind, m.square], ['matrix', false]);
	assert.deepEqual(m.rows.map((v) => v.name), ['s0', 's1']);
	assert.deepEqual(m.columns.map((v) => v.name), ['s0', 's1', 'group 1']);
	assert.deepEqual(m.cells.map((c) => [c.row, c.column, c.routes]), [[0, 1, 3], [1, 0, 4], [1, 2, 9]]);
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

const mark = (state, a, b, since = null) => ({ state, a: `guid of ${a}`, b: b && `guid of ${b}`, since });
const wrong = (marks, group_of = new Map()) => ({ marks, group_of });

test('lost cables are drawn where they were, with the age of the latest', () => {
	const [second, third] = [Date.parse('2026-01-02T00:00:00Z'), Date.parse('2026-01-03T00:00:00Z')];
	const marks = [mark('lost', 'leaf-1', 'spine-0', second), mark('lost', 'spine-0', 'leaf-1', third),
		mark('lost', 'spine-0', 'spine-1'), mark('sick', 'elsewhere', null)];
	const m = model_of(small(), null, wrong(marks));
	assert.equal(m.bundles.length, 5);
	const [, , some, , all] = m.bundles;
	assert.deepEqual([some.cables, some.lost, some.since], [2, 2, third]);
	assert.deepEqual([all.a, all.b, all.cables, all.lost, all.since], [2, 3, 0, 1, null]);
	assert.deepEqual(found(tally(m)), { lost: 2, down: 1, fine: 2 });
	assert.equal(all.index, 4);
});

test('a switch that is out of service is in the legend, though its cables are fine', () => {
	const m = model_of(small(), null, wrong([{ ...mark('drained', 'spine-1', 'x'), b: null }]));
	assert.equal(found(tally(m)).drained, 1);
	const both = [{ ...mark('drained', 'spine-1', 'x'), b: null }, mark('drained', 'leaf-0', 'spine-1')];
	assert.equal(found(tally(model_of(small(), null, wrong(both)))).drained, 1, 'once with its cable');
});

test('lost cables are cells of a matrix, and marks of the pod that they were in', () => {
	const pods = new Map([['guid of a0', 0], ['guid of e0', 0], ['guid of a1', 1]]);
	const m = model_of(folded(), null, wrong([mark('lost', 'a0', 'core-2'), mark('lost', 'e0', 'a0')], pods));
	assert.deepEqual(m.cells.map((c) => [c.row, c.column, state_of(c.bundle)]),
		[[0, 0, 'fine'], [1, 0, 'fine'], [1, 1, 'fine'], [0, 1, 'lost']]);
	assert.equal(state_of(m.rows[0]), 'lost');
	assert.equal(m.vertices[1].lost, 0);
});

test('the worst of a cable counts', () => {
	const state = (marks) => state_of(model_of(small(), null, wrong(marks.map((s) => mark(s, 'leaf-0', 'spine-0')))).bundles[0]);
	assert.deepEqual([state([]), state(['drained']), state(['drained', 'loaded']), state(['loaded', 'sick']),
		state(['sick', 'lost'])], ['fine', 'drained', 'loaded', 'sick', 'lost']);
});

test('a cable to a switch outside a view marks nothing in it, one to a host marks its switch', () => {
	const t = { ...small(), vertices: small().vertices.slice(0, 3), bundles: small().bundles.slice(0, 1) };
	const all = new Map(['leaf-0', 'leaf-1', 'spine-0', 'spine-1'].map((n) => [`guid of ${n}`, null]));
	const m = model_of(t, null, wrong([mark('lost', 'leaf-0', 'spine-1'), mark('sick', 'leaf-1', 'some host')], all));
	assert.deepEqual(m.vertices.map(state_of), ['fine', 'sick', 'fine']);
});

test('hosts lie at their switch by their ports, and those that are gone where they were', () => {
	const host = (name, vertex, switch_port, more = {}) => ({ guid: `guid of ${name}`, name, port: 1, vertex, switch_port,
		state: 'active', degraded: false, ...more });
	const t = { ...small(), hosts: [host('h2', 1, 2), host('h3', 1, 4, { degraded: true }), host('h1', 0, 1, { state: 'init' })] };
	const ghosts = [{ guid: 'guid of g', name: 'g', port: 1, switch: 'guid of leaf-1', switch_port: 3, since: 5, why: 'silent' },
		{ guid: 'guid of h2', name: 'h2', port: 1, switch: 'guid of leaf-0', switch_port: 9, since: 5, why: 'gone' },
		{ guid: 'guid of x', name: 'x', port: 1, switch: 'elsewhere', switch_port: 1, since: 5, why: 'gone' }];
	const m = model_of(t, null, { ...wrong([mark('sick', 'h2', null)]), hosts: ghosts });
	assert.deepEqual(m.hosts.map((h) => [h.name, h.vertex, h.nth, state_of(h)]),
		[['h1', 0, 0, 'down'], ['h2', 1, 0, 'sick'], ['g', 1, 1, 'gone'], ['h3', 1, 2, 'degraded']]);
	assert.deepEqual(m.vertices.map((v) => v.drawn), [1, 3, 0, 0]);
	assert.deepEqual([tally(m).gone, tally(m).sick], [1, 1]);
});

const ghost = (name, tier, group, cables) =>
	({ guid: `guid of ${name}`, name, tier, group, since: 7, why: 'gone', cables: cables.map((n) => `guid of ${n}`) });

test('a switch that is gone stands in its row, its cables are not counted as lost', () => {
	const m = model_of(small(), null, { switches: [ghost('spine-00', 1, null, ['leaf-0', 'leaf-1']),
		ghost('nowhere', undefined, null, [])] });
	const row = m.vertices.filter((v) => v.tier === 1).sort((p, q) => p.x - q.x);
	assert.deepEqual(row.map((v) => [v.name, state_of(v)]), [['spine-0', 'fine'], ['spine-00', 'gone'], ['spine-1', 'fine']]);
	assert.deepEqual(found(tally(m)), { gone: 1, down: 1, degraded: 1, fine: 2 });
	assert.deepEqual(exceptions_of(m), [{ vertex: 4 }, { bundle: 1, vertex: 0 }, { bundle: 2, vertex: 1 }]);
});

test('a folded map counts what is gone at its pod, and has a column for a core', () => {
	const m = model_of(folded(), null, { switches: [ghost('core-00', 2, null, []), ghost('a9', 1, 1, ['core-0'])],
		group_of: new Map([['guid of a9', 1]]) });
	assert.deepEqual(m.rows.map((v) => [v.gone, state_of(v)]), [[0, 'fine'], [1, 'gone']]);
	assert.equal(m.vertices.filter((v) => v.type === 'switch' && v.gone > 0).length, 1);
});

test('a folded map counts hosts that are gone at their pod, unless they went with a switch', () => {
	const host = (name, at) => ({ guid: name, name, port: 1, switch: `guid of ${at}`, switch_port: 1, since: 7, why: 'gone' });
	const m = model_of(folded(), null, { hosts: [host('h', 'e0'), host('g', 'e9')], switches: [ghost('e9', 0, 1, [])],
		group_of: new Map([['guid of e0', 0], ['guid of e9', 1]]) });
	assert.deepEqual(m.rows.map((v) => [v.gone, v.hosts_gone, state_of(v)]), [[0, 1, 'gone'], [1, 0, 'gone']]);
	assert.equal(tally(m).gone, 2);
});

test('a pod shows the lost cable to a core of which it has no other', () => {
	const t = folded();
	t.vertices = [sw('core-0', 2), sw('agg-0', 1, 0)];
	t.bundles = [[1, 0, 1, 0, 0, 8, 9, 100]];
	const far = new Map([['guid of core-9', sw('core-9', 2)]]);
	const up = uplinks_of(t, 0, { marks: [mark('lost', 'core-9', 'agg-0'), mark('lost', 'core-9', 'elsewhere')],
		places: far, group_of: new Map([['guid of core-9', null]]) });
	assert.deepEqual(up.columns.map((v) => v.name), ['core-0', 'core-9']);
	assert.deepEqual(up.cells.map((c) => [c.row, c.column, state_of(c.bundle)]), [[0, 0, 'fine'], [0, 1, 'lost']]);
});

test('what an alarm is about is found in a drawing', () => {
	const m = model_of({ ...small(), hosts: [{ guid: 'guid of h', name: 'h', port: 1, vertex: 0, switch_port: 1, state: 'active' }] });
	const chosen = chosen_of(m, ['guid of leaf-0', 'guid of spine-1', 'guid of h', 'elsewhere']);
	assert.deepEqual([[...chosen.vertices], [...chosen.bundles], [...chosen.hosts]], [[0, 3], [1], [0]]);
	const pods = new Map([['guid of a1', 1]]);
	assert.deepEqual([...chosen_of(model_of(folded()), ['guid of a1', 'guid of core-2'], pods).bundles], [2]);
});

test('what a what-if switches off is found in a drawing', () => {
	const off = [{ a: 'guid of spine-0', b: 'guid of leaf-1' }, { a: 'guid of leaf-1', b: 'guid of spine-0' },
		{ a: 'guid of leaf-0', b: 'a host' }, { a: null, b: null }];
	assert.deepEqual([...off_bundles(model_of(small()), off)], [[2, 2]]);
	const pods = new Map([['a1', 1]]);
	assert.deepEqual([...off_bundles(model_of(folded()), [{ a: 'a1', b: 'guid of core-2' }], pods)], [[2, 1]]);
});

test('the load is said against an even spread and against one host', () => {
	const tier = (max_routes, mean_routes, from = 0, to = 1) => ({ from, to, links: 9, max_routes, mean_routes });
	const [even, bisection] = load_words([tier(720, 648)], { hosts: 432, lmc: 0 });
	assert.match(even, /720 routes, 1\.11 × the 648 of an even spread\.$/);
	assert.match(bisection, /1\.67 × the 431 routes of one host, .* 59 % of a host's rate/);
	const two = load_words([tier(630, 630), tier(40, 20, 1, 2)], { hosts: 648, lmc: 0 });
	assert.match(two[0], /40 routes, 2\.00 × the 20 .*\(tier 1 to 2\)/);
	assert.match(two[1], /full, no cable has more than the 647/);
	assert.match(load_words([tier(700, 700)], { hosts: 432, lmc: 1 })[1], /full, .* 862/);
	assert.deepEqual(load_words([tier(0, 0)], { hosts: 0 }), ['No link between switches has routes.']);
	assert.deepEqual(load_words([], { hosts: 3 }), ['No link between switches has routes.']);
});

const shorts = (...names) => with_short_names(names.map((name, index) => ({ name, index, type: 'switch',
	guid: `0x000000000000${index}abcde` }))).map((v) => v.short);

test('names are as short as they can be told apart', () => {
	assert.deepEqual(shorts('leaf-0001', 'leaf-0002', 'leaf-0003'), ['leaf-0001', 'leaf-0002', 'leaf-0003']);
	assert.deepEqual(shorts('MF0;a-01:MQM9700/U1', 'MF0;a-02:MQM9700/U1', 'MF0;dir:MCS8500/L1/U2'), ['a-01', 'a-02', 'dir/L1/U2']);
	assert.deepEqual(shorts('sp01.row.qm8790.site', 'sp02.row.qm8790.site', 'sp03.row.qm8790.site', 'x'),
		['sp01', 'sp02', 'sp03', 'x']);
	assert.deepEqual(shorts('site-a-room-1-leaf-01', 'site-a-room-1-leaf-02', 'site-a-room-1-spine-1'),
		['…leaf-01', '…leaf-02', '…spine-1']);
	assert.deepEqual(shorts('Quantum-2 Switch', 'Quantum-2 Switch', 'sw'), ['0abcde', '1abcde', 'sw']);
});

test('a name that finds no room keeps its end', () => {
	const width = (text) => 6 * text.length;
	assert.equal(fitted('leaf-0001', 100, width), 'leaf-0001');
	assert.equal(fitted('leaf-0001', 40, width), '…-0001');
	assert.equal(fitted('leaf-0001', 0, width), '…1');
	assert.equal(fitted('', 0, width), '');
});

test('rows say what they are', () => {
	assert.deepEqual(model_of(small()).labels.map((l) => l.text), ['2 leaves', 'tier 1: 2']);
});

test('nothing is drawn of nothing', () => {
	const none = { ...small(), tiers: [], vertices: [], bundles: [] };
	assert.equal(model_of(none).vertices.length, 0);
	assert.equal(model_of({ ...none, kind: 'matrix' }).cells.length, 0);
	assert.equal(most_routes(model_of(none)), 1);
});
