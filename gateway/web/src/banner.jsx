// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// When nobody watches the fabric any more: since when, what that means, and what to do. Old
// answers are never shown as if they were of now, so the whole page then loses its colours.
import * as store from './store.js';
import { Command } from './copy.jsx';
import { Icon } from './severity.jsx';
import { age, clock_time, day_time } from './words.js';

/** Is what the page shows not of now? A fabric that comes up for the first time is no such thing. */
export const is_old = () =>
	store.trouble.value !== null || Boolean(store.fabric.value?.stale) || store.ready.value?.ready === false;

/* The trouble in a few words, and the commands that help. */
const kind_of = () => {
	const since = store.ready.value?.since ?? null;
	if (store.trouble.value !== null && store.trouble.value === store.GATEWAY_SILENT) {
		return {
			title: 'The gateway does not answer',
			why: null,
			since: store.answered.value,
			commands: ['systemctl status saguaro-gateway', 'journalctl -u saguaro-gateway -e'],
			means: 'This page cannot say whether the subnet manager runs.',
		};
	}
	const why = store.ready.value?.detail ?? store.trouble.value ?? 'the daemon does not report';
	return since !== null ? {
		title: 'The subnet manager is gone',
		why,
		since: Date.parse(since),
		commands: ['systemctl restart saguarod', 'journalctl -u saguarod -e'],
		means: 'Packets go on by the tables that the switches have. Nobody brings up ports, moves routes away from ' +
			'lost cables, or answers path queries, until a subnet manager is master again.',
	} : {
		title: 'The subnet manager is not ready',
		why,
		since: null,
		commands: ['saguaro status', 'journalctl -u saguarod -e'],
		means: 'New ports wait until it is.',
	};
};

export const Banner = () => {
	if (!is_old()) {
		return null;
	}
	const { title, why, since, commands, means } = kind_of();
	const { computed_at } = store.fabric.value ?? {};
	return (
		<section class="banner warning" role="alert" aria-label={title}>
			<Icon severity="critical" />
			<div>
				<h2>
					{title}
					{since !== null && <>
						{' '}since <time dateTime={new Date(since).toISOString()}>{clock_time(since)}</time>
						{', '}for {age(store.now.value - since)}
					</>}
				</h2>
				{why !== null && <p>{why}.</p>}
				<p>{means}</p>
				{store.fabric.value !== null && (
					<p><b>What follows is the last that was known</b>{computed_at && `, of ${day_time(computed_at)}`}.</p>
				)}
				<div class="commands">{commands.map((c) => <Command key={c} text={c} />)}</div>
			</div>
		</section>
	);
};
