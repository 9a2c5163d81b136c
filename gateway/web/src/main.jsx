// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// The page. What is wrong comes first.
import { render } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import '@preact/signals';
import 'uplot/dist/uPlot.min.css';
import './style.css';
import * as store from './store.js';
import { get } from './api.js';
import { address, follow_address, show } from './address.js';
import { Alarms } from './alarms.jsx';
import { Header } from './header.jsx';
import { Lists, TABS } from './lists.jsx';
import { FabricMap } from './map/map.jsx';
import { Path } from './path.jsx';

/** Groups of switches, by which a folded map finds paths and traffic. */
const use_groups = (topology) => {
	const [groups, set_groups] = useState(new Map());
	const needed = topology?.folded;
	useEffect(() => {
		const ended = new AbortController();
		if (needed) {
			get('v1/topology', { switches: 1 }, ended.signal).then((t) => set_groups(new Map(
				t.vertices.filter((v) => v.type === 'switch').map((v) => [v.guid, v.group]))), () => {});
		}
		return () => ended.abort();
	}, [needed, topology?.epoch]);
	return groups;
};

const Page = () => {
	const at = address.value;
	const topology = store.topology.value;
	const [guids, set_guids] = useState([]);
	const groups = use_groups(topology);
	const path = useMemo(() => ({ guids, groups }), [guids, groups]);
	const open_node = (node) => show({ node });

	useEffect(() => {
		store.refresh_tab(at.tab);
	}, [at.tab]);
	return (
		<>
			<Header />
			<main>
				<div class="side">
					<Alarms open={(end) => open_node(end.guid)} />
					<Path ends={{ src: at.src, dst: at.dst }} epoch={topology?.epoch} shown={set_guids}
						go={(src, dst) => show({ src, dst })} open={open_node} />
				</div>
				<FabricMap path={path} node={at.node} open_node={open_node} />
				<Lists tab={at.tab} choose={(tab) => show({ tab })} open={open_node} />
			</main>
			<footer>
				<a href="v1">all resources</a> <a href="openapi.json">OpenAPI</a>{' '}
				<a href="metrics">metrics</a> <a href="web/licences.txt">licences</a>
			</footer>
		</>
	);
};

follow_address(Object.keys(TABS));
store.start(() => address.value.tab);
render(<Page />, document.getElementById('app'));
