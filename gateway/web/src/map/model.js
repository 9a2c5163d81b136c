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
	}));
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
		};
	});
};

/** down, degraded or fine: the worst of a bundle or vertex. */
export const state_of = (x) => (x.not_active > 0 ? 'down' : x.degraded > 0 ? 'degraded' : 'fine');

const spread = (row, y) => row.map((v, i) => ({ ...v, x: (i + 0.5) / row.length, y }));

/** Pods side by side, and switches of one pod beside each other. */
const row_order = (p, q) => (p.group ?? Infinity) - (q.group ?? Infinity) || p.index - q.index;

/* Tiers as rows, the leaves at the bottom. What has no tier stands above all. */
const rows_model = (vertices, bundles) => {
	const tiers = [...new Set(vertices.map((v) => v.tier ?? Infinity))].sort((p, q) => p - q);
	const placed = new Array(vertices.length);

	tiers.forEach((tier, i) => {
		const row = vertices.filter((v) => (v.tier ?? Infinity) === tier).sort(row_order);
		for (const v of spread(row, 1 - (i + 0.2) / (tiers.length - 0.6))) {
			placed[v.index] = v;
		}
	});
	return { kind: 'rows', vertices: placed, bundles, rows: tiers.length };
};

/*
 * Rows and columns of the matrix: of a folded tree pods and the switches above them, as far
 * as cables lead from one to the other; else all vertices in both directions.
 */
const matrix_model = (topology, vertices, bundles, inside) => {
	const is_row = inside === null ? (v) => v.type === 'group' : (v) => v.group === inside;
	let rows = vertices.filter(is_row);
	let columns = vertices.filter((v) => !is_row(v));
	const square = topology.kind !== 'tree' || rows.length === 0 || columns.length === 0;

	if (square) {
		rows = columns = vertices;
	} else {
		const cabled = new Set(bundles.flatMap((b) =>
			is_row(vertices[b.a]) !== is_row(vertices[b.b]) ? [b.a, b.b] : []));
		rows = rows.filter((v) => cabled.has(v.index));
		columns = columns.filter((v) => cabled.has(v.index));
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
					routes: square ? routes ?? 0 : b.routes,
				});
			}
		}
	}
	return { kind: 'matrix', vertices, bundles, rows, columns, cells, square };
};

/**
 * The drawing of an answer. inside: the number of the group that it shows, or null.
 * A pod is drawn without the cores above it, which are the columns of its matrix.
 */
export const model_of = (topology, inside = null) => {
	const vertices = vertices_of(topology);
	const bundles = bundles_of(topology);
	const own = (b) => vertices[b.a].group === inside && vertices[b.b].group === inside;

	if (inside !== null) {
		const kept = vertices.filter((v) => v.group === inside);
		const place = new Map(kept.map((v, i) => [v.index, i]));
		return rows_model(
			kept.map((v, i) => ({ ...v, index: i, tier: v.tier ?? 0 })),
			bundles.filter(own).map((b, i) => ({ ...b, index: i, a: place.get(b.a), b: place.get(b.b) })),
		);
	}
	const most = Math.max(0, ...topology.tiers.map((t) => t.switches));
	const as_rows = topology.kind === 'tree' && !topology.folded && most <= ROW_MOST;
	return as_rows ? rows_model(vertices, bundles)
		: matrix_model(topology, vertices, bundles, inside);
};

/** A pod and what is above it, as a matrix: where its uplinks go. */
export const uplinks_of = (topology, inside) =>
	matrix_model(topology, vertices_of(topology), bundles_of(topology), inside);

/** The most routes on one link of a drawing: the end of its scale. */
export const most_routes = (model) =>
	Math.max(1, model.bundles.reduce((most, b) => Math.max(most, b.routes), 0));

/**
 * How busy each bundle is: the highest utilization of its ports as last read, 0 to 1; null:
 * no reading. rows: of /v1/counters. group_of: GUID of a switch -> its group, for a folded map.
 */
export const traffic_of = (model, rows, group_of = new Map()) => {
	const at = places_of(model);
	const place = (guid) => at.get(guid) ?? at.get(`group ${group_of.get(guid)}`);
	const key = (p, q) => Math.min(p, q) * model.vertices.length + Math.max(p, q);
	const most = new Map();
	for (const row of rows) {
		const p = place(row.node_guid);
		const q = row.peer ? place(row.peer.guid) : undefined;
		if (p !== undefined && q !== undefined && row.utilization !== null) {
			most.set(key(p, q), Math.max(most.get(key(p, q)) ?? 0, row.utilization));
		}
	}
	return model.bundles.map((b) => most.get(key(b.a, b.b)) ?? null);
};

/** How many bundles are of each state. */
export const tally = (model) => {
	const n = { down: 0, degraded: 0, fine: 0 };
	for (const b of model.bundles) {
		n[state_of(b)]++;
	}
	return n;
};

const places_of = (model) => new Map(model.vertices.map((v) =>
	[v.type === 'group' ? `group ${v.group}` : v.guid, v.index]));

/** Vertices on a path, by the GUIDs of its switches and hosts; those not drawn are left out. */
export const on_path = (model, guids, group_of = new Map()) => {
	const at = places_of(model);
	const walk = [];
	for (const guid of guids) {
		const i = at.get(guid) ?? at.get(`group ${group_of.get(guid)}`);
		if (i !== undefined && walk[walk.length - 1] !== i) {
			walk.push(i);
		}
	}
	return walk;
};
