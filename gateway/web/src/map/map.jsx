// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// The map: all of the fabric, or one pod of it, or the ports of one switch.
import { useEffect, useMemo, useState } from 'preact/hooks';
import * as store from '../store.js';
import { get, list } from '../api.js';
import { Drawing } from './view.jsx';
import { Legend } from './legend.jsx';
import { Ports } from './ports.jsx';
import { Tiles } from './tiles.jsx';
import { lost_of, model_of, most_routes, on_path, uplinks_of } from './model.js';
import { groups_of_switches, off, WhatIf } from '../trial.jsx';
import { age } from '../words.js';

const COUNTERS_MOST = 60000;
const COUNTERS_MS = 30000;
const NO_ALARMS = [];

/** A pod, asked for anew with each epoch. */
const use_group = (group, epoch) => {
	const [answer, set_answer] = useState({ group: null });
	useEffect(() => {
		const ended = new AbortController();
		if (group !== null) {
			get('v1/topology', { group }, ended.signal)
				.then((topology) => set_answer({ group, topology }))
				.catch((e) => e.name !== 'AbortError' && set_answer({ group, error: e.message }));
		}
		return () => ended.abort();
	}, [group, epoch]);
	return answer.group === group ? answer : { group };
};

/** Groups of switches, by which a folded map finds paths and traffic. */
const use_groups = (topology, wanted) => {
	const [groups, set_groups] = useState(new Map());
	const needed = wanted && topology?.folded;
	useEffect(() => {
		const ended = new AbortController();
		if (needed) {
			groups_of_switches(ended.signal).then(set_groups, () => {});
		}
		return () => ended.abort();
	}, [needed, topology?.epoch]);
	return groups;
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

const Whole = ({ topology, path, lost, ...rest }) => {
	const { by } = rest;
	const model = useMemo(() => model_of(topology, null, lost), [topology, lost]);
	const mark = useMemo(() => on_path(model, path.guids, path.groups), [model, path]);
	const most = useMemo(() => most_routes(model), [model]);
	const what = model.kind === 'rows' ? 'switches by tier and the cables between them'
		: model.square ? 'cables from each row to each column'
		: 'cables from each pod to each switch above it';
	return (
		<>
			<Tiles vertices={model.vertices.filter((v) => v.type === 'group')} by={by} mark={mark}
				open={rest.open} />
			<Legend model={model} most={most} {...rest} />
			<Drawing key={model.kind} model={model} mark={mark} most={most} groups={path.groups}
				label={`Map: ${what}`} {...rest} />
		</>
	);
};

const Pod = ({ group, answer, path, lost, is_tree, ...rest }) => {
	const { topology } = answer;
	const inner = useMemo(() => topology && model_of(topology, group, lost), [topology, group, lost]);
	const up = useMemo(() => topology && is_tree && uplinks_of(topology, group, lost),
		[topology, group, lost]);
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
			<Legend model={inner} {...drawn} />
			<Drawing key={`inner ${group}`} model={inner} mark={on_path(inner, path.guids)}
				label={`Map of ${name}: ${is_tree ? 'its switches' : 'cables from its switches'}`} {...drawn} />
			{up && (
				<Drawing key={`up ${group}`} model={up} mark={on_path(up, path.guids)}
					label={`Cables from ${name} to switches outside it`} {...drawn} />
			)}
		</>
	);
};

/* What is gone altogether has no place on the map, so words say it. */
const Gone = ({ alarms }) => {
	const gone = alarms.filter((a) => a.kind === 'switch_gone' && a.node);
	return gone.length > 0 && (
		<p class="note">
			Not on the map, because gone:{' '}
			{gone.map((a) => `${a.node.name || a.node.guid}${a.since
				? ` (for ${age(store.now.value - Date.parse(a.since))})` : ''}`).join(', ')}.
		</p>
	);
};

/** guids: switches of the path that is shown. node: name of the switch that is open. */
export const FabricMap = ({ guids, node, open_node }) => {
	const [by, set_by] = useState('state');
	const [group, set_group] = useState(null);
	const [trying, set_trying] = useState(false);
	const topology = store.topology.value;
	const alarms = store.alarms.value?.alarms ?? NO_ALARMS;
	const cables = useMemo(() => lost_of(alarms), [alarms]);
	const answer = use_group(group, topology?.epoch);
	const groups = use_groups(topology,
		by === 'traffic' || guids.length > 0 || off.value.length > 0 || cables.length > 0);
	const path = useMemo(() => ({ guids, groups }), [guids, groups]);
	const lost = useMemo(() => ({ cables, group_of: groups }), [cables, groups]);
	const alarmed = useMemo(() =>
		new Set(alarms.flatMap((a) => [a.node?.guid, a.peer?.guid]).filter(Boolean)), [alarms]);
	const counters = use_counters(by === 'traffic', topology?.epoch);
	const open = (v) => (v.type === 'group' ? set_group(v.group) : open_node(v.guid));
	const drawn = { by, counters, alarmed, lost, path, trying, open, fabric: store.fabric.value };

	return (
		<section aria-labelledby="map">
			<div class="bar">
				<h2 id="map">Map</h2>
				{group !== null && (
					<button type="button" onClick={() => set_group(null)}>← whole fabric</button>
				)}
				<label>
					coloured by{' '}
					<select value={by} onChange={(e) => set_by(e.currentTarget.value)}>
						<option value="state">state</option>
						<option value="load">routes per link</option>
						<option value="traffic">traffic</option>
					</select>
				</label>
				<button type="button" aria-pressed={trying} onClick={() => set_trying(!trying)}>
					what if: click cables off
				</button>
			</div>
			{topology === null ? <p>Nothing is known yet.</p>
				: group === null ? <Whole topology={topology} {...drawn} />
				: <Pod group={group} answer={answer} is_tree={topology.kind === 'tree'} {...drawn} />}
			<Gone alarms={alarms} />
			{by === 'traffic' && counters?.length === 0 &&
				<p>There are no readings of port counters (option perfmgr).</p>}
			<WhatIf epoch={topology?.epoch} />
			{node !== '' && <Ports node={node} epoch={topology?.epoch} open={open_node} />}
		</section>
	);
};
