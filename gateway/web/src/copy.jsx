// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// A command for a shell, to be copied.
import { useEffect, useRef, useState } from 'preact/hooks';

const SAID_MS = 2000;

export const Command = ({ text, label }) => {
	const code = useRef(null);
	const [said, set_said] = useState('');

	useEffect(() => {
		const timer = said === '' ? 0 : setTimeout(() => set_said(''), SAID_MS);
		return () => clearTimeout(timer);
	}, [said]);
	const copy = async () => {
		try {
			await navigator.clipboard.writeText(text); // only where the browser trusts the address
			set_said('copied');
		} catch {
			getSelection().selectAllChildren(code.current);
			set_said('selected');
		}
	};
	return (
		<div class="command">
			{label && <span>{label}</span>}
			<code ref={code}>{text}</code>
			<button type="button" onClick={copy} aria-label={`${said || 'copy'}: ${text}`}>{said || 'copy'}</button>
		</div>
	);
};
