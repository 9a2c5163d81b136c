// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// Values as people read them.

export const age = (ms) => {
	const s = Math.max(0, Math.round(ms / 1000));
	if (s < 100) {
		return `${s} s`;
	}
	if (s < 100 * 60) {
		return `${Math.round(s / 60)} min`;
	}
	return s < 100 * 3600 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86400)} d`;
};

export const count = (n, one, many = `${one}s`) =>
	`${(n ?? 0).toLocaleString('en')} ${n === 1 ? one : many}`;

export const number = (n) => (n === null || n === undefined ? '' : n.toLocaleString('en'));

/** Rates by powers of ten, as links are sold. */
export const rate = (bytes_per_second) => {
	if (bytes_per_second === null || bytes_per_second === undefined) {
		return '';
	}
	let bits = bytes_per_second * 8;
	const units = ['b/s', 'kb/s', 'Mb/s', 'Gb/s', 'Tb/s'];
	let unit = 0;
	while (bits >= 1000 && unit + 1 < units.length) {
		bits /= 1000;
		unit++;
	}
	return `${bits >= 100 || unit === 0 ? Math.round(bits) : bits.toFixed(1)} ${units[unit]}`;
};

export const hex = (n, digits = 4) => `0x${n.toString(16).padStart(digits, '0')}`;

/** name, or name/port. */
export const end = (e) => {
	if (!e) {
		return '';
	}
	const name = e.name || e.guid;
	return e.port === undefined || e.port === null ? name : `${name}/${e.port}`;
};

export const clock_time = (iso) => {
	const t = new Date(iso);
	return Number.isNaN(t.getTime()) ? '' : t.toLocaleTimeString('en-GB');
};

export const day_time = (iso) => {
	const t = new Date(iso);
	return Number.isNaN(t.getTime()) ? '' : t.toLocaleString('en-GB');
};

/** Paths of a job in a sentence. */
export const paths_words = (p) => {
	const apart = p.hops_max === 0 ? ''
		: `, ${p.hops_min === p.hops_max ? '' : `${p.hops_min} to `}${count(p.hops_max, 'switch', 'switches')} apart`;
	const links = p.links === 0 ? ''
		: `; they use ${count(p.links, 'link')}, each by ${number(Math.round(10 * p.job_routes_mean) / 10)} paths in the mean ` +
			`and ${number(p.job_routes_max)} at most`;
	return p.pairs === 0 ? 'No pair of ports has a path.' : `${count(p.pairs, 'pair')} of ports${apart}${links}.`;
};
