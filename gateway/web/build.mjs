// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// Builds the page: dist/ with index.html, app.js, app.css and the licences of what is in it,
// each also as .gz, and the list of packages that are in it (SPDX).
// The same sources and lock file give the same bytes. Fails above the budget.
import { build } from 'esbuild';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { sbom } from './sbom.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, process.env.SAGUARO_WEB_OUT || 'dist');
const BUDGET = 100 * 1000; // bytes of all files, each by gzip

// Files of packages that are in the bundle -> names of the packages.
const packagesOf = (inputs) => {
	const names = inputs.map((f) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(f)?.[1]);
	return [...new Set(names.filter(Boolean))].sort();
};

const licenceOf = async (name) => {
	const folder = join(here, 'node_modules', name);
	const about = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
	let text = null;
	for (const file of ['LICENSE', 'LICENSE.md', 'LICENCE', 'license']) {
		text ??= await readFile(join(folder, file), 'utf8').catch(() => null);
	}
	if (text === null) {
		throw new Error(`${name} comes without the text of its licence`);
	}
	return `${name} ${about.version} (${about.license})\n\n${text.trim()}\n`;
};

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const made = await build({
	absWorkingDir: here,
	entryPoints: { app: 'src/main.jsx' },
	outdir: out,
	bundle: true,
	minify: true,
	format: 'esm',
	target: ['es2020'],
	jsx: 'automatic',
	jsxImportSource: 'preact',
	legalComments: 'none',
	metafile: true,
	logLevel: 'warning',
});
await copyFile(join(here, 'src/index.html'), join(out, 'index.html'));
const bundled = packagesOf(Object.keys(made.metafile.inputs));
const licences = await Promise.all(bundled.map(licenceOf));
await writeFile(join(out, 'licences.txt'), licences.join(`\n${'-'.repeat(72)}\n\n`));

const json = async (name) => JSON.parse(await readFile(join(here, name), 'utf8'));
const list = sbom(await json('package.json'), await json('package-lock.json'), bundled,
	await readFile(join(out, 'app.js')));
await writeFile(join(out, 'sbom.spdx.json'), `${JSON.stringify(list, null, 2)}\n`);

let total = 0;
for (const name of ['index.html', 'app.css', 'app.js', 'licences.txt']) {
	const packed = gzipSync(await readFile(join(out, name)), { level: 9 });
	await writeFile(join(out, `${name}.gz`), packed);
	total += packed.length;
	console.log(`${name}: ${packed.length} bytes by gzip`);
}
console.log(`in all: ${total} of ${BUDGET}`);
if (total > BUDGET) {
	console.error('the page is larger than its budget');
	process.exitCode = 1;
}
