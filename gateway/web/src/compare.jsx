// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// Routing engines side by side, on a copy of the fabric. It is computed when it is asked for.
import { useEffect, useRef, useState } from 'preact/hooks';
import { post } from './api.js';
import { Table } from './table.jsx';
import { number } from './words.js';

const percent = (share) => (share ? `${Math.round(share.mean * 100)} %` : '');
const figure = (name, of) => ({ name, of, number: true, show: (r) => number(of(r)) });
const share = (name, of) =>
	({ name, of: (r) => of(r)?.mean ?? null, number: true, show: (r) => percent(of(r)) });

const COLUMNS = [
	{ name: 'engine', of: (r) => r.engine },
	{ name: 'proof', of: (r) => (!r.routed ? 'none' : r.proven ? 'holds' : 'fails') },
	figure('lanes', (r) => r.vls),
	figure('busiest link', (r) => r.load?.max),
	figure('99th percentile', (r) => r.load?.p99),
	figure('idle links', (r) => r.load?.idle),
	share('bisection', (r) => r.bisection),
	share('shift', (r) => r.shift),
	share('random', (r) => r.permutation),
	figure('moved, host lost', (r) => r.host_lost?.moved),
	figure('moved, cable lost', (r) => r.cable_lost?.moved),
	{ name: 'seconds', of: (r) => r.seconds, number: true, show: (r) => r.seconds?.toFixed(3) ?? '' },
	{ name: 'why', of: (r) => r.why ?? '' },
];

export const Engines = () => {
	const [found, set_found] = useState(null); // {answer}, {error}, or {} while it is computed
	const asked = useRef(null);

	useEffect(() => () => asked.current?.abort(), []);
	const ask = () => {
		asked.current = new AbortController();
		set_found({});
		post('v1/compare', {}, asked.current.signal)
			.then((answer) => set_found({ answer }))
			.catch((e) => e.name !== 'AbortError' && set_found({ error: e.message }));
	};
	const waits = found !== null && !found.answer && !found.error;
	return (
		<>
			<p>
				<button type="button" onClick={ask} disabled={waits}>Compare routing engines</button>{' '}
				on a copy of the fabric; nothing is changed.
			</p>
			<div role="status">
				{waits && <p>Routing copies of the fabric ...</p>}
				{found?.error && <p class="warning">{found.error}</p>}
				{found?.answer && <p><b>{found.answer.recommended ?? 'No engine'}</b> is recommended: {found.answer.reason}.</p>}
			</div>
			{found?.answer && <Table title="Routing engines" columns={COLUMNS} rows={found.answer.engines} />}
		</>
	);
};
