// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// The map: all of the fabric, or one pod of it, or the ports of one switch.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import * as store from '../store.js';
import { get, list } from '../api.js';
import { show } from '../address.js';
import { Drawing } from './view.jsx';
import { Legend } from './legend.jsx';
import { Ports } from './ports.jsx';
import { Tiles } from './tiles.jsx';
import { ghosts_of } from './ghosts.js';
import { chosen_of, model_of, most_routes, on_path, uplinks_of } from './model.js';
import { find_alarm, guids_of } from '../causes.js';
import { off, places_of_switches, WhatIf } from '../trial.jsx';
import { age } from '../words.js';

const COUNTERS_MOST = 60000;
const COUNTERS_MS = 30000;
const NONE = [];

/** A pod and its hosts, asked for anew with each epoch. */
const use_group = (group, epoch) => {
	const [answer, set_answer] = useState({ group: null });
	useEffect(() => {
		const ended = new AbortController();
		if (group !== null) {
			get('v1/topology', { group, hosts: 1 }, ended.signal)
				.then((topology) => set_answer({ group, topology }))
				.catch((e) => e.name !== 'AbortError' && set_answer({ group, error: e.message }));
		}
		return () => ended.abort();
	}, [group, epoch]);
	return answer.group === group ? answer : { group };
};

const own_places = (topology) =>
	new Map(topology.vertices.filter((v) => v.type === 'switch').map((v) => [v.guid, v]));

/** {tier, group} of each switch, by which a folded map finds paths, alarms and traffic. */
const use_places = (topology, wanted) => {
	const [found, set_found] = useState({ epoch: null, places: new Map() });
	const folded = topology?.folded ?? false;
	const epoch = topology?.epoch;
	useEffect(() => {
		const ended = new AbortController();
		if (folded && wanted) {
			places_of_switches(ended.signal).then((places) => set_found({ epoch, places }), () => {});
		}
		return () => ended.abort();
	}, [folded && wanted, epoch]);
	return useMemo(() => (folded || !topology ? found.places : own_places(topology)), [folded, topology, found]);
};

/** Readings of the ports of switches, while they are wanted; null: not asked yet. */
const use_counters = (wanted, epoch) => {
	const [rows, set_rows] = useState(null);
	useEffect(() => {
		const ended = new AbortController();
		const ask = () => list('v1/counters', 'counters', { type: 'switch' }, COUNTERS_MOST, ended.signal)
			.then((found) => set_rows(found.rows), () => {});
		const timer = wanted ? setInterval(ask, COUNTERS_MS) : 0;
		wanted && ask();
		return () => {
			clearInterval(timer);
			ended.abort();
		};
	}, [wanted, epoch]);
	return wanted ? rows : null;
};

const Whole = ({ topology, path, wrong, ...rest }) => {
	const { by, chosen } = rest;
	const model = useMemo(() => model_of(topology, null, wrong), [topology, wrong]);
	const picked = useMemo(() => chosen_of(model, chosen, path.groups).vertices, [model, chosen, path]);
	const mark = useMemo(() => on_path(model, path.guids, path.groups), [model, path]);
	const most = useMemo(() => most_routes(model), [model]);
	const what = model.kind === 'rows' ? 'switches by tier and the cables between them'
		: model.square ? 'cables from each row to each column'
		: 'cables from each pod to each switch above it';
	return (
		<>
			<Tiles vertices={model.vertices.filter((v) => v.type === 'group')} by={by} mark={mark}
				chosen={picked} open={rest.open} />
			<Legend model={model} most={most} {...rest} />
			<Drawing key={model.kind} model={model} mark={mark} most={most} groups={path.groups}
				label={`Map: ${what}`} {...rest} />
		</>
	);
};

const Pod = ({ group, answer, path, wrong, is_tree, ...rest }) => {
	const { topology } = answer;
	const inner = useMemo(() => topology && model_of(topology, group, wrong), [topology, group, wrong]);
	const up = useMemo(() => topology && is_tree && uplinks_of(topology, group, wrong),
		[topology, group, wrong]);
	const name = `${is_tree ? 'pod' : 'group'} ${group}`;

	if (answer.error) {
		return <p class="warning" role="alert">{answer.error}</p>;
	}
	if (!inner) {
		return <p>Asking for {name} ...</p>;
	}
	const drawn = { ...rest, groups: path.groups, most: most_routes(up || inner) };
	return (
		<>
			<Legend model={up ? { ...inner, bundles: up.bundles } : inner} {...drawn} />
			<Drawing key={`inner ${group}`} model={inner} mark={on_path(inner, path.guids)}
				label={`Map of ${name}: ${is_tree ? 'its switches and hosts' : 'cables from its switches'}`} {...drawn} />
			{up && (
				<Drawing key={`up ${group}`} model={up} mark={on_path(up, path.guids)}
					label={`Cables from ${name} to switches outside it`} {...drawn} />
			)}
		</>
	);
};

/* A switch that is gone without a trace of its place is not drawn, so words say it. */
const Unplaced = ({ switches }) => switches.length > 0 && (
	<p class="note">
		Not on the map, because it is gone and nothing says where it was:{' '}
		{switches.map((g) => `${g.name}${g.since === null ? '' : ` (for ${age(store.now.value - g.since)})`}`).join(', ')}.
	</p>
);

/* Opens the group in which an alarm is, once for each alarm that is chosen. */
const use_alarm = (alarm, folded, places, gone) => {
	const opened = useRef(null);
	useEffect(() => {
		if (alarm === null || opened.current === alarm.id || !folded) {
			opened.current = alarm === null ? null : opened.current;
			return;
		}
		const guids = [...guids_of(alarm), ...alarm.children.flatMap(guids_of)];
		const within = (guid) => places.get(guid)?.group ?? gone.switches.find((g) => g.guid === guid)?.group ??
			places.get(gone.hosts.find((h) => h.guid === guid)?.switch)?.group;
		const group = guids.map(within).find((g) => g !== null && g !== undefined);
		if (places.size > 0) {
			opened.current = alarm.id;
			group !== undefined && show({ group: String(group) });
		}
	}, [alarm?.id, folded, places, gone]);
};

/** guids: switches of the path that is shown. node: name of the switch that is open. group: the
 * group that is shown, or ''. alarm: id of the alarm that is shown, or ''. */
export const FabricMap = ({ guids, node, group, alarm, open_node }) => {
	const [by, set_by] = useState('state');
	const [trying, set_trying] = useState(false);
	const topology = store.topology.value;
	const marks = store.marks.value;
	const known = store.gone.value;
	const picked = useMemo(() => (alarm === '' ? null : find_alarm(store.causes.value, alarm)),
		[alarm, store.causes.value]);
	const chosen = useMemo(() => (picked === null ? NONE
		: [...guids_of(picked), ...picked.children.flatMap(guids_of)]), [picked]);
	const inside = group === '' || !topology?.folded ? null : Number(group);
	const answer = use_group(inside, topology?.epoch);
	const places = use_places(topology, by === 'traffic' || guids.length > 0 || off.value.length > 0 ||
		marks.length > 0 || known.length > 0 || chosen.length > 0);
	const groups = useMemo(() => new Map([...places].map(([guid, p]) => [guid, p.group])), [places]);
	const ghosts = useMemo(() => ghosts_of(known, store.lost_links.value, places),
		[known, store.lost_links.value, places]);
	const wrong = useMemo(() => ({
		marks, ...ghosts, places, group_of: new Map([...groups, ...ghosts.switches.map((g) => [g.guid, g.group])]),
	}), [marks, ghosts, places, groups]);
	const path = useMemo(() => ({ guids, groups: wrong.group_of }), [guids, wrong]);
	const counters = use_counters(by === 'traffic', topology?.epoch);
	const open = (v) => (v.type === 'group' ? show({ group: String(v.group), node: '' }) : open_node(v.guid));
	const drawn = { by, counters, chosen, wrong, path, trying, open, fabric: store.fabric.value };

	use_alarm(picked, topology?.folded ?? false, places, ghosts);
	return (
		<section class="map" aria-labelledby="map">
			<div class="bar">
				<h2 id="map">Map</h2>
				{inside !== null && (
					<button type="button" onClick={() => show({ group: '' })}>← whole fabric</button>
				)}
				<label>
					shows{' '}
					<select value={by} onChange={(e) => set_by(e.currentTarget.value)}>
						<option value="state">what is wrong</option>
						<option value="load">routes per link</option>
						<option value="traffic">traffic</option>
					</select>
				</label>
				<button type="button" aria-pressed={trying} onClick={() => set_trying(!trying)}>
					what if: click cables off
				</button>
				{picked !== null && (
					<button type="button" onClick={() => show({ alarm: '' })}>
						unmark {picked.kind.replaceAll('_', ' ')} ✕
					</button>
				)}
			</div>
			{topology === null ? <p>Nothing is known yet.</p>
				: inside === null ? <Whole topology={topology} {...drawn} />
				: <Pod group={inside} answer={answer} is_tree={topology.kind === 'tree'} {...drawn} />}
			<Unplaced switches={ghosts.switches.filter((g) => g.tier === undefined)} />
			{by === 'traffic' && counters?.length === 0 &&
				<p>There are no readings of port counters (option perfmgr).</p>}
			<WhatIf epoch={topology?.epoch} />
			{node !== '' && <Ports node={node} epoch={topology?.epoch} open={open_node} />}
		</section>
	);
};
