/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* saguaro doctor: what is wrong, in words, and what to do about it. */
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "gateway/cli/client.h"
#include "gateway/cli/command.h"

static const char doc[] = "What is wrong with the fabric, the worst first, and what to "
                          "do about it. With HOST, "
			  "a name, GUID or LID: whether the subnet manager can reach it, "
                          "and if not, why. Exit "
			  "status 0: nothing is wrong.";

enum { SHOWN = 10 }; /* alarms of one kind */

/* What to do about an alarm. */
static const struct {
	const char *kind, *advice;
} advices[] = {
	{ "not_ready", "look at the log of saguarod; start it if it does not run" },
	{ "sweep_failed", "mend what the reason says, then 'saguaro sweep --heavy'" },
	{ "unreachable",
	  "'saguaro report validateroutes' lists them; most often a cable or a "
	  "switch is missing" },
	{ "loop",
	  "'saguaro report validatecreditloops' shows where; take an engine that is free "
	  "of deadlock, or mend the cabling" },
	{ "sm_conflict",
	  "two subnet managers disagree: stop one, or set their priorities apart" },
	{ "silent",
	  "its cable is up, but it answers no request: restart it, or look at its "
	  "firmware" },
	{ "fallback",
	  "'saguaro status' says why; change the engine, or mend what does not suit "
	  "it" },
	{ "routing", "'saguaro status' has the whole text" },
	{ "switch_gone", "look at its power and at the cables to it" },
	{ "link_down", "look at the cable and at both its ends" },
	{ "not_active",
	  "if the state stays, the neighbour did not accept it: look at the M_Key, "
	  "or take the cable out and put it in" },
	{ "degraded", "clean or change the cable; 'saguaro links --degraded' lists all" },
	{ "flapping",
	  "change the cable, or switch the port off with 'saguaro port disable'" },
	{ "overloaded",
	  "'saguaro load' lists the links; 'saguaro rebalance' moves routes" },
	{ "host_gone",
	  "look at the host; if it is gone for good, this line ends with its event" },
	{ "disabled", "'saguaro port enable' switches it on again" },
};

static const char *advice_for(const char *kind)
{
	for (size_t i = 0; i < sizeof(advices) / sizeof(advices[0]); i++) {
		if (strcmp(kind, advices[i].kind) == 0) {
			return advices[i].advice;
		}
	}
	return "";
}

/* Alarms come sorted by kind: each kind with its advice, and the first so many. */
static void print_alarms(const json_t *body)
{
	const char *kind = "";
	size_t i, n = 0;
	json_t *a;

	json_array_foreach(json_object_get(body, "alarms"), i, a)
	{
		if (strcmp(kind, member_text(a, "kind")) != 0) {
			if (n > SHOWN) {
				printf("  and %zu more\n", n - SHOWN);
			}
			kind = member_text(a, "kind");
			n = 0;
			printf("%s (%s): %s\n", kind, member_text(a, "severity"),
			       advice_for(kind));
		}
		if (n++ < SHOWN) {
			printf("  %s%s%s\n", member_text(a, "text"),
			       *member_text(a, "since") ? ", since " : "",
			       member_text(a, "since"));
		}
	}
	if (n > SHOWN) {
		printf("  and %zu more\n", n - SHOWN);
	}
}

static int show_fabric(struct client *s)
{
	json_t *body = NULL;
	int status = client_get(s, "/v1/alarms?limit=65536", &body);

	if (status != EXIT_GOOD) {
		return status; /* there is no snapshot, and the reason was printed */
	}
	if (s->flags.json) {
		status = client_print_json(body);
	} else if (json_array_size(json_object_get(body, "alarms")) == 0) {
		printf("nothing is wrong\n");
	} else {
		print_alarms(body);
	}
	if (json_array_size(json_object_get(body, "alarms")) > 0 && status == EXIT_GOOD) {
		status = EXIT_BAD;
	}
	json_decref(body);
	return status;
}

/* Ports of a host with what they lack. \return How many are active. */
static unsigned print_ports(const json_t *body)
{
	unsigned active = 0;
	size_t i;
	json_t *p;

	json_array_foreach(json_object_get(body, "ports"), i, p)
	{
		const char *state = member_text(p, "state");

		printf("port %lld: %s, LID %lld%s\n", member_int(p, "port"), state,
		       member_int(p, "lid"),
		       json_is_null(json_object_get(p, "peer"))
		               ? ", no cable, or the other end is off"
		       : member_int(p, "lid") == 0
		               ? ", no LID: the subnet manager has not set it up"
		               : "");
		active += strcmp(state, "active") == 0;
	}
	return active;
}

/* Can the subnet manager's port reach it? The reason why not was printed. */
static int show_host(struct client *s, const char *host)
{
	json_t *fabric = NULL, *ports = NULL, *paths = NULL;
	int status = client_get(
		s, arena_printf(s->arena, "/v1/ports?node=%s", client_escape(s, host)),
		&ports);

	if (status == EXIT_GOOD) {
		status = client_get(s, "/v1/fabric", &fabric);
	}
	if (status != EXIT_GOOD) {
		json_decref(ports);
		return status;
	}
	unsigned active = print_ports(ports);
	json_int_t sm = member_int(json_object_get(fabric, "sm"), "lid"), lid = 0;
	size_t i;
	json_t *p;
	json_array_foreach(json_object_get(ports, "ports"), i, p)
	{
		lid = lid == 0 ? member_int(p, "lid") : lid;
	}
	if (lid != 0 && lid != sm) {
		status = client_get(s,
		                    arena_printf(s->arena,
		                                 "/v1/paths?src=%lld&dst=%lld&hops=1", sm,
		                                 lid),
		                    &paths);
	}
	if (paths != NULL) {
		const json_t *path = json_array_get(json_object_get(paths, "paths"), 0);
		printf("the subnet manager reaches it over %lld switches\n",
		       member_int(path, "hop_count"));
	}
	if (status == EXIT_GOOD && active == 0) {
		printf("no port is active, so no packet gets through\n");
		status = EXIT_BAD;
	}
	json_decref(fabric);
	json_decref(ports);
	json_decref(paths);
	return status;
}

int cmd_doctor(int argc, char **argv)
{
	struct client s;
	int status =
		client_init(&s, NULL, doc, "[HOST]", CLIENT_MAY_HAVE_ONE, argc, argv);

	if (status == EXIT_GOOD) {
		status = s.first < argc ? show_host(&s, argv[s.first]) : show_fabric(&s);
	}
	return client_done(&s, status);
}
