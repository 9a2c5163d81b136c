// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// One line that says how the fabric is.
import * as store from './store.js';
import { age, count, number } from './words.js';

const Fact = ({ name, bad, children }) => (
	<div class={bad ? 'fact bad' : 'fact'}>
		<dt>{name}</dt>
		<dd>{children}</dd>
	</div>
);

/** What the proof of the tables found, in words; ok: nothing. */
export const proof_words = (routing) => {
	const wrong = [
		[routing.unreachable_pairs, 'unreachable pair'],
		[routing.forwarding_loops, 'forwarding loop'],
		[routing.credit_loops, 'credit loop'],
	].filter(([n]) => n > 0).map(([n, what]) => count(n, what));
	return { ok: wrong.length === 0, text: wrong.join(', ') || 'no loops, all pairs reachable' };
};

const Sm = () => {
	const sm = store.sm.value;
	const name = sm?.sms?.find((s) => s.port_guid === sm.guid)?.name;
	return (
		<Fact name="Subnet manager" bad={sm !== null && sm.state !== 'master' && sm.state !== 'standby'}>
			{sm === null ? 'unknown' : `${sm.state}${name ? ` on ${name}` : ''}`}
		</Fact>
	);
};

const LastSweep = () => {
	const sweeps = store.sweeps.value;
	const fabric = store.fabric.value;
	const text = fabric === null ? 'none' : `${age(store.now.value - Date.parse(fabric.computed_at))} ago`;
	return (
		<Fact name="Routes computed">
			{text}{sweeps?.phase && sweeps.phase !== 'idle' ? `, now: ${sweeps.phase}` : ''}
		</Fact>
	);
};

const Engine = () => {
	const r = store.routing.value;
	const is_fallback = r !== null && r.engine_used !== null && r.engine_asked !== null &&
		r.engine_used !== r.engine_asked.split(',')[0].trim();
	return (
		<Fact name="Engine" bad={is_fallback}>
			{r === null ? 'unknown' : r.engine_used ?? 'none'}
			{is_fallback ? ` instead of ${r.engine_asked}` : ''}
		</Fact>
	);
};

const Proof = () => {
	const r = store.routing.value;
	const words = r === null ? { ok: true, text: 'unknown' } : proof_words(r);
	return <Fact name="Proof" bad={!words.ok}>{words.text}</Fact>;
};

const Alarms = () => {
	const n = store.alarms.value?.counts;
	const bad = n && n.critical + n.error + n.warning > 0;
	return (
		<Fact name="Alarms" bad={bad}>
			{!n ? 'unknown' : bad
				? [n.critical > 0 && `${n.critical} critical`, n.error > 0 && count(n.error, 'error'), n.warning > 0 && count(n.warning, 'warning')]
					.filter(Boolean).join(', ')
				: 'none'}
		</Fact>
	);
};

/** Old answers are never shown as if they were of now. */
const Warning = () => {
	const why = store.trouble.value ?? (store.ready.value?.ready === false ? store.ready.value.detail : null);
	const stale = store.fabric.value?.stale;
	if (why === null && !stale) {
		return null;
	}
	return (
		<p class="warning" role="alert">
			{why ?? 'the daemon does not report'}
			{store.fabric.value !== null && '. What follows is the last that was known.'}
		</p>
	);
};

export const Header = () => {
	const fabric = store.fabric.value;
	return (
		<header>
			<h1>Saguaro</h1>
			<dl>
				<Sm />
				<LastSweep />
				<Engine />
				<Proof />
				<Alarms />
				<Fact name="Fabric">
					{fabric === null ? 'unknown'
						: `${number(fabric.hosts)} hosts, ${number(fabric.switches)} switches, ${number(fabric.links)} links`}
				</Fact>
				<Fact name="Events" bad={!store.live.value}>{store.live.value ? 'live' : 'not connected'}</Fact>
			</dl>
			<Warning />
		</header>
	);
};
