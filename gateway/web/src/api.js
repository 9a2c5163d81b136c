// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// The gateway's answers. Paths are relative, so that the page also works behind a proxy that
// serves it under a prefix. The browser keeps answers and asks again with their ETag.

/** An answer that is none: what the gateway says (RFC 9457), or that it is not there. */
export class Problem extends Error {
	constructor(status, body) {
		super(body?.detail || body?.title || `the gateway answers ${status}`);
		this.status = status;
		this.body = body || {};
	}
}

/** Milliseconds that the gateway's clock is ahead of this one, by its last answer. */
export const clock = { ahead: 0 };

const note_clock = (answer) => {
	const date = Date.parse(answer.headers.get('Date') || '');
	if (!Number.isNaN(date)) {
		clock.ahead = date - Date.now();
	}
};

const query = (params) => {
	const q = new URLSearchParams();
	for (const [name, value] of Object.entries(params || {})) {
		if (value !== undefined && value !== null && value !== '') {
			q.set(name, value);
		}
	}
	const text = q.toString();
	return text === '' ? '' : `?${text}`;
};

/** Its body. Throws Problem. */
export const read = async (answer) => {
	note_clock(answer);
	const body = await answer.json().catch(() => null);
	if (!answer.ok || body === null) {
		throw new Problem(answer.status, body);
	}
	return body;
};

/** Asks for one resource. Throws Problem, or what fetch() throws. */
export const get = async (path, params, signal) =>
	read(await fetch(path + query(params), { headers: { Accept: 'application/json' }, signal }));

/** Sends a question that needs a body. */
export const post = async (path, body, signal) =>
	read(await fetch(path, {
		method: 'POST',
		headers: { 'Content-Type': 'application/json' },
		body: JSON.stringify(body),
		signal,
	}));

/**
 * All rows of a list, page by page, at most `most` of them. A page that belongs to an older
 * epoch (410) makes it begin again, three times in all.
 * Returns {rows, total}: total is how many there are.
 */
export const list = async (path, name, params, most, signal) => {
	for (let tries = 3; ; tries--) {
		try {
			return await pages(path, name, params, most, signal);
		} catch (e) {
			if (!(e instanceof Problem) || e.status !== 410 || tries === 1) {
				throw e;
			}
		}
	}
};

const pages = async (path, name, params, most, signal) => {
	let rows = [];
	let cursor;
	let total = 0;
	do {
		const limit = Math.min(most - rows.length, 20000);
		const page = await get(path, { ...params, limit, cursor }, signal);
		rows = rows.concat(page[name]);
		total = page.total ?? rows.length;
		cursor = page.next_cursor;
	} while (cursor && rows.length < most);
	return { rows, total };
};

/**
 * Listens to events. on.event(row), on.resync() when rows were missed, on.open(bool).
 * Returns a function that ends it. EventSource connects again by itself, except when the
 * server refuses; then this tries again after `again` milliseconds.
 */
export const listen = (on, again = 10000) => {
	let source = null;
	let timer = 0;

	const start = () => {
		source = new EventSource('v1/events');
		source.onopen = () => on.open(true);
		source.onmessage = (m) => on.event(JSON.parse(m.data));
		source.addEventListener('resync', () => on.resync());
		source.onerror = () => {
			on.open(false);
			if (source.readyState === EventSource.CLOSED) {
				timer = setTimeout(start, again);
			}
		};
	};
	start();
	return () => {
		clearTimeout(timer);
		source.close();
	};
};
