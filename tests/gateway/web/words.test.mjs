// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// Sentences of the page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paths_words } from '../../../gateway/web/src/words.js';

const paths = { pairs: 6, hops_min: 1, hops_max: 3, links: 4, job_routes_mean: 1.5, job_routes_max: 2000 };

test('the paths of a job', () => {
	assert.equal(paths_words(paths),
		'6 pairs of ports, 1 to 3 switches apart; they use 4 links, each by 1.5 paths in the mean and 2,000 at most.');
	assert.equal(paths_words({ ...paths, hops_min: 3, links: 1 }),
		'6 pairs of ports, 3 switches apart; they use 1 link, each by 1.5 paths in the mean and 2,000 at most.');
	assert.equal(paths_words({ ...paths, hops_min: 1, hops_max: 1, links: 0 }), '6 pairs of ports, 1 switch apart.');
});

test('jobs without a path', () => {
	assert.equal(paths_words({ ...paths, pairs: 0 }), 'No pair of ports has a path.');
	assert.equal(paths_words({ ...paths, pairs: 2, hops_min: 0, hops_max: 0, links: 0 }), '2 pairs of ports.');
});
