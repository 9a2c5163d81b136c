// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// Draws tiers of switches as rows, cables as lines between them, and hosts below their switch.
import { state_of } from './model.js';
import { paper, scale_colour, state_colour } from './colour.js';
import { draw_glyph, thinned } from './glyphs.js';
import { fitted } from './names.js';
import { BOLD, colour_by, draw_empty, draw_hosts, FONT, LINE, shown_state, shows_state } from './parts.js';

const DRAWN_FIRST = ['fine', 'gone', 'drained', 'loaded', 'degraded', 'sick', 'down', 'lost', 'off'];
const DASHES = { degraded: [8, 4], lost: [2, 5], gone: [1, 5], off: [2, 5], drained: [1, 4] };

const trace = (ctx, model, at, bundle) => {
	const p = model.vertices[bundle.a];
	const q = model.vertices[bundle.b];
	ctx.moveTo(at.x(p), at.y(p));
	ctx.lineTo(at.x(q), at.y(q));
};

/* A sign on each cable, where lines to its neighbours are apart. */
const draw_signs = (ctx, model, at, bundles, state, look) => {
	const free = thinned(11);
	for (const b of bundles) {
		const p = model.vertices[b.a];
		const q = model.vertices[b.b];
		const x = at.x(p) + 0.3 * (at.x(q) - at.x(p));
		const y = at.y(p) + 0.3 * (at.y(q) - at.y(p));
		if (free(x, y)) {
			draw_glyph(ctx, state, x, y, 5, state_colour(look.theme, state), paper(look.theme).paper);
		}
	}
};

/* Thousands of strokes take too long, so a stroke is for all bundles of a colour. */
const draw_bundles = (ctx, model, at, look) => {
	const batches = new Map();
	for (const b of model.bundles) {
		const state = shown_state(b, look);
		const colour = shows_state(state, look) ? state_colour(look.theme, state)
			: colour_by(b, b.routes, look) ?? paper(look.theme).faint;
		const key = `${state}${colour}`;
		if (!batches.has(key)) {
			batches.set(key, { state, colour, bundles: [] });
		}
		batches.get(key).bundles.push(b);
	}
	const rank = ({ state }) => DRAWN_FIRST.indexOf(state);
	const order = [...batches.values()].sort((p, q) => rank(p) - rank(q));
	const thin = model.bundles.length > 2000 ? 0.4 : model.bundles.length > 200 ? 0.8 : 1.6;
	const busy = look.by === 'state' ? null : scale_colour(look.theme, 1);
	for (const { state, colour, bundles } of order) {
		const wrong = state !== 'fine' && state !== 'gone'; // of a switch that is gone its place says enough
		ctx.beginPath();
		bundles.forEach((b) => trace(ctx, model, at, b));
		ctx.strokeStyle = colour;
		ctx.globalAlpha = wrong || look.by !== 'state' ? 1 : state === 'gone' ? 0.5 : 0.6;
		ctx.lineWidth = wrong ? 2.5 : state === 'gone' ? 1 : colour === busy ? 3 * thin : thin;
		ctx.setLineDash(DASHES[state] ?? []);
		ctx.stroke();
		ctx.globalAlpha = 1;
		wrong && draw_signs(ctx, model, at, bundles, state, look);
	}
	ctx.setLineDash([]);
};

/* Marks of a switch: its own trouble, or that of its hosts. */
const draw_vertices = (ctx, model, at, look) => {
	const colours = paper(look.theme);
	for (const v of model.vertices) {
		const half = at.half(v);
		const state = state_of(v);
		const [x, y] = [at.x(v), at.y(v)];
		if (state === 'gone') {
			ctx.fillStyle = colours.paper;
			ctx.fillRect(x - half, y - half, 2 * half, 2 * half);
			draw_empty(ctx, x, y, Math.max(4, half), state_colour(look.theme, state));
			continue;
		}
		ctx.fillStyle = colours.node;
		ctx.fillRect(x - half, y - half, 2 * half, 2 * half);
		if (state !== 'fine') {
			draw_glyph(ctx, state, x, y, Math.max(5, half), state_colour(look.theme, state), colours.paper);
		}
	}
};

const ring = (ctx, x, y, radius) => {
	ctx.beginPath();
	ctx.arc(x, y, radius, 0, 7);
	ctx.stroke();
};

/* The place of an alarm. */
const draw_chosen = (ctx, model, at, look) => {
	if (!look.chosen) {
		return;
	}
	ctx.strokeStyle = paper(look.theme).mark;
	ctx.lineWidth = 7;
	ctx.globalAlpha = 0.45;
	ctx.beginPath();
	look.chosen.bundles.forEach((i) => trace(ctx, model, at, model.bundles[i]));
	ctx.stroke();
	ctx.globalAlpha = 1;
	ctx.lineWidth = 2.5;
	look.chosen.vertices.forEach((i) => ring(ctx, at.x(model.vertices[i]), at.y(model.vertices[i]), 14));
};

/* A text with paper behind it, so that it can be read over lines. */
const draw_tag = (ctx, text, x, y, look, most) => {
	const width = Math.min(ctx.measureText(text).width, most ?? Infinity);
	const from = ctx.textAlign === 'center' ? x - width / 2 : ctx.textAlign === 'right' ? x - width : x;
	const colour = ctx.fillStyle;
	ctx.fillStyle = paper(look.theme).paper;
	ctx.globalAlpha = 0.85;
	ctx.fillRect(from - 2, y - LINE / 2, width + 4, LINE);
	ctx.globalAlpha = 1;
	ctx.fillStyle = colour;
	ctx.fillText(text, x, y, most);
};

/* The name of a switch outside of its row; upright where it is too long to lie. It stays at the
 * edge when its switch is beyond. */
const draw_name = (ctx, at, v, look) => {
	const above = v.y < 0.5;
	const upright = at.upright(v);
	const name = upright ? fitted(v.short, at.names - 14, (text) => ctx.measureText(text).width) : v.short;
	const away = at.half(v) + 6;
	const length = upright ? ctx.measureText(name).width : LINE;
	const y = above ? Math.max(length + 2, at.y(v) - away)
		: Math.min(at.height - length - 2, at.y(v) + away + at.depth_of(v));
	ctx.save();
	ctx.translate(at.x(v), y);
	if (upright) {
		ctx.rotate(-Math.PI / 2);
		ctx.textAlign = above ? 'left' : 'right';
		ctx.textBaseline = 'middle';
		draw_tag(ctx, name, 0, 0, look);
	} else {
		ctx.textAlign = 'center';
		ctx.textBaseline = 'middle';
		draw_tag(ctx, name, 0, above ? -LINE / 2 : LINE / 2, look);
	}
	ctx.restore();
};

/* Names: of what is wrong or chosen always, of others where there is room for them. */
const draw_names = (ctx, model, at, look) => {
	const taken = new Set();
	const first = (v) => (look.chosen?.vertices.has(v.index) || look.cursor?.vertex === v.index ? 0
		: state_of(v) !== 'fine' ? 1 : 2);
	const order = [...model.vertices].sort((p, q) => first(p) - first(q));
	for (const v of order) {
		const x = at.x(v);
		const room = at.room(v);
		const rank = first(v);
		const fits = v.outer ? room > LINE || !at.upright(v) : !at.upright(v);
		const key = `${v.y} ${Math.round(x / LINE)}`;
		if (x < 0 || x > at.width || (rank === 2 && !fits) || (room <= LINE && taken.has(key))) {
			continue;
		}
		taken.add(key).add(`${v.y} ${Math.round(x / LINE) + 1}`).add(`${v.y} ${Math.round(x / LINE) - 1}`);
		const state = state_of(v);
		ctx.font = rank < 2 ? BOLD : FONT;
		ctx.fillStyle = state === 'fine' ? paper(look.theme).ink : state_colour(look.theme, state);
		draw_name(ctx, at, v, look);
	}
	ctx.font = FONT;
	ctx.fillStyle = paper(look.theme).soft;
	ctx.textAlign = 'left';
	ctx.textBaseline = 'middle';
	for (const { y, text } of model.labels) {
		const place = Math.max(LINE, Math.min(at.height - LINE, at.y({ y })));
		draw_tag(ctx, text, 6, place, look, at.left - 10);
	}
};

const draw_walk = (ctx, model, at, look) => {
	if (!look.mark || look.mark.length === 0) {
		return;
	}
	ctx.beginPath();
	look.mark.forEach((i, n) => {
		const v = model.vertices[i];
		ctx[n === 0 ? 'moveTo' : 'lineTo'](at.x(v), at.y(v));
	});
	ctx.strokeStyle = paper(look.theme).mark;
	ctx.lineWidth = 4;
	ctx.stroke();
	look.mark.forEach((i) => ring(ctx, at.x(model.vertices[i]), at.y(model.vertices[i]), 9));
};

/* The cables of the switch under the cursor, or the one cable. */
const draw_cursor = (ctx, model, at, look) => {
	const { vertex, bundle, host } = look.cursor;
	if (host !== undefined) {
		return; // by draw_hosts()
	}
	const chosen = bundle !== undefined ? [model.bundles[bundle]]
		: model.bundles.filter((b) => b.a === vertex || b.b === vertex);
	ctx.strokeStyle = paper(look.theme).ink;
	ctx.globalAlpha = bundle !== undefined ? 1 : 0.7;
	ctx.lineWidth = bundle !== undefined ? 2.5 : 1;
	ctx.beginPath();
	chosen.forEach((b) => b.cables > 0 && trace(ctx, model, at, b));
	ctx.stroke();
	ctx.globalAlpha = 1;
	if (vertex !== undefined) {
		ctx.lineWidth = 2;
		ring(ctx, at.x(model.vertices[vertex]), at.y(model.vertices[vertex]), 13);
	}
};

export const draw_rows = (ctx, model, at, look) => {
	draw_chosen(ctx, model, at, look);
	draw_bundles(ctx, model, at, look);
	if (look.cursor !== null) {
		draw_cursor(ctx, model, at, look);
	}
	draw_walk(ctx, model, at, look);
	draw_hosts(ctx, model, at, look);
	draw_vertices(ctx, model, at, look);
	draw_names(ctx, model, at, look);
};
