// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// Pods or groups of switches as tiles, in their order: those that are whole are quiet.
import { Glyph } from './legend.jsx';
import { scale_colour, theme } from './colour.js';
import { state_of } from './model.js';
import { count, number } from '../words.js';

const words = (v) => {
	const wrong = [
		v.gone > 0 && `${count(v.gone, 'switch', 'switches')} gone`,
		v.hosts_gone > 0 && `${count(v.hosts_gone, 'host')} gone`,
		v.lost > 0 && `${count(v.lost, 'cable')} lost`,
		v.not_active > 0 && `${v.not_active} not Active`,
		v.sick > 0 && `${v.sick} sick`,
		v.degraded > 0 && `${v.degraded} degraded`,
		v.loaded > 0 && `${v.loaded} overloaded`,
		v.drained > 0 && `${v.drained} out of service`,
	].filter(Boolean);
	return wrong.length === 0 ? count(v.hosts, 'host') : wrong.join(', ');
};

const Tile = ({ vertex, by, most, marked, chosen, open }) => {
	const state = state_of(vertex);
	return (
		<li>
			<button type="button" class={`tile is-${state}${marked ? ' marked' : ''}${chosen ? ' chosen' : ''}`}
				onClick={() => open(vertex)}>
				<b>{state !== 'fine' && <Glyph state={state} />} {vertex.name}</b>
				<span class="hidden">{count(vertex.switches, 'switch', 'switches')}</span>
				<span>{by === 'load' ? `${number(vertex.routes)} routes` : words(vertex)}</span>
				{by === 'load' && (
					<span class="swatch" style={{ background: scale_colour(theme(), vertex.routes / most) }} />
				)}
			</button>
		</li>
	);
};

/** vertices: those of the drawing that are groups. mark: places of the path in the drawing, chosen:
 * of an alarm. */
export const Tiles = ({ vertices, by, mark, chosen, open }) => {
	const most = vertices.reduce((n, v) => Math.max(n, v.routes), 1);
	return vertices.length > 0 && (
		<ul class="tiles" aria-label="Groups of switches">
			{vertices.map((v) => (
				<Tile key={v.group} vertex={v} by={by} most={most} open={open}
					marked={mark.includes(v.index)} chosen={chosen.has(v.index)} />
			))}
		</ul>
	);
};
