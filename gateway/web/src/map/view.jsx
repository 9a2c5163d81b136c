// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// A drawing of the map: zoom and pan, pointer and keyboard, and its table.
// Arrows move a cursor, c and Shift+c go through the cables of a switch, Enter opens what is
// under the cursor (in a matrix the row, with Shift the column), Space switches its cables off
// for a what-if, + and - zoom, 0 shows all.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { select } from 'd3-selection';
import { zoom, zoomIdentity } from 'd3-zoom';
import { draw, hit, layout } from './draw.js';
import { off_bundles, state_of, traffic_of } from './model.js';
import { theme } from './colour.js';
import { now } from '../store.js';
import { Table } from '../table.jsx';
import { off, toggle_bundle } from '../trial.jsx';
import { age, count, number } from '../words.js';

const REACH = 14; // pixels around a switch that still count
const CABLE_REACH = 6; // and beside a cable

const lost_words = (x) =>
	x.lost === 0 ? '' : `, ${count(x.lost, 'cable')} lost` +
		(x.since === null ? '' : ` for ${age(now.value - x.since)}`);

const cable_words = (b, off) => {
	const some = `${count(b.cables, 'cable')}${b.rate_gbps ? ` of ${b.rate_gbps} Gb/s` : ''}` +
		(b.not_active > 0 ? `, ${b.not_active} not Active` : '') +
		(b.degraded > 0 ? `, ${b.degraded} degraded` : '') +
		`, up to ${number(b.routes)} routes on one` +
		(off.has(b.index) ? `, ${off.get(b.index)} off in the what-if` : '');
	return (b.cables > 0 ? some : 'no cable now') + lost_words(b);
};

const vertex_words = (v) =>
	`${v.name}: ${v.type === 'group' ? `${count(v.switches, 'switch', 'switches')}, ` : ''}` +
	`${count(v.hosts, 'host')}` +
	(v.not_active > 0 ? `, ${v.not_active} cables not Active` : '') +
	(v.degraded > 0 ? `, ${v.degraded} cables degraded` : '') + lost_words(v);

/** What is under the cursor, in words. */
const say = (model, cursor, cell_at, off) => {
	if (cursor === null) {
		return '';
	}
	if (cursor.bundle !== undefined) {
		const b = model.bundles[cursor.bundle];
		return `${model.vertices[b.a].name} - ${model.vertices[b.b].name}: ${cable_words(b, off)}`;
	}
	if (model.kind === 'rows') {
		return vertex_words(model.vertices[cursor.vertex]);
	}
	const row = model.rows[cursor.row];
	const column = model.columns[cursor.column];
	const cell = cell_at.get(cursor.row * model.columns.length + cursor.column);
	return `${row.name} - ${column.name}: ${cell ? cable_words(cell.bundle, off) : 'no cable'}`;
};

/** The vertex that Enter or a click opens; of a matrix its row, or with Shift its column. */
const target_of = (model, cursor, shift) =>
	model.kind === 'rows' ? model.vertices[cursor.vertex]
		: shift ? model.columns[cursor.column] : model.rows[cursor.row];

/** The bundle under the cursor, or undefined. */
const bundle_of = (model, cursor, cell_at) =>
	model.kind === 'rows' ? model.bundles[cursor.bundle]
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
	model.kind === 'matrix' ? cursor.row < model.rows.length && cursor.column < model.columns.length
		: (cursor.vertex ?? 0) < model.vertices.length && (cursor.bundle ?? -1) < model.bundles.length &&
			cursor.row === undefined;

const moved = (model, cursor, dx, dy) => {
	if (model.kind === 'matrix') {
		const at = cursor || { row: 0, column: 0 };
		const bound = (n, most) => Math.max(0, Math.min(most - 1, n));
		return {
			row: bound(at.row + (cursor ? dy : 0), model.rows.length),
			column: bound(at.column + (cursor ? dx : 0), model.columns.length),
		};
	}
	if (cursor === null || cursor.vertex === undefined) {
		return { vertex: 0 };
	}
	const from = model.vertices[cursor.vertex];
	const others = model.vertices.filter((v) =>
		dx !== 0 ? v.y === from.y && (v.x - from.x) * dx > 0 : (v.y - from.y) * dy > 0);
	const far = (v) => Math.abs(v.x - from.x) + 10 * Math.abs(v.y - from.y);
	const to = others.reduce((best, v) => (best === null || far(v) < far(best) ? v : best), null);
	return { vertex: to === null ? cursor.vertex : to.index };
};

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const BUNDLE_COLUMNS = [
	{ name: 'from', of: (b) => b.from },
	{ name: 'to', of: (b) => b.to },
	{ name: 'cables', of: (b) => b.cables, number: true },
	{ name: 'not Active', of: (b) => b.not_active, number: true },
	{ name: 'degraded', of: (b) => b.degraded, number: true },
	{ name: 'lost', of: (b) => b.lost, number: true },
	{ name: 'lost for', of: (b) => b.since, show: (b) => (b.since === null ? '' : age(now.value - b.since)) },
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

/** label: what the drawing is of. trying: a click on cables switches them off for a what-if.
 * open(vertex): a switch or pod was chosen. */
export const Drawing = ({ model, by, counters, groups, mark, most, alarmed, label, trying, open }) => {
	const canvas = useRef(null);
	const view = useRef(zoomIdentity);
	const zoomer = useRef(null);
	const frame = useRef(0);
	const paint = useRef(() => {});
	const [cursor, set_cursor] = useState(null);
	const name = use_theme();
	const off_in = useMemo(() => off_bundles(model, off.value, groups), [model, off.value, groups]);
	const traffic = useMemo(() => by === 'traffic' && counters
		? traffic_of(model, counters, groups) : null, [model, by, counters, groups]);
	const cell_at = useMemo(() => new Map((model.cells || []).map((c) =>
		[c.row * model.columns.length + c.column, c])), [model]);
	const shown = cursor !== null && is_there(model, cursor) ? cursor : null;

	paint.current = () => {
		frame.current = 0;
		if (canvas.current && canvas.current.clientWidth > 0) {
			draw(canvas.current, model,
				{ by, traffic, mark, alarmed, off: off_in, cursor: shown, theme: name, most }, view.current);
		}
	};
	const repaint = () => {
		frame.current ||= requestAnimationFrame(() => paint.current());
	};
	useEffect(repaint);
	useEffect(() => {
		const area = select(canvas.current);
		zoomer.current = zoom().scaleExtent([1, 40]).on('zoom', (e) => {
			view.current = e.transform;
			repaint();
		});
		area.call(zoomer.current).on('dblclick.zoom', null);
		const watch = new ResizeObserver(([e]) => {
			const { width, height } = e.contentRect;
			zoomer.current.translateExtent([[0, 0], [width, height]]);
			repaint();
		});
		watch.observe(canvas.current);
		return () => {
			watch.disconnect();
			area.on('.zoom', null);
			cancelAnimationFrame(frame.current);
		};
	}, []);

	const at_pointer = (e) => {
		const box = canvas.current.getBoundingClientRect();
		const [x, y] = view.current.invert([e.clientX - box.left, e.clientY - box.top]);
		const { k } = view.current;
		return hit(model, layout(model, box.width, box.height), x, y, REACH / k, CABLE_REACH / k);
	};
	const switch_off = (at) => {
		const b = bundle_of(model, at, cell_at);
		b && b.cables > 0 && toggle_bundle(model.vertices[b.a], model.vertices[b.b]);
	};
	const choose = (at, shift) => {
		if (trying && (model.kind === 'matrix' || at.bundle !== undefined)) {
			switch_off(at);
		} else if (model.kind === 'matrix' || at.vertex !== undefined) {
			open(target_of(model, at, shift));
		}
	};
	const on_key = (e) => {
		const area = select(canvas.current);
		if (ARROWS[e.key]) {
			set_cursor(moved(model, shown, ...ARROWS[e.key]));
		} else if (e.key === 'Enter' && shown !== null) {
			(model.kind === 'matrix' || shown.vertex !== undefined) && open(target_of(model, shown, e.shiftKey));
		} else if (e.key === ' ' && shown !== null) {
			switch_off(shown);
		} else if (e.key.toLowerCase() === 'c' && shown?.vertex !== undefined && !e.ctrlKey && !e.metaKey) {
			set_cursor(next_bundle(model, shown, e.shiftKey ? -1 : 1));
		} else if (e.key === '+' || e.key === '-') {
			zoomer.current.scaleBy(area, e.key === '+' ? 1.5 : 1 / 1.5);
		} else if (e.key === '0') {
			zoomer.current.transform(area, zoomIdentity);
		} else {
			return;
		}
		e.preventDefault();
	};
	const words = say(model, shown, cell_at, off_in);

	return (
		<figure class="drawing">
			<canvas ref={canvas} class={trying ? 'trying' : ''} role="application" tabIndex={0} aria-label={
				`${label}. Arrow keys move, ${model.kind === 'rows' ? 'c goes through the cables, Enter opens'
					: 'Enter opens the row, with Shift the column'
				}, Space switches cables off for a what-if, plus and minus zoom. A table follows.`}
				onKeyDown={on_key}
				onPointerMove={(e) => set_cursor(at_pointer(e))}
				onPointerLeave={() => set_cursor(null)}
				onClick={(e) => {
					const at = at_pointer(e);
					at !== null && choose(at, e.shiftKey);
				}} />
			<figcaption aria-live="polite">{words || ' '}</figcaption>
			<Table title={`${label}, as a table`} folded columns={BUNDLE_COLUMNS}
				rows={() => bundle_rows(model, traffic)} class_of={(b) => `is-${state_of(b)}`} />
		</figure>
	);
};
