// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// Changes that an operator makes from the page: alarms acknowledged, nodes and cables put out of
// service and back. Without saguaro-admin each is a command to type.
import { useState } from 'preact/hooks';
import * as admin from './admin.js';
import { Problem } from './api.js';
import * as store from './store.js';
import { ack_command, end_command, start_command, unack_command } from './causes.js';
import { Command } from './copy.jsx';
import { count, day_time, end } from './words.js';

/* Runs a change once at a time: [busy, what went wrong, run]. */
const use_change = () => {
	const [state, set_state] = useState({ busy: false, wrong: null });
	const run = async (change) => {
		set_state({ busy: true, wrong: null });
		try {
			await change();
			set_state({ busy: false, wrong: null });
			store.refresh_state();
		} catch (e) {
			set_state({ busy: false, wrong: admin.why(e) });
		}
	};
	return [state.busy, state.wrong, run];
};

const Wrong = ({ text }) => text && <p class="warning" role="alert">{text}</p>;

const SignIn = () => {
	const [busy, wrong, run] = use_change();
	const on_submit = (e) => {
		const field = e.currentTarget.elements.secret;
		const text = field.value;
		e.preventDefault();
		field.value = '';
		run(() => admin.sign_in(text));
	};
	return (
		<form class="change" onSubmit={on_submit}>
			<label>
				to change this: NAME.SECRET of an operator{' '}
				<input type="password" name="secret" autoComplete="off" required />
			</label>
			<button type="submit" disabled={busy}>sign in</button>
			<Wrong text={wrong} />
		</form>
	);
};

/** Shows what an operator may do here: its children, the way to sign in, or the commands. */
const Change = ({ commands, children }) => {
	const user = admin.user.value;
	if (admin.url.value === null || !admin.is_safe()) {
		return (
			<>
				{commands.map(([label, text]) => <Command key={text} label={label} text={text} />)}
				{admin.url.value !== null && (
					<p class="note">Changes from here need the page by https, or on the machine of the gateway.</p>
				)}
			</>
		);
	}
	return user === null ? <SignIn />
		: user.role !== 'operator' ? <p class="note">{user.user} is {user.role}; changes need an operator.</p>
		: children;
};

export const Signed = () => admin.user.value && (
	<p class="signed">
		{admin.user.value.user} <button type="button" onClick={admin.sign_out}>sign out</button>
	</p>
);

const Fields = () => (
	<>
		<label>why <input name="note" maxLength={120} /></label>
		<label>until <input name="until" class="short" placeholder="2h, 7d" /></label>
	</>
);

/* What is typed, without what is not. */
const typed = (form) =>
	Object.fromEntries([...new FormData(form)].map(([k, v]) => [k, v.trim()]).filter(([, v]) => v !== ''));

const AckForm = ({ alarm }) => {
	const [busy, wrong, run] = use_change();
	const path = `v1/alarms/${encodeURIComponent(alarm.id)}`;
	const on_submit = (e) => {
		const body = typed(e.currentTarget);
		e.preventDefault();
		run(() => (alarm.acknowledged ? admin.send('POST', `${path}/unack`) : admin.send('POST', `${path}/ack`, body)));
	};
	return (
		<form class="change" onSubmit={on_submit}>
			{!alarm.acknowledged && <Fields />}
			<button type="submit" disabled={busy}>
				{alarm.acknowledged ? 'take the acknowledgement back' : 'acknowledge'}
			</button>
			<Wrong text={wrong} />
		</form>
	);
};

export const Acknowledge = ({ alarm }) => (
	<Change commands={[alarm.acknowledged
		? ['Take the acknowledgement back:', unack_command(alarm.id)]
		: ['Acknowledge it:', ack_command(alarm.id)]]}>
		<AckForm alarm={alarm} />
	</Change>
);

/* What saguarod says of one thing. */
const effect_words = ({ name, effect }) => {
	const cut = [
		[effect.hosts_behind, 'host behind it', 'hosts behind it'],
		[effect.pairs_cut, 'pair of other hosts is cut off', 'pairs of other hosts are cut off'],
		[effect.switches_cut, 'other switch is cut off', 'other switches are cut off'],
	].filter(([n]) => n > 0).map((words) => count(...words));
	return `${name}: ${cut.length > 0 ? cut.join(', ') : 'nobody is cut off'}`;
};

const StartForm = ({ things, done }) => {
	const [effects, set_effects] = useState(null); // of the last question, with what was asked
	const [busy, wrong, run] = use_change();
	const key = things.map((x) => x.down).join(' ');
	const asked = effects?.key === key ? effects : null;
	const ask = async (body) => {
		const rows = [];
		for (const x of things) { // in turn, so that the second is judged without the first
			try {
				rows.push({ name: x.name, effect: await admin.send('POST', 'v1/maintenance', { node: x.down, ...body }) });
			} catch (e) {
				throw rows.length > 0 && !body.dry_run && e instanceof Problem
					? new Problem(e.status, { detail: `${count(rows.length, 'thing is', 'things are')} out of service; ${x.name}: ${e.message}` })
					: e;
			}
		}
		return rows;
	};
	const on_submit = (e) => {
		const form = e.currentTarget;
		const { force, ...body } = typed(form);
		e.preventDefault();
		run(async () => {
			if (asked === null) {
				set_effects({ key, rows: await ask({ dry_run: true, force: true }) });
				return;
			}
			await ask({ ...body, ...(force ? { force: true } : {}) });
			done();
		});
	};
	const cuts = asked?.rows.some(({ effect }) => effect.pairs_cut > 0 || effect.switches_cut > 0);
	return (
		<form class="change" onSubmit={on_submit}>
			{asked !== null && (
				<>
					<div class={cuts ? 'effect warning' : 'effect'} role="status">
						{asked.rows.map((r) => <p key={r.name}>{effect_words(r)}</p>)}
					</div>
					<Fields />
					{cuts && <label><input type="checkbox" name="force" value="1" /> all the same</label>}
				</>
			)}
			<button type="submit" disabled={busy}>{asked === null ? 'maintenance: who is cut off?' : 'start maintenance'}</button>
			<Wrong text={wrong} />
		</form>
	);
};

/** things: of trial.jsx. */
export const StartMaintenance = ({ things, done }) => (
	<Change commands={things.slice(0, 5).map((x) => ['Maintenance:', start_command(x.down)])}>
		<StartForm things={things} done={done} />
	</Change>
);

const EndForm = ({ place }) => {
	const [busy, wrong, run] = use_change();
	return (
		<>
			<button type="button" disabled={busy} aria-label={`end the maintenance of ${place}`}
				onClick={() => run(() => admin.send('DELETE', `v1/maintenance/${encodeURIComponent(place)}`))}>
				end
			</button>
			<Wrong text={wrong} />
		</>
	);
};

/* A name that is not there, or that others have too, is no name for a command. */
const place_of = (e) => (e.port ? `${e.guid}:${e.port}` : e.guid);

/** What routes avoid, with who wanted that and why. */
export const OutOfService = ({ open }) => {
	const rows = store.maintenance.value?.maintenance ?? [];
	return rows.length > 0 && (
		<details class="aside" open>
			<summary>Out of service ({rows.length})</summary>
			<ul class="alarms" aria-label="Out of service">
				{rows.map((r) => (
					<li class="alarm" key={`${place_of(r.node)} ${r.reason}`}>
						<button type="button" class="link" onClick={() => open(r.node)}>
							{end(r.node)}{r.peer ? ` - ${end(r.peer)}` : ''}
						</button>{' '}
						<b>{r.state}</b>{r.reason === 'health' ? ' for its errors' : ''}
						<p class="note">
							since {day_time(r.since)}{r.by ? `, by ${r.by}` : ''}{r.until ? `, until ${day_time(r.until)}` : ''}
							{r.note ? `: ${r.note}` : ''}
						</p>
						{r.reason === 'maintenance' && (
							<Change commands={[['End it:', end_command(place_of(r.node))]]}><EndForm place={place_of(r.node)} /></Change>
						)}
					</li>
				))}
			</ul>
		</details>
	);
};
