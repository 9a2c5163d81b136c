// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// What is shown stands behind the # of the address, so that it can be passed on and the
// browser's buttons go back and forth: #src=node001&dst=node648&node=leaf-0000&group=3&alarm=ID&job=1234&tab=load
import { signal } from '@preact/signals';

const DEFAULTS = { src: '', dst: '', node: '', group: '', alarm: '', job: '', tab: 'events' };

/** Text behind the # -> what is shown; what is not known is left out. */
export const parse = (hash, tabs) => {
	const q = new URLSearchParams(hash.replace(/^#/, ''));
	const at = { ...DEFAULTS };
	for (const name of Object.keys(DEFAULTS)) {
		at[name] = q.get(name) ?? DEFAULTS[name];
	}
	if (!tabs.includes(at.tab)) {
		at.tab = DEFAULTS.tab;
	}
	return at;
};

export const format = (at) => {
	const q = new URLSearchParams();
	for (const [name, value] of Object.entries(at)) {
		if (value !== DEFAULTS[name]) {
			q.set(name, value);
		}
	}
	return q.toString();
};

export const address = signal({ ...DEFAULTS });

export const follow_address = (tabs) => {
	const read = () => {
		address.value = parse(location.hash, tabs);
	};
	addEventListener('hashchange', read);
	read();
};

export const show = (change) => {
	location.hash = format({ ...address.value, ...change });
};
