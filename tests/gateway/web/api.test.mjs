// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// The client of the gateway, and words.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { get, list, Problem } from '../../../gateway/web/src/api.js';
import { format, parse } from '../../../gateway/web/src/address.js';
import { add_event } from '../../../gateway/web/src/store.js';
import { whatif_words, without } from '../../../gateway/web/src/whatif.js';
import { age, count, end, hex, rate } from '../../../gateway/web/src/words.js';

const real = globalThis.fetch;
afterEach(() => {
	globalThis.fetch = real;
});

/** answers: functions of the URL, one per request in turn. */
const serve = (...answers) => {
	const asked = [];
	globalThis.fetch = async (url) => {
		asked.push(url);
		const [status, body] = answers[asked.length - 1](url);
		return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status });
	};
	return asked;
};

test('a list is read page by page', async () => {
	const asked = serve(() => [200, { rows: [1, 2], total: 3, next_cursor: '7-a' }],
		() => [200, { rows: [3], total: 3 }]);
	assert.deepEqual(await list('v1/x', 'rows', { name: 'a b*' }, 100), { rows: [1, 2, 3], total: 3 });
	assert.deepEqual(asked, ['v1/x?name=a+b*&limit=100', 'v1/x?name=a+b*&limit=98&cursor=7-a']);
});

test('a list ends at its limit, and says how many there are', async () => {
	const asked = serve(() => [200, { rows: [1, 2], total: 9, next_cursor: '7-a' }]);
	assert.deepEqual(await list('v1/x', 'rows', {}, 2), { rows: [1, 2], total: 9 });
	assert.equal(asked.length, 1);
});

test('a list begins again when its epoch is gone, but not for ever', async () => {
	const first = () => [200, { rows: [1], total: 2, next_cursor: 'c' }];
	const gone = () => [410, { detail: 'gone' }];
	serve(first, gone, first, () => [200, { rows: [2], total: 2 }]);
	assert.deepEqual((await list('v1/x', 'rows', {}, 9)).rows, [1, 2]);
	const asked = serve(...Array(4).fill([first, gone]).flat());
	await assert.rejects(list('v1/x', 'rows', {}, 9), { status: 410 });
	assert.equal(asked.length, 6);
});

test('problems say what the gateway says', async () => {
	serve(() => [404, { title: 't', detail: 'there is no such node' }]);
	await assert.rejects(get('v1/nodes/x'), (e) => e instanceof Problem && e.status === 404 &&
		e.message === 'there is no such node');
	serve(() => [502, '<html>proxy</html>']);
	await assert.rejects(get('v1/nodes'), { status: 502, message: 'the gateway answers 502' });
	serve(() => [200, 'no JSON']);
	await assert.rejects(get('v1/nodes'), Problem);
});

test('events are kept once each, the newest first, and not without limit', () => {
	let rows = [];
	for (const id of [3, 5, 4, 5, 3]) {
		rows = add_event(rows, { id });
	}
	assert.deepEqual(rows.map((r) => r.id), [5, 4, 3]);
	for (let id = 10; id < 2000; id++) {
		rows = add_event(rows, { id });
	}
	assert.equal(rows.length, 500);
	assert.equal(rows[0].id, 1999);
});

test('what is shown survives the address', () => {
	const tabs = ['events', 'load'];
	const at = { src: 'node 1/#&=', dst: 'ü', node: '0x1', group: '3', alarm: 'link_down-0x1-3', job: '', tab: 'load' };
	assert.deepEqual(parse(`#${format(at)}`, tabs), at);
	assert.equal(format(parse('', tabs)), '');
	assert.equal(parse('#tab=__proto__&x=1', tabs).tab, 'events');
});

test('values as people read them', () => {
	assert.deepEqual([age(-5), age(99000), age(7200000), age(400 * 3600000)],
		['0 s', '99 s', '2 h', '17 d']);
	assert.deepEqual([count(1, 'host'), count(1200, 'host'), count(2, 'switch', 'switches')],
		['1 host', '1,200 hosts', '2 switches']);
	assert.deepEqual([rate(0), rate(125), rate(12.5e9), rate(null)],
		['0 b/s', '1.0 kb/s', '100 Gb/s', '']);
	assert.deepEqual([end(null), end({ name: null, guid: '0x1' }), end({ name: 'a', port: 0 })],
		['', '0x1', 'a/0']);
	assert.equal(hex(32767), '0x7fff');
});

test('a what-if in sentences', () => {
	const side = { engine: 'minhop', load: { max: 630, mean: 630 } };
	const a = {
		before: side, after: { ...side, load: { max: 684, mean: 631 } }, hosts: { gone: 0 },
		pairs: { compared: 419256, moved: 1260, longer: 0, shorter: 0, lost: 0, gained: 0 },
		tables: { entries: 194, switches: 54 }, new_credit_loops: 0,
	};
	assert.deepEqual(whatif_words(a), { bad: false, lines: [
		'Of 419,256 pairs of hosts 1,260 take another route.',
		'The busiest link has 684 routes (1.08 × the mean); now it is 630 (1.00 × the mean).',
		'194 entries of the forwarding tables of 54 switches would be written.',
	] });
	a.pairs.lost = 2;
	assert.equal(whatif_words(a).bad, true);
});

test('what is switched off for a what-if is switched on again, also several at once', () => {
	const [a, b, c] = ['a', 'b', 'c'].map((key) => ({ key }));
	assert.deepEqual(without([], [a]), [a]);
	assert.deepEqual(without([a], [a]), []);
	assert.deepEqual(without([a, c], [a, b]), [a, c, b]);
	assert.deepEqual(without([a, c, b], [a, b]), [c]);
	assert.deepEqual(without([a], []), [a]);
});
