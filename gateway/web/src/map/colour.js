// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// Colours that people who cannot tell red from green can tell apart. State is never colour
// alone: what is wrong is also drawn thicker, dashed, or marked.
import { interpolateCividis } from 'd3-scale-chromatic';

const STATES = {
	dark: { fine: '#5b7a9a', degraded: '#e69f00', down: '#ff7f50', lost: '#ff7f50', off: '#f2b5d4' },
	light: { fine: '#8aa4c0', degraded: '#b87700', down: '#c43e00', lost: '#c43e00', off: '#a0407a' },
};

const PAPER = {
	dark: { ink: '#e8eaed', faint: '#39414b', paper: '#14181d', mark: '#56b4e9', node: '#a9bdd3' },
	light: { ink: '#1c2126', faint: '#d5dae0', paper: '#ffffff', mark: '#0072b2', node: '#3f5a76' },
};

export const theme = () =>
	typeof matchMedia === 'function' && matchMedia('(prefers-color-scheme: light)').matches
		? 'light' : 'dark';

export const paper = (name) => PAPER[name];
export const state_colour = (name, state) => STATES[name][state];

/** From none to the most; light is much on dark paper, dark is much on white paper. */
export const scale_colour = (name, part) => {
	const p = Math.min(1, Math.max(0, part));
	return interpolateCividis(name === 'dark' ? 0.15 + 0.85 * p : 0.95 - 0.9 * p);
};
