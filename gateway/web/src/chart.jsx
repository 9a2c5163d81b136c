// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// Curves over time. series: [{name, values}]; times in seconds.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { paper, scale_colour, theme } from './map/colour.js';

const HEIGHT = 180;

export const Chart = ({ title, times, series, show }) => {
	const box = useRef(null);

	useEffect(() => {
		const colours = paper(theme());
		const axis = { stroke: colours.ink, grid: { stroke: colours.faint, width: 1 } };
		const plot = new uPlot({
			title,
			width: box.current.clientWidth || 600,
			height: HEIGHT,
			series: [{}, ...series.map((s, i) => ({
				label: s.name,
				stroke: scale_colour(theme(), i === 0 ? 0.9 : 0.45),
				dash: i === 0 ? [] : [6, 4],
				width: 2,
				value: (_, v) => (v === null ? '' : show(v)),
			}))],
			axes: [axis, { ...axis, size: 80, values: (_, ticks) => ticks.map(show) }],
		}, [times, ...series.map((s) => s.values)], box.current);
		const watch = new ResizeObserver(([e]) =>
			plot.setSize({ width: e.contentRect.width, height: HEIGHT }));
		watch.observe(box.current);
		return () => {
			watch.disconnect();
			plot.destroy();
		};
	}, [title, times, series]);
	return <div class="chart" ref={box} role="img" aria-label={title} />;
};
