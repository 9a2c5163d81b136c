// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// Where things of a drawing are on its canvas, in pixels, at a zoom; and what is at a place.
// Sizes of signs and letters do not grow with the zoom, and names stay at the edges.

export const LETTER = 6.3; // pixels, about
const NAME_ROOM = 106; // of upright names
const HOSTS_DEPTH = 44; // of the hosts below their switch
const HOST_MOST = 13;
const HOST_LEAST = 3;
const CELL_MOST = { width: 160, height: 48 };
const CELL_RATIO = 2.2; // the most that a cell of a square matrix is wider than high
const NO_ZOOM = { x: 0, y: 0, k: 1 };

const longest = (vertices) => vertices.reduce((n, v) => Math.max(n, v.short.length), 0);

/* The number of switches that stand beside each other at each height. */
const lengths_of = (vertices) => {
	const lengths = new Map();
	vertices.forEach((v) => lengths.set(v.y, (lengths.get(v.y) || 0) + 1));
	return lengths;
};

/* The largest hosts that find room below their switch: {size, columns}. */
const host_grid = (n, room, depth) => {
	for (let size = HOST_MOST; ; size--) {
		const columns = Math.max(1, Math.floor(room / size));
		if (size === HOST_LEAST || Math.ceil(n / columns) * size <= depth) {
			return { size, columns: Math.min(columns, n) };
		}
	}
};

const rows_layout = (model, width, height, view) => {
	const lengths = lengths_of(model.vertices);
	const depth = model.hosts.length > 0 ? Math.min(HOSTS_DEPTH, height / 8) : 0;
	const left = Math.min(96, width / 5);
	const w = Math.max(1, width - left - Math.min(20, width / 9));
	const letters = (LETTER + 0.4) * longest(model.vertices);
	const lies = [...lengths.values()].every((n) => w / n >= letters);
	const names = lies ? 30 : Math.min(NAME_ROOM, letters + 24, height / 5);
	const h = Math.max(1, height - 2 * names - depth);
	const x = (v) => view.k * (left + v.x * w) + view.x;
	const y = (v) => view.k * (names + v.y * h) + view.y;
	const room = (v) => view.k * w / lengths.get(v.y);
	/* half the side of a switch's square */
	const half = (v) => Math.max(2, Math.min(9, 0.42 * room(v)));
	const grids = new Map();
	const grid = (v) => {
		const key = `${v.drawn} ${v.y}`;
		if (!grids.has(key)) {
			grids.set(key, host_grid(v.drawn, Math.max(HOST_LEAST, room(v) - 3), depth * Math.min(view.k, 4)));
		}
		return grids.get(key);
	};
	const depth_of = (v) => (v.drawn > 0 ? grid(v).size * Math.ceil(v.drawn / grid(v).columns) + 3 : 0);
	return {
		kind: 'rows', width, height, left, names, x, y, room, half, depth_of,
		frame: { x0: 0, y0: 0, x1: width, y1: height },
		upright: (v) => room(v) < letters,
		host: (host) => {
			const v = model.vertices[host.vertex];
			const { size, columns } = grid(v);
			return {
				x: x(v) + (host.nth % columns + 0.5 - columns / 2) * size,
				y: y(v) + half(v) + 3 + (Math.floor(host.nth / columns) + 0.5) * size,
				size,
			};
		},
	};
};

const matrix_layout = (model, width, height, view) => {
	const gutter = (vertices, most) => Math.min((LETTER + 0.7) * longest(vertices) + 28, most);
	const x0 = gutter(model.rows, Math.min(140, 0.27 * width));
	const y0 = gutter(model.columns, Math.min(128, 0.26 * height));
	const hosts = model.hosts.length > 0 ? model.rows.reduce((n, v) => Math.max(n, v.drawn), 0) : 0;
	const side = Math.min(8 * hosts, 0.2 * width);
	const w = Math.max(1, width - x0 - side - 14);
	const h = Math.max(1, height - y0 - 8);
	// of a few switches they are larger, so that the map does not stand in a corner
	let cell_w = Math.min(Math.max(CELL_MOST.width, w / 2 / model.columns.length), w / model.columns.length);
	let cell_h = Math.min(Math.max(CELL_MOST.height, h / 2 / model.rows.length), h / model.rows.length);
	if (model.square) {
		cell_w = Math.min(cell_w, CELL_RATIO * cell_h);
		cell_h = Math.min(cell_h, cell_w);
	}
	const x1 = x0 + cell_w * model.columns.length;
	const y1 = y0 + cell_h * model.rows.length;
	const left = view.k * x0 + view.x;
	const top = view.k * y0 + view.y;
	const high = cell_h * view.k;
	const row_at = new Map(model.rows.map((v, i) => [v.index, i]));
	return {
		kind: 'matrix', width, height, left, top, cell_w: cell_w * view.k, cell_h: high,
		frame: { x0, y0, x1, y1 }, hosts,
		host: (host) => {
			const row = row_at.get(host.vertex);
			return row === undefined ? null : {
				x: x1 + 6 + (host.nth + 0.5) * (side / hosts),
				y: top + (row + 0.5) * high,
				size: Math.min(side / hosts, high),
			};
		},
	};
};

/** view: {x, y, k}, the zoom. frame: the part of the canvas that is zoomed, as without zoom. */
export const layout = (model, width, height, view = NO_ZOOM) =>
	(model.kind === 'rows' ? rows_layout : matrix_layout)(model, width, height, view);

/** Is a place inside the part that is zoomed? */
export const is_inside = ({ frame }, x, y) => x >= frame.x0 && x <= frame.x1 && y >= frame.y0 && y <= frame.y1;

/* Square of the distance of a point from a line between two others. */
const distance = (x, y, p, q) => {
	const dx = q.x - p.x;
	const dy = q.y - p.y;
	const part = ((x - p.x) * dx + (y - p.y) * dy) / (dx * dx + dy * dy || 1);
	const t = Math.max(0, Math.min(1, part));
	return (x - p.x - t * dx) ** 2 + (y - p.y - t * dy) ** 2;
};

/* The one with the smallest square of a distance below a reach, or null. */
const nearest = (list, reach, square_of) => {
	let best = null;
	let least = reach * reach;
	for (const one of list) {
		const d = square_of(one);
		if (d < least) {
			least = d;
			best = one;
		}
	}
	return best;
};

const host_at = (model, at, x, y) => {
	const found = model.hosts.find((host) => {
		const p = at.host(host);
		return p !== null && Math.abs(x - p.x) <= p.size / 2 && Math.abs(y - p.y) <= p.size / 2;
	});
	return found ? { host: found.index } : null;
};

const cell_at = (model, at, x, y) => {
	const column = Math.floor((x - at.left) / at.cell_w);
	const row = Math.floor((y - at.top) / at.cell_h);
	const has_row = row >= 0 && row < model.rows.length && y >= at.frame.y0 && y < at.frame.y1;
	const has_column = column >= 0 && column < model.columns.length && x >= at.frame.x0 && x < at.frame.x1;
	return has_row && has_column ? { row, column }
		: has_row && x >= 0 && x < at.frame.x0 ? { row, column: null }
		: has_column && y >= 0 && y < at.frame.y0 ? { row: null, column }
		: null;
};

/**
 * What is at a place of the canvas: {vertex}, {bundle}, {host}, or of a matrix {row, column},
 * one of which is null on a name; or null. Bundles of rows count within `cable_reach`, 0: not
 * at all.
 */
export const hit = (model, at, x, y, reach, cable_reach = 0) => {
	const host = model.hosts.length > 0 ? host_at(model, at, x, y) : null;
	if (host !== null) {
		return host;
	}
	if (model.kind === 'matrix') {
		return cell_at(model, at, x, y);
	}
	const vertex = nearest(model.vertices, reach, (v) => (at.x(v) - x) ** 2 + (at.y(v) - y) ** 2);
	if (vertex !== null) {
		return { vertex: vertex.index };
	}
	const place = (i) => ({ x: at.x(model.vertices[i]), y: at.y(model.vertices[i]) });
	const bundle = nearest(cable_reach > 0 ? model.bundles : [], cable_reach,
		(b) => distance(x, y, place(b.a), place(b.b)));
	return bundle === null ? null : { bundle: bundle.index };
};

/** Place of what the cursor is on, to bring it into view. */
export const place_of = (model, at, cursor) => {
	if (cursor.host !== undefined) {
		return at.host(model.hosts[cursor.host]);
	}
	if (model.kind === 'matrix') {
		return { x: at.left + ((cursor.column ?? 0) + 0.5) * at.cell_w, y: at.top + ((cursor.row ?? 0) + 0.5) * at.cell_h };
	}
	const v = model.vertices[cursor.vertex ?? model.bundles[cursor.bundle].a];
	return { x: at.x(v), y: at.y(v) };
};
