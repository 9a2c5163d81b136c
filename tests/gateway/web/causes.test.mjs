// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// Alarms as a tree of causes, and what they mark on the map.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ack_command, cost_of, end_command, find_alarm, flat, joined, KINDS, marks_of, SEVERITIES, severities_of, sorted_out, start_command,
	tree_of, unack_command }
	from '../../../gateway/web/src/causes.js';
import { GLYPHS, GLYPH_WORDS as WORDS } from '../../../gateway/web/src/map/glyphs.js';
import { STATES } from '../../../gateway/web/src/map/model.js';
import { ghosts_of } from '../../../gateway/web/src/map/ghosts.js';

const end = (name, port = null) => ({ guid: `guid of ${name}`, name, port });
const alarm = (id, kind, severity, more = {}) =>
	({ id, kind, severity, text: id, node: null, peer: null, since: null, with: 0, ...more });

test('children come in their alarm, or name their cause', () => {
	const nested = tree_of([alarm('a', 'switch_gone', 'error', { children: [alarm('b', 'host_gone', 'warning')] })]);
	const named = tree_of([alarm('a', 'switch_gone', 'error'), alarm('b', 'host_gone', 'warning', { cause: 'a' })]);
	for (const tree of [nested, named]) {
		assert.deepEqual(tree.map((a) => [a.id, a.children.map((c) => c.id)]), [['a', ['b']]]);
		assert.deepEqual(flat(tree).map((a) => [a.id, a.of]), [['a', undefined], ['b', 'switch_gone']]);
		assert.equal(find_alarm(tree, 'b').kind, 'host_gone');
		assert.equal(find_alarm(tree, 'c'), null);
	}
});

test('a cause that is not there, or names itself, loses no alarm', () => {
	assert.deepEqual(tree_of([alarm('a', 'x', 'info', { cause: 'gone' }), alarm('b', 'x', 'info', { cause: 'b' })])
		.map((a) => a.id), ['a', 'b']);
});

test('alarms without id, children and consequence are alarms, too', () => {
	const [a, b] = tree_of([{ kind: 'link_down', severity: 'warning', text: 'one', event: 3, with: 2 },
		{ kind: 'link_down', severity: 'warning', text: 'two', event: 4 }]);
	assert.notEqual(a.id, b.id);
	assert.deepEqual([joined(a), joined(b)], [2, 0]);
	assert.deepEqual([cost_of(a), cost_of({ consequence: { text: '18 hosts down' } })], ['', '18 hosts down']);
});

test('what is acknowledged or planned stands apart', () => {
	const tree = tree_of([alarm('a', 'x', 'error'), alarm('b', 'x', 'error', { acknowledged: { by: 'ana' } }),
		alarm('c', 'x', 'error', { maintenance: true, acknowledged: { by: 'ana' } })]);
	const { open, taken, planned } = sorted_out(tree);
	assert.deepEqual([open, taken, planned].map((l) => l.map((a) => a.id)), [['a'], ['b'], ['c']]);
});

test('severities are counted, the worst first', () => {
	assert.deepEqual(severities_of(['info', 'critical', 'warning', 'warning'].map((s) => alarm('a', 'x', s))),
		[['critical', 1], ['warning', 2], ['info', 1]]);
});

/* Texts of the gateway that name what it may answer. */
const source = (file) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
const words_of = (text, name) => text.match(new RegExp(`${name}\\[[^=]*= \\{([^}]*)\\}`))[1].match(/"[a-z_]+"/g)
	.map((w) => w.slice(1, -1));

test('the page knows each kind of alarm, and no other', () => {
	const kinds = [...source('gateway/inventory/alarms.def').matchAll(/^ALARM\(\w+,\s*(\w+),/gm)].map((m) => m[1]);
	assert.ok(kinds.length > 20);
	assert.deepEqual(Object.keys(KINDS).sort(), kinds.sort());
	const known = new Set([...STATES, null]);
	assert.deepEqual(Object.entries(KINDS).filter(([, state]) => !known.has(state)), []);
});

test('the page knows each severity, and has a sign and colours for it', () => {
	const names = words_of(source('gateway/inventory/alarms.c'), 'alarm_severity_names');
	assert.deepEqual([...SEVERITIES].reverse(), names);
	const [signs, style] = [source('gateway/web/src/severity.jsx'), source('gateway/web/src/style.css')];
	for (const name of names) {
		assert.match(signs, new RegExp(`^\\t${name}: \\[`, 'm'));
		assert.match(style, new RegExp(`\\.severity\\.level-${name}\\b`));
	}
});

test('the map has a sign, words and a colour for each state', () => {
	const style = source('gateway/web/src/style.css');
	for (const state of STATES.filter((s) => s !== 'fine')) {
		assert.ok(GLYPHS[state] && WORDS[state], state);
		assert.match(style, new RegExp(`\\.glyph\\.${state}\\b`));
	}
});

test('what is out of service is marked without an alarm, and once with one', () => {
	const row = { node: end('s'), peer: null, since: '1970-01-01T00:00:02Z', state: 'drained' };
	const cable = { node: end('s', 1), peer: end('t', 2), since: '1970-01-01T00:00:03Z', state: 'draining' };
	const alarms = tree_of([alarm('a', 'link_down', 'info', { node: end('t', 2), peer: end('s', 1), maintenance: true })]);
	assert.deepEqual(marks_of([], [row]), [{ state: 'drained', a: 'guid of s', b: null, since: 2000 }]);
	assert.deepEqual(marks_of([], [cable]), [{ state: 'drained', a: 'guid of s', b: 'guid of t', since: 3000 }]);
	assert.equal(marks_of(alarms, [cable]).length, 1);
	assert.equal(marks_of(alarms, [row]).length, 2);
});

test('commands are for a shell', () => {
	assert.equal(start_command('0x1:2'), "saguaro maintenance start '0x1:2' --note 'why'");
	assert.equal(end_command("it's"), "saguaro maintenance end 'it'\\''s'");
	assert.equal(unack_command("it's"), "saguaro alarm unack 'it'\\''s'");
	assert.match(ack_command('link_down-0x1-3'), /^saguaro alarm ack 'link_down-0x1-3' --note /);
});

test('alarms mark cables, switches and hosts by what is wrong with them', () => {
	const of = (kind, severity, more) => marks_of(tree_of([alarm('a', kind, severity, { node: end('s', 1), ...more })]));
	const state = (...words) => of(...words).map((m) => m.state);
	assert.deepEqual(of('link_down', 'warning', { peer: end('t', 2), since: '1970-01-01T00:00:01Z' }),
		[{ state: 'lost', a: 'guid of s', b: 'guid of t', since: 1000 }]);
	assert.deepEqual(state('overloaded', 'warning'), ['loaded']);
	assert.deepEqual(state('unhealthy', 'warning'), ['sick']);
	assert.deepEqual(state('not known yet', 'error'), ['sick']);
	assert.deepEqual(state('not known yet', 'info'), []);
	assert.deepEqual(state('disabled', 'info'), ['drained']);
	assert.deepEqual(state('degraded', 'warning'), [], 'the map has it from its cables');
	assert.deepEqual(state('degraded', 'warning', { maintenance: true }), ['drained']);
	assert.deepEqual(state('unreachable', 'critical', { node: null }), []);
});

test('a cable that an operator switched off is not lost', () => {
	const off = alarm('off', 'disabled', 'info', { node: end('s', 1), peer: end('t', 2) });
	const down = alarm('down', 'link_down', 'warning', { node: end('t', 2), peer: end('s', 1) });
	assert.deepEqual(marks_of(tree_of([{ ...off, children: [down] }])).map((m) => m.state), ['drained', 'drained']);
	assert.deepEqual(marks_of(tree_of([down, off])).map((m) => m.state), ['drained', 'drained']);
	const other = alarm('down', 'link_down', 'warning', { node: end('t', 3), peer: end('s', 4) });
	assert.deepEqual(marks_of(tree_of([other, off])).map((m) => m.state), ['lost', 'drained']);
});

/* Two pods of 2 edges and 2 aggs each, and 2 cores. */
const places = new Map([0, 1].flatMap((group) => [['e0', 0], ['e1', 0], ['a0', 1], ['a1', 1]]
	.map(([name, tier]) => [`${name}-${group}`, { tier, group }])).concat([['c0', { tier: 2, group: null }]]));
const gone = (guid, more = {}) => ({ guid, name: guid, type: 'switch', port: 0, place: null,
	gone_since: '2026-01-02T00:00:00Z', why: 'gone', ...more });
const lost = (a, b) => ({ guid: a, place: { guid: b, port: 1 } });

test('a switch that is gone stands between those that it was cabled to', () => {
	const ghost = (name, links, more = []) => {
		const [g] = ghosts_of([gone(name), ...more], links, places).switches;
		return [g.tier, g.group];
	};
	assert.deepEqual(ghost('e2-1', [lost('e2-1', 'a0-1'), lost('a1-1', 'e2-1')],
		[gone('h', { type: 'ca', port: 1, place: { guid: 'e2-1', port: 3 } })]), [0, 1]);
	assert.deepEqual(ghost('a2-0', [lost('a2-0', 'e0-0'), lost('a2-0', 'e1-0'), lost('a2-0', 'c0')]), [1, 0]);
	assert.deepEqual(ghost('a3-0', [lost('a3-0', 'e0-0'), lost('c0', 'a3-0')],
		[gone('aggregation', { type: 'ca', port: 1, place: { guid: 'a3-0', port: 41 } })]), [1, 0]);
	assert.deepEqual(ghost('c1', [lost('c1', 'a0-0'), lost('c1', 'a0-1')]), [2, null]);
	assert.deepEqual(ghost('x', []), [undefined, null], 'nothing says where it was');
});

test('hosts that are gone keep their port', () => {
	const { hosts, switches } = ghosts_of([gone('h', { type: 'ca', port: 1, place: { guid: 'e0-0', port: 7 } }),
		gone('nowhere', { type: 'ca', port: 1 })], [], places);
	assert.deepEqual(hosts.map((h) => [h.guid, h.switch, h.switch_port, h.since]),
		[['h', 'e0-0', 7, Date.parse('2026-01-02T00:00:00Z')]]);
	assert.deepEqual(switches, []);
});
