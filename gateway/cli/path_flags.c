/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/cli/path_flags.h"

#include "conf/base/arena.h"
#include "gateway/cli/client.h"

/* clang-format off */
#define PATH_FLAG(name, ...) \
	{ #name, OPT_STRING, offsetof(struct client_flags, name), NULL, .flags_long = #name, .flags = OPT_CLI_ONLY, __VA_ARGS__ }

#define PATH_ROWS \
	{ "mode", OPT_STRING, offsetof(struct client_flags, mode), NULL, .letter = 'm', .flags_long = "mode", \
	  .flags = OPT_CLI_ONLY, .arg = "MODE", .help = "which pairs of LIDs, in which order: minimal, pairwise, orderall or srcdstall; by default as the SA" }, \
	{ "numb_path", OPT_UINT, offsetof(struct client_flags, numb_path), "0", .letter = 'n', .flags_long = "numb_path", \
	  .flags = OPT_CLI_ONLY, .arg = "N", .help = "at most so many paths; 0: as many as the SA gives" }, \
	PATH_FLAG(service_id, .arg = "ID", .help = "paths for this service, by the policy"), \
	PATH_FLAG(qos_class, .arg = "N", .help = "paths of this QoS class, likewise"), \
	PATH_FLAG(p_key, .arg = "P_KEY", .help = "paths of this partition"), \
	PATH_FLAG(sl, .arg = "N", .help = "paths of this service level"), \
	PATH_FLAG(mtu, .arg = "CODE", .help = "MTU code 1 to 5 (256 to 4096 bytes); '>4', '<4' and '=4' compare, 'largest' takes the largest"), \
	PATH_FLAG(rate, .arg = "CODE", .help = "rate code, likewise: 3 is 10 Gb/s, 16 is 100 Gb/s"), \
	PATH_FLAG(life, .arg = "CODE", .help = "packet life time code, likewise; 'smallest' takes the smallest")

const struct option_row paths_rows[] = { PATH_ROWS, { NULL } };

const struct option_row why_rows[] = {
	PATH_ROWS,
	{ "all", OPT_BOOL, offsetof(struct client_flags, all), "FALSE", .letter = 'a', .flags_long = "all",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "with all ports of equal cost and the routes on them" },
	{ NULL }
};
/* clang-format on */

static const char *with_word(struct client *s, const char *target, const char *name,
                             const char *value)
{
	return value == NULL ? target
	                     : arena_printf(s->arena, "%s&%s=%s", target, name,
	                                    client_escape(s, value));
}

const char *path_target(struct client *s, char **argv, const char *more)
{
	const char *target = arena_printf(s->arena, "/v1/paths?src=%s&dst=%s%s",
	                                  client_escape(s, argv[s->first]),
	                                  client_escape(s, argv[s->first + 1]), more);

	if (s->flags.numb_path) {
		target = arena_printf(s->arena, "%s&numb_path=%u", target,
		                      s->flags.numb_path);
	}
	target = with_word(s, target, "mode", s->flags.mode);
	target = with_word(s, target, "service_id", s->flags.service_id);
	target = with_word(s, target, "qos_class", s->flags.qos_class);
	target = with_word(s, target, "p_key", s->flags.p_key);
	target = with_word(s, target, "sl", s->flags.sl);
	target = with_word(s, target, "mtu", s->flags.mtu);
	target = with_word(s, target, "rate", s->flags.rate);
	return with_word(s, target, "life", s->flags.life);
}
