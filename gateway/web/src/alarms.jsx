// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// What is wrong now: causes, the worst first, and under each what it brought with it.
// In the list arrows up and down go from alarm to alarm, right and left unfold and fold,
// Enter shows it on the map.
import { useState } from 'preact/hooks';
import * as store from './store.js';
import { cost_of, flat, joined, severities_of, sorted_out } from './causes.js';
import { Acknowledge, OutOfService } from './change.jsx';
import { Severity, Tally } from './severity.jsx';
import { age, count, day_time } from './words.js';

const SHOWN = 20; // more on request
const CHILDREN_SHOWN = 50;

const Age = ({ since }) => since && (
	<time class="age" dateTime={since} title={day_time(since)}>
		{age(store.now.value - Date.parse(since))}
	</time>
);

/* The user who has taken it, and the end of that. */
const Taken = ({ by }) => (
	<p class="taken">
		✓ acknowledged by {by.by || 'somebody'}{by.at ? `, ${day_time(by.at)}` : ''}
		{by.until ? `, until ${day_time(by.until)}` : ''}{by.note ? `: ${by.note}` : ''}
	</p>
);

/* Actions on a chosen alarm. */
const Actions = ({ alarm, open }) => (
	<div class="actions">
		<button type="button" class="to-map" onClick={() => document.getElementById('map').scrollIntoView()}>
			↓ on the map
		</button>
		{alarm.advice && <p class="advice"><b>What to do:</b> {alarm.advice}.</p>}
		{[alarm.node, alarm.peer].filter(Boolean).map((e) => (
			<button type="button" key={e.guid} onClick={() => open(e)}
				aria-label={`ports of ${e.name || e.guid}`}>
				ports of {e.name || e.guid}
			</button>
		))}
		{alarm.acknowledged !== undefined && !alarm.cause && <Acknowledge alarm={alarm} />}
	</div>
);

const Alarm = ({ alarm, chosen, choose, open, unfolded, fold, child }) => {
	const n = joined(alarm);
	const is_open = unfolded.has(alarm.id);
	const is_chosen = chosen === alarm.id;
	const cost = cost_of(alarm);
	return (
		<li class={`alarm severity-${alarm.severity}${is_chosen ? ' chosen' : ''}`} data-id={alarm.id}>
			<button type="button" class="alarm-title" aria-current={is_chosen ? 'true' : undefined}
				data-fold={alarm.children.length > 0 ? alarm.id : undefined}
				onClick={() => choose(alarm)}>
				<Severity severity={alarm.severity} />{' '}
				<b class="kind">{alarm.kind.replaceAll('_', ' ')}</b>
				{alarm.maintenance && <span class="badge">maintenance</span>}
				{alarm.acknowledged && <span class="badge">acknowledged</span>}
				<Age since={alarm.since} />
				{cost !== '' && <span class="cost">{cost}</span>}
				<span class="text">{alarm.text}</span>
			</button>
			{alarm.acknowledged && <Taken by={alarm.acknowledged} />}
			{is_chosen && <Actions alarm={alarm} open={open} />}
			{alarm.children.length > 0 ? (
				<button type="button" class="fold" aria-expanded={is_open} onClick={() => fold(alarm.id)}>
					{is_open ? '▾' : '▸'} {count(n, 'alarm')} with the same cause
				</button>
			) : n > 0 && <p class="note">and {count(n, 'more alarm')} with the same cause</p>}
			{is_open && (
				<ul class="children" aria-label={`with ${alarm.kind.replaceAll('_', ' ')}`}>
					{alarm.children.slice(0, CHILDREN_SHOWN).map((c) => (
						<Alarm key={c.id} alarm={c} chosen={chosen} choose={choose} open={open}
							unfolded={unfolded} fold={fold} child />
					))}
					{alarm.children.length > CHILDREN_SHOWN &&
						<li class="note">and {count(alarm.children.length - CHILDREN_SHOWN, 'more')}</li>}
				</ul>
			)}
		</li>
	);
};

/* Arrows go from alarm to alarm. */
const on_key = (unfolded, fold) => (e) => {
	const titles = [...e.currentTarget.querySelectorAll('.alarm-title')];
	const at = titles.indexOf(document.activeElement);
	const step = { ArrowDown: 1, ArrowUp: -1, Home: -titles.length, End: titles.length }[e.key];
	const id = titles[at]?.dataset.fold;
	if (step !== undefined) {
		titles[Math.max(0, Math.min(titles.length - 1, at < 0 ? 0 : at + step))]?.focus();
	} else if (id !== undefined && ((e.key === 'ArrowRight' && !unfolded.has(id)) ||
		(e.key === 'ArrowLeft' && unfolded.has(id)))) {
		fold(id);
	} else {
		return;
	}
	e.preventDefault();
};

const List = ({ alarms, label, ...rest }) => {
	const [most, set_most] = useState(SHOWN);
	return (
		<>
			<ul class="alarms" aria-label={label} onKeyDown={on_key(rest.unfolded, rest.fold)}>
				{alarms.slice(0, most).map((x) => <Alarm key={x.id} alarm={x} {...rest} />)}
			</ul>
			{alarms.length > most && (
				<button type="button" onClick={() => set_most(most * 5)}>
					{count(alarms.length - most, 'more alarm')}
				</button>
			)}
		</>
	);
};

const Folded = ({ alarms, title, ...rest }) => alarms.length > 0 && (
	<details class="aside" open={flat(alarms).some((a) => a.id === rest.chosen)}>
		<summary>{title} ({severities_of(alarms).map(([s, n]) => `${n} ${s}`).join(', ')})</summary>
		<List alarms={alarms} label={title} {...rest} />
	</details>
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

/** chosen: id of the alarm that the map shows. choose(alarm), open(end). */
export const Alarms = ({ chosen, choose, open }) => {
	const [unfolded, set_unfolded] = useState(new Set());
	const a = store.alarms.value;
	const { open: rows, taken, planned } = sorted_out(store.causes.value);
	const fold = (id) => {
		const to = new Set(unfolded);
		to.delete(id) || to.add(id);
		set_unfolded(to);
	};
	const rest = { chosen, choose, open, unfolded, fold };
	const shown = a === null ? 0 : a.alarms.length;
	return (
		<section class="causes" aria-labelledby="alarms">
			<div class="bar">
				<h2 id="alarms">What is wrong</h2>
				<span class="tally"><Tally alarms={rows} /></span>
			</div>
			{a === null ? <p>Nothing is known yet.</p>
				: rows.length === 0 ? <p class="good">✓ Nothing{taken.length + planned.length > 0 ? ' new' : ''}.</p>
				: (
					<div class="scroll causes-list" role="region" tabIndex={0} aria-label="Alarms">
						<List alarms={rows} label="Causes, the worst first" {...rest} />
					</div>
				)}
			<Folded alarms={taken} title="Acknowledged" {...rest} />
			<Folded alarms={planned} title="In maintenance" {...rest} />
			<OutOfService open={open} />
			{a !== null && a.total > shown &&
				<p>{count(a.total - shown, 'more alarm')} at <a href="v1/alarms">/v1/alarms</a>.</p>}
			<Holes />
		</section>
	);
};
