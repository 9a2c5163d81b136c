// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// The packages that the page bundles, as an SPDX 2.3 document. Versions and checksums come from
// the lock file, so the same sources and lock file give the same document.
import { createHash } from 'node:crypto';

/* The time of the sources where it is known (reproducible-builds.org), else a constant. */
const created = () =>
	new Date(1000 * Number(process.env.SOURCE_DATE_EPOCH ?? 0)).toISOString().replace(/\.\d+Z$/, 'Z');

const id_of = (name) => `SPDXRef-Package-${name.replace(/[^A-Za-z0-9.]+/g, '-').replace(/^-/, '')}`;

/* "sha512-BASE64" of the lock file. */
const checksum_of = (integrity) => {
	const [algorithm, hash] = integrity.split('-');
	return {
		algorithm: algorithm.toUpperCase(),
		checksumValue: Buffer.from(hash, 'base64').toString('hex'),
	};
};

const package_of = ({ name, version, licence, integrity }) => ({
	SPDXID: id_of(name),
	name,
	versionInfo: version,
	downloadLocation: 'NOASSERTION',
	filesAnalyzed: false,
	licenseConcluded: licence,
	licenseDeclared: licence,
	copyrightText: 'NOASSERTION',
	checksums: [checksum_of(integrity)],
	externalRefs: [{
		referenceCategory: 'PACKAGE-MANAGER',
		referenceType: 'purl',
		referenceLocator: `pkg:npm/${name.replace('@', '%40')}@${version}`,
	}],
});

/**
 * about: package.json of the page. lock: its package-lock.json. bundled: names of the packages
 * in the bundle. script: bytes of the bundle. Throws if the lock file lacks one of them.
 */
export const sbom = (about, lock, bundled, script) => {
	const packages = bundled.map((name) => {
		const p = lock.packages[`node_modules/${name}`];
		if (!p?.integrity || !p.license) {
			throw new Error(`${name} is in the bundle, but package-lock.json has no checksum or licence of it`);
		}
		return { name, version: p.version, licence: p.license, integrity: p.integrity };
	});
	const page = id_of(about.name);
	const hash = createHash('sha256').update(script).digest('hex');
	return {
		spdxVersion: 'SPDX-2.3',
		dataLicense: 'CC0-1.0',
		SPDXID: 'SPDXRef-DOCUMENT',
		name: about.name,
		documentNamespace: `https://spdx.org/spdxdocs/${about.name}-${hash}`,
		creationInfo: { created: created(), creators: ['Organization: The Saguaro authors', 'Tool: build.mjs'] },
		packages: [{
			SPDXID: page,
			name: about.name,
			downloadLocation: 'NOASSERTION',
			filesAnalyzed: false,
			licenseConcluded: about.license,
			licenseDeclared: about.license,
			copyrightText: 'Copyright (c) 2026, The Saguaro authors',
			checksums: [{ algorithm: 'SHA256', checksumValue: hash }],
			packageFileName: 'app.js',
			primaryPackagePurpose: 'APPLICATION',
		}, ...packages.map(package_of)],
		relationships: [
			{ spdxElementId: 'SPDXRef-DOCUMENT', relationshipType: 'DESCRIBES', relatedSpdxElement: page },
			...packages.map((p) =>
				({ spdxElementId: page, relationshipType: 'CONTAINS', relatedSpdxElement: id_of(p.name) })),
		],
	};
};
