// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// What if cables and switches were off: they are chosen on the map or in a list of ports, and
// the gateway routes a copy of the fabric without them. The fabric itself stays as it is.
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { get, list, post } from './api.js';
import { StartMaintenance } from './change.jsx';
import { Table } from './table.jsx';
import { without, whatif_words } from './whatif.js';
import { count, end, number } from './words.js';

const SETTLE_MS = 250; // several clicks are one question
const LINKS_SHOWN = 20;

/** What is off: {key, name, down: as /v1/whatif wants it, a, b: GUIDs of a cable's ends}. */
export const off = signal([]);
export const trouble = signal(null); // why the last click could not be followed

/** The cable of a port, of /v1/ports. */
export const cable_of = (p) => ({
	key: [`${p.node_guid}:${p.port}`, `${p.peer.guid}:${p.peer.port}`].sort().join(' '),
	name: `${end(p)} - ${end(p.peer)}`,
	down: `${p.node_guid}:${p.port}`,
	a: p.node_guid,
	b: p.peer.guid,
});

export const node_as_off = (about) =>
	({ key: about.guid, name: about.name || about.guid, down: about.guid, a: null, b: null });

/** Off, or on again if all of them are off already. */
export const toggle = (things) => {
	off.value = without(off.value, things);
	trouble.value = null;
};

export const reset = () => {
	off.value = [];
	trouble.value = null;
};

const ports_of = async (guid) =>
	(await list('v1/ports', 'ports', { node: guid }, 1000)).rows.filter((p) => p.peer);

/* Switches of a group that have cables to another one. */
const switches_towards = async (group, other) => {
	const t = await get('v1/topology', { group });
	const is_other = (i) => t.vertices[i].type === 'group' && t.vertices[i].group === other;
	const found = t.bundles.flatMap(([a, b]) => (is_other(a) ? [b] : is_other(b) ? [a] : []));
	return [...new Set(found)].map((i) => t.vertices[i].guid);
};

/** GUID of each switch -> {group, tier, ...}. */
export const places_of_switches = async (signal) => {
	const t = await get('v1/topology', { switches: 1 }, signal);
	return new Map(t.vertices.filter((v) => v.type === 'switch').map((v) => [v.guid, v]));
};

/** Switches off, or on again, all cables between two vertices of the map. */
export const toggle_bundle = async (p, q) => {
	const [from, to] = p.guid ? [p, q] : [q, p];
	try {
		const place_of = to.guid ? null : await places_of_switches();
		const is_far = (guid) => (to.guid ? guid === to.guid : place_of.get(guid)?.group === to.group);
		const guids = from.guid ? [from.guid] : await switches_towards(from.group, to.group);
		const ports = (await Promise.all(guids.map(ports_of))).flat();
		toggle(ports.filter((x) => is_far(x.peer.guid)).map(cable_of));
	} catch (e) {
		trouble.value = e.message;
	}
};

const LINK_COLUMNS = [
	{ name: 'from', of: (l) => end(l.from) },
	{ name: 'to', of: (l) => end(l.to) },
	{ name: 'routes now', of: (l) => l.before, number: true, show: (l) => number(l.before) },
	{ name: 'routes then', of: (l) => l.after, number: true, show: (l) => number(l.after) },
];

const Answer = ({ answer }) => {
	const words = whatif_words(answer);
	return (
		<>
			<ul class={words.bad ? 'warning' : ''}>{words.lines.map((l) => <li key={l}>{l}</li>)}</ul>
			{answer.links.length > 0 &&
				<Table title="Links whose load changes" columns={LINK_COLUMNS} rows={answer.links} />}
		</>
	);
};

const use_answer = (down, epoch) => {
	const [found, set_found] = useState({});
	const key = `${epoch} ${down.join(' ')}`;
	useEffect(() => {
		const ended = new AbortController();
		const timer = down.length === 0 ? 0 : setTimeout(() => {
			post('v1/whatif', { down, limit: LINKS_SHOWN }, ended.signal)
				.then((answer) => set_found({ key, answer }))
				.catch((e) => e.name !== 'AbortError' && set_found({ key, error: e.message }));
		}, SETTLE_MS);
		return () => {
			clearTimeout(timer);
			ended.abort();
		};
	}, [key]);
	return found.key === key ? found : {};
};

/** What is off, and what the fabric would be without it. */
export const WhatIf = ({ epoch }) => {
	const things = off.value;
	const { answer, error } = use_answer(things.map((x) => x.down), epoch);

	if (things.length === 0) {
		return trouble.value && <p class="warning" role="alert">{trouble.value}</p>;
	}
	return (
		<section class="whatif" aria-labelledby="whatif">
			<div class="bar">
				<h3 id="whatif">What if {count(things.length, 'thing')} were off?</h3>
				<button type="button" onClick={reset}>all on again</button>
			</div>
			<ul class="chips">
				{things.map((x) => (
					<li key={x.key}>
						<button type="button" aria-label={`${x.name}: on again`} onClick={() => toggle([x])}>
							{x.name} ✕
						</button>
					</li>
				))}
			</ul>
			{trouble.value && <p class="warning" role="alert">{trouble.value}</p>}
			<div role="status">
				{error ? <p class="warning">{error}</p>
					: !answer ? <p>Routing a copy of the fabric ...</p>
					: <Answer answer={answer} />}
			</div>
			<StartMaintenance things={things} done={reset} />
		</section>
	);
};
