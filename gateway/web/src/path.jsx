// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// Two names -> the path between them, hop by hop, with reasons and what was not taken.
import { useEffect, useState } from 'preact/hooks';
import { get } from './api.js';
import { suggest } from './store.js';
import { count, end, hex, number } from './words.js';

const Name = ({ label, value, set }) => {
	const [names, set_names] = useState([]);
	const id = `names-${label}`;

	useEffect(() => {
		const ended = new AbortController();
		const timer = setTimeout(() => {
			suggest(value, ended.signal).then(set_names, () => {});
		}, 150);
		return () => {
			clearTimeout(timer);
			ended.abort();
		};
	}, [value]);
	return (
		<label>
			{label}{' '}
			<input name={label} list={id} value={value} autocomplete="off" spellcheck={false}
				placeholder="name, GUID or LID" onInput={(e) => set(e.currentTarget.value)} />
			<datalist id={id}>{names.map((n) => <option key={n} value={n} />)}</datalist>
		</label>
	);
};

const Others = ({ hop }) => {
	const others = (hop.candidates ?? []).filter((c) => !c.taken);
	return others.length > 0 && (
		<details>
			<summary>{count(others.length, 'other port')} not taken</summary>
			<ul>
				{others.map((c) => (
					<li key={c.port}>
						port {c.port} to {end(c.to)}
						{c.rate_gbps ? `, ${c.rate_gbps} Gb/s` : ''}
						{c.routes !== null && c.routes !== undefined ? `, ${number(c.routes)} routes` : ''}
					</li>
				))}
			</ul>
		</details>
	);
};

const Hop = ({ hop, open }) => (
	<li>
		<span class="port">{hop.in_port}</span>
		<div class="switch">
			<button type="button" class="link" onClick={() => open(hop.guid)}>{hop.name || hop.guid}</button>
			{hop.vl !== null && hop.vl !== undefined && <span class="vl">VL {hop.vl}</span>}
			{hop.why && <p>{hop.why}.</p>}
			<Others hop={hop} />
		</div>
		<span class="port">{hop.out_port}</span>
	</li>
);

const limit_words = (what, limit) =>
	limit && `${what} limited by ${limit.by === 'cable'
		? `the cable ${end(limit.from)} - ${end(limit.to)}` : limit.by.replaceAll('-', ' ')}`;

const Ladder = ({ path, src, dst, open }) => (
	<>
		<p>
			LID {path.slid} to LID {path.dlid}, SL {path.sl}, {path.rate_gbps} Gb/s, MTU {path.mtu_bytes}
			, P_Key {hex(path.p_key)}
			{path.why?.engine ? `, routed by ${path.why.engine}` : ''}
		</p>
		<ol class="ladder" aria-label="Hops">
			<li class="end">{src}</li>
			{(path.hops ?? []).map((h) => <Hop key={h.guid} hop={h} open={open} />)}
			<li class="end">{dst}</li>
		</ol>
		{[limit_words('Rate', path.why?.rate_limited), limit_words('MTU', path.why?.mtu_limited)]
			.filter(Boolean).map((text) => <p key={text}>{text}.</p>)}
	</>
);

const NoPath = ({ answer }) => (
	<p class="warning" role="alert">
		There is no path. {(answer.excluded_by ?? []).map((x) => x.why).join('; ')}
	</p>
);

/** ends: {src, dst}, as the address of the page has them; go(src, dst) asks for others. */
export const Path = ({ ends, epoch, go, shown, open }) => {
	const [src, set_src] = useState(ends.src);
	const [dst, set_dst] = useState(ends.dst);
	const [found, set_found] = useState(null);
	const [which, set_which] = useState(0);
	const paths = found?.answer?.paths ?? [];
	const path = paths[Math.min(which, paths.length - 1)];

	useEffect(() => {
		const ended = new AbortController();
		set_src(ends.src);
		set_dst(ends.dst);
		if (ends.src !== '' && ends.dst !== '') {
			get('v1/paths', { src: ends.src, dst: ends.dst, why: 1 }, ended.signal)
				.then((answer) => set_found({ answer, ...ends }))
				.catch((e) => e.name !== 'AbortError' && set_found({ error: e.message }));
		} else {
			set_found(null);
		}
		return () => ended.abort();
	}, [ends.src, ends.dst, epoch]);
	useEffect(() => shown(path ? path.hops.map((h) => h.guid) : []), [path]);

	return (
		<section class="path" aria-labelledby="path">
			<h2 id="path">Path</h2>
			<form onSubmit={(e) => {
				e.preventDefault();
				go(src.trim(), dst.trim());
			}}>
				<Name label="from" value={src} set={set_src} />
				<Name label="to" value={dst} set={set_dst} />
				<button type="submit">show</button>
				{found !== null && <button type="button" onClick={() => go('', '')}>clear</button>}
			</form>
			{found?.error && <p class="warning" role="alert">{found.error}</p>}
			{found?.answer && !path && <NoPath answer={found.answer} />}
			{paths.length > 1 && (
				<label>
					path{' '}
					<select value={which} onChange={(e) => set_which(Number(e.currentTarget.value))}>
						{paths.map((p, i) => <option key={p.dlid} value={i}>{i + 1} of {paths.length}: LID {p.slid} to {p.dlid}</option>)}
					</select>
				</label>
			)}
			{path && <Ladder path={path} src={found.src} dst={found.dst} open={open} />}
		</section>
	);
};
