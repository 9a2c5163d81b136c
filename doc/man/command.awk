# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Makes the manual page of a command of saguaro, of saguaro itself or of another program of ours from its text:
# awk -v program=PROGRAM -v command=NAME -f command.awk FILE. These lines stand for what the program says
# itself; WORDS are first words which have flags of their own, such as the create of saguaro partition; '-' is
# no word, and -=SHOWN names what has the flags then.
#
#   HEAD              title and NAME, of saguaro and its commands
#   SYNOPSIS [WORDS]  the section
#   OPTIONS [WORDS]   the section, each option once
#   FIELDS [WORDS]    the section, by the fields of --field; '=' stands for a blank in a word, '-' for no word
#   EXITS             the section EXIT STATUS
#   COMMANDS          all commands by topic
#   RESOURCES         those of saguaro-admin, which the program of -v resources=PROGRAM prints
#   KINDS             the kinds of saguaro topo
#   FABRIC            which fabric the examples are of
#
# Lines between .EX and .EE stand as they are printed or typed; what roff would read as markup is escaped.
function fail(text) {
	print FILENAME ": " text >"/dev/stderr"
	failed = 1
	exit 1
}
# Prints what a command says. part: "" all of it, else what stands below this heading.
function include(line, part,    said, n, on) {
	line = program " " line
	on = part == ""
	while ((line | getline said) > 0) {
		if (said ~ /^\.SH / && part != "") {
			on = said == ".SH " part
		} else if (on) {
			print said
			n++
		}
	}
	close(line)
	if (n == 0) {
		fail("'" line "' says nothing")
	}
}
function typed(word) {
	sub(/=.*/, "", word)
	return word == "-" ? "" : word
}
# WORD=SHOWN: the flags are those of WORD, and SHOWN stands for it in the synopsis.
function synopsis(word,    line, said, part, n, seen) {
	n = split(word, part, "=")
	line = program " " command " " typed(word) " --manual-source"
	while ((line | getline said) > 0 && said != ".SH OPTIONS") {
		if (n == 2 && typed(word) != "") {
			sub("^\\.B .*" part[1] "$", ".B saguaro " command "\n\\fI" part[2] "\\fR", said)
		}
		if (said != ".SH SYNOPSIS") {
			print said
			seen = 1
		}
	}
	close(line)
	if (!seen) {
		fail("'" line "' says nothing")
	}
}
# Keeps the options of a word: each once, with the words that have it.
function options(word,    line, said, on, text) {
	line = program " " command " " typed(word) " --manual-source"
	sub(typed(word) == "" ? "^-=" : "=.*", "", word)
	while ((line | getline said) > 0) {
		if (on && said == ".TP") {
			keep(text, word)
			text = ""
		}
		if (on) {
			text = text said "\n"
		}
		on = on || said == ".SH OPTIONS"
	}
	close(line)
	keep(text, word)
	if (!on) {
		fail("'" line "' says nothing")
	}
}
function keep(text, word) {
	if (text == "") {
		return
	}
	if (text ~ /^\.TP\n\\fB\\-\\-help/) {
		help = text
		return
	}
	if (!(text in with)) {
		option[++n_options] = text
		with[text] = word
	} else {
		with[text] = with[text] "," word
	}
}
# The fields of a list: each with what it means, or names only where nothing is said.
function fields(words, deeper,    line, said, part, names, entries) {
	gsub(/=/, " ", words)
	sub(/^-$/, "", words)
	line = program " " command " " words " --field manual-source"
	while ((line | getline said) > 0) {
		split(said, part, "\t")
		names = names (names == "" ? "" : ",\n") "\\fB" part[1] "\\fR"
		if (part[2] != "") {
			entries = entries ".TP\n\\fB" part[1] "\\fR\n" literal(toupper(substr(part[2], 1, 1)) substr(part[2], 2)) ".\n"
		}
	}
	close(line)
	if (names == "") {
		fail("'" line "' says nothing")
	}
	if (entries == "") {
		print names "."
	} else {
		printf "%s.PD 0\n%s.PD\n%s", deeper ? ".RS\n" : "", entries, deeper ? ".RE\n" : ""
	}
}
function literal(line) {
	gsub(/\\/, "\\e", line)
	gsub(/-/, "\\-", line)
	gsub(/'/, "\\(aq", line)
	gsub(/`/, "\\(ga", line)
	gsub(/\^/, "\\(ha", line)
	gsub(/~/, "\\(ti", line)
	sub(/^\./, "\\\\\\&.", line)
	return line
}
/^\.EX/ { verbatim = 1 }
/^\.EE/ { verbatim = 0 }
verbatim && !/^\.EX/ {
	print literal($0)
	next
}
$1 == "HEAD" {
	page = "saguaro" (command == "" ? "" : "\\-" command)
	print ".TH " toupper(page) " 1 \"2026-11-23\" \"Saguaro\" \"Saguaro manual\""
	print ".SH NAME"
	if (command == "") {
		print "saguaro \\- route, prove and query InfiniBand and Omni\\-Path fabrics"
	} else {
		include("manual name " command, "")
	}
	next
}
$1 == "SYNOPSIS" {
	print ".SH SYNOPSIS"
	for (i = 2; i <= NF || i == 2; i++) {
		if (i > 2) {
			print ".br"
		}
		synopsis($i)
	}
	next
}
$1 == "OPTIONS" {
	print ".SH OPTIONS"
	for (i = 2; i <= NF || i == 2; i++) {
		options($i)
	}
	for (i = 1; i <= n_options; i++) {
		printf "%s", option[i]
		if (split(with[option[i]], w, ",") < NF - 1) {
			gsub(/,/, ", ", with[option[i]])
			print "Only with " with[option[i]] "."
		}
	}
	printf "%s", help
	next
}
$1 == "FIELDS" {
	print ".SH FIELDS"
	print "Those that \\-\\-csv prints and that \\-\\-field takes;"
	print ".BR saguaro\\-api (7)"
	print "has their types. A field whose name ends in .* stands for all that begin so."
	if (NF == 1) {
		print ".PP"
		fields("", 0)
	}
	for (i = 2; i <= NF; i++) {
		head = $i
		gsub(/=/, " ", head)
		sub(/^-$/, "", head)
		print ".TP"
		print ".B saguaro " command (head == "" ? "" : " " head)
		fields($i, 1)
	}
	next
}
$1 == "EXITS" {
	print ".SH EXIT STATUS"
	include("manual exit " command, "")
	next
}
$1 == "RESOURCES" {
	program = resources
	include("", "")
	next
}
$1 == "COMMANDS" {
	include("manual commands", "")
	next
}
$1 == "KINDS" {
	include("manual kinds", "")
	next
}
$1 == "FABRIC" {
	print "The fabric is the one that the examples of"
	print ".BR saguaro (1)"
	print "start: four leaf switches with two hosts each, and two spine switches."
	next
}
{ print }
