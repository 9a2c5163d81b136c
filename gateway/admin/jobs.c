/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * /v1/jobs: a partition for each job of a batch system, by the number of the job. Its name says
 * whose it is, so a batch system can find partitions whose job is gone, and nobody has to keep
 * a list of P_Keys. Each call may be repeated: a client that got no answer asks again.
 */
#include "gateway/admin/admin_call.h"

#include <errno.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/p_key.h"

/* The job of a partition, or NULL. */
static const char *job_of(const json_t *partition)
{
	const char *name = json_string_value(json_object_get(partition, "name"));
	size_t n = strlen(PARTITION_JOB);

	return name != NULL && strncmp(name, PARTITION_JOB, n) == 0 ? name + n : NULL;
}

static json_t *p_key_number(const json_t *from)
{
	uint16_t p_key = 0;
	const char *text = json_string_value(json_object_get(from, "pkey"));

	return text != NULL && fields_p_key(text, &p_key) == E_OK ? json_integer(p_key)
	                                                          : json_null();
}

static json_t *job_json(const json_t *partition)
{
	json_t *o = json_pack("{s:s?, s:o}", "id", job_of(partition), "p_key",
	                      p_key_number(partition));

	json_object_set(o, "membership", json_object_get(partition, "membership"));
	json_object_set(o, "index0", json_object_get(partition, "index0"));
	json_object_set(o, "ipoib", json_object_get(partition, "ipoib"));
	json_object_set(o, "member_count", json_object_get(partition, "member_count"));
	json_object_set(o, "last_updated", json_object_get(partition, "last_updated"));
	return o;
}

int jobs_begin(struct admin_call *c)
{
	json_object_set_new(c->ask, "begin", json_string(PARTITION_JOB));
	json_object_set_new(c->ask, "members", json_false());
	return E_OK;
}

int jobs_list(struct admin_call *c)
{
	json_t *list;
	const json_t *p;
	size_t i;
	int ret = admin_ask(c, c->ask, &c->heard);

	if (ret != E_OK) {
		return ret;
	}
	admin_set_version(c, c->heard);
	list = json_array();
	json_array_foreach(json_object_get(c->heard, "partitions"), i, p)
	{
		if (job_of(p) != NULL) {
			json_array_append_new(list, job_json(p));
		}
	}
	c->out = json_pack("{s:O, s:o}", "version", json_object_get(c->heard, "version"),
	                   "jobs", list);
	return c->out != NULL ? E_OK : -ENOMEM;
}

int jobs_show(struct admin_call *c)
{
	const json_t *partition;
	int ret = admin_ask(c, c->ask, &c->heard);

	if (ret != E_OK) {
		return ret;
	}
	admin_set_version(c, c->heard);
	partition = json_object_get(c->heard, "partition");
	c->out = job_json(partition);
	json_object_set(c->out, "version", json_object_get(c->heard, "version"));
	json_object_set(c->out, "members", json_object_get(partition, "members"));
	return c->out != NULL ? E_OK : -ENOMEM;
}

int jobs_make(struct admin_call *c)
{
	uint64_t timeout_ms;
	const char *names[] = { "first", "last" };

	for (unsigned i = 0; i < 2; i++) {
		if (json_object_get(c->ask, names[i]) != NULL &&
		    json_object_get(c->ask, names[1 - i]) == NULL) {
			return problem_param(
				&c->problem, c->arena, E_SYNTAX, "p_key_first",
				"a range of P_Keys needs both, p_key_first and p_key_last");
		}
	}
	json_object_set_new(c->ask, "create", json_true());
	return admin_timeout(c, &timeout_ms);
}

/* Waits until the ports of the job have its P_Key. */
static int wait_for_ports(struct admin_call *c, uint64_t timeout_ms)
{
	json_t *heard = NULL;
	json_t *ask = json_pack("{s:s, s:s, s:O, s:O, s:I}", "verb", "partition",
	                        "action", "wait", "version",
	                        json_object_get(c->heard, "version"), "pkey",
	                        json_object_get(c->heard, "pkey"), "timeout_ms",
	                        (json_int_t)timeout_ms);
	int ret = ask != NULL ? admin_ask(c, ask, &heard) : -ENOMEM;

	if (ret == E_OK) {
		json_object_set(c->out, "programmed",
		                json_object_get(heard, "programmed"));
		json_object_set(c->out, "ports", json_object_get(heard, "ports"));
	}
	json_decref(heard);
	json_decref(ask);
	return ret;
}

static json_t *outcome_json(const struct admin_call *c)
{
	json_t *o = json_pack("{s:s}", "id", c->capture[0]);

	json_object_set(o, "changed", json_object_get(c->heard, "changed"));
	json_object_set(o, "version", json_object_get(c->heard, "version"));
	return o;
}

int jobs_put(struct admin_call *c)
{
	uint64_t timeout_ms;
	int ret = admin_timeout(c, &timeout_ms);

	if (ret == E_OK) {
		ret = admin_ask(c, c->ask, &c->heard);
	}
	if (ret != E_OK) {
		return ret;
	}
	admin_set_version(c, c->heard);
	c->out = outcome_json(c);
	json_object_set_new(c->out, "p_key", p_key_number(c->heard));
	json_object_set_new(
		c->out, "member_count",
		json_integer((json_int_t)(json_array_size(json_object_get(c->heard, "present")) +
	                                  json_array_size(json_object_get(c->heard, "absent")))));
	return c->out != NULL ? wait_for_ports(c, timeout_ms) : -ENOMEM;
}

int jobs_delete(struct admin_call *c)
{
	int ret = admin_ask(c, c->ask, &c->heard);

	/* An epilog may run twice, and without a prolog before it. */
	if (ret == E_NOTFOUND) {
		problem_clear(&c->problem);
		c->out = json_pack("{s:s, s:b}", "id", c->capture[0], "changed", false);
		return c->out != NULL ? E_OK : -ENOMEM;
	}
	if (ret == E_OK) {
		admin_set_version(c, c->heard);
		c->out = outcome_json(c);
		ret = c->out != NULL ? E_OK : -ENOMEM;
	}
	return ret;
}
