// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// How bad: a shape, a colour and a weight, so that none of them is needed alone.
import { severities_of, severity_words } from './causes.js';

/* An octagon with a cross, a diamond and a triangle with an exclamation mark, a ring with an i. */
const SHAPES = {
	critical: ['M5.2 1h5.6L15 5.2v5.6L10.8 15H5.2L1 10.8V5.2z', 'M5.4 5.4l5.2 5.2M10.6 5.4l-5.2 5.2'],
	error: ['M8 .6L15.4 8L8 15.4L.6 8z', 'M8 4.4v4.4M8 11v.6'],
	warning: ['M8 1.4L15.4 14.6H.6z', 'M8 6v4.2M8 12.2v.6'],
	info: ['M8 1a7 7 0 1 0 0 14a7 7 0 1 0 0-14z', 'M8 7.2v4.4M8 4.4v.6'],
};

export const Icon = ({ severity }) => {
	const [outside, inside] = SHAPES[severity] ?? SHAPES.info;
	return (
		<svg class={`icon level-${severity}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
			<path class="outside" d={outside} />
			<path class="inside" d={inside} />
		</svg>
	);
};

/** A sign, and the word for it. */
export const Severity = ({ severity }) => (
	<span class={`severity level-${severity}`}><Icon severity={severity} /> {severity}</span>
);

/** How many of each severity. */
export const Tally = ({ alarms }) => severities_of(alarms).map(([severity, n]) => (
	<span key={severity} class={`severity level-${severity}`}>
		<Icon severity={severity} /> {severity_words(severity, n)}
	</span>
));
