// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// What is wrong now, the worst first.
import { useState } from 'preact/hooks';
import * as store from './store.js';
import { age, count } from './words.js';

const SHOWN = 20; // more on request
const MARKS = { critical: '✖', error: '✖', warning: '▲', info: 'i' };

const Alarm = ({ alarm, open }) => (
	<li class={`alarm severity-${alarm.severity}`}>
		<div>
			<span class={`mark ${alarm.severity}`}>{MARKS[alarm.severity]} {alarm.severity}</span>{' '}
			<b>{alarm.kind.replaceAll('_', ' ')}</b>
			{alarm.since && <span class="age">for {age(store.now.value - Date.parse(alarm.since))}</span>}
		</div>
		<p>{alarm.text}</p>
		{alarm.node && (
			<button type="button" class="link" onClick={() => open(alarm.node)}
				aria-label={`ports of ${alarm.node.name || alarm.node.guid}`}>
				{alarm.node.name || alarm.node.guid}
			</button>
		)}
	</li>
);

/** What the configuration leaves open to hosts of the fabric. It does not change by itself, so it is folded. */
const Holes = () => {
	const holes = store.sm.value?.holes ?? [];
	return holes.length > 0 && (
		<details class="holes">
			<summary>The configuration leaves {count(holes.length, 'thing')} open to hosts</summary>
			<ul>
				{holes.map((h) => (
					<li key={h.name}>
						<p>{h.text}</p>
						<p class="note">{h.advice}</p>
					</li>
				))}
			</ul>
		</details>
	);
};

export const Alarms = ({ open }) => {
	const [most, set_most] = useState(SHOWN);
	const a = store.alarms.value;
	const rows = a?.alarms.slice(0, most) ?? [];
	return (
		<section aria-labelledby="alarms">
			<h2 id="alarms">What is wrong</h2>
			{a === null ? <p>Nothing is known yet.</p>
				: a.total === 0 ? <p class="good">✓ Nothing.</p>
				: (
					<ul class="alarms scroll" tabIndex={0} aria-label="Alarms">
						{rows.map((x) => <Alarm key={`${x.event} ${x.kind} ${x.text}`} alarm={x} open={open} />)}
					</ul>
				)}
			{a !== null && a.alarms.length > most && (
				<button type="button" onClick={() => set_most(most * 5)}>
					{count(a.alarms.length - most, 'more alarm')}
				</button>
			)}
			{a !== null && most >= a.alarms.length && a.total > a.alarms.length &&
				<p>{count(a.total - a.alarms.length, 'more alarm')} at <a href="v1/alarms">/v1/alarms</a>.</p>}
			<Holes />
		</section>
	);
};
