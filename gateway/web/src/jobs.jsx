// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// Jobs of a batch system, and one of them: what is wrong for it, its hosts and its busiest links.
import { useEffect, useState } from 'preact/hooks';
import { get } from './api.js';
import { address, show } from './address.js';
import { Severity } from './severity.jsx';
import * as store from './store.js';
import { Table } from './table.jsx';
import { count, end, hex, number, paths_words } from './words.js';

const COLUMNS = [
	{ name: 'job', of: (j) => j.id },
	{ name: 'P_Key', of: (j) => j.p_key, show: (j) => hex(j.p_key), wide: true },
	{ name: 'hosts', of: (j) => j.host_count, number: true },
	{ name: 'ports', of: (j) => j.port_count, number: true },
	{ name: 'not in the fabric', of: (j) => j.absent_count, number: true },
];

const LINKS = [
	{ name: 'from', of: (l) => end(l.from) },
	{ name: 'to', of: (l) => end(l.to) },
	{ name: 'paths of the job', of: (l) => l.job_routes, number: true, show: (l) => number(l.job_routes) },
	{ name: 'all routes', of: (l) => l.routes, number: true, show: (l) => number(l.routes), wide: true },
	{ name: 'Gb/s', of: (l) => l.rate_gbps, number: true, show: (l) => `${number(l.rate_gbps)}${l.degraded ? ', degraded' : ''}` },
];

const HOSTS = [
	{ name: 'host', of: (p) => p.host },
	{ name: 'port', of: (p) => end(p), wide: true },
	{ name: 'LID', of: (p) => p.lid, number: true },
	{ name: 'on', of: (p) => end(p.peer) },
	{ name: 'link', of: (p) => (p.degraded ? 'degraded' : 'good') },
];

const of_degraded = (row) => (row.degraded ? 'is-degraded' : '');

const Job = ({ job, open }) => {
	const p = job.paths;
	const ports = job.hosts.flatMap((h) => h.ports.map((x) => ({ ...x, host: h.name })));
	return (
		<>
			<p>{paths_words(p)}</p>
			{p.unreachable > 0 && <p class="warning">{count(p.unreachable, 'pair')} of them without a route.</p>}
			{job.absent_count > 0 && <p class="warning">{count(job.absent_count, 'port')} not in the fabric: {job.absent.join(' ')}</p>}
			{job.alarms.length === 0 ? <p class="good">Nothing is wrong on its paths.</p> : (
				<ul aria-label="What is wrong on its paths">
					{job.alarms.map((a) => <li key={a.id}><Severity severity={a.severity} /> {a.text}</li>)}
				</ul>
			)}
			<h4>Busiest and degraded links on its paths</h4>
			<Table title="Links of the job" columns={LINKS} rows={job.links} class_of={of_degraded} chosen={(l) => open(l.from.guid)} />
			<h4>{count(job.host_count, 'host')}{job.total > job.hosts.length ? `, the first ${number(job.hosts.length)}` : ''}</h4>
			<Table title="Hosts of the job" columns={HOSTS} rows={ports} class_of={of_degraded} chosen={(x) => x.peer && open(x.peer.guid)} />
		</>
	);
};

export const Jobs = ({ open }) => {
	const list = store.jobs.value;
	const id = address.value.job;
	const [found, set_found] = useState(null); // {answer} or {error}

	useEffect(() => {
		const ended = new AbortController();
		if (id === '') {
			set_found(null);
		} else {
			get(`v1/jobs/${encodeURIComponent(id)}`, {}, ended.signal)
				.then((answer) => set_found({ answer }))
				.catch((e) => e.name !== 'AbortError' && set_found({ error: e.message }));
		}
		return () => ended.abort();
	}, [id, list?.epoch, store.alarms.value?.total]);
	if (list === null) {
		return <p>Asking ...</p>;
	}
	return (
		<>
			{list.total === 0 ? <p>No job has a partition of its own.</p> : (
				<Table title="Jobs" columns={COLUMNS} rows={list.jobs}
					class_of={(j) => (j.absent_count > 0 ? 'is-degraded' : '')} chosen={(j) => show({ job: j.id })} />
			)}
			{list.total > list.jobs.length && <p>The first {number(list.jobs.length)} of {number(list.total)} jobs.</p>}
			{id !== '' && (
				<section aria-label={`Job ${id}`}>
					<h3>Job {id} <button type="button" onClick={() => show({ job: '' })}>close</button></h3>
					{found?.error && <p class="warning" role="alert">{found.error}</p>}
					{found?.answer?.id === id && <Job job={found.answer} open={open} />}
				</section>
			)}
		</>
	);
};
