// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// Draws a model (model.js) on a canvas. `look` is {by: 'state' | 'load' | 'traffic', traffic: of
// each bundle, theme, most, mark: vertices of a path, off: bundles with cables of a what-if
// (off_bundles), chosen: what an alarm is about (chosen_of), cursor: what is under the pointer or
// the keyboard, {vertex, bundle}, {host} or {row, column}, or null}.
import { most_routes } from './model.js';
import { draw_matrix } from './matrix.js';
import { layout } from './place.js';
import { draw_rows } from './rows.js';

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
	ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
	ctx.clearRect(0, 0, width, height);
	const full = { ...look, most: look.most ?? most_routes(model) };
	const at = layout(model, width, height, view);
	(model.kind === 'rows' ? draw_rows : draw_matrix)(ctx, model, at, full);
};
