// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// The page. What is wrong comes first.
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import '@preact/signals';
import 'uplot/dist/uPlot.min.css';
import './style.css';
import * as store from './store.js';
import { address, follow_address, show } from './address.js';
import * as admin from './admin.js';
import { Alarms } from './alarms.jsx';
import { Banner, is_old } from './banner.jsx';
import { Header, title_of } from './header.jsx';
import { Lists, TABS } from './lists.jsx';
import { FabricMap } from './map/map.jsx';
import { Path } from './path.jsx';

const Page = () => {
	const at = address.value;
	const topology = store.topology.value;
	const [guids, set_guids] = useState([]);
	const open_node = (node) => show({ node });
	const choose = (alarm) => {
		show(at.alarm === alarm.id ? { alarm: '' } : { alarm: alarm.id });
	};

	useEffect(() => {
		store.refresh_tab(at.tab);
	}, [at.tab]);
	useEffect(() => {
		document.title = title_of(store.causes.value, is_old());
	});
	return (
		<div class={is_old() ? 'page old' : 'page'}>
			<Header />
			<Banner />
			<main>
				<Alarms chosen={at.alarm} choose={choose} open={(end) => open_node(end.guid)} />
				<FabricMap guids={guids} node={at.node} group={at.group} alarm={at.alarm} open_node={open_node} />
				<Path ends={{ src: at.src, dst: at.dst }} epoch={topology?.epoch} shown={set_guids}
					go={(src, dst) => show({ src, dst })} open={open_node} />
				<Lists tab={at.tab} choose={(tab) => show({ tab })} open={open_node} />
			</main>
			<footer>
				<a href="v1">all resources</a> <a href="openapi.json">OpenAPI</a>{' '}
				<a href="metrics">metrics</a> <a href="web/licences.txt">licences</a>
			</footer>
		</div>
	);
};

follow_address(Object.keys(TABS));
store.start(() => address.value.tab);
admin.find();
render(<Page />, document.getElementById('app'));
