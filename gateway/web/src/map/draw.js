// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// Draws a model (model.js) on a canvas. `look` is {by: 'state' | 'load' | 'traffic', traffic: of each bundle, theme, most, mark:
// vertices of a path, cursor: what is under the pointer or the keyboard, or null}.
import { most_routes, state_of } from './model.js';
import { paper, scale_colour, state_colour } from './colour.js';

const MARGIN = { top: 22, right: 16, bottom: 26, left: 16 };
const MATRIX_LEFT = 90;
const WORST_LAST = { fine: 0, degraded: 1, down: 2 };

/** Places in pixels: of vertices in rows, or of the matrix's frame. */
export const layout = (model, width, height) => {
	if (model.kind === 'rows') {
		const w = width - MARGIN.left - MARGIN.right;
		const h = height - MARGIN.top - MARGIN.bottom;
		return {
			x: (v) => MARGIN.left + v.x * w,
			y: (v) => MARGIN.top + v.y * h,
		};
	}
	const w = Math.max(1, width - MATRIX_LEFT - MARGIN.right);
	const h = Math.max(1, height - MARGIN.top - MARGIN.bottom);
	let cell_w = w / model.columns.length;
	let cell_h = h / model.rows.length;
	if (model.square) {
		cell_w = cell_h = Math.min(cell_w, cell_h);
	}
	return { left: MATRIX_LEFT, top: MARGIN.top, cell_w, cell_h };
};

/* Steps of a scale: one stroke for all bundles of a step. */
const STEPS = 16;

const colour_of = (bundle, routes, look) => {
	if (look.by === 'state') {
		return state_colour(look.theme, state_of(bundle));
	}
	const part = look.by === 'load' ? routes / look.most : look.traffic?.[bundle.index] ?? null;
	return part === null ? paper(look.theme).faint
		: scale_colour(look.theme, Math.round(part * STEPS) / STEPS);
};

/* Thousands of strokes take too long, so a stroke is for all bundles of a colour. */
const draw_bundles = (ctx, model, at, look, scale) => {
	const batches = new Map();
	for (const b of model.bundles) {
		const state = state_of(b);
		const colour = colour_of(b, b.routes, look);
		const key = `${state}${colour}`;
		if (!batches.has(key)) {
			batches.set(key, { state, colour, bundles: [] });
		}
		batches.get(key).bundles.push(b);
	}
	const order = [...batches.values()].sort((p, q) => WORST_LAST[p.state] - WORST_LAST[q.state]);
	const thin = model.bundles.length > 2000 ? 0.4 : 0.8;
	for (const batch of order) {
		const wrong = batch.state !== 'fine';
		ctx.beginPath();
		for (const b of batch.bundles) {
			const p = model.vertices[b.a];
			const q = model.vertices[b.b];
			ctx.moveTo(at.x(p), at.y(p));
			ctx.lineTo(at.x(q), at.y(q));
		}
		ctx.strokeStyle = batch.colour;
		ctx.globalAlpha = wrong || look.by !== 'state' ? 1 : 0.55;
		ctx.lineWidth = (wrong ? 3 : thin) / scale;
		ctx.setLineDash(batch.state === 'degraded' ? [8 / scale, 4 / scale] : []);
		ctx.stroke();
	}
	ctx.setLineDash([]);
	ctx.globalAlpha = 1;
};

/* Half the side of a switch's square. */
const size_of = (model, at, tier_length) => Math.max(2.5, Math.min(9, 320 / Math.max(tier_length, 1)));

const draw_vertices = (ctx, model, at, look, scale) => {
	const colours = paper(look.theme);
	const lengths = new Map();
	for (const v of model.vertices) {
		lengths.set(v.y, (lengths.get(v.y) || 0) + 1);
	}
	for (const v of model.vertices) {
		const half = size_of(model, at, lengths.get(v.y)) / Math.sqrt(scale);
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

/* Names, where there is room for them at this zoom. */
const draw_names = (ctx, model, at, look, scale, lengths) => {
	ctx.fillStyle = paper(look.theme).ink;
	ctx.font = `${11 / scale}px system-ui, sans-serif`;
	ctx.textAlign = 'center';
	for (const v of model.vertices) {
		const room = (look.width / lengths.get(v.y)) * scale;
		if (room > 7 * v.name.length) {
			const above = v.y < 0.5;
			ctx.textBaseline = above ? 'bottom' : 'top';
			ctx.fillText(v.name, at.x(v), at.y(v) + ((above ? -12 : 12) / scale));
		}
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

const draw_rows = (ctx, model, at, look, scale) => {
	draw_bundles(ctx, model, at, look, scale);
	draw_walk(ctx, model, at, look, scale);
	draw_vertices(ctx, model, at, look, scale);
	if (look.cursor !== null && model.vertices[look.cursor.vertex]) {
		const v = model.vertices[look.cursor.vertex];
		ctx.strokeStyle = paper(look.theme).ink;
		ctx.lineWidth = 2 / scale;
		ctx.beginPath();
		ctx.arc(at.x(v), at.y(v), 13 / scale, 0, 7);
		ctx.stroke();
	}
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
		if (state_of(c.bundle) !== 'fine') {
			wrong.push(c);
		}
	}
	/* one cell of thousands is easily missed */
	for (const c of wrong) {
		ctx.strokeStyle = state_colour(look.theme, state_of(c.bundle));
		ctx.lineWidth = 2 / scale;
		ctx.beginPath();
		ctx.arc(at.left + (c.column + 0.5) * at.cell_w, at.top + (c.row + 0.5) * at.cell_h,
			Math.max(7 / scale, at.cell_w), 0, 7);
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
	ctx.font = `${11 / scale}px system-ui, sans-serif`;
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
		ctx.fillText(`${first.name} ... ${last.name}`, at.left, at.top - 5 / scale);
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

/** What is at a place of the canvas: {vertex} or {row, column}, or null. */
export const hit = (model, at, x, y, reach) => {
	if (model.kind === 'matrix') {
		const column = Math.floor((x - at.left) / at.cell_w);
		const row = Math.floor((y - at.top) / at.cell_h);
		const is_in = row >= 0 && row < model.rows.length && column >= 0 &&
			column < model.columns.length;
		return is_in ? { row, column } : null;
	}
	let best = null;
	let nearest = reach * reach;
	for (const v of model.vertices) {
		const d = (at.x(v) - x) ** 2 + (at.y(v) - y) ** 2;
		if (d < nearest) {
			nearest = d;
			best = { vertex: v.index };
		}
	}
	return best;
};
