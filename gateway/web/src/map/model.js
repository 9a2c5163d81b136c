// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// From an answer of /v1/topology to a drawing in numbers. No canvas in here.
//
// A drawing is {kind: 'rows' | 'matrix', ...}. Rows: each vertex has a place, bundles are
// lines between places. Matrix: bundles are cells; its rows and columns are vertices.

/** Above so many vertices of one tier a drawing as rows says nothing. */
const ROW_MOST = 480;

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
		lost: 0,
		since: null,
	}));
};

/** Cables that are gone, of /v1/alarms: {a, b: GUIDs, since: in ms or null}. */
export const lost_of = (alarms) =>
	alarms.filter((x) => x.kind === 'link_down' && x.node && x.peer).map((x) => ({
		a: x.node.guid,
		b: x.peer.guid,
		since: x.since ? Date.parse(x.since) : null,
	}));

/** Where things are in a drawing, by GUID; group_of: GUID of a switch -> its group. */
const finder = (vertices, group_of) => {
	const at = new Map(vertices.map((v) =>
		[v.type === 'group' ? `group ${v.group}` : v.guid, v.index]));
	return (guid) => at.get(guid) ?? at.get(`group ${group_of.get(guid)}`);
};

const pair = (p, q) => `${Math.min(p, q)} ${Math.max(p, q)}`;

/* Puts lost cables where they were: into a bundle, into a vertex that has both ends, or as a
 * bundle without cables. */
const add_lost = (vertices, bundles, lost, group_of) => {
	if (lost.length === 0) {
		return;
	}
	const place = finder(vertices, group_of);
	const by_pair = new Map(bundles.map((b) => [pair(b.a, b.b), b]));
	for (const { a, b, since } of lost) {
		const p = place(a);
		const q = place(b);
		if (p === undefined || q === undefined) {
			continue;
		}
		let to = p === q ? vertices[p] : by_pair.get(pair(p, q));
		if (to === undefined) {
			to = { index: bundles.length, a: Math.min(p, q), b: Math.max(p, q), cables: 0,
				not_active: 0, degraded: 0, from_a: 0, from_b: 0, routes: 0, rate_gbps: 0,
				lost: 0, since: null };
			bundles.push(to);
			by_pair.set(pair(p, q), to);
		}
		to.lost++;
		to.since = since === null || (to.since !== null && to.since > since) ? to.since : since;
	}
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
			lost: 0,
			since: null,
		};
	});
};

/** lost, down, degraded or fine: the worst of a bundle or vertex. */
export const state_of = (x) =>
	x.lost > 0 ? 'lost' : x.not_active > 0 ? 'down' : x.degraded > 0 ? 'degraded' : 'fine';

const spread = (row, y) => row.map((v, i) => ({ ...v, x: (i + 0.5) / row.length, y }));

/** Pods side by side, and switches of one pod beside each other. */
const row_order = (p, q) => (p.group ?? Infinity) - (q.group ?? Infinity) || p.index - q.index;

const tier_words = (tier, n) =>
	tier === 0 ? `${n} ${n === 1 ? 'leaf' : 'leaves'}`
		: tier === Infinity ? `${n} without tier` : `tier ${tier}: ${n}`;

/* Tiers as rows, the leaves at the bottom. What has no tier stands above all. */
const rows_model = (vertices, bundles) => {
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
	return { kind: 'rows', vertices: placed, bundles, labels };
};

/*
 * Rows and columns of the matrix: of a folded tree pods and the switches above them, as far
 * as cables lead from one to the other; of a group of anything else its switches, and all that
 * they are cabled to; else all vertices in both directions.
 */
const matrix_model = (topology, vertices, bundles, inside) => {
	const is_tree = topology.kind === 'tree';
	const is_row = inside === null ? (v) => v.type === 'group' : (v) => v.group === inside && v.type === 'switch';
	let rows = vertices.filter(is_row);
	let columns = vertices.filter((v) => !is_row(v));
	const square = inside === null && (!is_tree || rows.length === 0 || columns.length === 0);

	if (square) {
		rows = columns = vertices;
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
	return { kind: 'matrix', vertices, bundles, rows, columns, cells, square };
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

const NONE_LOST = { cables: [], group_of: new Map() };

/**
 * The drawing of an answer. inside: the number of the group that it shows, or null.
 * A pod is drawn without the cores above it, which are the columns of its matrix.
 * lost: {cables: of lost_of(), group_of: GUID of a switch -> its group, for a folded map}.
 */
export const model_of = (topology, inside = null, lost = NONE_LOST) => {
	const vertices = vertices_of(topology);
	const bundles = bundles_of(topology);
	add_lost(vertices, bundles, lost.cables, lost.group_of);
	const own = (b) => vertices[b.a].group === inside && vertices[b.b].group === inside;

	if (inside !== null && topology.kind === 'tree') {
		const kept = vertices.filter((v) => v.group === inside);
		const place = new Map(kept.map((v, i) => [v.index, i]));
		return rows_model(
			kept.map((v, i) => ({ ...v, index: i })),
			bundles.filter(own).map((b, i) => ({ ...b, index: i, a: place.get(b.a), b: place.get(b.b) })),
		);
	}
	const most = Math.max(0, ...topology.tiers.map((t) => t.switches));
	const as_rows = topology.kind === 'tree' && !topology.folded && most <= ROW_MOST;
	return as_rows ? rows_model(vertices, bundles)
		: matrix_model(topology, vertices, bundles, inside);
};

/** A pod of a tree and what is above it, as a matrix: where its uplinks go. */
export const uplinks_of = (topology, inside, lost = NONE_LOST) => {
	const vertices = vertices_of(topology);
	const bundles = bundles_of(topology);
	add_lost(vertices, bundles, lost.cables, lost.group_of);
	return matrix_model(topology, vertices, bundles, inside);
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

/** How many bundles are of each state. */
export const tally = (model) => {
	const n = { lost: 0, down: 0, degraded: 0, fine: 0 };
	for (const b of model.bundles) {
		n[state_of(b)]++;
	}
	return n;
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
