// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// The lists below the map: events, partitions, jobs, load, counters.
import { useMemo, useState } from 'preact/hooks';
import * as store from './store.js';
import { Chart } from './chart.jsx';
import { Engines } from './compare.jsx';
import { Jobs } from './jobs.jsx';
import { Severity } from './severity.jsx';
import { Table } from './table.jsx';
import { clock_time, day_time, end, hex, number, rate } from './words.js';

const EVENT_COLUMNS = [
	{ name: 'time', of: (e) => e.time, show: (e) => <time dateTime={e.time} title={day_time(e.time)}>{clock_time(e.time)}</time> },
	{ name: 'severity', of: (e) => e.severity, show: (e) => <Severity severity={e.severity} />, wide: true },
	{ name: 'kind', of: (e) => e.kind.replaceAll('_', ' '),
		show: (e) => <><span class="on-phone"><Severity severity={e.severity} /> </span>{e.kind.replaceAll('_', ' ')}</> },
	{ name: 'where', wide: true, of: (e) => end(e.node) + (e.peer ? ` - ${end(e.peer)}` : '') },
	{ name: 'what', of: (e) => e.text },
];

const Events = ({ open }) => {
	const [only, set_only] = useState('all');
	const rows = store.events.value.filter((e) => only === 'all' || e.severity !== 'info');
	return (
		<>
			<label>
				show{' '}
				<select value={only} onChange={(e) => set_only(e.currentTarget.value)}>
					<option value="all">all</option>
					<option value="wrong">warnings and errors</option>
				</select>
			</label>
			<Table title="Events, the newest first" columns={EVENT_COLUMNS} rows={rows}
				class_of={(e) => `severity-${e.severity}`} chosen={(e) => e.node && open(e.node.guid)} />
		</>
	);
};

const PARTITION_COLUMNS = [
	{ name: 'P_Key', of: (p) => p.p_key, show: (p) => hex(p.p_key) },
	{ name: 'name', of: (p) => p.name },
	{ name: 'SL', of: (p) => p.sl, number: true },
	{ name: 'full members', of: (p) => p.full_members, number: true },
	{ name: 'limited members', of: (p) => p.limited_members, number: true },
	{ name: 'multicast groups', of: (p) => p.group_count, number: true },
];

const Partitions = () => {
	const p = store.partitions.value;
	return p === null ? <p>Asking ...</p>
		: <Table title="Partitions" columns={PARTITION_COLUMNS} rows={p.partitions} />;
};

const LOAD_COLUMNS = [
	{ name: 'from', of: (l) => end(l.from) },
	{ name: 'to', of: (l) => end(l.to) },
	{ name: 'routes', of: (l) => l.routes, number: true, show: (l) => number(l.routes) },
	{ name: 'times the mean of its tiers', of: (l) => l.relative, number: true,
		show: (l) => l.relative.toFixed(2) },
	{ name: 'Gb/s', of: (l) => l.rate_gbps, number: true },
];

const Load = ({ open }) => {
	const l = store.load.value;
	return l === null ? <p>Asking ...</p> : (
		<>
			<p>
				{l.tiers.map((t) => `tier ${t.from ?? '?'} to ${t.to ?? '?'}: ${number(t.links)} links, ` +
					`mean ${number(Math.round(t.mean_routes))}, most ${number(t.max_routes)} routes`).join('; ')}.
				{' '}The {Math.min(l.links.length, l.total)} busiest of {number(l.total)}:
			</p>
			<Table title="Links by their routes" columns={LOAD_COLUMNS} rows={l.links}
				class_of={(x) => (x.relative > 2 ? 'is-degraded' : '')} chosen={(x) => open(x.from.guid)} />
		</>
	);
};

const COUNTER_COLUMNS = [
	{ name: 'port', of: (c) => `${c.name || c.node_guid}/${c.port}` },
	{ name: 'to', of: (c) => end(c.peer) },
	{ name: 'sends', of: (c) => c.xmit_bytes_per_second, number: true,
		show: (c) => rate(c.xmit_bytes_per_second) },
	{ name: 'receives', of: (c) => c.rcv_bytes_per_second, number: true,
		show: (c) => rate(c.rcv_bytes_per_second) },
	{ name: 'used', of: (c) => c.utilization, number: true,
		show: (c) => (c.utilization === null ? '' : `${Math.round(c.utilization * 100)} %`) },
	{ name: 'new errors', of: (c) => c.errors, number: true },
	{ name: 'saturated', of: (c) => c.saturated.join(' ') },
];

const SAMPLE_COLUMNS = [
	{ name: 'time', of: (s) => s.time, show: (s) => <time dateTime={s.time}>{day_time(s.time)}</time> },
	{ name: 'sends', of: (s) => s.xmit_bytes_per_second, number: true,
		show: (s) => rate(s.xmit_bytes_per_second) },
	{ name: 'receives', of: (s) => s.rcv_bytes_per_second, number: true,
		show: (s) => rate(s.rcv_bytes_per_second) },
	{ name: 'errors', of: (s) => s.errors, number: true },
];

const History = ({ row }) => {
	const samples = row.history ?? [];
	const times = useMemo(() => samples.map((s) => Date.parse(s.time) / 1000), [row]);
	const series = useMemo(() => [
		{ name: 'sends', values: samples.map((s) => s.xmit_bytes_per_second) },
		{ name: 'receives', values: samples.map((s) => s.rcv_bytes_per_second) },
	], [row]);
	const name = `${row.name || row.node_guid}/${row.port}`;
	return samples.length < 2 ? <p>{name} has no earlier readings yet.</p> : (
		<>
			<Chart title={`${name}: traffic`} times={times} series={series} show={rate} />
			<Table title={`${name}: traffic, as a table`} folded columns={SAMPLE_COLUMNS} rows={samples} />
		</>
	);
};

const Counters = () => {
	const [port, set_port] = useState(null);
	const c = store.counters.value;
	if (c === null || c.counters.length === 0) {
		return <p>{c === null ? 'Asking ...'
			: 'There are no readings. The performance manager is off, or has not read yet (option perfmgr).'}</p>;
	}
	const same = (x) => port && x.node_guid === port.node_guid && x.port === port.port;
	const row = c.counters.find(same);
	return (
		<>
			{row && <History row={row} />}
			<Table title="Port counters" columns={COUNTER_COLUMNS} rows={c.counters} chosen={set_port}
				class_of={(x) => (x.errors > 0 ? 'is-degraded' : '')} />
		</>
	);
};

export const TABS = {
	events: ['Events', Events],
	partitions: ['Partitions', Partitions],
	jobs: ['Jobs', Jobs],
	load: ['Load', Load],
	counters: ['Counters', Counters],
	engines: ['Engines', Engines],
};

/** Tabs as WAI-ARIA has them: arrows choose. */
export const Lists = ({ tab, choose, open }) => {
	const names = Object.keys(TABS);
	const on_key = (e) => {
		const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
		const at = names.findIndex((n) => e.target.id === `tab-${n}`); // `tab` may not be drawn anew yet
		if (step && at >= 0) {
			const to = names[(at + step + names.length) % names.length];
			choose(to);
			document.getElementById(`tab-${to}`).focus();
		}
	};
	const Shown = TABS[tab][1];
	return (
		<section>
			<div role="tablist" aria-label="Lists" onKeyDown={on_key}>
				{names.map((n) => (
					<button key={n} id={`tab-${n}`} role="tab" type="button" aria-selected={n === tab}
						aria-controls="list" tabIndex={n === tab ? 0 : -1} onClick={() => choose(n)}>
						{TABS[n][0]}
					</button>
				))}
			</div>
			<div id="list" role="tabpanel" aria-labelledby={`tab-${tab}`}><Shown open={open} /></div>
		</section>
	);
};
