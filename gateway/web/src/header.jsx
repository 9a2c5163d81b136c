// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// One line that says how the fabric is.
import * as store from './store.js';
import { is_old } from './banner.jsx';
import { Signed } from './change.jsx';
import { severities_of, sorted_out } from './causes.js';
import { Tally } from './severity.jsx';
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

/** The title of the page: the worst is seen on its tab, too. */
export const title_of = (tree, old) => {
	const [worst] = severities_of(sorted_out(tree).open);
	const sign = { critical: '✖', error: '◆', warning: '▲' }[worst?.[0]];
	return `${old ? '? ' : ''}${sign ? `${sign}${worst[1]} ` : ''}Saguaro`;
};

/* All of it in a few words. */
const Verdict = () => {
	const { open } = sorted_out(store.causes.value);
	const bad = open.filter((a) => a.severity !== 'info');
	return (
		<p class="verdict">
			{store.alarms.value === null ? 'nothing is known yet'
				: bad.length > 0 ? <Tally alarms={bad} />
				: is_old() ? 'not known now' : <span class="good">✓ healthy</span>}
		</p>
	);
};

export const Header = () => {
	const fabric = store.fabric.value;
	return (
		<header>
			<h1>Saguaro</h1>
			<Verdict />
			<dl>
				<Sm />
				<LastSweep />
				<Engine />
				<Proof />
				<Fact name="Fabric">
					{fabric === null ? 'unknown'
						: `${number(fabric.hosts)} hosts, ${number(fabric.switches)} switches, ${number(fabric.links)} links`}
				</Fact>
				<Fact name="Events" bad={!store.live.value}>{store.live.value ? 'live' : 'not connected'}</Fact>
			</dl>
			<Signed />
		</header>
	);
};
