// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// A drawing of the map: zoom and pan, pointer and keyboard, and its table.
// The first key puts the cursor on the worst of what is wrong, or on the first switch. Arrows move
// it, n and Shift+n go from one wrong thing to the next, c and Shift+c through the cables of a
// switch, Enter opens what is under the cursor (in a matrix the row, with Shift the column), Space
// switches its cables off for a what-if, + and - zoom, 0 shows all.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { select } from 'd3-selection';
import { zoom, zoomIdentity } from 'd3-zoom';
import { draw } from './draw.js';
import { hit, is_inside, layout, place_of } from './place.js';
import { chosen_of, exceptions_of, off_bundles, state_of, traffic_of } from './model.js';
import { theme } from './colour.js';
import { now } from '../store.js';
import { Table } from '../table.jsx';
import { off, toggle_bundle } from '../trial.jsx';
import { age, count, number } from '../words.js';

const REACH = 14; // pixels around a switch that still count
const CABLE_REACH = 6; // and beside a cable

const since_words = (x) => (x.since === null ? '' : ` for ${age(now.value - x.since)}`);

/* Troubles of a bundle, switch or host, beside its cables. */
const mark_words = (x) => [
	x.lost > 0 && `${count(x.lost, 'cable')} lost`,
	x.sick > 0 && 'sick',
	x.loaded > 0 && 'overloaded',
	x.drained > 0 && 'out of service',
].filter(Boolean).map((text, i) => `, ${text}${i === 0 ? since_words(x) : ''}`).join('');

const cable_words = (b, off) => {
	const some = `${count(b.cables, 'cable')}${b.rate_gbps ? ` of ${b.rate_gbps} Gb/s` : ''}` +
		(b.not_active > 0 ? `, ${b.not_active} not Active` : '') +
		(b.degraded > 0 ? `, ${b.degraded} degraded` : '') +
		`, up to ${number(b.routes)} routes on one` +
		(off.has(b.index) ? `, ${off.get(b.index)} off in the what-if` : '');
	return (b.cables > 0 ? some : 'no cable now') + mark_words(b);
};

const vertex_words = (v) =>
	v.type !== 'group' && v.gone > 0 ? `${v.name}: gone${since_words(v)}`
		: `${v.name}: ${v.type === 'group' ? `${count(v.switches, 'switch', 'switches')}, ` : ''}` +
			`${count(v.hosts, 'host')}` +
			(v.gone > 0 ? `, ${count(v.gone, 'switch', 'switches')} gone` : '') +
			(v.hosts_gone > 0 ? `, ${count(v.hosts_gone, 'host')} gone` : '') +
			(v.not_active > 0 ? `, ${v.not_active} cables not Active` : '') +
			(v.degraded > 0 ? `, ${v.degraded} cables degraded` : '') + mark_words(v);

const host_words = (model, h) =>
	`${h.name || h.guid} on ${model.vertices[h.vertex].name} port ${h.switch_port}: ` +
	(h.gone > 0 ? `gone${since_words(h)}` : h.state + (h.degraded > 0 ? ', degraded' : '') + mark_words(h));

/** What is under the cursor, in words. */
const say = (model, cursor, cell_at, off) => {
	if (cursor === null) {
		return '';
	}
	if (cursor.host !== undefined) {
		return host_words(model, model.hosts[cursor.host]);
	}
	if (cursor.bundle !== undefined) {
		const b = model.bundles[cursor.bundle];
		return `${model.vertices[b.a].name} - ${model.vertices[b.b].name}: ${cable_words(b, off)}`;
	}
	if (model.kind === 'rows') {
		return vertex_words(model.vertices[cursor.vertex]);
	}
	if (cursor.row === null || cursor.column === null) {
		return vertex_words(cursor.row === null ? model.columns[cursor.column] : model.rows[cursor.row]);
	}
	const row = model.rows[cursor.row];
	const column = model.columns[cursor.column];
	const cell = cell_at.get(cursor.row * model.columns.length + cursor.column);
	return `${row.name} - ${column.name}: ${cell ? cable_words(cell.bundle, off) : 'no cable'}`;
};

/** The host or vertex that Enter or a click opens; of a matrix its row, or with Shift its column. */
const target_of = (model, cursor, shift) =>
	cursor.host !== undefined ? model.hosts[cursor.host]
		: model.kind === 'rows' ? model.vertices[cursor.vertex]
		: cursor.row === null || (shift && cursor.column !== null) ? model.columns[cursor.column]
		: model.rows[cursor.row];

/** Is there something to open under the cursor? */
const opens = (model, cursor) =>
	cursor.host !== undefined || model.kind === 'matrix' || (cursor.vertex !== undefined && cursor.bundle === undefined);

/** The bundle under the cursor, or undefined. */
const bundle_of = (model, cursor, cell_at) =>
	model.kind === 'rows' || cursor.host !== undefined ? model.bundles[cursor.bundle]
		: cell_at.get(cursor.row * model.columns.length + cursor.column)?.bundle;

/** The next of the bundles of the switch under the cursor, from left to right. */
const next_bundle = (model, cursor, step) => {
	const { vertex } = cursor;
	const far = (b) => model.vertices[b.a === vertex ? b.b : b.a];
	const own = model.bundles.filter((b) => b.a === vertex || b.b === vertex)
		.sort((p, q) => far(p).y - far(q).y || far(p).x - far(q).x);
	if (own.length === 0) {
		return cursor;
	}
	const at = own.findIndex((b) => b.index === cursor.bundle);
	const to = at < 0 ? (step > 0 ? 0 : own.length - 1) : (at + step + own.length) % own.length;
	return { vertex, bundle: own[to].index };
};

/** Is what the cursor was on still there? */
const is_there = (model, cursor) =>
	cursor.host !== undefined ? cursor.host < model.hosts.length
		: model.kind === 'matrix' ? cursor.row !== undefined && (cursor.row ?? 0) < model.rows.length &&
			(cursor.column ?? 0) < model.columns.length
		: (cursor.vertex ?? 0) < model.vertices.length && (cursor.bundle ?? -1) < model.bundles.length &&
			cursor.row === undefined;

/** Where the keyboard begins: at the worst, or at the first. */
const first_of = (model) =>
	exceptions_of(model)[0] ?? (model.kind === 'rows' ? { vertex: 0 } : { row: 0, column: 0 });

/* The hosts of a switch lie below it; arrows go from one to the next, and up to the switch. */
const moved_host = (model, cursor, dx, dy) => {
	const host = model.hosts[cursor.host];
	if (dy < 0) {
		return model.kind === 'rows' ? { vertex: host.vertex }
			: { row: model.rows.findIndex((v) => v.index === host.vertex), column: model.columns.length - 1 };
	}
	const to = model.hosts[cursor.host + (dx || dy)];
	return to && to.vertex === host.vertex ? { host: to.index } : cursor;
};

const moved = (model, cursor, dx, dy) => {
	if (cursor === null) {
		return first_of(model);
	}
	if (cursor.host !== undefined) {
		return moved_host(model, cursor, dx, dy);
	}
	if (model.kind === 'matrix') {
		const bound = (n, most) => Math.max(0, Math.min(most - 1, n));
		return {
			row: bound((cursor.row ?? 0) + dy, model.rows.length),
			column: bound((cursor.column ?? 0) + dx, model.columns.length),
		};
	}
	const from = model.vertices[cursor.vertex ?? model.bundles[cursor.bundle].a];
	const others = model.vertices.filter((v) =>
		dx !== 0 ? v.y === from.y && (v.x - from.x) * dx > 0 : (v.y - from.y) * dy > 0);
	const far = (v) => Math.abs(v.x - from.x) + 10 * Math.abs(v.y - from.y);
	const to = others.reduce((best, v) => (best === null || far(v) < far(best) ? v : best), null);
	const host = to === null && dy > 0 ? model.hosts.find((h) => h.vertex === from.index) : undefined;
	return host ? { host: host.index } : { vertex: to === null ? from.index : to.index };
};

/** The next of what is wrong, or the one before. */
const next_wrong = (model, cursor, step) => {
	const all = exceptions_of(model);
	const same = (p) => cursor !== null && Object.keys(p).length === Object.keys(cursor).length &&
		Object.entries(p).every(([name, i]) => cursor[name] === i);
	const at = all.findIndex(same);
	return all.length === 0 ? cursor ?? first_of(model)
		: all[at < 0 ? (step > 0 ? 0 : all.length - 1) : (at + step + all.length) % all.length];
};

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const BUNDLE_COLUMNS = [
	{ name: 'from', of: (b) => b.from },
	{ name: 'to', of: (b) => b.to },
	{ name: 'cables', of: (b) => b.cables, number: true },
	{ name: 'not Active', of: (b) => b.not_active, number: true },
	{ name: 'degraded', of: (b) => b.degraded, number: true },
	{ name: 'lost', of: (b) => b.lost, number: true },
	{ name: 'also', of: (b) => [b.sick > 0 && 'sick', b.loaded > 0 && 'overloaded', b.drained > 0 && 'out of service']
		.filter(Boolean).join(', ') },
	{ name: 'for', of: (b) => b.since, show: (b) => (b.since === null ? '' : age(now.value - b.since)) },
	{ name: 'most routes on one', of: (b) => b.routes, number: true },
	{ name: 'used', of: (b) => b.used, number: true,
		show: (b) => (b.used === null ? '' : `${Math.round(b.used * 100)} %`) },
];

const bundle_rows = (model, traffic) =>
	model.bundles.map((b) => ({
		...b,
		used: traffic?.[b.index] ?? null,
		from: model.vertices[b.a].name,
		to: model.vertices[b.b].name,
	}));

const use_theme = () => {
	const [name, set_name] = useState(theme());
	useEffect(() => {
		const media = matchMedia('(prefers-color-scheme: light)');
		const on = () => set_name(theme());
		media.addEventListener('change', on);
		return () => media.removeEventListener('change', on);
	}, []);
	return name;
};

/* The wheel and two fingers zoom; one finger moves what is zoomed, else it scrolls the page. */
const wants_zoom = (view) => (e) =>
	!e.button && (e.type !== 'touchstart' || e.touches.length > 1 || view.current.k > 1);

const Zoom = ({ by, all }) => (
	<div class="zoom" role="group" aria-label="Zoom">
		<button type="button" aria-label="zoom in" onClick={() => by(1.6)}>+</button>
		<button type="button" aria-label="zoom out" onClick={() => by(1 / 1.6)}>−</button>
		<button type="button" onClick={all}>all</button>
	</div>
);

/** label: what the drawing is of. trying: a click on cables switches them off for a what-if.
 * chosen: GUIDs of what an alarm is about. open(vertex or host): it was chosen. */
export const Drawing = ({ model, by, counters, groups, mark, most, chosen, label, trying, open }) => {
	const canvas = useRef(null);
	const view = useRef(zoomIdentity);
	const zoomer = useRef(null);
	const frame = useRef(0);
	const paint = useRef(() => {});
	const place = useRef(() => {});
	const [cursor, set_cursor] = useState(null);
	const name = use_theme();
	const off_in = useMemo(() => off_bundles(model, off.value, groups), [model, off.value, groups]);
	const traffic = useMemo(() => by === 'traffic' && counters
		? traffic_of(model, counters, groups) : null, [model, by, counters, groups]);
	const cell_at = useMemo(() => new Map((model.cells || []).map((c) =>
		[c.row * model.columns.length + c.column, c])), [model]);
	const chosen_in = useMemo(() => chosen.length > 0 ? chosen_of(model, chosen, groups) : null,
		[model, chosen, groups]);
	const shown = cursor !== null && is_there(model, cursor) ? cursor : null;

	place.current = (at = view.current) =>
		layout(model, canvas.current.clientWidth, canvas.current.clientHeight, at);
	paint.current = () => {
		frame.current = 0;
		if (canvas.current && canvas.current.clientWidth > 0) {
			draw(canvas.current, model,
				{ by, traffic, mark, chosen: chosen_in, off: off_in, cursor: shown, theme: name, most }, view.current);
		}
	};
	const repaint = () => {
		frame.current ||= requestAnimationFrame(() => paint.current());
	};
	/* the names at the edges of a matrix are not zoomed */
	const bound = () => {
		if (canvas.current === null) {
			return; // the view is going
		}
		const { x0, y0, x1, y1 } = place.current(zoomIdentity).frame;
		zoomer.current.extent([[x0, y0], [x1, y1]]).translateExtent([[x0, y0], [x1, y1]]);
	};
	useEffect(() => {
		const area = select(canvas.current);
		zoomer.current = zoom().scaleExtent([1, 40]).filter(wants_zoom(view)).on('zoom', (e) => {
			view.current = e.transform;
			canvas.current.style.touchAction = e.transform.k > 1 ? 'none' : 'pan-y';
			repaint();
		});
		area.call(zoomer.current).on('dblclick.zoom', null).style('touch-action', 'pan-y');
		const watch = new ResizeObserver(() => {
			bound();
			repaint();
		});
		watch.observe(canvas.current);
		return () => {
			watch.disconnect();
			area.on('.zoom', null);
			cancelAnimationFrame(frame.current);
		};
	}, []);
	useEffect(() => {
		bound();
		repaint();
	});

	const at_pointer = (e) => {
		const box = canvas.current.getBoundingClientRect();
		return hit(model, place.current(), e.clientX - box.left, e.clientY - box.top, REACH, CABLE_REACH);
	};
	/* around the cursor, if it can be seen */
	const zoom_by = (factor) => {
		const at = place.current();
		const p = shown === null ? null : place_of(model, at, shown);
		zoomer.current.scaleBy(select(canvas.current), factor,
			p !== null && is_inside(at, p.x, p.y) ? [p.x, p.y] : undefined);
	};
	const zoom_all = () => zoomer.current.transform(select(canvas.current), zoomIdentity);
	/* Puts the cursor there, and moves the view if that is beyond its edge. */
	const go = (to) => {
		const p = place_of(model, place.current(), to);
		if (p !== null && !is_inside(place.current(), p.x, p.y) && view.current.k > 1) {
			const [x, y] = view.current.invert([p.x, p.y]);
			zoomer.current.translateTo(select(canvas.current), x, y);
		}
		set_cursor(to);
	};
	const switch_off = (at) => {
		const b = bundle_of(model, at, cell_at);
		b && b.cables > 0 && toggle_bundle(model.vertices[b.a], model.vertices[b.b]);
	};
	const choose = (at, shift) => {
		const cables = model.kind === 'matrix' ? at.row != null && at.column != null : at.bundle !== undefined;
		if (trying && cables && at.host === undefined) {
			switch_off(at);
		} else if (opens(model, at)) {
			open(target_of(model, at, shift));
		}
	};
	const on_key = (e) => {
		const key = e.key.toLowerCase();
		if (e.ctrlKey || e.metaKey || e.altKey) {
			return;
		}
		if (ARROWS[e.key]) {
			go(moved(model, shown, ...ARROWS[e.key]));
		} else if (key === 'n') {
			go(next_wrong(model, shown, e.shiftKey ? -1 : 1));
		} else if (shown === null && (key === 'enter' || key === ' ' || key === 'c')) {
			go(first_of(model));
		} else if (key === 'enter') {
			opens(model, shown) && open(target_of(model, shown, e.shiftKey));
		} else if (key === ' ') {
			switch_off(shown);
		} else if (key === 'c' && shown?.vertex !== undefined) {
			go(next_bundle(model, shown, e.shiftKey ? -1 : 1));
		} else if (e.key === '+' || e.key === '-') {
			zoom_by(e.key === '+' ? 1.5 : 1 / 1.5);
		} else if (e.key === '0') {
			zoom_all();
		} else {
			return;
		}
		e.preventDefault();
	};
	const words = say(model, shown, cell_at, off_in);

	return (
		<figure class="drawing">
			<canvas ref={canvas} class={trying ? 'trying' : ''} role="application" tabIndex={0} aria-label={
				`${label}. Arrow keys move, n goes to the next that is wrong, ${
					model.kind === 'rows' ? 'c goes through the cables, Enter opens'
						: 'Enter opens the row, with Shift the column'
				}, Space switches cables off for a what-if, plus and minus zoom. A table follows.`}
				onKeyDown={on_key}
				onPointerMove={(e) => set_cursor(at_pointer(e))}
				onPointerLeave={() => set_cursor(null)}
				onClick={(e) => {
					const at = at_pointer(e);
					at !== null && choose(at, e.shiftKey);
				}} />
			<div class="below">
				<figcaption aria-live="polite">{words || ' '}</figcaption>
				<Zoom by={zoom_by} all={zoom_all} />
			</div>
			<Table title={`${label}, as a table`} folded columns={BUNDLE_COLUMNS}
				rows={() => bundle_rows(model, traffic)} class_of={(b) => `is-${state_of(b)}`} />
		</figure>
	);
};
