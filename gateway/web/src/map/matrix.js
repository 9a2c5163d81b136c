// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// Draws a matrix. Cells that are fine are quiet, so that one cell of thousands that is not is
// seen. Where cells would be smaller than a few pixels, some share a place, which shows the worst
// of them, and zooming takes them apart.
import { STATES, state_of } from './model.js';
import { paper, state_colour } from './colour.js';
import { draw_glyph, thinned } from './glyphs.js';
import { fitted } from './names.js';
import { BOLD, colour_by, draw_hosts, FONT, LINE, shown_state, shows_state } from './parts.js';

const CELL_LEAST = 3; // pixels
const WRONG_LEAST = 5;
const GUIDES_MOST = 12; // marked cells that have lines to their names

const rank = (state) => (state === 'off' ? -1 : STATES.indexOf(state));

/* Cells in view, several of them as one where they are too small: {x, y, w, h, state, cell,
 * routes}, with the worst state and the most routes. */
const places_of = (model, at, look) => {
	const across = Math.max(1, Math.ceil(CELL_LEAST / at.cell_w));
	const down = Math.max(1, Math.ceil(CELL_LEAST / at.cell_h));
	const alone = across === 1 && down === 1;
	const places = new Map();
	const list = [];
	const { x0, y0, x1, y1 } = at.frame;
	for (const cell of model.cells) {
		const column = Math.floor(cell.column / across);
		const row = Math.floor(cell.row / down);
		const x = at.left + column * across * at.cell_w;
		const y = at.top + row * down * at.cell_h;
		const [w, h] = [across * at.cell_w, down * at.cell_h];
		if (x > x1 || y > y1 || x + w < x0 || y + h < y0) {
			continue;
		}
		const state = shown_state(cell.bundle, look);
		const key = row * model.columns.length + column;
		const known = alone ? undefined : places.get(key);
		if (known === undefined) {
			list.push({ x, y, w, h, state, cell, routes: cell.routes });
			alone || places.set(key, list.at(-1));
		} else {
			known.cell = rank(state) < rank(known.state) ? cell : known.cell;
			known.state = rank(state) < rank(known.state) ? state : known.state;
			known.routes = Math.max(known.routes, cell.routes);
		}
	}
	return list;
};

/* Rows and columns most of whose cells are wrong, as those of a switch that is gone: one name
 * says it for all of them. */
const whole_lines = (model, look) => {
	const counts = (vertices) => ({ all: new Uint32Array(vertices.length), wrong: new Uint32Array(vertices.length) });
	const [rows, columns] = [counts(model.rows), counts(model.columns)];
	for (const c of model.cells) {
		const wrong = Number(shown_state(c.bundle, look) !== 'fine');
		rows.all[c.row]++;
		rows.wrong[c.row] += wrong;
		columns.all[c.column]++;
		columns.wrong[c.column] += wrong;
	}
	const pick = ({ all, wrong }) => new Set([...all.keys()].filter((i) => wrong[i] > 2 && 2 * wrong[i] > all[i]));
	return { rows: pick(rows), columns: pick(columns) };
};

/* The worst of each row and column: of its switch, and of its own cells. */
const find_lines = (model, look) => {
	const whole = whole_lines(model, look);
	const [rows, columns] = [model.rows.map(state_of), model.columns.map(state_of)];
	const note = (list, i, state) => {
		list[i] = rank(state) < rank(list[i]) ? state : list[i];
	};
	for (const c of model.cells) {
		const state = shown_state(c.bundle, look);
		if (state !== 'fine' && state !== 'gone') {
			whole.columns.has(c.column) && !whole.rows.has(c.row) || note(rows, c.row, state);
			whole.rows.has(c.row) && !whole.columns.has(c.column) || note(columns, c.column, state);
		}
	}
	return { rows, columns };
};

const found_lines = new WeakMap();

/* The same while only the zoom changes. */
const lines_of = (model, look) => {
	const known = found_lines.get(model);
	if (known === undefined || known.off !== look.off) {
		found_lines.set(model, { off: look.off, ...find_lines(model, look) });
	}
	return found_lines.get(model);
};

const draw_fine = (ctx, at, places, look) => {
	const batches = new Map();
	for (const p of places) {
		const colour = shows_state(p.state, look) ? paper(look.theme).cell
			: colour_by(p.cell.bundle, p.routes, look) ?? paper(look.theme).faint;
		batches.has(colour) || batches.set(colour, []);
		batches.get(colour).push(p);
	}
	const gap = at.cell_w > 6 && at.cell_h > 6 ? 1 : 0;
	for (const [colour, list] of batches) {
		ctx.fillStyle = colour;
		for (const p of list) {
			ctx.fillRect(p.x, p.y, p.w - gap, p.h - gap);
		}
	}
};

/* Cables that went with a switch: its name says so already. */
const draw_gone = (ctx, places, look) => {
	ctx.fillStyle = state_colour(look.theme, 'gone');
	ctx.globalAlpha = 0.4;
	for (const p of places) {
		ctx.fillRect(p.x, p.y, Math.max(2, p.w), Math.max(2, p.h));
	}
	ctx.globalAlpha = 1;
};

/* Lines from a few wrong cells to their names, which are far away in a large matrix. */
const draw_guides = (ctx, at, wrong, look) => {
	if (wrong.length > GUIDES_MOST) {
		return;
	}
	ctx.globalAlpha = 0.45;
	ctx.lineWidth = 1;
	for (const p of wrong) {
		ctx.strokeStyle = state_colour(look.theme, p.state);
		ctx.beginPath();
		ctx.moveTo(at.frame.x0, p.y + p.h / 2);
		ctx.lineTo(p.x, p.y + p.h / 2);
		ctx.moveTo(p.x + p.w / 2, at.frame.y0);
		ctx.lineTo(p.x + p.w / 2, p.y);
		ctx.stroke();
	}
	ctx.globalAlpha = 1;
};

const draw_wrong = (ctx, at, wrong, look) => {
	const free = thinned(12);
	for (const p of wrong) {
		const colour = state_colour(look.theme, p.state);
		const w = Math.max(WRONG_LEAST, p.w);
		const h = Math.max(WRONG_LEAST, p.h);
		const [x, y] = [p.x + p.w / 2, p.y + p.h / 2];
		const large = Math.min(w, h) >= 14;
		ctx.fillStyle = large ? paper(look.theme).paper : colour;
		ctx.fillRect(x - w / 2, y - h / 2, w - (large ? 1 : 0), h - (large ? 1 : 0));
		if (large) {
			ctx.strokeStyle = colour;
			ctx.lineWidth = 1.5;
			ctx.strokeRect(x - w / 2 + 1, y - h / 2 + 1, w - 3, h - 3);
			draw_glyph(ctx, p.state, x, y, Math.min(8, Math.min(w, h) / 3.2), colour, null);
		} else if (free(x, y)) {
			draw_glyph(ctx, p.state, x, y, 5.5, colour, paper(look.theme).paper);
		}
	}
};

/* Names at the edge, those of what is wrong first; what finds no room is left out. */
const pick_names = (vertices, states, place, from, to, special) => {
	const first = (i) => (special.has(i) ? 0 : states[i] !== 'fine' ? 1 : 2);
	const order = vertices.map((_, i) => i).sort((p, q) => first(p) - first(q) || p - q);
	const taken = [];
	const picked = [];
	for (const i of order) {
		const at = place(i);
		if (at >= from - 1 && at <= to + 1 && taken.every((t) => Math.abs(t - at) >= LINE)) {
			taken.push(at);
			picked.push(i);
		}
	}
	return picked;
};

const draw_edge_name = (ctx, v, state, special, room, look) => {
	const wrong = state !== 'fine';
	const colours = paper(look.theme);
	ctx.font = wrong || special ? BOLD : FONT;
	const name = fitted(v.short, room - (wrong ? 14 : 0), (text) => ctx.measureText(text).width);
	ctx.fillStyle = wrong ? state_colour(look.theme, state) : special ? colours.ink : colours.soft;
	ctx.fillText(name, 0, 0);
	if (wrong) {
		const away = ctx.measureText(name).width + 9;
		draw_glyph(ctx, state, ctx.textAlign === 'right' ? -away : away, 0, 4, ctx.fillStyle, null);
	}
};

const special_lines = (model, look, name, vertices) => {
	const on = new Set(vertices.map((v, i) => (look.chosen?.vertices.has(v.index) ||
		look.mark?.includes(v.index) ? i : -1)).filter((i) => i >= 0));
	const at = look.cursor?.[name];
	return at === null || at === undefined ? on : on.add(at);
};

const draw_axes = (ctx, model, at, look, lines) => {
	const { x0, y0, x1, y1 } = at.frame;
	const row_at = (i) => at.top + (i + 0.5) * at.cell_h;
	const column_at = (i) => at.left + (i + 0.5) * at.cell_w;
	const rows = special_lines(model, look, 'row', model.rows);
	const columns = special_lines(model, look, 'column', model.columns);
	ctx.textBaseline = 'middle';
	ctx.textAlign = 'right';
	for (const i of pick_names(model.rows, lines.rows, row_at, y0, y1, rows)) {
		ctx.save();
		ctx.translate(x0 - 5, row_at(i));
		draw_edge_name(ctx, model.rows[i], lines.rows[i], rows.has(i), x0 - 8, look);
		ctx.restore();
	}
	ctx.textAlign = 'left';
	for (const i of pick_names(model.columns, lines.columns, column_at, x0, x1, columns)) {
		ctx.save();
		ctx.translate(column_at(i), y0 - 5);
		ctx.rotate(-Math.PI / 2);
		draw_edge_name(ctx, model.columns[i], lines.columns[i], columns.has(i), y0 - 8, look);
		ctx.restore();
	}
};

const frame_cell = (ctx, at, row, column, colour, width) => {
	ctx.strokeStyle = colour;
	ctx.lineWidth = width;
	ctx.strokeRect(at.left + column * at.cell_w - width / 2, at.top + row * at.cell_h - width / 2,
		Math.max(4, at.cell_w) + width, Math.max(4, at.cell_h) + width);
};

/* The steps of a path as framed cells, and those of the alarm that is chosen. */
const draw_frames = (ctx, model, at, look) => {
	const mark = look.mark || [];
	const steps = new Set();
	for (let n = 0; n + 1 < mark.length; n++) {
		steps.add(`${mark[n]} ${mark[n + 1]}`);
		model.square || steps.add(`${mark[n + 1]} ${mark[n]}`);
	}
	if (steps.size === 0 && !look.chosen?.bundles.size) {
		return;
	}
	for (const c of model.cells) {
		const step = steps.has(`${model.rows[c.row].index} ${model.columns[c.column].index}`);
		if (step || look.chosen?.bundles.has(c.bundle.index)) {
			frame_cell(ctx, at, c.row, c.column, paper(look.theme).mark, step ? 3 : 2.5);
		}
	}
};

/* Lines through the row and column of what is chosen or under the cursor. */
const draw_bands = (ctx, model, at, look) => {
	const { x0, y0, x1, y1 } = at.frame;
	const band = (row, column) => {
		row !== null && ctx.fillRect(x0, at.top + row * at.cell_h, x1 - x0, Math.max(1, at.cell_h));
		column !== null && ctx.fillRect(at.left + column * at.cell_w, y0, Math.max(1, at.cell_w), y1 - y0);
	};
	ctx.globalAlpha = 0.22;
	ctx.fillStyle = paper(look.theme).mark;
	model.rows.forEach((v, i) => look.chosen?.vertices.has(v.index) && band(i, null));
	model.columns.forEach((v, i) => look.chosen?.vertices.has(v.index) && !model.square && band(null, i));
	if (look.cursor !== null && look.cursor.host === undefined) {
		ctx.globalAlpha = 0.16;
		ctx.fillStyle = paper(look.theme).ink;
		band(look.cursor.row, look.cursor.column);
	}
	ctx.globalAlpha = 1;
};

export const draw_matrix = (ctx, model, at, look) => {
	const { x0, y0, x1, y1 } = at.frame;
	const places = places_of(model, at, look);
	const lines = lines_of(model, look);
	const wrong = places.filter((p) => p.state !== 'fine').sort((p, q) => rank(q.state) - rank(p.state));

	ctx.save();
	ctx.beginPath();
	ctx.rect(x0, y0, x1 - x0, y1 - y0);
	ctx.clip();
	ctx.fillStyle = paper(look.theme).empty;
	ctx.fillRect(x0, y0, x1 - x0, y1 - y0);
	draw_fine(ctx, at, places, look);
	draw_bands(ctx, model, at, look);
	draw_gone(ctx, places.filter((p) => p.state === 'gone'), look);
	const shown = wrong.filter((p) => shows_state(p.state, look) && p.state !== 'gone');
	draw_guides(ctx, at, shown, look);
	draw_wrong(ctx, at, shown, look);
	draw_frames(ctx, model, at, look);
	if (look.cursor !== null && look.cursor.row != null && look.cursor.column != null) {
		frame_cell(ctx, at, look.cursor.row, look.cursor.column, paper(look.theme).ink, 2);
	}
	ctx.restore();
	draw_axes(ctx, model, at, look, lines);
	draw_hosts(ctx, model, at, look);
};
