// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// saguaro-admin, which makes changes. The gateway says where it is. The secret of the user is
// kept in memory only: it ends with the page, and no other page and no cookie has it.
import { signal } from '@preact/signals';
import { get, Problem, read } from './api.js';

export const url = signal(null); // without a slash at its end; null: there is none
export const user = signal(null); // {user, role, ...} of /v1/user; null: nobody
let secret = null;

/** A secret may be typed only where nobody on the way can have changed the page. */
export const is_safe = () => globalThis.isSecureContext === true;

/** Asks the gateway where it is. */
export const find = async () => {
	try {
		url.value = (await get('v1')).admin?.replace(/\/+$/, '') ?? null;
	} catch {
		// without it the page shows commands
	}
};

export const sign_out = () => {
	secret = null;
	user.value = null;
};

/** Sends a request as the user. Throws Problem, or what fetch() throws. */
export const send = async (method, path, body) => {
	try {
		return await read(await fetch(`${url.value}/${path}`, {
			method,
			headers: { Authorization: `Bearer ${secret}`, ...(body ? { 'Content-Type': 'application/json' } : {}) },
			body: body && JSON.stringify(body),
			credentials: 'omit',
			cache: 'no-store',
			redirect: 'error',
			referrerPolicy: 'no-referrer',
		}));
	} catch (e) {
		if (e instanceof Problem && e.status === 401) {
			sign_out();
		}
		throw e;
	}
};

/** text: NAME.SECRET. */
export const sign_in = async (text) => {
	secret = text.trim();
	try {
		user.value = await send('GET', 'v1/user');
	} catch (e) {
		sign_out();
		throw e;
	}
};

/** What went wrong, for a reader. A browser does not say why an answer of another origin did not come. */
export const why = (e) =>
	e instanceof Problem ? e.message
		: `${url.value} cannot be asked: it may be down, its certificate unknown to this browser, or ` +
			`${location.origin} missing in its --allow-origin`;
