// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// What the page knows: one signal per answer of the gateway, and when each is asked again.
// An answer that fails leaves the older one, which then counts as old.
import { computed, signal } from '@preact/signals';
import { clock, get, list, listen, Problem } from './api.js';
import { marks_of, tree_of } from './causes.js';

const EVENTS_KEPT = 500;
const ALARMS_MOST = 1000;
const GONE_MOST = 5000;
const LINKS_MOST = 20000;
const JOBS_MOST = 1000;
const STATE_MS = 5000; // the header, whether or not something happened
const SETTLE_MS = 400; // events come in bursts
export const GATEWAY_SILENT = 'the gateway does not answer';

export const now = signal(Date.now());
export const trouble = signal(null); // why the gateway does not answer; null: it does
export const answered = signal(null); // when it answered the last time, in ms
export const live = signal(false); // the feed of events is connected
export const ready = signal(null);
export const fabric = signal(null);
export const routing = signal(null);
export const sm = signal(null);
export const sweeps = signal(null);
export const alarms = signal(null);
export const causes = computed(() => tree_of(alarms.value?.alarms ?? []));
export const maintenance = signal(null);
export const marks = computed(() => marks_of(causes.value, maintenance.value?.maintenance));
export const gone = signal([]); // of /v1/known, with their last places
export const lost_links = signal([]); // the same of cables, that went with a switch
export const topology = signal(null);
export const events = signal([]); // the newest first
export const partitions = signal(null);
export const jobs = signal(null);
export const load = signal(null);
export const counters = signal(null);

/** Sets a signal to the answer; a fabric that is not there yet is no answer. */
const ask = async (into, path, params) => {
	try {
		into.value = await get(path, params);
		trouble.value = null;
		answered.value = now.value;
	} catch (e) {
		if (!(e instanceof Problem)) {
			trouble.value = GATEWAY_SILENT;
		} else if (e.status === 503) {
			trouble.value = e.message;
		}
	}
};

/** /readyz answers 503 with the reason in the same body. */
const ask_ready = async () => {
	try {
		ready.value = await get('readyz');
	} catch (e) {
		ready.value = { ready: false, detail: e.message, since: e.body?.since ?? null };
	}
};

/** What the header and the list of alarms say. */
export const refresh_state = () =>
	Promise.all([
		ask_ready(),
		ask(fabric, 'v1/fabric'),
		ask(routing, 'v1/routing'),
		ask(sm, 'v1/sm'),
		ask(sweeps, 'v1/sweeps', { limit: 20 }),
		ask(alarms, 'v1/alarms', { limit: ALARMS_MOST, children: 1 }),
		ask(maintenance, 'v1/maintenance'),
		refresh_gone(),
	]);

const sign_of = (rows) => rows.map((n) => `${n.port_guid} ${n.gone_since}`).join();

/* Nodes that are gone, with the cables that they had: a switch that is gone has no other trace of its place. */
const refresh_gone = async () => {
	try {
		const { rows } = await list('v1/known', 'known', { gone: 1 }, GONE_MOST);
		if (sign_of(rows) === sign_of(gone.value)) {
			return; // so that the map is not drawn again
		}
		gone.value = rows;
		lost_links.value = rows.every((n) => n.type === 'ca') ? []
			: (await list('v1/known', 'known', { cables: 1, gone: 1 }, LINKS_MOST)).rows;
	} catch {
		// the map then shows less of what is gone, and words say the rest
	}
};

export const refresh_map = () => ask(topology, 'v1/topology', { hosts: 1 });

export const refresh_tab = (tab) => {
	if (tab === 'partitions') {
		return ask(partitions, 'v1/partitions');
	}
	if (tab === 'jobs') {
		return ask(jobs, 'v1/jobs', { limit: JOBS_MOST });
	}
	if (tab === 'load') {
		return ask(load, 'v1/load', { limit: 200 });
	}
	if (tab === 'counters') {
		return ask(counters, 'v1/counters', { limit: 2000, history: 1 });
	}
	return Promise.resolve();
};

const read_events = async () => {
	try {
		const { events: rows } = await get('v1/events', { last: 200 });
		events.value = rows.reverse();
	} catch {
		// the feed says so
	}
};

/** A row of the feed; rows may come twice after a reconnection. */
export const add_event = (rows, row) =>
	rows.some((r) => r.id === row.id)
		? rows
		: [row, ...rows].sort((a, b) => b.id - a.id).slice(0, EVENTS_KEPT);

/** Begins; returns a function that ends it. tab() says which list is shown. */
export const start = (tab) => {
	let settle = 0;
	let epoch = 0;

	const refresh = async () => {
		await refresh_state();
		if (fabric.value && fabric.value.epoch !== epoch) {
			epoch = fabric.value.epoch;
			await refresh_map();
		}
		await refresh_tab(tab());
	};
	const soon = () => {
		clearTimeout(settle);
		settle = setTimeout(refresh, SETTLE_MS);
	};
	const stop_listening = listen({
		event: (row) => {
			events.value = add_event(events.value, row);
			soon();
		},
		resync: () => {
			read_events();
			soon();
		},
		open: (is) => {
			live.value = is;
			if (is) {
				read_events();
			}
		},
	});
	const every = setInterval(() => document.hidden || refresh(), STATE_MS);
	const second = setInterval(() => (now.value = Date.now() + clock.ahead), 1000);
	refresh();
	return () => {
		stop_listening();
		clearTimeout(settle);
		clearInterval(every);
		clearInterval(second);
	};
};

/** Names that begin so, for the search. */
export const suggest = async (text, signal) => {
	const clean = text.replace(/[*?[\]\\]/g, '');
	if (clean === '') {
		return [];
	}
	const { rows } = await list('v1/nodes', 'nodes', { name: `${clean}*`, ports: 0 }, 12, signal);
	return rows.map((n) => n.name);
};
