// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// Draws a model (model.js) on a canvas. `look` is {by: 'state' | 'load' | 'traffic', traffic: of
// each bundle, theme, most, mark: vertices of a path, off: bundles with cables of a what-if
// (off_bundles), cursor: what is under the pointer or the keyboard, {vertex, bundle} or
// {row, column}, or null}.
import { most_routes, state_of } from './model.js';
import { paper, scale_colour, state_colour } from './colour.js';

const MARGIN = { top: 22, right: 16, bottom: 8, left: 16 };
const ROWS_MARGIN = { top: 84, right: 20, bottom: 84, left: 96 };
const NAME_MOST = 13; // letters of an upright name; the end tells names apart
const MATRIX_LEFT = 90;
const CELL_MOST = { width: 160, height: 48 };
const CELL_RATIO = 2.2; // the most that a cell of a square matrix is wider than high
const FONT = 11; // pixels
const LETTER = 6.5; // pixels, about
const WORST_LAST = { fine: 0, degraded: 1, down: 2, lost: 3, off: 4 };
const DASHES = { fine: [], degraded: [8, 4], down: [], lost: [2, 5], off: [2, 5] };

/** Places in pixels: of vertices in rows, or of the matrix's frame. */
export const layout = (model, width, height) => {
	if (model.kind === 'rows') {
		const left = Math.min(ROWS_MARGIN.left, width / 5);
		const w = Math.max(1, width - left - Math.min(ROWS_MARGIN.right, width / 9));
		const h = Math.max(1, height - ROWS_MARGIN.top - ROWS_MARGIN.bottom);
		return {
			left,
			x: (v) => left + v.x * w,
			y: (v) => ROWS_MARGIN.top + v.y * h,
			width: w,
		};
	}
	const w = Math.max(1, width - MATRIX_LEFT - MARGIN.right);
	const h = Math.max(1, height - MARGIN.top - MARGIN.bottom);
	let cell_w = Math.min(CELL_MOST.width, w / model.columns.length);
	let cell_h = Math.min(CELL_MOST.height, h / model.rows.length);
	if (model.square) {
		cell_w = Math.min(cell_w, CELL_RATIO * cell_h);
		cell_h = Math.min(cell_h, cell_w);
	}
	return { left: MATRIX_LEFT, top: MARGIN.top, cell_w, cell_h };
};

/* Steps of a scale: one stroke for all bundles of a step. */
const STEPS = 16;

/* State of a bundle with what is switched off for a what-if. */
const shown_state = (bundle, look) => (look.off?.has(bundle.index) ? 'off' : state_of(bundle));

const colour_of = (bundle, routes, look) => {
	const state = shown_state(bundle, look);
	if (look.by === 'state' || state === 'off' || state === 'lost') {
		return state_colour(look.theme, state);
	}
	const part = look.by === 'load' ? routes / look.most : look.traffic?.[bundle.index] ?? null;
	return part === null ? paper(look.theme).faint
		: scale_colour(look.theme, Math.round(part * STEPS) / STEPS);
};

const trace = (ctx, model, at, bundle) => {
	const p = model.vertices[bundle.a];
	const q = model.vertices[bundle.b];
	ctx.moveTo(at.x(p), at.y(p));
	ctx.lineTo(at.x(q), at.y(q));
};

const cross = (ctx, x, y, half) => {
	ctx.moveTo(x - half, y - half);
	ctx.lineTo(x + half, y + half);
	ctx.moveTo(x - half, y + half);
	ctx.lineTo(x + half, y - half);
};

/* A cross on each cable that is not there, where lines to its neighbours are apart. */
const draw_crosses = (ctx, model, at, bundles, scale) => {
	ctx.setLineDash([]);
	ctx.beginPath();
	for (const b of bundles) {
		const p = model.vertices[b.a];
		const q = model.vertices[b.b];
		cross(ctx, at.x(p) + 0.3 * (at.x(q) - at.x(p)), at.y(p) + 0.3 * (at.y(q) - at.y(p)), 5 / scale);
	}
	ctx.stroke();
};

/* Thousands of strokes take too long, so a stroke is for all bundles of a colour. */
const draw_bundles = (ctx, model, at, look, scale) => {
	const batches = new Map();
	for (const b of model.bundles) {
		const state = shown_state(b, look);
		const colour = colour_of(b, b.routes, look);
		const key = `${state}${colour}`;
		if (!batches.has(key)) {
			batches.set(key, { state, colour, bundles: [] });
		}
		batches.get(key).bundles.push(b);
	}
	const order = [...batches.values()].sort((p, q) => WORST_LAST[p.state] - WORST_LAST[q.state]);
	const thin = model.bundles.length > 2000 ? 0.4 : model.bundles.length > 200 ? 0.8 : 1.6;
	const busy = look.by === 'state' ? null : scale_colour(look.theme, 1);
	for (const { state, colour, bundles } of order) {
		const wrong = state !== 'fine';
		ctx.beginPath();
		bundles.forEach((b) => trace(ctx, model, at, b));
		ctx.strokeStyle = colour;
		ctx.globalAlpha = wrong || look.by !== 'state' ? 1 : 0.55;
		ctx.lineWidth = (wrong ? 3 : colour === busy ? 3 * thin : thin) / scale;
		ctx.setLineDash(DASHES[state].map((n) => n / scale));
		ctx.stroke();
		if (state === 'lost' || state === 'off') {
			draw_crosses(ctx, model, at, bundles, scale);
		}
	}
	ctx.setLineDash([]);
	ctx.globalAlpha = 1;
};

/* Half the side of a switch's square. */
const size_of = (tier_length) => Math.max(2.5, Math.min(9, 320 / Math.max(tier_length, 1)));

const draw_vertices = (ctx, model, at, look, scale) => {
	const colours = paper(look.theme);
	const lengths = new Map();
	for (const v of model.vertices) {
		lengths.set(v.y, (lengths.get(v.y) || 0) + 1);
	}
	for (const v of model.vertices) {
		const half = size_of(lengths.get(v.y)) / Math.sqrt(scale);
		const state = state_of(v);
		ctx.fillStyle = state === 'fine' ? colours.node : state_colour(look.theme, state);
		ctx.fillRect(at.x(v) - half, at.y(v) - half, 2 * half, 2 * half);
		if (look.alarmed?.has(v.guid)) {
			ctx.strokeStyle = state_colour(look.theme, 'down');
			ctx.lineWidth = 2.5 / scale;
			ctx.strokeRect(at.x(v) - half - 3 / scale, at.y(v) - half - 3 / scale,
				2 * half + 6 / scale, 2 * half + 6 / scale);
		}
	}
	draw_names(ctx, model, at, look, scale, lengths);
};

const font = (scale) => `${FONT / scale}px system-ui, sans-serif`;

/* The name of a switch outside of its row; upright where it is too long to lie. */
const draw_name = (ctx, v, x, y, upright, scale) => {
	const above = v.y < 0.5;
	const name = v.name.length > NAME_MOST && upright ? `…${v.name.slice(1 - NAME_MOST)}` : v.name;
	ctx.save();
	ctx.translate(x, y + (above ? -15 : 15) / scale);
	if (upright) {
		ctx.rotate(-Math.PI / 2);
	}
	ctx.textAlign = !upright ? 'center' : above ? 'left' : 'right';
	ctx.textBaseline = upright ? 'middle' : above ? 'bottom' : 'top';
	ctx.fillText(name, 0, 0);
	ctx.restore();
};

/* Names, where there is room for them at this zoom. */
const draw_names = (ctx, model, at, look, scale, lengths) => {
	const longest = model.vertices.reduce((n, v) => Math.max(n, v.name.length), 0);
	ctx.fillStyle = paper(look.theme).ink;
	ctx.font = font(scale);
	for (const v of model.vertices) {
		const room = (at.width / lengths.get(v.y)) * scale;
		const upright = room < LETTER * longest;
		if (!upright || (v.outer && room > FONT + 2)) {
			draw_name(ctx, v, at.x(v), at.y(v), upright, scale);
		}
	}
	ctx.textAlign = 'left';
	ctx.textBaseline = 'middle';
	for (const { y, text } of model.labels) {
		ctx.fillText(text, 8, at.y({ y }), at.left - 10);
	}
};

const draw_walk = (ctx, model, at, look, scale) => {
	if (!look.mark || look.mark.length === 0) {
		return;
	}
	ctx.beginPath();
	look.mark.forEach((i, n) => {
		const v = model.vertices[i];
		ctx[n === 0 ? 'moveTo' : 'lineTo'](at.x(v), at.y(v));
	});
	ctx.strokeStyle = paper(look.theme).mark;
	ctx.lineWidth = 4 / scale;
	ctx.stroke();
	for (const i of look.mark) {
		const v = model.vertices[i];
		ctx.beginPath();
		ctx.arc(at.x(v), at.y(v), 9 / scale, 0, 7);
		ctx.stroke();
	}
};

/* The cables of the switch under the cursor, or the one cable. */
const draw_cursor = (ctx, model, at, look, scale) => {
	const { vertex, bundle } = look.cursor;
	const chosen = bundle !== undefined ? [model.bundles[bundle]]
		: model.bundles.filter((b) => b.a === vertex || b.b === vertex);
	ctx.strokeStyle = paper(look.theme).ink;
	ctx.globalAlpha = bundle !== undefined ? 1 : 0.7;
	ctx.lineWidth = (bundle !== undefined ? 2.5 : 1) / scale;
	ctx.beginPath();
	chosen.forEach((b) => b.cables > 0 && trace(ctx, model, at, b));
	ctx.stroke();
	ctx.globalAlpha = 1;
	if (vertex !== undefined) {
		const v = model.vertices[vertex];
		ctx.lineWidth = 2 / scale;
		ctx.beginPath();
		ctx.arc(at.x(v), at.y(v), 13 / scale, 0, 7);
		ctx.stroke();
	}
};

const draw_rows = (ctx, model, at, look, scale) => {
	draw_bundles(ctx, model, at, look, scale);
	if (look.cursor !== null) {
		draw_cursor(ctx, model, at, look, scale);
	}
	draw_walk(ctx, model, at, look, scale);
	draw_vertices(ctx, model, at, look, scale);
};

const draw_matrix = (ctx, model, at, look, scale) => {
	const colours = paper(look.theme);
	const gap = at.cell_w * scale > 6 && at.cell_h * scale > 6 ? 1 / scale : 0;
	ctx.fillStyle = colours.faint;
	ctx.globalAlpha = 0.45;
	ctx.fillRect(at.left, at.top, at.cell_w * model.columns.length, at.cell_h * model.rows.length);
	ctx.globalAlpha = 1;
	const wrong = [];
	for (const c of model.cells) {
		ctx.fillStyle = colour_of(c.bundle, c.routes, look);
		ctx.fillRect(at.left + c.column * at.cell_w, at.top + c.row * at.cell_h,
			at.cell_w - gap, at.cell_h - gap);
		if (shown_state(c.bundle, look) !== 'fine') {
			wrong.push(c);
		}
	}
	/* one cell of thousands is easily missed */
	for (const c of wrong) {
		const state = shown_state(c.bundle, look);
		const x = at.left + (c.column + 0.5) * at.cell_w;
		const y = at.top + (c.row + 0.5) * at.cell_h;
		ctx.strokeStyle = state_colour(look.theme, state);
		ctx.lineWidth = 2 / scale;
		ctx.beginPath();
		if (state === 'lost' || state === 'off') {
			cross(ctx, x, y, 7 / scale);
		} else {
			ctx.arc(x, y, Math.max(7 / scale, at.cell_h / 2), 0, 7);
		}
		ctx.stroke();
	}
	draw_axes(ctx, model, at, look, scale);
	draw_steps(ctx, model, at, look, scale);
	if (look.cursor !== null) {
		ctx.strokeStyle = colours.ink;
		ctx.lineWidth = 1.5 / scale;
		ctx.strokeRect(at.left + look.cursor.column * at.cell_w, at.top + look.cursor.row * at.cell_h,
			at.cell_w, at.cell_h);
	}
};

const draw_axes = (ctx, model, at, look, scale) => {
	const every = Math.max(1, Math.ceil(13 / (at.cell_h * scale)));
	ctx.fillStyle = paper(look.theme).ink;
	ctx.font = font(scale);
	ctx.textAlign = 'right';
	ctx.textBaseline = 'middle';
	model.rows.forEach((v, i) => {
		if (i % every === 0) {
			ctx.fillText(v.name, at.left - 5 / scale, at.top + (i + 0.5) * at.cell_h, MATRIX_LEFT - 8);
		}
	});
	ctx.textAlign = 'left';
	ctx.textBaseline = 'bottom';
	const first = model.columns[0];
	const last = model.columns[model.columns.length - 1];
	if (first) {
		ctx.fillText(`columns: ${first.name} to ${last.name}`, at.left, at.top - 5 / scale);
	}
};

/* The steps of a path as framed cells. */
const draw_steps = (ctx, model, at, look, scale) => {
	const mark = look.mark || [];
	for (let n = 0; n + 1 < mark.length; n++) {
		for (const c of model.cells) {
			const row = model.rows[c.row].index;
			const column = model.columns[c.column].index;
			if ((row === mark[n] && column === mark[n + 1]) ||
				(!model.square && row === mark[n + 1] && column === mark[n])) {
				ctx.strokeStyle = paper(look.theme).mark;
				ctx.lineWidth = 4 / scale;
				ctx.strokeRect(at.left + c.column * at.cell_w - 2 / scale,
					at.top + c.row * at.cell_h - 2 / scale,
					at.cell_w + 4 / scale, at.cell_h + 4 / scale);
			}
		}
	}
};

/** Draws all of it; view is {x, y, k}, the zoom. */
export const draw = (canvas, model, look, view) => {
	const ratio = window.devicePixelRatio || 1;
	const width = canvas.clientWidth;
	const height = canvas.clientHeight;
	if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
	}
	const ctx = canvas.getContext('2d');
	const at = layout(model, width, height);
	ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
	ctx.clearRect(0, 0, width, height);
	ctx.translate(view.x, view.y);
	ctx.scale(view.k, view.k);
	const full = { ...look, width, most: look.most ?? most_routes(model) };
	(model.kind === 'rows' ? draw_rows : draw_matrix)(ctx, model, at, full, view.k);
};

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

/**
 * What is at a place of the canvas: {vertex}, {bundle} or {row, column}, or null. Reaches are
 * in its pixels; bundles of rows count within `cable_reach`, 0: not at all.
 */
export const hit = (model, at, x, y, reach, cable_reach = 0) => {
	if (model.kind === 'matrix') {
		const column = Math.floor((x - at.left) / at.cell_w);
		const row = Math.floor((y - at.top) / at.cell_h);
		const is_in = row >= 0 && row < model.rows.length && column >= 0 &&
			column < model.columns.length;
		return is_in ? { row, column } : null;
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
