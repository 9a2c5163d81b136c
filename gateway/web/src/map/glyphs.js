// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// A sign for each state that is not fine, on the map and in its legend: paths in a square from
// -1 to 1. Filled ones are surfaces, the others strokes.
export const GLYPHS = {
	gone: { path: 'M-.95-.95H.95V.95H-.95ZM-.45-.45L.45.45M-.45 .45L.45-.45', filled: false },
	lost: { path: 'M-.85-.85L.85.85M-.85 .85L.85-.85', filled: false },
	down: { path: 'M-.85 0a.85.85 0 1 0 1.7 0a.85.85 0 1 0-1.7 0', filled: false },
	sick: { path: 'M0-1.1L1.1 0L0 1.1L-1.1 0Z', filled: true },
	degraded: { path: 'M-1.05-.85H1.05L0 1Z', filled: true },
	loaded: { path: 'M-1.05 .85H1.05L0-1Z', filled: true },
	drained: { path: 'M-.5-.95V.95M.5-.95V.95', filled: false },
	off: { path: 'M-.95 0a.95.95 0 1 0 1.9 0a.95.95 0 1 0-1.9 0M-.6.6L.6-.6', filled: false },
};

/** What each is called in the legend. */
export const GLYPH_WORDS = {
	gone: 'gone, at its last place',
	lost: 'with lost cables',
	down: 'not Active',
	sick: 'sick',
	degraded: 'degraded',
	loaded: 'overloaded',
	drained: 'out of service',
	off: 'off in the what-if',
};

const paths = new Map();
const path_of = (state) => {
	if (!paths.has(state)) {
		paths.set(state, new Path2D(GLYPHS[state].path));
	}
	return paths.get(state);
};

/** Draws one at a place, of a radius, with a rim of the paper's colour around it (or null). */
export const draw_glyph = (ctx, state, x, y, radius, colour, rim) => {
	const path = path_of(state);
	const { filled } = GLYPHS[state];
	ctx.save();
	ctx.translate(x, y);
	ctx.scale(radius, radius);
	ctx.setLineDash([]);
	ctx.lineJoin = 'round';
	if (rim !== null) {
		ctx.strokeStyle = rim;
		ctx.lineWidth = (filled ? 3 : 5) / radius;
		ctx.stroke(path);
	}
	ctx.fillStyle = ctx.strokeStyle = colour;
	ctx.lineWidth = 2.2 / radius;
	filled ? ctx.fill(path) : ctx.stroke(path);
	ctx.restore();
};

/** Says whether a sign may stand at a place: none stands there already, within `reach` pixels. */
export const thinned = (reach) => {
	const taken = new Set();
	return (x, y) => {
		const key = `${Math.floor(x / reach)} ${Math.floor(y / reach)}`;
		const free = !taken.has(key);
		taken.add(key);
		return free;
	};
};
