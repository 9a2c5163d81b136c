// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// What is wrong now, the worst first.
import * as store from './store.js';
import { Table } from './table.jsx';
import { age, count, end } from './words.js';

const MARKS = { error: '✖', warning: '▲', info: 'i' };

const COLUMNS = [
	{ name: 'severity', of: (a) => a.severity,
		show: (a) => <span class={`mark ${a.severity}`}>{MARKS[a.severity]} {a.severity}</span> },
	{ name: 'kind', of: (a) => a.kind.replaceAll('_', ' ') },
	{ name: 'where', of: (a) => end(a.node) + (a.peer ? ` - ${end(a.peer)}` : '') },
	{ name: 'what', of: (a) => a.text },
	{ name: 'for', of: (a) => (a.since ? store.now.value - Date.parse(a.since) : null),
		show: (a) => (a.since ? age(store.now.value - Date.parse(a.since)) : '') },
];

export const Alarms = ({ open }) => {
	const a = store.alarms.value;
	return (
		<section aria-labelledby="alarms">
			<h2 id="alarms">What is wrong</h2>
			{a === null ? <p>Nothing is known yet.</p>
				: a.total === 0 ? <p class="good">✓ Nothing.</p>
				: <Table title="Alarms" columns={COLUMNS} rows={a.alarms}
					class_of={(x) => `severity-${x.severity}`}
					chosen={(x) => x.node && open(x.node)} />}
			{a !== null && a.total > a.alarms.length &&
				<p>{count(a.total - a.alarms.length, 'more alarm')} at <a href="v1/alarms">/v1/alarms</a>.</p>}
		</section>
	);
};
