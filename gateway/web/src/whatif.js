// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// What is off for a what-if, and the answer of /v1/whatif in sentences.
import { count, number } from './words.js';

const pair_words = (pairs) =>
	[
		[pairs.moved, 'take another route'],
		[pairs.longer, 'become longer'],
		[pairs.shorter, 'become shorter'],
		[pairs.lost, 'lose their route'],
		[pairs.gained, 'gain a route'],
	].filter(([n]) => n > 0).map(([n, what]) => `${number(n)} ${what}`);

const over_mean = (load) => (load.mean > 0 ? ` (${(load.max / load.mean).toFixed(2)} × the mean)` : '');

const load_words = (before, after) =>
	before.load.max === after.load.max
		? `The busiest link has ${number(before.load.max)} routes, as now.`
		: `The busiest link has ${number(after.load.max)} routes${over_mean(after.load)}; ` +
			`now it is ${number(before.load.max)}${over_mean(before.load)}.`;

/** A list of what is off with more of it; what is off already, if all of it is, is on again. */
export const without = (off, things) => {
	const keys = new Set(off.map((x) => x.key));
	const fresh = things.filter((x) => !keys.has(x.key));
	const again = new Set(things.map((x) => x.key));
	return fresh.length > 0 ? [...off, ...fresh] : off.filter((x) => !again.has(x.key));
};

/** {bad, lines}: bad when pairs lose their routes or credit loops appear. */
export const whatif_words = (a) => {
	const moved = pair_words(a.pairs);
	const lines = [
		moved.length === 0
			? `None of ${count(a.pairs.compared, 'pair')} of hosts changes.`
			: `Of ${count(a.pairs.compared, 'pair')} of hosts ${moved.join(', ')}.`,
		load_words(a.before, a.after),
		`${count(a.tables.entries, 'entry', 'entries')} of the forwarding tables ` +
			`of ${count(a.tables.switches, 'switch', 'switches')} would be written.`,
	];
	if (a.hosts.gone > 0) {
		lines.push(`${count(a.hosts.gone, 'host')} would be gone.`);
	}
	if (a.new_credit_loops > 0) {
		lines.push(`${count(a.new_credit_loops, 'new credit loop')}.`);
	}
	if (a.after.engine !== a.before.engine) {
		lines.push(`The engine would be ${a.after.engine} instead of ${a.before.engine}.`);
	}
	return { bad: a.pairs.lost > 0 || a.new_credit_loops > 0, lines };
};
