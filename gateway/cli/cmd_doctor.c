/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * saguaro doctor: what is wrong, in words, and what to do about it. The fabric is judged by the
 * alarms of the gateway (gateway/inventory/alarms.def). Where there is nobody to ask, the folder
 * of the snapshot and its file system tell why.
 */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/text.h"
#include "gateway/cli/client.h"
#include "gateway/cli/help/command.h"
#include "gateway/inventory/alarms.h"

static const char doc[] =
	"What is wrong with the fabric, the worst first, and what to do about it. With HOST, a name, GUID or LID: whether the subnet manager can reach it, and if not, why. With two: whether they can reach each other.";

enum { SHOWN = 10 /* of one kind */, FULL_PERCENT = 2 };

/* Advice by the words of a sentence, where these tell more than its kind. The first that fits counts. */
/* clang-format off */
static const struct {
	const char *words, *advice;
} advices[] = {
	{ "no InfiniBand channel adapter", "start saguarod on the host that has the adapter; if it is this one, load its driver (modprobe mlx5_ib, mlx4_ib or hfi1) until 'ibstat' shows it" },
	{ "has no working link", "'ibstat' shows the port: if it is Down or Polling, look at its cable and at the switch port behind it; another port is taken with --fabric umad:CA:PORT" },
	{ "the local port", "the adapter of this host does not answer its own subnet manager: most often it holds the M_Key of another one, which m_key or a guid2mkey file has to name; else load its driver again" },
	{ "another SM_Key", "give all subnet managers the same sm_key, or stop the other one: as long as the keys differ, each undoes the work of the other" },
	{ "there are two masters", "stop one of the two, or add the GUID of its port to allowed_sm_guids" },
	{ "hold an M_Key", "give the key of the subnet manager that was here before as m_key, or its file guid2mkey; a node that is restarted forgets its key" },
	{ "is there twice", "two adapters have the same GUID, as after a firmware image was copied: give one of them its own GUID (mlxburn, flint sg), or unplug it" },
	{ "does not answer behind", "its link is up, so it has power: restart it, or look at its firmware; a node that holds a foreign M_Key is as silent" },
	{ "no answer behind", "its link is up, so it has power: restart it, or look at its firmware; a node that holds a foreign M_Key is as silent" },
	{ "stopped answering", "its link is up, so it has power: restart it, or look at its firmware" },
	{ "has not ended yet", "it is starting: ask again in a moment; 'saguaro events -f' follows it" },
	{ "it was stopped", "somebody stopped it: 'systemctl start saguarod' starts it again" },
	{ "is full: saguarod", "it has no room for what it would report: 'df' on that folder; a fabric needs about 4 times the snapshot's size there" },
	{ "gave no sign of life", "it was killed, or hangs: 'systemctl restart saguarod'; 'journalctl -u saguarod' has its last words" },
	{ "No space left", "make room there; what was published before stays in force until then" },
	{ "P_Key", "'saguaro partition list' and 'saguaro partition show P_KEY' show who is a member; 'saguaro partition add P_KEY GUID' adds a port" },
	{ "partition", "'saguaro partition list' and 'saguaro partition show P_KEY' show who is a member; 'saguaro partition add P_KEY GUID' adds a port" },
};
/* clang-format on */

static const char *advice_for(const char *kind, const char *text)
{
	for (size_t i = 0; i < sizeof(advices) / sizeof(advices[0]); i++) {
		if (strstr(text, advices[i].words) != NULL) {
			return advices[i].advice;
		}
	}
	for (unsigned k = 0; k < ALARM_KINDS; k++) {
		if (strcmp(kind, alarm_types[k].name) == 0) {
			return alarm_types[k].advice;
		}
	}
	return "";
}

/* --- findings --------------------------------------------------------------------------- */

struct doctor {
	struct client *s;
	json_t *findings; /* objects: kind, severity, text, advice, since */
	json_t *open;     /* objects: name, text, advice; not findings, because the fabric is well */
	json_t *absent;   /* objects: partition, p_key, member, text; likewise, because a host may come later */
};

/* \param advice  NULL: by kind and text. */
static void find(struct doctor *d, const char *kind, const char *severity,
                 const char *text, const char *advice)
{
	json_array_append_new(d->findings,
	                      json_pack("{s:s, s:s, s:s, s:s, s:n}", "kind", kind,
	                                "severity", severity, "text", text, "advice",
	                                advice != NULL ? advice : advice_for(kind, text),
	                                "since"));
}

static void find_alarms(struct doctor *d, const json_t *body)
{
	size_t i;
	json_t *a, *since;

	json_array_foreach(json_object_get(body, "alarms"), i, a)
	{
		find(d, member_text(a, "kind"), member_text(a, "severity"),
		     member_text(a, "text"), NULL);
		since = json_object_get(a, "since");
		json_object_set(
			json_array_get(d->findings, json_array_size(d->findings) - 1),
			"since", since);
	}
}

/* A file system without room stops everything that saguarod publishes, also its sign of life. */
static void find_full(struct doctor *d, const char *dir)
{
	struct statvfs fs;

	if (dir == NULL || statvfs(dir, &fs) != 0 || fs.f_blocks == 0 ||
	    (uint64_t)fs.f_bavail * 100 >= (uint64_t)fs.f_blocks * FULL_PERCENT) {
		return;
	}
	find(d, "full", "error",
	     arena_printf(
		     d->s->arena,
		     "the file system of %s is full: %llu of %llu KiB are free; saguarod can publish nothing there",
		     dir, (unsigned long long)fs.f_bavail * fs.f_frsize / 1024,
		     (unsigned long long)fs.f_blocks * fs.f_frsize / 1024),
	     "make room there, or give it another folder with --snapshot-dir; a tmpfs is made larger with 'mount -o remount,size=...'");
}

static const char *user_name(void)
{
	const struct passwd *p = getpwuid(geteuid());

	return p != NULL ? p->pw_name : "this user";
}

/* Why the snapshot of a folder cannot be read. */
static void find_unreadable(struct doctor *d, const char *dir, int ret)
{
	struct arena *a = d->s->arena;
	const struct group *g;
	struct stat st;

	if (ret == -EACCES) {
		g = stat(dir, &st) == 0 ? getgrgid(st.st_gid) : NULL;
		find(d, "no_access", "error",
		     arena_printf(a, "%s may not read the snapshot of saguarod in %s",
		                  user_name(), dir),
		     arena_printf(
			     a,
			     "become a member of the group %s, which may ('usermod -a -G'), or ask the gateway with --url",
			     g != NULL ? g->gr_name : "saguaro"));
	} else if (ret == -ENOENT) {
		find(d, "no_daemon", "error",
		     arena_printf(a,
		                  "no saguarod has run here: there is no snapshot in %s",
		                  dir),
		     "'systemctl start saguarod' starts it; another one is named with --instance, --snapshot-dir or --url");
	} else {
		find(d, "no_access", "error",
		     arena_printf(a, "the snapshot in %s cannot be read: %s", dir,
		                  strerror(-ret)),
		     "look at that folder and its file system");
	}
}

/* --- the fabric -------------------------------------------------------------------------- */

/* A standby is as it should be if it could take over; if not, it may be here by mistake. */
static void find_standby(struct doctor *d, const json_t *sm)
{
	const json_t *master = json_object_get(sm, "master"),
		     *copy = json_object_get(sm, "copy");
	const char *name = member_text(master, "name");

	if (json_is_true(json_object_get(copy, "in_step"))) {
		return;
	}
	find(d, "standby", "warning",
	     arena_printf(
		     d->s->arena,
		     "another subnet manager manages the fabric: that on %s, GUID %s, LID %lld, priority %lld; this one is standby with priority %lld, %s",
		     name[0] ? name : "a host without a name",
		     member_text(master, "guid"), member_int(master, "lid"),
		     member_int(master, "priority"), member_int(sm, "priority"),
		     json_is_object(copy) ? "and its copy of the state is not in step"
					  : "and has no copy of the state"),
	     "if this one shall be master: stop the other, or give this one a higher sm_priority; if it shall be standby: standby_peer gives it the state");
}

/* Notes the members of a partition that the configuration names and the fabric does not have. */
static void note_members(struct doctor *d, const json_t *partition, const json_t *members)
{
	struct arena *a = d->s->arena;
	size_t i;
	json_t *m;

	json_array_foreach(members, i, m)
	{
		const char *host = json_string_value(json_object_get(m, "host"));
		const char *who = host != NULL ? host : member_text(m, "first"), *text;
		json_int_t n = member_int(m, "port_count");

		if (strcmp(member_text(m, "source"), "file") != 0 ||
		    (host == NULL && !json_is_false(json_object_get(m, "present")))) {
			continue;
		}
		text = host == NULL ? arena_printf(a, "no port has the GUID %s", who)
		       : n == 0     ? arena_printf(a, "no host has the name '%s'", who)
		                    : arena_printf(a,
		                                   "the name '%s' means %lld ports, so none of them is a member",
		                                   who, n);
		json_array_append_new(
			d->absent,
			json_pack("{s:s, s:O, s:s, s:s}", "partition",
			          member_text(partition, "name"), "p_key",
			          json_object_get(partition, "p_key"), "member", who, "text",
			          text != NULL ? text : ""));
	}
}

static void note_partitions(struct doctor *d)
{
	struct client *s = d->s;
	json_t *body = NULL, *p;
	size_t i;

	if (client_get(s, "/v1/partitions?limit=65536", &body) != EXIT_GOOD) {
		return;
	}
	json_array_foreach(json_object_get(body, "partitions"), i, p)
	{
		json_t *detail = NULL;

		if (member_int(p, "absent_count") > 0 &&
		    client_get(s,
		               arena_printf(s->arena, "/v1/partitions/%lld?limit=1",
		                            member_int(p, "p_key")),
		               &detail) == EXIT_GOOD) {
			note_members(d, p, json_object_get(detail, "members"));
		}
		json_decref(detail);
	}
	json_decref(body);
}

static int examine_fabric(struct doctor *d)
{
	struct client *s = d->s;
	json_t *sm = NULL, *ready = NULL, *alarms = NULL;
	int status = client_get(s, "/v1/sm", &sm);

	if (status == EXIT_GOOD) {
		json_array_extend(d->open, json_object_get(sm, "holes"));
	}
	if (status == EXIT_GOOD && strcmp(member_text(sm, "state"), "standby") == 0) {
		find_standby(d, sm);
	} else if (status == EXIT_GOOD &&
	           client_get(s, "/v1/alarms?limit=65536", &alarms) == EXIT_GOOD) {
		find_alarms(d, alarms);
		note_partitions(d);
	} else if (status == EXIT_GOOD && client_get(s, "/readyz", &ready) != EXIT_GOOD) {
		find(d, "not_ready", "error", s->why,
		     NULL); /* nothing was published yet */
	}
	json_decref(sm);
	json_decref(ready);
	json_decref(alarms);
	return status;
}

/* --- hosts ------------------------------------------------------------------------------ */

static const char *port_trouble(const json_t *p)
{
	if (json_is_null(json_object_get(p, "peer"))) {
		return ", no cable, or the other end is off";
	}
	return member_int(p, "lid") == 0
	               ? ", no LID: the subnet manager has not set it up"
	               : "";
}

/* Looks at the ports of a host and prints them. \param ret_lid  Of one of them, 0: there is none. */
static int examine_ports(struct doctor *d, const char *host, json_int_t *ret_lid)
{
	struct client *s = d->s;
	json_t *body = NULL, *p;
	unsigned active = 0;
	size_t i;
	int status = client_get(
		s, arena_printf(s->arena, "/v1/ports?node=%s", client_escape(s, host)),
		&body);

	if (status != EXIT_GOOD) {
		return status;
	}
	*ret_lid = 0;
	json_array_foreach(json_object_get(body, "ports"), i, p)
	{
		const char *state = member_text(p, "state");

		if (!s->flags.json) {
			printf("%s port %lld: %s, LID %lld%s\n", member_text(p, "name"),
			       member_int(p, "port"), state, member_int(p, "lid"),
			       port_trouble(p));
		}
		*ret_lid = *ret_lid == 0 ? member_int(p, "lid") : *ret_lid;
		active += strcmp(state, "active") == 0;
	}
	json_decref(body);
	if (active == 0) {
		find(d, "not_active", "error",
		     arena_printf(s->arena,
		                  "no port of %s is active, so no packet gets through",
		                  host),
		     NULL);
	}
	return EXIT_GOOD;
}

/* Is there a path? Says over how many switches, or finds the reason why there is none. */
static int examine_path(struct doctor *d, const char *from, const char *to,
                        const char *src, const char *dst)
{
	struct client *s = d->s;
	json_t *body = NULL;
	int status =
		client_get(s,
	                   arena_printf(s->arena, "/v1/paths?src=%s&dst=%s&hops=1",
	                                client_escape(s, src), client_escape(s, dst)),
	                   &body);

	if (status == EXIT_GOOD && !s->flags.json) {
		printf("%s reaches %s over %lld switches\n", from, to,
		       member_int(json_array_get(json_object_get(body, "paths"), 0),
		                  "hop_count"));
	} else if (status == EXIT_BAD) {
		find(d, "no_path", "error", s->why,
		     advice_for("", s->why)[0] != '\0'
		             ? NULL
		             : arena_printf(s->arena,
		                            "'saguaro why %s %s' shows where it ends",
		                            src, dst));
		status = EXIT_GOOD;
	}
	json_decref(body);
	return status;
}

static int examine_host(struct doctor *d, const char *host)
{
	struct client *s = d->s;
	json_t *fabric = NULL;
	json_int_t lid, sm;
	int status = examine_ports(d, host, &lid);

	if (status == EXIT_GOOD) {
		status = client_get(s, "/v1/fabric", &fabric);
	}
	sm = member_int(json_object_get(fabric, "sm"), "lid");
	json_decref(fabric);
	if (status != EXIT_GOOD || lid == 0 || lid == sm) {
		return status;
	}
	return examine_path(d, "the subnet manager", "it",
	                    arena_printf(s->arena, "%lld", (long long)sm),
	                    arena_printf(s->arena, "%lld", (long long)lid));
}

static int examine_pair(struct doctor *d, const char *src, const char *dst)
{
	json_int_t lid;
	int status = examine_ports(d, src, &lid);

	if (status == EXIT_GOOD) {
		status = examine_ports(d, dst, &lid);
	}
	if (status == EXIT_GOOD) {
		status = examine_path(d, src, dst, src, dst);
	}
	if (status == EXIT_GOOD && json_array_size(d->findings) == 0) {
		status = examine_path(d, dst, src, dst, src);
	}
	return status;
}

/* --- what is printed -------------------------------------------------------------------- */

/* Findings of one kind stand together, below them what to do. */
static void print_findings(const json_t *findings)
{
	size_t n = json_array_size(findings), same = 0;

	for (size_t i = 0; i < n; i++) {
		const json_t *f = json_array_get(findings, i),
			     *next = json_array_get(findings, i + 1);
		const char *advice = member_text(f, "advice"),
			   *since = member_text(f, "since");
		char text[1024];

		if (same == 0) {
			printf("%s (%s)\n", member_text(f, "kind"),
			       member_text(f, "severity"));
		}
		if (same++ < SHOWN) {
			snprintf(text, sizeof(text), "%s", member_text(f, "text"));
			text_printable(text); /* names come from the fabric */
			printf("  %s%s%s\n", text, *since ? ", since " : "", since);
		}
		if (next != NULL && strcmp(member_text(next, "advice"), advice) == 0 &&
		    strcmp(member_text(next, "kind"), member_text(f, "kind")) == 0) {
			continue;
		}
		if (same > SHOWN) {
			printf("  and %zu more\n", same - SHOWN);
		}
		printf("  What to do: %s.\n", advice);
		same = 0;
	}
}

static void print_open(const json_t *open)
{
	size_t i;
	json_t *o;

	if (json_array_size(open) > 0) {
		printf("\nOpen to hosts of the fabric:\n");
	}
	json_array_foreach(open, i, o)
	{
		printf("%s\n  %s.\n  What to do: %s.\n", member_text(o, "name"),
		       member_text(o, "text"), member_text(o, "advice"));
	}
}

static void print_absent(const json_t *absent)
{
	size_t i;
	json_t *o;

	if (json_array_size(absent) > 0) {
		printf("\nMembers of partitions that are not in the fabric:\n");
	}
	json_array_foreach(absent, i, o)
	{
		char text[256];

		snprintf(text, sizeof(text), "%s", member_text(o, "text"));
		text_printable(text);
		if (i < SHOWN) {
			printf("  %s (0x%04llx): %s\n", member_text(o, "partition"),
			       (unsigned long long)member_int(o, "p_key"), text);
		}
	}
	if (json_array_size(absent) > SHOWN) {
		printf("  and %zu more\n", json_array_size(absent) - SHOWN);
	}
	if (json_array_size(absent) > 0) {
		printf("  What to do: nothing, if they are to come; else correct the file of partitions, and 'saguaro reload'.\n");
	}
}

static int print_result(const struct doctor *d, int status)
{
	bool wrong = json_array_size(d->findings) > 0;
	int printed = EXIT_GOOD;

	/* there is nobody to ask, for a reason of its own, or a question has no answer */
	if (status == EXIT_USAGE || (!wrong && status != EXIT_GOOD)) {
		fprintf(stderr, "%s: %s\n", d->s->program, d->s->why);
	}
	if (!wrong && status != EXIT_GOOD) {
		return status;
	}
	if (d->s->flags.json) {
		json_t *all = json_pack("{s:b, s:O}", "healthy", !wrong, "findings",
		                        d->findings);

		if (d->s->flags.node == NULL) {
			json_object_set(all, "open_to_hosts", d->open);
			json_object_set(all, "absent_members", d->absent);
		}

		printed = client_print_json(all);
		json_decref(all);
	} else if (wrong) {
		print_findings(d->findings);
	} else if (d->s->flags.node == NULL) {
		printf("nothing is wrong\n");
	}
	if (!d->s->flags.json) {
		print_absent(d->absent);
		print_open(d->open);
	}
	if (status == EXIT_USAGE || printed != EXIT_GOOD) {
		return EXIT_USAGE;
	}
	return wrong ? EXIT_BAD : status;
}

static int examine(struct doctor *d, int n, char **host)
{
	struct client *s = d->s;
	int status;

	if (s->no_snapshot != 0 && !client_is_default(s)) {
		find_unreadable(d, s->snapshot, s->no_snapshot);
		return EXIT_GOOD;
	}
	find_full(d, s->local != NULL ? s->url : NULL);
	status = n == 0   ? examine_fabric(d)
	         : n == 1 ? examine_host(d, host[0])
	                  : examine_pair(d, host[0], host[1]);
	if (status == EXIT_USAGE &&
	    client_is_default(s)) { /* nor does a gateway answer */
		find_unreadable(d, s->snapshot, s->no_snapshot);
		return EXIT_GOOD;
	}
	return status;
}

int cmd_doctor(int argc, char **argv)
{
	struct client s;
	struct doctor d = { .s = &s, .findings = json_array(), .open = json_array(), .absent = json_array() };
	int status = client_init_explaining(&s, doc, "[HOST [HOST]]", CLIENT_MAY_HAVE_TWO,
	                                    argc, argv);

	if (status == EXIT_GOOD) {
		int n = argc - s.first;

		s.flags.node = n > 0 ? argv[s.first] : NULL;
		status = print_result(&d, examine(&d, n, argv + s.first));
	}
	json_decref(d.findings);
	json_decref(d.open);
	json_decref(d.absent);
	return client_done(&s, status);
}
