/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/view/origin.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { NAME_BYTES = 256 };

/* Is a word in a list with commas, or "*"? In any case, as names of hosts are. */
static bool in_list(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (list != NULL && *list != '\0') {
		list += strspn(list, " ,");
		size_t n = strcspn(list, " ,");

		if ((n == len && strncasecmp(list, word, n) == 0) ||
		    (n == 1 && *list == '*')) {
			return true;
		}
		list += n;
	}
	return false;
}

/* The name in front of the port. \return false: it is no Host header. */
static bool read_name(const char *host, char name[NAME_BYTES])
{
	size_t n = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
	const char *port = host + n;

	if (n == 0 || n > strlen(host) || n >= NAME_BYTES ||
	    (*port != '\0' &&
	     (*port != ':' || port[1 + strspn(port + 1, "0123456789")] != '\0'))) {
		return false;
	}
	snprintf(name, NAME_BYTES, "%.*s", (int)n, host);
	if (n > 1 && name[n - 1] == '.') {
		name[n - 1] = '\0'; /* the root of the DNS */
	}
	return true;
}

static bool is_address(char *name)
{
	struct in6_addr v6;
	struct in_addr v4;
	size_t n = strlen(name);

	if (name[0] == '[' && name[n - 1] == ']') {
		name[n - 1] = '\0';
		bool is = inet_pton(AF_INET6, name + 1, &v6) == 1;
		name[n - 1] = ']';
		return is;
	}
	return inet_pton(AF_INET, name, &v4) == 1;
}

static bool is_machine(const char *machine, const char *name)
{
	return machine != NULL && *machine != '\0' &&
	       (strcasecmp(name, machine) == 0 ||
	        (strlen(name) == strcspn(machine, ".") &&
	         strncasecmp(name, machine, strlen(name)) == 0));
}

bool origin_host_fits(const struct origin_rules *r, const char *host)
{
	char name[NAME_BYTES];

	if (host == NULL) {
		return true;
	}
	return read_name(host, name) &&
	       (is_address(name) || strcasecmp(name, "localhost") == 0 ||
	        is_machine(r->machine, name) || in_list(r->hosts, name));
}

bool origin_fits(const struct origin_rules *r, const char *origin)
{
	return origin != NULL && *origin != '\0' && in_list(r->origins, origin);
}

bool origin_is_safe(const char *text, bool path, size_t *ret_len)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~%:[]/";
	static const char *const loopback[] = { "localhost", "127.0.0.1", "[::1]" };
	bool tls = strncasecmp(text, "https://", 8) == 0;
	char name[NAME_BYTES], host[NAME_BYTES];

	if ((!tls && strncasecmp(text, "http://", 7) != 0) || text[strspn(text, letters)] != '\0') {
		return false;
	}
	const char *at = text + (tls ? 8 : 7);
	size_t n = strcspn(at, "/");

	if (n >= sizeof(host) || (at[n] != '\0' && !path)) {
		return false;
	}
	snprintf(host, sizeof(host), "%.*s", (int)n, at);
	if (!read_name(host, name)) {
		return false;
	}
	for (unsigned i = 0; i < sizeof(loopback) / sizeof(loopback[0]); i++) {
		tls = tls || strcasecmp(name, loopback[i]) == 0;
	}
	if (tls && ret_len != NULL) {
		*ret_len = (size_t)(at + n - text);
	}
	return tls;
}

bool origin_list_is_safe(const char *list)
{
	char one[NAME_BYTES];

	while (list != NULL && *list != '\0') {
		list += strspn(list, " ,");
		size_t n = strcspn(list, " ,");

		if (n >= sizeof(one)) {
			return false;
		}
		snprintf(one, sizeof(one), "%.*s", (int)n, list);
		if (n > 0 && !origin_is_safe(one, false, NULL)) {
			return false;
		}
		list += n;
	}
	return true;
}
