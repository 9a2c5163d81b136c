// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// Alarms as a tree of causes: what each costs, what it is called, and where it is on the map.
import { count } from './words.js';

/** The worst first. */
export const SEVERITIES = ['critical', 'error', 'warning', 'info'];

const NAMES = { critical: 'critical', error: 'error', warning: 'warning', info: 'note' };
export const severity_words = (severity, n) => count(n, NAMES[severity] ?? severity);

const key_of = (a) => a.id ?? `${a.kind} ${a.event ?? ''} ${a.text}`;

/**
 * Rows of /v1/alarms -> causes with an id and children, in the order of the answer. A row that
 * names its cause comes under it, if that is there.
 */
export const tree_of = (rows) => {
	const all = rows.map((a) => ({ ...a, id: key_of(a), children: tree_of(a.children ?? []) }));
	const by_id = new Map(all.map((a) => [a.id, a]));
	return all.filter((a) => {
		const cause = a.cause === a.id ? undefined : by_id.get(a.cause);
		cause?.children.push(a);
		return cause === undefined;
	});
};

/** All alarms of a tree, the causes first; each child knows the kind of its cause. */
export const flat = (tree) =>
	[...tree, ...tree.flatMap((a) => flat(a.children).map((c) => ({ of: a.kind, ...c })))];

export const find_alarm = (tree, id) => flat(tree).find((a) => a.id === id) ?? null;

/** Those that ask for somebody, those that somebody has taken, and those of planned work. */
export const sorted_out = (tree) => ({
	open: tree.filter((a) => !a.acknowledged && !a.maintenance),
	taken: tree.filter((a) => a.acknowledged && !a.maintenance),
	planned: tree.filter((a) => a.maintenance),
});

/** [[severity, how many]] of those that are there, the worst first. */
export const severities_of = (alarms) =>
	SEVERITIES.map((s) => [s, alarms.filter((a) => a.severity === s).length]).filter(([, n]) => n > 0);

/** What an alarm costs, in the gateway's words. */
export const cost_of = (alarm) => alarm.consequence?.text ?? '';

/** How many alarms an alarm stands for beside itself. */
export const joined = (alarm) => Math.max(alarm.children.length, alarm.with ?? 0);

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** Commands that acknowledge an alarm, or take that back. */
export const ack_command = (id) => `saguaro alarm ack ${quoted(id)} --note 'who, why'`;
export const unack_command = (id) => `saguaro alarm unack ${quoted(id)}`;

/** Commands that put a node or cable out of service, or back. */
export const start_command = (place) => `saguaro maintenance start ${quoted(place)} --note 'why'`;
export const end_command = (place) => `saguaro maintenance end ${quoted(place)}`;

/** Kind of alarm -> what it marks on the map; null: it is about no one place, or the map knows that place otherwise. */
export const KINDS = {
	not_ready: null, sweep_failed: null, unreachable: null, loop: null, sm_conflict: null, sm_unannounced: null,
	fallback: null, routing: null, rebalance_advised: null, copy_paused: null, chassis_gone: null,
	switch_gone: null, host_gone: null, not_active: null, degraded: null, silent: 'sick', problem: 'sick', link_down: 'lost', isolated: 'sick',
	quarantined: 'sick', unhealthy: 'sick', flapping: 'sick', switch_sick: 'sick', link_sick: 'sick',
	overloaded: 'loaded', master_lost: 'sick', disabled: 'drained',
};

const mark_of = (alarm, off) => {
	const is_off = (e) => e && off.has(`${e.guid} ${e.port}`);
	if (alarm.maintenance || alarm.of === 'disabled' || is_off(alarm.node) || is_off(alarm.peer)) {
		return 'drained';
	}
	const state = KINDS[alarm.kind] ?? 'sick'; // also of a kind that a newer gateway has
	return state === 'sick' && alarm.severity === 'info' ? null : state;
};

/* What is out of service, and is not marked so yet. */
const drained_of = (rows, marks) => {
	const key = (m) => [m.a, m.b].sort().join(' ');
	const known = new Set(marks.filter((m) => m.state === 'drained').map(key));
	return rows.map((r) => ({ state: 'drained', a: r.node.guid, b: r.peer?.guid ?? null, since: Date.parse(r.since) }))
		.filter((m) => !known.has(key(m)));
};

/**
 * What alarms, and rows of /v1/maintenance, mark on the map: [{state, a, b: GUIDs, b null: only a,
 * since: in ms or null}].
 */
export const marks_of = (tree, maintenance = []) => {
	const all = flat(tree).filter((a) => a.node && (KINDS[a.kind] !== null || a.maintenance));
	const off = new Set(all.filter((a) => a.kind === 'disabled').map((a) => `${a.node.guid} ${a.node.port}`));
	const marks = all.map((a) => ({
		state: mark_of(a, off),
		a: a.node.guid,
		b: a.peer?.guid ?? null,
		since: a.since ? Date.parse(a.since) : null,
	})).filter((m) => m.state !== null);
	return [...marks, ...drained_of(maintenance, marks)];
};

/** GUIDs that an alarm is about. */
export const guids_of = (alarm) => [alarm.node?.guid, alarm.peer?.guid].filter(Boolean);
