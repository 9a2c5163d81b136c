// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors
//
// Is /openapi.json a valid OpenAPI 3.1 document, and do the answers fit it? Ajv reads JSON
// Schema by the book, unlike tests/lib/schema_check.c, which has the same authors as the
// document. Members that the document does not name are refused, too, but in problems.
//
//	node check.mjs http://127.0.0.1:8620
import { Validator } from "@seriousme/openapi-schema-validator";
import Ajv from "ajv/dist/2020.js";
import formats from "ajv-formats";

const base = process.argv[2];
const get = async (target) => {
	const answer = await fetch(base + target);
	return [answer.status, await answer.json()];
};
const [, document] = await get("/openapi.json");
const validity = await new Validator().validate(structuredClone(document));
console.log(`document valid: ${validity.valid}`);
if (!validity.valid) {
	console.log(JSON.stringify(validity.errors, null, 1));
}

function close(schema) {
	if (schema === null || typeof schema !== "object") {
		return;
	}
	if (schema.type === "object" && schema.properties && !("additionalProperties" in schema)) {
		schema.additionalProperties = false;
	}
	Object.values(schema).forEach(close);
}
for (const [name, schema] of Object.entries(document.components.schemas)) {
	if (name !== "Problem") {
		close(schema);
	}
}
const ajv = new Ajv({ strict: false });
formats(ajv);
ajv.addSchema(document, "document");

const pointer = (parts) =>
	parts.map((p) => encodeURIComponent(p.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/");

const [, { nodes }] = await get("/v1/nodes?ports=0");
const name = (type, i) => nodes.filter((n) => n.type === type)[i].name;
const values = { node: name("switch", 0), p_key: "0x7fff", name: "NodeRecord", mgid: "0xc000" };
const targets = [];
for (const [path, operations] of Object.entries(document.paths)) {
	const answers = operations.get?.responses?.["200"]?.content;
	if (!answers?.["application/json"] || path === "/openapi.json") {
		continue;
	}
	const filled = path.replace(/\{(\w+)\}/g, (_, p) => values[p]);
	const query = path.endsWith("/paths") ? `?src=${name("ca", 0)}&dst=${name("ca", 1)}` : "";
	targets.push([path, filled + query]);
}
targets.push(
	["/v1/paths", `/v1/paths?src=${name("ca", 0)}&dst=${name("ca", 1)}&hops=1`],
	["/v1/topology", "/v1/topology?switches=1&hosts=1"],
	["/v1/ports", "/v1/ports?type=ca&limit=2"],
	["/v1/nodes/{node}", "/v1/nodes/nobody"],
	["/v1/links", "/v1/links?state=nonsense"],
	["/v1/export/{format}", "/v1/export/nonsense"],
);

let wrong = 0;
for (const [path, target] of targets) {
	const [status, body] = await get(target);
	const part = status === 200 ? ["200", "content", "application/json"]
		: ["default", "content", "application/problem+json"];
	const fits = ajv.getSchema(
		`document#/${pointer(["paths", path, "get", "responses", ...part, "schema"])}`);
	if (!fits(body)) {
		wrong++;
		console.log(`${target} (${status}): ${JSON.stringify(fits.errors)}`);
	}
}
console.log(`answers: ${targets.length}, of which do not fit: ${wrong}`);
process.exit(validity.valid && wrong === 0 ? 0 : 1);
