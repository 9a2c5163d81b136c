// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// The ports of one node; each of its cables, or all of it, can be switched off for a what-if.
import { useEffect, useState } from 'preact/hooks';
import { get, list } from '../api.js';
import { Table } from '../table.jsx';
import { cable_of, node_as_off, off, toggle } from '../trial.jsx';
import { gone, now } from '../store.js';
import { age, day_time, end, number } from '../words.js';

const speed = (width, speed) => (width && speed ? `${width} ${speed}` : '');

const is_off = (key) => off.value.some((x) => x.key === key);

/* A thing that a what-if switches off and on again. */
const Switch = ({ thing, label }) => (
	<button type="button" aria-pressed={is_off(thing.key)} aria-label={`${is_off(thing.key) ? 'on again' : 'off'}: ${label}`}
		onClick={(e) => {
			e.stopPropagation();
			toggle([thing]);
		}}>
		{is_off(thing.key) ? 'on again' : 'off'}
	</button>
);

/* The errors that both ends of its cable count, and the answer to them. */
const health_words = (h) => (h && h.state !== 'well' ? `${h.state}, ${h.trend}: ${h.text}; ${h.decision_text}` : '');

/* The cables that err, by the port of this node. */
const with_health = (rows, links, guid) => {
	const by_port = new Map(links.flatMap((l) => [l.a, l.b].filter((e) => e.guid === guid).map((e) => [e.port, l])));
	return rows.map((p) => ({ ...p, health: by_port.get(p.port) }));
};

const COLUMNS = [
	{ name: 'port', of: (p) => p.port, number: true },
	{ name: 'state', of: (p) => p.state },
	{ name: 'speed', of: (p) => p.rate_gbps, show: (p) => speed(p.width, p.speed) },
	{ name: 'could be', of: (p) => p.best_rate_gbps,
		show: (p) => (p.degraded ? `▲ ${speed(p.best_width, p.best_speed)}` : '') },
	{ name: 'routes', wide: true, of: (p) => p.routes?.all, number: true, show: (p) => number(p.routes?.all) },
	{ name: 'to', of: (p) => end(p.peer) },
	{ name: 'health', of: (p) => p.health?.state ?? '', show: (p) => health_words(p.health) },
	{ name: 'what if', of: (p) => p.peer !== null && is_off(cable_of(p).key),
		show: (p) => p.peer && <Switch thing={cable_of(p)} label={`port ${p.port}`} /> },
];

const state_class = (p) => (p.peer && p.state !== 'active' ? 'is-down' : p.degraded || p.health?.state === 'sick' ? 'is-degraded' : '');

/* A node that is gone has no ports, but a last place. */
const Gone = ({ row, open }) => (
	<>
		<p><b>✖ gone for {age(now.value - Date.parse(row.gone_since))}</b>, since {day_time(row.gone_since)}{
			row.why && row.why !== 'gone' ? `: ${row.why.replaceAll('-', ' ')}` : ''}.</p>
		<p>{row.type}, last LID {row.lid}, {row.guid}, first seen {day_time(row.first_seen)}.</p>
		{row.place && (
			<p>
				It was on{' '}
				<button type="button" class="link" onClick={() => open(row.place.guid)}>{end(row.place)}</button>.
			</p>
		)}
	</>
);

/** node: its GUID or name; whatever the gateway takes. */
export const Ports = ({ node, epoch, open }) => {
	const [found, set_found] = useState(null);

	useEffect(() => {
		const ended = new AbortController();
		Promise.all([
			get(`v1/nodes/${encodeURIComponent(node)}`, {}, ended.signal),
			list('v1/ports', 'ports', { node }, 1000, ended.signal),
			list('v1/links/health', 'links', { node, sick: 1 }, 1000, ended.signal),
		]).then(([about, { rows }, links]) => set_found({ node, about, rows: with_health(rows, links.rows, about.guid) }))
			.catch((e) => e.name !== 'AbortError' && set_found({ node, error: e.message }));
		return () => ended.abort();
	}, [node, epoch]);
	const answer = found?.node === node ? found : null;
	const row = gone.value.find((n) => n.guid === node || n.name === node);
	return (
		<section class="node" aria-labelledby="node">
			<div class="bar">
				<h3 id="node">{answer?.about ? answer.about.name || answer.about.guid : row?.name || node}</h3>
				<button type="button" onClick={() => open('')}>close</button>
			</div>
			{answer === null ? <p>Asking ...</p>
				: answer.error && row ? <Gone row={row} open={open} />
				: answer.error ? <p class="warning" role="alert">{answer.error}</p>
				: <>
					<p>
						{answer.about.type}, LID {answer.about.lid}, {answer.about.guid}
						{answer.about.type === 'switch' && (
							<>; what if all of it were <Switch thing={node_as_off(answer.about)} label="the switch" /></>
						)}
					</p>
					<Table title="Ports" columns={COLUMNS} rows={answer.rows} class_of={state_class}
						chosen={(p) => p.peer && open(p.peer.guid)} />
				</>}
		</section>
	);
};
