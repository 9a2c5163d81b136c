// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// The list of what the page bundles.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { sbom } from '../../../gateway/web/sbom.mjs';

const web = new URL('../../../gateway/web/', import.meta.url);
const read = (name) => readFileSync(new URL(name, web), 'utf8');
const about = JSON.parse(read('package.json'));
const lock = JSON.parse(read('package-lock.json'));
const some = ['@preact/signals', 'preact'];

const check = (doc, names) => {
	const ids = doc.packages.map((p) => p.SPDXID);
	assert.equal(doc.spdxVersion, 'SPDX-2.3');
	assert.match(doc.creationInfo.created, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
	assert.equal(new Set(ids).size, ids.length, 'each once');
	assert.deepEqual(doc.packages.slice(1).map((p) => p.name), names);
	for (const p of doc.packages) {
		assert.match(p.SPDXID, /^SPDXRef-[A-Za-z0-9.-]+$/);
		assert.match(p.licenseDeclared, /^[A-Za-z0-9.-]+$/);
		assert.match(p.checksums[0].checksumValue, p.name === about.name ? /^[0-9a-f]{64}$/ : /^[0-9a-f]{128}$/);
	}
	for (const r of doc.relationships) {
		assert.ok([...ids, 'SPDXRef-DOCUMENT'].includes(r.spdxElementId));
		assert.ok(ids.includes(r.relatedSpdxElement));
	}
	assert.equal(doc.relationships.length, doc.packages.length);
};

test('the bundle is listed with versions, licences and checksums of the lock file', () => {
	const doc = sbom(about, lock, some, 'x');
	check(doc, some);
	const [, signals] = doc.packages;
	const locked = lock.packages['node_modules/@preact/signals'];
	assert.equal(signals.versionInfo, locked.version);
	assert.equal(signals.externalRefs[0].referenceLocator, `pkg:npm/%40preact/signals@${locked.version}`);
	assert.equal(`sha512-${Buffer.from(signals.checksums[0].checksumValue, 'hex').toString('base64')}`,
		locked.integrity);
	assert.deepEqual(sbom(about, lock, some, 'x'), doc, 'the same again');
	assert.notEqual(sbom(about, lock, some, 'y').documentNamespace, doc.documentNamespace);
});

test('what the lock file does not know is refused', () => {
	assert.throws(() => sbom(about, lock, ['left-pad'], 'x'), /left-pad is in the bundle/);
});

test('the built page has the list of its own packages', { skip: !existsSync(new URL('dist/sbom.spdx.json', web)) }, () => {
	const doc = JSON.parse(read('dist/sbom.spdx.json'));
	const licences = [...read('dist/licences.txt').matchAll(/^(\S+) \d\S* \(\S+\)$/gm)].map((m) => m[1]);
	assert.ok(licences.length > 3);
	check(doc, licences);
	assert.equal(doc.packages[0].checksums[0].checksumValue,
		createHash('sha256').update(readFileSync(new URL('dist/app.js', web))).digest('hex'));
});
