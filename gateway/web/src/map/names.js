// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// Names of switches as short as a map needs them, which still tell them apart.

const SHORT_ENOUGH = 12; // letters

/* "MF0;HOST:MODEL/PLACE", as managed switches of Mellanox describe themselves: PLACE says more
 * than U1 in a director only. */
const without_model = (name) => {
	const parts = /^MF0;([^:]+):[^/]+\/(.+)$/.exec(name);
	return parts === null ? name : parts[2] === 'U1' ? parts[1] : `${parts[1]}/${parts[2]}`;
};

/* Letters that all begin with, up to and with a separator. */
const common_start = (names) => {
	const [first] = names;
	let n = 0;
	while (n < first.length && names.every((x) => x[n] === first[n])) {
		n++;
	}
	while (n > 0 && !/[-_.:;/ ]/.test(first[n - 1])) {
		n--;
	}
	return n;
};

/* The same at their end, with the separator. */
const common_end = (names) => {
	const [first] = names;
	const back = (x, n) => x[x.length - 1 - n];
	let n = 0;
	while (n < first.length && names.every((x) => back(x, n) === back(first, n))) {
		n++;
	}
	while (n > 0 && !/[-_.:;/ ]/.test(back(first, n - 1))) {
		n--;
	}
	return n;
};

const twice_in = (names) => {
	const n = new Map();
	names.forEach((x) => n.set(x, (n.get(x) ?? 0) + 1));
	return new Set([...n].filter(([, times]) => times > 1).map(([x]) => x));
};

/** vertices: {name, guid, type}. The same with `short`; those with one name get their GUID to it. */
export const with_short_names = (vertices) => {
	const twice = twice_in(vertices.map((v) => v.name));
	const named = vertices.map((v) => {
		const id = twice.has(v.name) && v.guid ? v.guid.slice(-6) : null;
		return id === null ? { ...v, short: without_model(v.name) } : { ...v, name: `${v.name} (${id})`, short: id };
	});
	const long = named.filter((v) => v.type !== 'group' && v.short.length > SHORT_ENOUGH);
	if (long.length < 3) {
		return named;
	}
	const end = common_end(long.map((v) => v.short));
	const cut = long.map((v) => v.short.slice(0, v.short.length - end));
	const start = common_start(cut);
	const short = new Map(long.map((v, i) => [v.index, (start > 0 ? '…' : '') + cut[i].slice(start)]));
	const good = new Set(short.values()).size === short.size && [...short.values()].every((s) => s.length > 1);
	return good ? named.map((v) => ({ ...v, short: short.get(v.index) ?? v.short })) : named;
};

/** As much of a name, from its end, as finds room; width: of a text, in pixels. */
export const fitted = (name, room, width) => {
	let text = name;
	for (let n = name.length; width(text) > room && n > 1;) {
		n = Math.min(n - 1, Math.floor(n * room / width(text)));
		text = `…${name.slice(name.length - Math.max(1, n))}`;
	}
	return text;
};
