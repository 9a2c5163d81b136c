// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// From an answer of /v1/topology to a drawing in numbers. No canvas in here.
//
// A drawing is {kind: 'rows' | 'matrix', ...}. Rows: each vertex has a place, bundles are
// lines between places. Matrix: bundles are cells; its rows and columns are vertices.

import { with_short_names } from './names.js';

/** Above so many vertices of one tier a drawing as rows says nothing. */
const ROW_MOST = 480;

/** States of a bundle, switch or host, the worst first. */
export const STATES = ['gone', 'lost', 'down', 'sick', 'degraded', 'loaded', 'drained', 'fine'];

/* drawn: hosts of a vertex that are drawn; hosts_gone: others of it that are gone. */
const NO_MARKS = { gone: 0, hosts_gone: 0, lost: 0, sick: 0, loaded: 0, drained: 0, drawn: 0, since: null };

const by_name = new Intl.Collator('en', { numeric: true }).compare;

/** Bundles as objects. The columns are named in the answer, and may become more. */
export const bundles_of = (topology) => {
	const at = Object.fromEntries(topology.bundle_columns.map((name, i) => [name, i]));

	return topology.bundles.map((b, i) => ({
		index: i,
		a: b[at.a],
		b: b[at.b],
		cables: b[at.cables],
		not_active: b[at.not_active],
		degraded: b[at.degraded],
		from_a: b[at.max_routes_from_a],
		from_b: b[at.max_routes_from_b],
		routes: Math.max(b[at.max_routes_from_a] ?? 0, b[at.max_routes_from_b] ?? 0),
		rate_gbps: b[at.rate_gbps],
		...NO_MARKS,
	}));
};

/** Where things are in a drawing, by GUID; group_of: GUID of a switch -> its group. */
const finder = (vertices, group_of) => {
	const at = new Map(vertices.map((v) =>
		[v.type === 'group' ? `group ${v.group}` : v.guid, v.index]));
	return (guid) => at.get(guid) ?? at.get(`group ${group_of.get(guid)}`);
};

const pair = (p, q) => `${Math.min(p, q)} ${Math.max(p, q)}`;

const no_cable = (index, p, q) => ({ index, a: Math.min(p, q), b: Math.max(p, q), cables: 0, not_active: 0,
	degraded: 0, from_a: 0, from_b: 0, routes: 0, rate_gbps: 0, ...NO_MARKS });

/* Puts marks where they belong: on a bundle, which may have lost its cables; on a vertex that
 * has both ends; or on the one end that is drawn. */
const add_marks = (vertices, bundles, marks, group_of) => {
	if (marks.length === 0) {
		return;
	}
	const place = finder(vertices, group_of);
	const by_pair = new Map(bundles.map((b) => [pair(b.a, b.b), b]));
	for (const { a, b, state, since } of marks) {
		const p = place(a);
		const q = place(b);
		let to = p === undefined || q === undefined || p === q ? vertices[p ?? q] : by_pair.get(pair(p, q));
		const away = p === undefined ? a : q === undefined ? b : null;
		if (to === undefined ? away !== null : away !== null && group_of.has(away)) {
			continue; // one of its switches is not in this view
		}
		if (to === undefined) {
			to = no_cable(bundles.length, p, q);
			bundles.push(to);
			by_pair.set(pair(p, q), to);
		}
		if (state === 'gone' && to.type !== undefined) {
			continue; // the switch that had the cable is counted already
		}
		to[state]++;
		to.since = since === null || (to.since !== null && to.since > since) ? to.since : since;
	}
};

/* Switches that are gone as vertices, or as a mark on the group that they were in. */
const add_ghosts = (vertices, ghosts, inside) => {
	const drawn = new Set(vertices.map((v) => v.guid));
	const groups = new Map(vertices.filter((v) => v.type === 'group').map((v) => [v.group, v]));
	for (const g of ghosts) {
		const within = groups.get(g.group);
		if (within) {
			within.gone++;
		} else if (g.tier !== undefined && (inside === null || g.group === inside ||
			g.cables.some((guid) => drawn.has(guid)))) {
			vertices.push({ type: 'switch', guid: g.guid, name: g.name, group: g.group, tier: g.tier, hosts: 0,
				index: vertices.length, switches: 1, not_active: 0, degraded: 0, routes: 0, ...NO_MARKS,
				gone: 1, since: g.since });
		}
	}
};

/* A switch of which a view of one group shows nothing any more, because its last cable there is
 * lost. */
const add_far_ends = (vertices, marks, inside, places) => {
	const drawn = new Map(vertices.map((v) => [v.guid, v]));
	const add = (here, there) => {
		const far = places.get(there);
		if (drawn.get(here)?.group === inside && !drawn.has(there) && far && far.group === null) {
			vertices.push({ ...far, type: 'switch', index: vertices.length, name: far.name || far.guid, switches: 1,
				not_active: 0, degraded: 0, routes: 0, ...NO_MARKS });
			drawn.set(there, vertices.at(-1));
		}
	};
	for (const { a, b } of inside === null ? [] : marks) {
		add(a, b);
		add(b, a);
	}
};

/* Hosts that are gone from switches that are drawn as a group. */
const count_ghost_hosts = (vertices, wrong) => {
	const groups = new Map(vertices.filter((v) => v.type === 'group').map((v) => [v.group, v]));
	const with_switch = new Set(wrong.switches.map((g) => g.guid));
	for (const h of groups.size > 0 ? wrong.hosts : []) {
		const within = with_switch.has(h.switch) ? undefined : groups.get(wrong.group_of.get(h.switch));
		if (within) {
			within.hosts_gone++;
		}
	}
};

const ghost_cables = (ghosts) => ghosts.flatMap((g) =>
	g.cables.map((b) => ({ a: g.guid, b, state: 'gone', since: g.since })));

/* Hosts at the vertices that they are cabled to, in the order of ports, those that are gone in
 * their place; what is wrong with them counts at their switch, too. */
const hosts_of = (topology, vertices, wrong) => {
	const at = new Map(vertices.map((v) => [v.guid, v.index]));
	const seen = new Set((topology.hosts ?? []).map((h) => `${h.guid} ${h.port}`));
	const sick = new Map(wrong.marks.flatMap((m) => [[m.a, m], [m.b, m]]));
	const hosts = (topology.hosts ?? []).map((h) => ({
		...h, ...NO_MARKS, not_active: Number(h.state !== 'active'), degraded: Number(h.degraded),
	}));
	for (const h of hosts) {
		const m = sick.get(h.guid);
		if (m) {
			h[m.state]++;
			h.since = m.since;
		}
	}
	for (const g of wrong.hosts) {
		const vertex = at.get(g.switch);
		if (vertex !== undefined && !seen.has(`${g.guid} ${g.port}`)) {
			hosts.push({ ...g, ...NO_MARKS, vertex, not_active: 0, degraded: 0, gone: 1, since: g.since });
		}
	}
	hosts.sort((p, q) => p.vertex - q.vertex || p.switch_port - q.switch_port);
	return hosts.map((h, index) => ({ ...h, index, nth: vertices[h.vertex].drawn++ }));
};

/** Vertices with their name and what is wrong inside them. */
export const vertices_of = (topology) => {
	const group = new Map(topology.groups.map((g) => [g.group, g]));
	const pod = topology.kind === 'tree' ? 'pod' : 'group';

	return topology.vertices.map((v, i) => {
		const own = v.type === 'group' ? group.get(v.group) : null;
		return {
			...v,
			index: i,
			name: v.type === 'group' ? `${pod} ${v.group}` : v.name || v.guid,
			switches: own ? own.switches : 1,
			not_active: own ? own.not_active : 0,
			degraded: own ? own.degraded : 0,
			routes: own ? own.max_routes : 0,
			...NO_MARKS,
		};
	});
};

/** The worst of a bundle, vertex or host. */
export const state_of = (x) =>
	(x.gone > 0 && !(x.cables > 0)) || x.hosts_gone > 0 ? 'gone' : x.lost > 0 ? 'lost' : x.not_active > 0 ? 'down' : x.sick > 0 ? 'sick'
		: x.degraded > 0 ? 'degraded' : x.loaded > 0 ? 'loaded' : x.drained > 0 ? 'drained' : 'fine';

const spread = (row, y) => row.map((v, i) => ({ ...v, x: (i + 0.5) / row.length, y }));

/** Pods side by side, and switches of one pod beside each other, also those that are gone. */
const row_order = (p, q) => (p.group ?? Infinity) - (q.group ?? Infinity) || by_name(p.name, q.name) || p.index - q.index;

const tier_words = (tier, n) =>
	tier === 0 ? `${n} ${n === 1 ? 'leaf' : 'leaves'}`
		: tier === Infinity ? `${n} without tier` : `tier ${tier}: ${n}`;

/* Tiers as rows, the leaves at the bottom. What has no tier stands above all. */
const rows_model = (vertices, bundles, hosts) => {
	const tiers = [...new Set(vertices.map((v) => v.tier ?? Infinity))].sort((p, q) => p - q);
	const placed = new Array(vertices.length);
	const labels = [];

	tiers.forEach((tier, i) => {
		const row = vertices.filter((v) => (v.tier ?? Infinity) === tier).sort(row_order);
		const y = 1 - (i + 0.1) / (tiers.length - 0.8);
		const outer = i === 0 || i + 1 === tiers.length;
		labels.push({ y, text: tier_words(tier, row.length) });
		for (const v of spread(row, y)) {
			placed[v.index] = { ...v, outer };
		}
	});
	return { kind: 'rows', vertices: placed, bundles, labels, hosts };
};

/*
 * Rows and columns of the matrix: of a folded tree pods and the switches above them, as far
 * as cables lead from one to the other; of a group of anything else its switches, and all that
 * they are cabled to; else all vertices in both directions.
 */
const matrix_model = (topology, vertices, bundles, hosts, inside) => {
	const is_tree = topology.kind === 'tree';
	const is_row = inside === null ? (v) => v.type === 'group' : (v) => v.group === inside && v.type === 'switch';
	let rows = vertices.filter(is_row);
	let columns = vertices.filter((v) => !is_row(v));
	if (vertices.some((v) => v.gone > 0 && v.type === 'switch')) {
		rows.sort(row_order);
		columns.sort(row_order);
	}
	const square = inside === null && (!is_tree || rows.length === 0 || columns.length === 0);

	if (square) {
		rows = columns = vertices.some((v) => v.gone > 0) ? [...vertices].sort(row_order) : vertices;
	} else {
		const cabled = new Set(bundles.flatMap((b) =>
			is_row(vertices[b.a]) !== is_row(vertices[b.b]) ? [b.a, b.b] : []));
		columns = columns.filter((v) => cabled.has(v.index));
		rows = is_tree ? rows.filter((v) => cabled.has(v.index)) : rows;
		columns = is_tree ? columns : [...rows, ...columns];
	}
	const row_at = new Map(rows.map((v, i) => [v.index, i]));
	const column_at = new Map(columns.map((v, i) => [v.index, i]));
	const cells = [];
	for (const b of bundles) {
		for (const [p, q, routes] of [[b.a, b.b, b.from_a], [b.b, b.a, b.from_b]]) {
			if (row_at.has(p) && column_at.has(q)) {
				cells.push({
					row: row_at.get(p),
					column: column_at.get(q),
					bundle: b,
					routes: is_tree ? b.routes : routes ?? 0,
				});
			}
		}
	}
	return { kind: 'matrix', vertices, bundles, rows, columns, cells, square, hosts };
};

/**
 * How evenly the routes are spread, in sentences. tiers: of /v1/load; fabric: /v1/fabric.
 * The mean is the bound: the same routes spread evenly. The routes of one host, which sends to
 * every LID of all others, are what a link as fast as a host's carries at full bisection.
 */
export const load_words = (tiers, fabric) => {
	const used = tiers.filter((t) => t.mean_routes > 0);
	if (used.length === 0) {
		return ['No link between switches has routes.'];
	}
	const over = (t) => t.max_routes / t.mean_routes;
	const worst = used.reduce((w, t) => (over(t) > over(w) ? t : w));
	const most = Math.max(...used.map((t) => t.max_routes));
	const own = Math.max(1, fabric.hosts - 1) * 2 ** (fabric.lmc ?? 0);
	const show = (n) => Math.round(n).toLocaleString('en');
	const where = used.length > 1 ? ` (tier ${worst.from ?? '?'} to ${worst.to ?? '?'})` : '';
	return [
		`Evenness: the busiest cable has ${show(worst.max_routes)} routes, ` +
			`${over(worst).toFixed(2)} × the ${show(worst.mean_routes)} of an even spread${where}.`,
		most <= own
			? `Bisection: full, no cable has more than the ${show(own)} routes of one host.`
			: `Bisection: the busiest cable has ${(most / own).toFixed(2)} × the ${show(own)} routes of ` +
				`one host, so when all send to all, ${Math.floor(100 * own / most)} % of a host's rate is left.`,
	];
};

const NOTHING = { marks: [], switches: [], hosts: [], group_of: new Map(), places: new Map() };

/* Vertices, bundles and hosts with what is wrong about them. */
const parts_of = (topology, inside, wrong) => {
	const vertices = vertices_of(topology);
	const bundles = bundles_of(topology);
	add_ghosts(vertices, wrong.switches, inside);
	add_far_ends(vertices, wrong.marks, inside, wrong.places);
	count_ghost_hosts(vertices, wrong);
	with_short_names(vertices).forEach((v, i) => (vertices[i] = v));
	add_marks(vertices, bundles, [...wrong.marks.filter((m) => m.b !== null), ...ghost_cables(wrong.switches)],
		wrong.group_of);
	const hosts = hosts_of(topology, vertices, wrong);
	const is_host = new Set(hosts.map((h) => h.guid));
	add_marks(vertices, [], wrong.marks.filter((m) => m.b === null && !is_host.has(m.a)), wrong.group_of);
	return { vertices, bundles, hosts };
};

/**
 * The drawing of an answer. inside: the number of the group that it shows, or null.
 * A pod is drawn without the cores above it, which are the columns of its matrix.
 * wrong: {marks: of marks_of(), switches and hosts: of ghosts_of(), group_of: GUID of a switch
 * -> its group, for a folded map, places: GUID of a switch -> its vertex}.
 */
export const model_of = (topology, inside = null, wrong = NOTHING) => {
	const { vertices, bundles, hosts } = parts_of(topology, inside, { ...NOTHING, ...wrong });
	const own = (b) => vertices[b.a].group === inside && vertices[b.b].group === inside;

	if (inside !== null && topology.kind === 'tree') {
		const kept = vertices.filter((v) => v.group === inside);
		const place = new Map(kept.map((v, i) => [v.index, i]));
		return rows_model(
			kept.map((v, i) => ({ ...v, index: i })),
			bundles.filter(own).map((b, i) => ({ ...b, index: i, a: place.get(b.a), b: place.get(b.b) })),
			hosts.filter((h) => place.has(h.vertex)).map((h, i) => ({ ...h, index: i, vertex: place.get(h.vertex) })),
		);
	}
	const most = Math.max(0, ...topology.tiers.map((t) => t.switches));
	const as_rows = topology.kind === 'tree' && !topology.folded && most <= ROW_MOST;
	return as_rows ? rows_model(vertices, bundles, hosts)
		: matrix_model(topology, vertices, bundles, hosts, inside);
};

/** A pod of a tree and what is above it, as a matrix: where its uplinks go. */
export const uplinks_of = (topology, inside, wrong = NOTHING) => {
	const { vertices, bundles } = parts_of(topology, inside, { ...NOTHING, ...wrong });
	return matrix_model(topology, vertices, bundles, [], inside);
};

/** The most routes on one link of a drawing: the end of its scale. */
export const most_routes = (model) =>
	Math.max(1, model.bundles.reduce((most, b) => Math.max(most, b.routes), 0));

/**
 * How busy each bundle is: the highest utilization of its ports as last read, 0 to 1; null:
 * no reading. rows: of /v1/counters. group_of: GUID of a switch -> its group, for a folded map.
 */
export const traffic_of = (model, rows, group_of = new Map()) => {
	const place = finder(model.vertices, group_of);
	const most = new Map();
	for (const row of rows) {
		const p = place(row.node_guid);
		const q = row.peer ? place(row.peer.guid) : undefined;
		if (p !== undefined && q !== undefined && row.utilization !== null) {
			most.set(pair(p, q), Math.max(most.get(pair(p, q)) ?? 0, row.utilization));
		}
	}
	return model.bundles.map((b) => most.get(pair(b.a, b.b)) ?? null);
};

/** Cables of a what-if -> bundles that have such: index -> how many. off: {a, b: GUIDs}. */
export const off_bundles = (model, off, group_of = new Map()) => {
	const place = finder(model.vertices, group_of);
	const by_pair = new Map(off.length > 0
		? model.bundles.map((b) => [pair(b.a, b.b), b.index]) : []);
	const found = new Map();
	for (const { a, b } of off) {
		const i = by_pair.get(pair(place(a), place(b)));
		if (i !== undefined) {
			found.set(i, (found.get(i) ?? 0) + 1);
		}
	}
	return found;
};

/* Is it marked itself, or in a pod of which no bundle says so? */
const is_marked = (v) => v.lost + v.sick + v.loaded + v.drained + (v.type === 'group' ? v.degraded + v.not_active : 0) > 0;

/** How many bundles are of each state, with the switches, pods and hosts that are so and have no such bundle. */
export const tally = (model) => {
	const n = Object.fromEntries(STATES.map((s) => [s, 0]));
	const said = new Set();
	for (const b of model.bundles) {
		n[state_of(b)]++; // what went with a switch is counted with that
		said.add(`${b.a} ${state_of(b)}`).add(`${b.b} ${state_of(b)}`);
	}
	n.gone = model.vertices.reduce((sum, v) => sum + v.gone + v.hosts_gone, 0) + model.hosts.filter((h) => h.gone > 0).length;
	for (const v of model.vertices) {
		n[state_of(v)] += Number(v.gone === 0 && v.hosts_gone === 0 && is_marked(v) && !said.has(`${v.index} ${state_of(v)}`));
	}
	for (const h of model.hosts) {
		n[state_of(h)] += Number(h.gone === 0 && state_of(h) !== 'fine');
	}
	return n;
};

/**
 * Places of what is not fine, the worst first: {vertex}, {bundle, vertex}, {host} or
 * {row, column}, as the keyboard's cursor has them.
 */
export const exceptions_of = (model) => {
	const rank = (x) => STATES.indexOf(state_of(x));
	const found = [];
	const add = (at, x) => state_of(x) !== 'fine' && found.push({ at, rank: rank(x) });
	if (model.kind === 'matrix') {
		model.cells.forEach((c) => state_of(c.bundle) !== 'gone' && add({ row: c.row, column: c.column }, c.bundle));
		model.square || model.columns.forEach((v, column) => add({ row: null, column }, v));
		model.rows.forEach((v, row) => v.gone > 0 && v.type !== 'group' && add({ row, column: null }, v));
	} else {
		model.vertices.forEach((v) => add({ vertex: v.index }, v));
		model.bundles.forEach((b) => state_of(b) !== 'gone' && add({ bundle: b.index, vertex: b.a }, b));
	}
	model.hosts.forEach((h) => add({ host: h.index }, h));
	return found.sort((p, q) => p.rank - q.rank).map((f) => f.at);
};

/** What of a drawing GUIDs are, as sets of indices: {vertices, bundles, hosts}. */
export const chosen_of = (model, guids, group_of = new Map()) => {
	const place = finder(model.vertices, group_of);
	const at = guids.map(place).filter((i) => i !== undefined);
	const wanted = new Set(guids);
	const joins = (b) => at.includes(b.a) && at.includes(b.b);
	return {
		vertices: new Set(at),
		bundles: new Set(at.length > 1 ? model.bundles.filter(joins).map((b) => b.index) : []),
		hosts: new Set(model.hosts.filter((h) => wanted.has(h.guid)).map((h) => h.index)),
	};
};

/** Vertices on a path, by the GUIDs of its switches and hosts; those not drawn are left out. */
export const on_path = (model, guids, group_of = new Map()) => {
	const place = finder(model.vertices, group_of);
	const walk = [];
	for (const guid of guids) {
		const i = place(guid);
		if (i !== undefined && walk[walk.length - 1] !== i) {
			walk.push(i);
		}
	}
	return walk;
};
