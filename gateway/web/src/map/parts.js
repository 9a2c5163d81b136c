// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// What drawings in rows and matrices have in common: which state or load is shown, and hosts.
import { state_of } from './model.js';
import { paper, scale_colour, state_colour } from './colour.js';
import { draw_glyph } from './glyphs.js';

export const FONT = '11px system-ui, sans-serif';
export const BOLD = 'bold 11px system-ui, sans-serif';
export const LINE = 13; // pixels from line to line

/* Steps of a scale: one stroke for all bundles of a step. */
const STEPS = 16;

/** State of a bundle with what is switched off for a what-if. */
export const shown_state = (bundle, look) => (look.off?.has(bundle.index) ? 'off' : state_of(bundle));

/** Colour of a bundle by its load or traffic; null: it has none. */
export const colour_by = (bundle, routes, look) => {
	const part = look.by === 'load' ? routes / look.most : look.traffic?.[bundle.index] ?? null;
	return part === null ? null : scale_colour(look.theme, Math.round(part * STEPS) / STEPS);
};

/** Is what is wrong shown, or the load of what still works? */
export const shows_state = (state, look) => look.by === 'state' || state === 'off' || state === 'lost' || state === 'gone';

/* A place that is empty: dashes around it, and a cross in it. */
export const draw_empty = (ctx, x, y, half, colour) => {
	ctx.strokeStyle = colour;
	ctx.lineWidth = half < 4 ? 1 : 1.6;
	ctx.setLineDash(half < 4 ? [] : [3, 2]);
	ctx.strokeRect(x - half, y - half, 2 * half, 2 * half);
	ctx.setLineDash([]);
	ctx.beginPath();
	ctx.moveTo(x - 0.5 * half, y - 0.5 * half);
	ctx.lineTo(x + 0.5 * half, y + 0.5 * half);
	ctx.moveTo(x - 0.5 * half, y + 0.5 * half);
	ctx.lineTo(x + 0.5 * half, y - 0.5 * half);
	ctx.stroke();
};

/* Hosts as small squares; what is wrong is larger than its neighbours. */
export const draw_hosts = (ctx, model, at, look) => {
	const wrong = [];
	const chosen = new Map(); // vertex -> the box around its hosts that are
	ctx.fillStyle = paper(look.theme).host;
	for (const host of model.hosts) {
		const p = at.host(host);
		if (p === null || p.x < -20 || p.x > at.width + 20 || p.y < at.frame.y0 || p.y > at.height + 20) {
			continue;
		}
		const state = state_of(host);
		const side = Math.max(1.5, p.size - (p.size > 4 ? 1.5 : 1));
		if (state !== 'fine') {
			wrong.push([state, p, side]);
		} else {
			ctx.fillRect(p.x - side / 2, p.y - side / 2, side, side);
		}
		if (look.chosen?.hosts.has(host.index)) {
			const box = chosen.get(host.vertex) ?? { x0: Infinity, y0: Infinity, x1: -Infinity, y1: -Infinity };
			chosen.set(host.vertex, { x0: Math.min(box.x0, p.x - p.size / 2), y0: Math.min(box.y0, p.y - p.size / 2),
				x1: Math.max(box.x1, p.x + p.size / 2), y1: Math.max(box.y1, p.y + p.size / 2) });
		}
	}
	for (const [state, p, side] of wrong) {
		if (state === 'gone') {
			ctx.fillStyle = paper(look.theme).paper;
			ctx.fillRect(p.x - side / 2, p.y - side / 2, side, side);
			draw_empty(ctx, p.x, p.y, Math.max(2, side / 2), state_colour(look.theme, state));
		} else {
			ctx.fillStyle = paper(look.theme).paper;
			ctx.fillRect(p.x - side / 2, p.y - side / 2, side, side);
			draw_glyph(ctx, state, p.x, p.y, Math.max(2.5, side / 2), state_colour(look.theme, state), null);
		}
	}
	const frame = (x0, y0, x1, y1, colour) => {
		ctx.strokeStyle = colour;
		ctx.lineWidth = 2;
		ctx.strokeRect(x0 - 2, y0 - 2, x1 - x0 + 4, y1 - y0 + 4);
	};
	chosen.forEach((b) => frame(b.x0, b.y0, b.x1, b.y1, paper(look.theme).mark));
	const under = look.cursor?.host === undefined ? null : at.host(model.hosts[look.cursor.host]);
	if (under !== null) {
		const half = under.size / 2;
		frame(under.x - half, under.y - half, under.x + half, under.y + half, paper(look.theme).ink);
	}
};
