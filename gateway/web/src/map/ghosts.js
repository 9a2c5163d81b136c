// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// What is gone, and the place where it was. A host's last place is known. A switch's is that
// of the switches which its cables led to, and of its hosts.

/* The value that most have; undefined of an empty list. */
const commonest = (values) => {
	const n = new Map();
	values.forEach((v) => n.set(v, (n.get(v) ?? 0) + 1));
	return [...n].sort((p, q) => q[1] - p[1])[0]?.[0];
};

/* Tier of a switch above the lowest of its neighbours; or below them, if it had hosts. Spines may
 * have some, too, such as aggregation nodes. */
const tier_beside = (tiers, had_hosts) => {
	const low = Math.min(...tiers);
	return had_hosts && low !== 0 ? 0 : low + 1;
};

/* Most of its neighbours that are in a group at all are in the same: it was in that, too. */
const group_beside = (groups) => {
	const group = commonest(groups);
	const n = groups.filter((g) => g === group).length;
	return group !== undefined && 2 * n > groups.length ? group : null;
};

/** NodeGUID of each switch that is gone -> GUIDs of the switches that it was cabled to. */
const neighbours_of = (gone, lost_links) => {
	const at = new Map(gone.filter((n) => n.type !== 'ca').map((n) => [n.guid, new Set()]));
	for (const { guid, place } of lost_links) {
		if (place) {
			at.get(guid)?.add(place.guid);
			at.get(place.guid)?.add(guid);
		}
	}
	return at;
};

/**
 * {switches, hosts}. switches: {guid, name, tier, group, since, why, cables: GUIDs of those it
 * was cabled to}; tier undefined: nothing says where it was. hosts: {guid, name, switch: GUID of
 * their switch, switch_port, since, why}.
 *
 * gone: end ports of /v1/known. lost_links: its cables. places: GUID of a switch -> {tier, group}.
 */
export const ghosts_of = (gone, lost_links, places) => {
	const around = neighbours_of(gone, lost_links);
	const since = (n) => (n.gone_since ? Date.parse(n.gone_since) : null);
	const hosts = gone.filter((n) => n.type === 'ca' && n.place).map((n) => ({
		guid: n.guid, name: n.name, port: n.port, switch: n.place.guid, switch_port: n.place.port,
		since: since(n), why: n.why,
	}));
	const with_hosts = new Set(hosts.map((h) => h.switch));
	const switches = gone.filter((n) => around.has(n.guid)).map((n) => {
		const cables = [...around.get(n.guid)];
		const beside = cables.map((guid) => places.get(guid)).filter(Boolean);
		const tiers = beside.map((p) => p.tier).filter((t) => t !== null && t !== undefined);
		const groups = beside.map((p) => p.group).filter((g) => g !== null && g !== undefined);
		return {
			guid: n.guid, name: n.name || n.guid, since: since(n), why: n.why, cables,
			tier: tiers.length > 0 || with_hosts.has(n.guid) ? tier_beside(tiers, with_hosts.has(n.guid))
				: beside.length > 0 ? null : undefined,
			group: group_beside(groups),
		};
	});
	return { switches, hosts };
};
