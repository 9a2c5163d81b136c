// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// What the colours of the map say.
import { useEffect, useState } from 'preact/hooks';
import { get } from '../api.js';
import { scale_colour, theme } from './colour.js';
import { GLYPHS, GLYPH_WORDS } from './glyphs.js';
import { load_words, STATES, tally } from './model.js';
import { count, number } from '../words.js';

const STOPS = [0, 0.25, 0.5, 0.75, 1];

/** The sign that the map has for a state. */
export const Glyph = ({ state }) => (
	<svg class={`glyph ${state}${GLYPHS[state].filled ? ' filled' : ''}`} viewBox="-1.4 -1.4 2.8 2.8" width="14"
		height="14" aria-hidden="true">
		<path d={GLYPHS[state].path} />
	</svg>
);

const States = ({ model, trying }) => {
	const n = tally(model);
	const wrong = STATES.filter((s) => s !== 'fine' && n[s] > 0);
	return (
		<ul class="legend">
			{wrong.map((s) => <li key={s} class={s}><Glyph state={s} /> {n[s]} {GLYPH_WORDS[s]}</li>)}
			{trying && <li class="off"><Glyph state="off" /> {GLYPH_WORDS.off}</li>}
			<li class="fine">{count(n.fine, 'bundle')} fine</li>
		</ul>
	);
};

const Scale = ({ from, to }) => (
	<div class="scale">
		<span>{from}</span>
		<span class="bar-of-colours" style={{ background:
			`linear-gradient(to right, ${STOPS.map((p) => scale_colour(theme(), p)).join(', ')})` }} />
		<span>{to}</span>
	</div>
);

/* How evenly the routes are spread, asked for anew with each epoch. */
const use_load = (wanted, epoch) => {
	const [tiers, set_tiers] = useState(null);
	useEffect(() => {
		const ended = new AbortController();
		if (wanted) {
			get('v1/load', { limit: 1 }, ended.signal).then((l) => set_tiers(l.tiers), () => {});
		}
		return () => ended.abort();
	}, [wanted, epoch]);
	return tiers;
};

/** fabric: answer of /v1/fabric. most: routes at the end of the scale. */
export const Legend = ({ by, model, fabric, most, trying }) => {
	const tiers = use_load(by === 'load', fabric?.epoch);
	if (by === 'state') {
		return <States model={model} trying={trying} />;
	}
	return by === 'traffic' ? <Scale from="idle" to="100 % used" /> : (
		<>
			<Scale from="0" to={`${number(most)} routes on a cable`} />
			{tiers && fabric && load_words(tiers, fabric).map((line) => <p class="note" key={line}>{line}</p>)}
		</>
	);
};
