// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// Pods or groups of switches as tiles: what is inside, and whether it is whole.
import { scale_colour, theme } from './colour.js';
import { state_of } from './model.js';
import { count, number } from '../words.js';

const MARKS = { fine: '', degraded: '▲ ', down: '✖ ', lost: '✖ ' };

const words = (v) =>
	v.lost > 0 ? `${count(v.lost, 'cable')} lost`
		: v.not_active > 0 ? `${v.not_active} not Active`
		: v.degraded > 0 ? `${v.degraded} degraded`
		: count(v.hosts, 'host');

const Tile = ({ vertex, by, most, marked, open }) => {
	const state = state_of(vertex);
	return (
		<li>
			<button type="button" class={`tile is-${state}${marked ? ' marked' : ''}`}
				onClick={() => open(vertex)}>
				<b>{MARKS[state]}{vertex.name}</b>
				<span class="hidden">{count(vertex.switches, 'switch', 'switches')}</span>
				<span>{by === 'load' ? `${number(vertex.routes)} routes` : words(vertex)}</span>
				{by === 'load' && (
					<span class="swatch" style={{ background: scale_colour(theme(), vertex.routes / most) }} />
				)}
			</button>
		</li>
	);
};

/** vertices: those of the drawing that are groups. mark: places of the path in the drawing. */
export const Tiles = ({ vertices, by, mark, open }) => {
	const most = vertices.reduce((n, v) => Math.max(n, v.routes), 1);
	return vertices.length > 0 && (
		<ul class="tiles" aria-label="Groups of switches">
			{vertices.map((v) => (
				<Tile key={v.group} vertex={v} by={by} most={most} open={open}
					marked={mark.includes(v.index)} />
			))}
		</ul>
	);
};
