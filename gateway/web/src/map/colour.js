// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// Colours that people who cannot tell red from green can tell apart. State is never colour
// alone: what is wrong is also drawn thicker, dashed, or marked. What is fine is quiet, so that
// what is not stands out of thousands.
import { interpolateCividis } from 'd3-scale-chromatic';

const STATES = {
	dark: {
		fine: '#46566a', gone: '#ff7f50', lost: '#ff7f50', down: '#ff7f50', sick: '#cf9bff',
		degraded: '#e69f00', loaded: '#4fd1c5', drained: '#a9b8c8', off: '#f2b5d4',
	},
	light: {
		fine: '#b3bfcb', gone: '#c43e00', lost: '#c43e00', down: '#c43e00', sick: '#7a36b8',
		degraded: '#b87700', loaded: '#00757a', drained: '#5c6d7e', off: '#a0407a',
	},
};

/* cell: a cell that is fine, empty: where no cable is, node: a switch or host that is fine. */
const PAPER = {
	dark: {
		ink: '#e8eaed', faint: '#39414b', paper: '#14181d', mark: '#56b4e9', node: '#8ba0b8',
		cell: '#323d4a', empty: '#191e25', soft: '#9aa5b1', host: '#55677d',
	},
	light: {
		ink: '#1c2126', faint: '#d5dae0', paper: '#ffffff', mark: '#0072b2', node: '#4d647c',
		cell: '#ccd6e0', empty: '#f3f5f8', soft: '#5b6671', host: '#9db0c3',
	},
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
