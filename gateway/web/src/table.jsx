// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026, The Saguaro authors

// A table with sortable columns. A column is {name, of(row), number?, show?(row), wide?}: a
// wide one is left out on a phone.
import { useState } from 'preact/hooks';

const SHOWN = 200; // rows; more on request

const compare = (p, q) =>
	p === q ? 0 : p === null || p === undefined || p === '' ? 1
		: q === null || q === undefined || q === '' ? -1
		: typeof p === 'number' && typeof q === 'number' ? p - q
		: String(p).localeCompare(String(q), 'en', { numeric: true });

const sorted = (rows, column, down) => {
	if (!column) {
		return rows;
	}
	const copy = [...rows].sort((p, q) => compare(column.of(p), column.of(q)));
	return down ? copy.reverse() : copy;
};

const class_of_column = (c) => [c.number && 'number', c.wide && 'wide'].filter(Boolean).join(' ');

const Head = ({ columns, by, down, sort }) => (
	<thead>
		<tr>
			{columns.map((c) => (
				<th scope="col" key={c.name} class={class_of_column(c)}
					aria-sort={by === c ? (down ? 'descending' : 'ascending') : 'none'}>
					<button type="button" onClick={() => sort(c)}>
						{c.name}{by === c ? (down ? ' ▾' : ' ▴') : ''}
					</button>
				</th>
			))}
		</tr>
	</thead>
);

const Body = ({ title, columns, rows, class_of, chosen }) => {
	const [by, set_by] = useState(null);
	const [down, set_down] = useState(false);
	const [most, set_most] = useState(SHOWN);
	const sort = (c) => {
		set_down(by === c ? !down : Boolean(c.number));
		set_by(c);
	};
	const all = sorted(rows, by, down);
	const key_down = (row) => (e) => e.key === 'Enter' && chosen(row);

	return (
		<div class="scroll" role="region" aria-label={title} tabIndex={0}>
			<table>
				<caption class="hidden">{title}</caption>
				<Head columns={columns} by={by} down={down} sort={sort} />
				<tbody>
					{all.slice(0, most).map((row, i) => (
						<tr key={row.id ?? i} class={class_of ? class_of(row) : ''}
							{...(chosen ? { tabIndex: 0, onClick: () => chosen(row),
								onKeyDown: key_down(row) } : {})}>
							{columns.map((c) => (
								<td key={c.name} class={class_of_column(c)}>
									{c.show ? c.show(row) : c.of(row)}
								</td>
							))}
						</tr>
					))}
				</tbody>
			</table>
			{all.length > most && (
				<button type="button" onClick={() => set_most(most * 5)}>
					{all.length - most} more rows
				</button>
			)}
		</div>
	);
};

/** rows: an array, or a function that makes it when a folded table is opened. */
export const Table = ({ folded, rows, ...rest }) => {
	const [open, set_open] = useState(!folded);
	const made = () => (typeof rows === 'function' ? rows() : rows);

	if (!folded) {
		return <Body rows={made()} {...rest} />;
	}
	return (
		<details onToggle={(e) => set_open(e.currentTarget.open)}>
			<summary>{rest.title}</summary>
			{open && <Body rows={made()} {...rest} />}
		</details>
	);
};
