// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// The ports of one node, and what would happen without one of its cables.
import { useEffect, useRef, useState } from 'preact/hooks';
import { get, list, post } from '../api.js';
import { Table } from '../table.jsx';
import { whatif_words } from '../whatif.js';
import { end, number } from '../words.js';

const speed = (width, speed) => (width && speed ? `${width} ${speed}` : '');

const columns = (what_if) => [
	{ name: 'port', of: (p) => p.port, number: true },
	{ name: 'state', of: (p) => p.state },
	{ name: 'speed', of: (p) => p.rate_gbps, show: (p) => speed(p.width, p.speed) },
	{ name: 'could be', of: (p) => p.best_rate_gbps,
		show: (p) => (p.degraded ? `▲ ${speed(p.best_width, p.best_speed)}` : '') },
	{ name: 'routes', of: (p) => p.routes?.all, number: true, show: (p) => number(p.routes?.all) },
	{ name: 'to', of: (p) => end(p.peer) },
	{ name: 'what if it were down', of: () => '',
		show: (p) => p.peer && (
			<button type="button" onClick={(e) => {
				e.stopPropagation();
				what_if(p);
			}}>try</button>
		) },
];

const state_class = (p) => (p.peer && p.state !== 'active' ? 'is-down' : p.degraded ? 'is-degraded' : '');

const WhatIf = ({ trial }) => {
	if (trial === null) {
		return null;
	}
	const words = trial.answer && whatif_words(trial.answer);
	return (
		<div class="whatif" role="status">
			<h4>Without {trial.name}</h4>
			{trial.error ? <p class="warning">{trial.error}</p>
				: !words ? <p>Routing a copy of the fabric ...</p>
				: <ul class={words.bad ? 'warning' : ''}>{words.lines.map((l) => <li key={l}>{l}</li>)}</ul>}
		</div>
	);
};

/** node: its GUID or name; whatever the gateway takes. */
export const Ports = ({ node, epoch, open }) => {
	const [found, set_found] = useState(null);
	const [trial, set_trial] = useState(null);
	const asked = useRef(null);

	useEffect(() => {
		const ended = new AbortController();
		Promise.all([
			get(`v1/nodes/${encodeURIComponent(node)}`, {}, ended.signal),
			list('v1/ports', 'ports', { node }, 1000, ended.signal),
		]).then(([about, { rows }]) => set_found({ node, about, rows }))
			.catch((e) => e.name !== 'AbortError' && set_found({ node, error: e.message }));
		return () => ended.abort();
	}, [node, epoch]);
	useEffect(() => () => asked.current?.abort(), [node]);

	const what_if = (p) => {
		const name = `${end(p)} - ${end(p.peer)}`;
		asked.current?.abort();
		asked.current = new AbortController();
		set_trial({ name });
		post('v1/whatif', { down: [`${p.node_guid}:${p.port}`] }, asked.current.signal)
			.then((answer) => set_trial({ name, answer }))
			.catch((e) => e.name !== 'AbortError' && set_trial({ name, error: e.message }));
	};
	const now = found?.node === node ? found : null;
	return (
		<section class="node" aria-labelledby="node">
			<div class="bar">
				<h3 id="node">{now?.about ? now.about.name || now.about.guid : node}</h3>
				<button type="button" onClick={() => open('')}>close</button>
			</div>
			{now === null ? <p>Asking ...</p>
				: now.error ? <p class="warning" role="alert">{now.error}</p>
				: <>
					<p>{now.about.type}, LID {now.about.lid}, {now.about.guid}</p>
					<Table title="Ports" columns={columns(what_if)} rows={now.rows} class_of={state_class}
						chosen={(p) => p.peer && open(p.peer.guid)} />
					<WhatIf trial={trial} />
				</>}
		</section>
	);
};
