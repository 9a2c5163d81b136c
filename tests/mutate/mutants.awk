# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Small, plausible faults at random lines: awk -v seed=S -v count=N -f mutants.awk FILE...
#
# Prints count faults in the order in which they are drawn, one per line: file, line, operator and the
# whole new line, with the character 0x1f between them. Each line of a function body that has a place
# for an operator is as likely as any other, and so are the places of a line. The same seed and files
# give the same faults with any awk. Whether a fault compiles is not known here.
#
#   negate     a condition            if (x) {          if (!(x)) {
#   boundary   < <= > >=              i < n             i <= n
#   equal      == !=                  a == b            a != b
#   logic      && ||                  a && b            a || b
#   constant   0                      n = 0;            n = 1;
#   dropped    a call or assignment   count(j);         ;
#   success    what is returned       return ret;       return E_OK;
BEGIN { state = (seed % 2147483646) + 1; sep = sprintf("%c", 31) }

# Park and Miller, Random number generators, 1988: fits into the double of every awk.
function draw(n) {
	state = (16807 * state) % 2147483647
	return int(state / 2147483647 * n)
}

# The line without the contents of strings, characters and comments, of the same length.
function mask(line,    i, c, quote, out, two) {
	for (i = 1; i <= length(line); i++) {
		c = substr(line, i, 1)
		two = substr(line, i, 2)
		if (in_comment) {
			out = out " "
			if (two == "*/") {
				in_comment = 0
				out = out " "
				i++
			}
		} else if (quote != "") {
			if (c == "\\") {
				out = out "xx"
				i++
			} else {
				out = out (c == quote ? c : "x")
				if (c == quote) quote = ""
			}
		} else if (two == "/*") {
			in_comment = 1
			out = out "  "
			i++
		} else if (two == "//") {
			while (length(out) < length(line)) out = out " "
			break
		} else {
			if (c == "\"" || c == "'") quote = c
			out = out c
		}
	}
	return substr(out, 1, length(line))
}

function add(op, at, old, new) {
	n_ops++
	ops[n_ops] = op
	news[n_ops] = substr(line, 1, at - 1) new substr(line, at + length(old))
}

# Each place of a word with blanks around it.
function exchange(op, old, new,    at, from) {
	for (from = 1; (at = index(substr(masked, from), " " old " ")) > 0; from = at + length(old)) {
		at += from
		add(op, at, old, new)
	}
}

function balanced(text,    i, depth) {
	for (i = 1; i <= length(text); i++) {
		if (substr(text, i, 1) == "(") depth++
		if (substr(text, i, 1) == ")" && --depth < 0) return 0
	}
	return depth == 0
}

function find_places(    at, indent, body, i) {
	n_ops = 0
	match(line, /^\t*/)
	indent = RLENGTH
	body = substr(masked, indent + 1)
	sub(/[ \t]+$/, "", body)
	if (match(body, /^(} else )?(if|while) \(/) && body ~ /\) \{$/) {
		at = RLENGTH
		i = length(body) - 3 # up to the last parenthesis
		if (balanced(substr(body, at + 1, i - at)))
			add("negate", indent + at, substr(line, indent + at, i - at + 2),
			    "(!" substr(line, indent + at, i - at + 2) ")")
	}
	exchange("boundary", "<", "<=")
	exchange("boundary", "<=", "<")
	exchange("boundary", ">", ">=")
	exchange("boundary", ">=", ">")
	exchange("equal", "==", "!=")
	exchange("equal", "!=", "==")
	exchange("logic", "&&", "||")
	exchange("logic", "||", "&&")
	for (i = 1; i <= length(masked); i++)
		if (substr(masked, i, 1) == "0" && substr(masked, i - 1, 1) !~ /[A-Za-z0-9_.]/ &&
		    substr(masked, i + 1, 1) !~ /[A-Za-z0-9_.]/)
			add("constant", i, "0", "1")
	if ((body ~ /^(\(void\))?[a-z_][a-z0-9_]*\(.*\);$/ && balanced(body) &&
	     body !~ /^(\(void\))?(free|[a-z0-9_]*_free|log_debug|sizeof|return|if|while|for|switch)\(/) ||
	    (body ~ /^\*?[a-z_][A-Za-z0-9_>.\[\]-]* ([+|&-]|<<|>>)?= .*;$/ && balanced(body)) ||
	    body ~ /^\*?[a-z_][A-Za-z0-9_>.\[\]-]*(\+\+|--);$/)
		add("dropped", indent + 1, substr(line, indent + 1), ";")
	if (body ~ /^return (-E[A-Z0-9]+|E_[A-Z_]+|ret|err);$/ && body != "return E_OK;")
		add("success", indent + 1, body, "return E_OK;")
	if (body == "return false;" || body == "return true;")
		add("success", indent + 1, body, body == "return true;" ? "return false;" : "return true;")
}

FNR == 1 { in_comment = in_body = continued = 0 }
{
	line = $0
	masked = mask(line)
	if (line ~ /^\{/) in_body = 1
	if (line ~ /^}/) in_body = 0
	# of a statement on several lines only what stands inside of it is looked at
	if (in_body && line !~ /^#/ && masked ~ /[^ \t]/) {
		whole = !continued
		find_places()
		for (i = 1; i <= n_ops; i++) {
			if (!whole && (ops[i] == "dropped" || ops[i] == "success")) continue
			if (places[n_lines + 1] == 0) {
				file_of[n_lines + 1] = FILENAME
				number_of[n_lines + 1] = FNR
			}
			places[n_lines + 1]++
			op_of[n_lines + 1, places[n_lines + 1]] = ops[i]
			new_of[n_lines + 1, places[n_lines + 1]] = news[i]
		}
		n_lines += places[n_lines + 1] > 0
		continued = masked !~ /[;{}:][ \t]*$/
	}
}
END {
	for (i = 1; i <= n_lines; i++) order[i] = i
	for (i = 1; i <= count && i <= n_lines; i++) {
		k = i + draw(n_lines - i + 1)
		at = order[k]
		order[k] = order[i]
		which = 1 + draw(places[at])
		print file_of[at] sep number_of[at] sep op_of[at, which] sep new_of[at, which]
	}
}
