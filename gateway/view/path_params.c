/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/view/path_params.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "db/policy.h"
#include "gateway/view/json_text.h"
#include "gateway/view/path_json.h"

/* What one question is worked on with. */
struct asking {
	struct snap_reader *r;
	const struct path_ask *ask;
	struct arena *a;
	struct problem *p;
};

static json_t *candidates_json(const struct endpoint_candidates *c)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < c->n; i++) {
		json_array_append_new(list, text_json(c->text[i]));
	}
	return list;
}

static int endpoint_problem(struct asking *k, int err, const char *parameter,
                            const char *text, const struct endpoint_candidates *c)
{
	switch (err) {
	case E_AMBIGUOUS:
		problem_param(k->p, k->a, err, parameter,
		              "'%s' stands for %u end ports; name one of the candidates",
		              text, c->total);
		problem_member(k->p, "candidates", candidates_json(c));
		return err;
	case E_NOTFOUND:
		problem_param(k->p, k->a, err, parameter,
		              "there is no end port '%s'%s%s%s", text,
		              c->n > 0 ? "; did you mean '" : "",
		              c->n > 0 ? c->text[0] : "", c->n > 0 ? "'?" : "");
		problem_member(k->p, "near", candidates_json(c));
		return err;
	case E_SYNTAX:
	case E_RANGE:
		return problem_param(
			k->p, k->a, err, parameter,
			"'%s' names no end port: expected a LID (1-65535 or 0x...), a "
			"GUID "
			"(0x and up to 16 hex digits), a GID (IPv6 form), a node "
			"description, or description:port",
			text);
	}
	return err;
}

static int resolve(struct asking *k, const char *parameter, const char *text,
                   struct endpoint *ret)
{
	struct endpoint_candidates c = { .n = 0 };

	if (text == NULL || text[0] == '\0') {
		return problem_param(
			k->p, k->a, E_HTTP_PARAMETER, parameter,
			"'%s' is missing: give a LID, GUID, GID, node description "
			"or description:port",
			parameter);
	}
	int err = endpoint_resolve(k->r, text, ret, &c);
	return err == E_OK ? E_OK : endpoint_problem(k, err, parameter, text, &c);
}

/* A number from min to max; the sentence on failure says what. */
static int number(struct asking *k, const char *parameter, const char *text, uint64_t min,
                  uint64_t max, const char *what, uint64_t *ret)
{
	uint64_t v;
	int err = text_u64(text, max, &v);

	if (err == E_OK && v < min) {
		err = E_RANGE;
	}
	if (err != E_OK) {
		return problem_param(k->p, k->a, err, parameter,
		                     "%s='%s': expected %s, %llu-%llu", parameter, text,
		                     what, (unsigned long long)min,
		                     (unsigned long long)max);
	}
	*ret = v;
	return E_OK;
}

/* Position of a word in a NULL-terminated list. */
static int word(struct asking *k, const char *parameter, const char *text,
                const char *const *names, uint8_t *ret)
{
	char known[160] = "";

	for (unsigned i = 0; names[i] != NULL; i++) {
		if (strcasecmp(names[i], text) == 0) {
			*ret = (uint8_t)i;
			return E_OK;
		}
		size_t len = strlen(known);
		snprintf(known + len, sizeof(known) - len, "%s%s", i > 0 ? ", " : "",
		         names[i]);
	}
	return problem_param(k->p, k->a, E_UNKNOWN, parameter,
	                     "%s='%s': expected one of %s", parameter, text, known);
}

static int limit(struct asking *k, const char *name, const char *text,
                 const char *selector_name, const char *selector, uint64_t min,
                 uint64_t max, struct path_limit *ret)
{
	static const char *const selectors[] = { "greater", "less", "exact", "largest",
		                                 NULL };
	struct path_limit l = { .selector = SEL_EXACT };
	uint64_t v = min;
	int err;

	if (text == NULL && selector == NULL) {
		return E_OK;
	}
	if (selector != NULL) {
		err = word(k, selector_name, selector, selectors, &l.selector);
		if (err != E_OK) {
			return err;
		}
	}
	if (text == NULL && l.selector != SEL_LARGEST) {
		return problem_param(k->p, k->a, E_HTTP_PARAMETER, selector_name,
		                     "%s=%s needs %s=CODE", selector_name, selector,
		                     name);
	}
	if (text != NULL) {
		err = number(k, name, text, min, max, "the code of the record", &v);
		if (err != E_OK) {
			return err;
		}
	}
	l.given = true;
	l.value = (uint8_t)v;
	*ret = l;
	return E_OK;
}

/* What a policy may decide by. */
static int what_for(struct asking *k, struct path_query *q)
{
	const struct path_ask *ask = k->ask;
	uint64_t v = 0;
	int err = E_OK;

	if (ask->service_id != NULL) {
		err = number(k, "service_id", ask->service_id, 0, UINT64_MAX,
		             "a service ID", &q->service_id);
		q->has_service_id = true;
	}
	if (err == E_OK && ask->qos_class != NULL) {
		err = number(k, "qos_class", ask->qos_class, 0, 0xfff, "a QoS class", &v);
		q->has_qos_class = true;
		q->qos_class = (uint16_t)v;
	}
	return err;
}

static int limits(struct asking *k, struct path_query *q)
{
	const struct path_ask *ask = k->ask;
	uint64_t v = 0;

	int err = limit(k, "mtu", ask->mtu, "mtu_selector", ask->mtu_selector, 1, 5,
	                &q->mtu);
	if (err == E_OK) {
		err = limit(k, "rate", ask->rate, "rate_selector", ask->rate_selector, 2,
		            63, &q->rate);
	}
	if (err == E_OK) {
		err = limit(k, "packet_life_time", ask->packet_life_time,
		            "packet_life_time_selector", ask->packet_life_time_selector,
		            0, 63, &q->packet_life_time);
	}
	if (err == E_OK && ask->sl != NULL) {
		err = number(k, "sl", ask->sl, 0, 15, "a service level", &v);
		q->has_sl = true;
		q->sl = (uint8_t)v;
	}
	if (err == E_OK && ask->p_key != NULL) {
		err = number(k, "p_key", ask->p_key, 1, 0xffff, "a P_Key", &v);
		q->has_p_key = true;
		q->p_key = (uint16_t)v;
	}
	return err == E_OK ? what_for(k, q) : err;
}

static bool is_any(const char *end)
{
	return end != NULL && strcmp(end, "*") == 0;
}

bool path_ask_is_open(const struct path_ask *ask)
{
	return is_any(ask->src) || is_any(ask->dst);
}

/* The ends that are named. */
static int query_ends(struct asking *k, struct path_query *q, struct path_answer *answer)
{
	const struct path_ask *ask = k->ask;
	int err = E_OK;

	if (!is_any(ask->src)) {
		err = resolve(k, "src", ask->src, &answer->src);
	}
	if (err == E_OK && !is_any(ask->dst)) {
		err = resolve(k, "dst", ask->dst, &answer->dst);
	}
	if (err == E_OK) {
		q->src = answer->src.end;
		q->dst = answer->dst.end;
		q->src_alias = answer->src.alias;
		q->dst_alias = answer->dst.alias;
		q->slid = answer->src.lid;
		q->dlid = answer->dst.lid;
	}
	return err;
}

static int query_of(struct asking *k, struct path_query *q, struct path_answer *answer)
{
	static const char *const flags[] = { "0", "1", NULL };
	const struct path_ask *ask = k->ask;
	uint8_t mode = snap_meta(k->r)->path_selection, hops = 0;
	uint64_t numb_path = 0;

	int err = query_ends(k, q, answer);
	if (err == E_OK && ask->mode != NULL) {
		err = word(k, "mode", ask->mode, path_selection_names, &mode);
	}
	if (err == E_OK && ask->numb_path != NULL) {
		err = number(k, "numb_path", ask->numb_path, 1, 127, "a number of paths",
		             &numb_path);
	}
	if (err == E_OK && ask->hops != NULL) {
		err = word(k, "hops", ask->hops, flags, &hops);
	}
	if (err == E_OK) {
		err = limits(k, q);
	}
	if (err != E_OK) {
		return err;
	}
	q->mode = (enum path_selection)mode;
	q->numb_path = (uint32_t)numb_path;
	answer->mode = q->mode;
	answer->hops = hops == 1;
	return E_OK;
}

static const char *name_of(struct snap_reader *r, uint64_t guid, struct arena *a)
{
	struct snap_node node;

	if (snap_node(r, guid, &node) != E_OK) {
		return "?";
	}
	return arena_strdup(a, node.name);
}

/* Node whose part counts: the switch an end hangs on, or the node itself. */
static uint64_t node_in_part(const struct snap_end *end)
{
	return end->sw_guid != 0 ? end->sw_guid : end->node_guid;
}

/* Says why there is no path from a LID to another: other part, hole at a switch, loop. */
static int explain(struct asking *k, struct parts *parts, const struct path_query *q)
{
	uint32_t slid = q->slid != 0 ? q->slid : q->src.base_lid;
	uint32_t dlid = q->dlid != 0 ? q->dlid : q->dst.base_lid;
	struct path_hop hops[PATH_HOPS_MAX];
	unsigned n = 0;

	int err = parts_build(parts, k->r);
	if (err != E_OK) {
		return err;
	}
	if (!parts_same(parts, node_in_part(&q->src), node_in_part(&q->dst))) {
		problem_member(k->p, "reason", json_string("different-part"));
		return problem_set(k->p, k->a, E_NOPATH,
		                   "source and destination are in different parts of the "
		                   "fabric: no cables connect '%s' and '%s'",
		                   name_of(k->r, q->src.node_guid, k->a),
		                   name_of(k->r, q->dst.node_guid, k->a));
	}
	err = path_hops(k->r, slid, dlid, hops, &n);
	if (err == E_LOOP) {
		problem_member(k->p, "reason", json_string("loop"));
		return problem_set(k->p, k->a, E_LOOP,
		                   "the tables send LID %u from LID %u in a circle",
		                   (unsigned)dlid, (unsigned)slid);
	}
	if (err != E_NOPATH || n == 0) {
		problem_member(k->p, "reason", json_string("no-route"));
		return problem_set(k->p, k->a, E_NOPATH,
		                   "no route is stored from LID %u to LID %u",
		                   (unsigned)slid, (unsigned)dlid);
	}
	uint64_t hole = hops[n - 1].node_guid;
	problem_member(k->p, "reason", json_string("hole"));
	problem_member(k->p, "switch", guid_json(hole));
	return problem_set(
		k->p, k->a, E_NOPATH, "switch '%s' (0x%016llx) has no route to LID %u",
		name_of(k->r, hole, k->a), (unsigned long long)hole, (unsigned)dlid);
}

static int partition_problem(struct asking *k, const struct path_query *q)
{
	if (!q->has_p_key) {
		return problem_set(k->p, k->a, E_PARTITION,
		                   "source and destination share no partition");
	}
	return problem_param(k->p, k->a, E_PARTITION, "p_key",
	                     "source and destination are not both members of partition "
	                     "0x%04x, or both only limited members",
	                     q->p_key);
}

static int policy_problem(struct asking *k)
{
	problem_member(k->p, "reason", json_string("policy"));
	return problem_set(
		k->p, k->a, E_POLICY,
		"the policy (qos-policy.conf or virtual fabrics) has no path for "
		"this request between source and destination");
}

/* Most records there can be: each pair of LIDs, for each virtual fabric. */
static int most_records(struct asking *k, const struct path_query *q, size_t *ret)
{
	size_t pairs = (size_t)1 << (q->src.lmc + q->dst.lmc);
	const struct policy *policy;

	if (pairs > PATH_ASK_MAX) {
		return E_MALFORMED;
	}
	int err = snap_policy(k->r, &policy);
	if (err == E_OK) {
		size_t levels = policy != NULL ? policy->head.n_fabrics : 0;
		*ret = levels != 0 ? pairs * levels : pairs;
	}
	return err;
}

static int run(struct asking *k, struct parts *parts, const struct path_query *q,
               struct path_answer *answer)
{
	size_t max;

	int err = most_records(k, q, &max);
	if (err != E_OK) {
		return err;
	}
	if (q->numb_path != 0 && q->numb_path < max) {
		max = q->numb_path;
	}
	answer->records = arena_array(k->a, max, sizeof(*answer->records));
	if (answer->records == NULL) {
		return -ENOMEM;
	}
	err = path_query_run(k->r, q, answer->records, max, &answer->n);
	switch (err) {
	case E_NOPATH: return explain(k, parts, q);
	case E_PARTITION: return partition_problem(k, q);
	case E_POLICY: return policy_problem(k);
	case E_RANGE:
		return problem_set(
			k->p, k->a, err,
			"a selector or value that the PathRecord does not have");
	}
	return err;
}

int path_ask_run(struct snap_reader *r, const struct path_ask *ask, struct parts *parts,
                 struct arena *a, struct path_answer *ret, struct problem *p)
{
	struct asking k = { .r = r, .ask = ask, .a = a, .p = p };
	struct path_query q = { .numb_path = 0 };
	struct path_answer answer = { .n = 0 };

	int err = query_of(&k, &q, &answer);
	if (err == E_OK) {
		err = run(&k, parts, &q, &answer);
	}
	if (err == E_OK) {
		*ret = answer;
	}
	return err;
}

static int record_with_hops(struct asking *k, const struct path_record *rec, json_t *o)
{
	struct path_hop hops[PATH_HOPS_MAX];
	unsigned n = 0;
	json_t *list;

	int err = path_hops(k->r, rec->slid, rec->dlid, hops, &n);
	if (err == E_NOPATH || err == E_LOOP) {
		return problem_set(k->p, k->a, err, "the way from LID %u to LID %u %s",
		                   (unsigned)rec->slid, (unsigned)rec->dlid,
		                   err == E_LOOP ? "runs in a circle" : "ends at a hole");
	}
	if (err == E_OK) {
		err = path_hops_json(k->r, hops, n, &list);
	}
	if (err == E_OK && json_object_set_new(o, "hops", list) != 0) {
		err = -ENOMEM;
	}
	return err;
}

int path_ask_open(struct snap_reader *r, const struct path_ask *ask, struct arena *a,
                  struct path_open *ret, struct problem *p)
{
	struct asking k = { .r = r, .ask = ask, .a = a, .p = p };
	struct path_query q = { .numb_path = 0 };
	struct path_answer answer = { .n = 0 };

	int err = query_of(&k, &q, &answer);
	if (err == E_OK) {
		*ret = (struct path_open){ .q = q,
			                   .any_src = is_any(ask->src),
			                   .any_dst = is_any(ask->dst),
			                   .hops = answer.hops };
	}
	return err;
}

int path_answer_record(struct snap_reader *r, const struct path_record *rec, bool hops,
                       struct arena *a, json_t **ret, struct problem *p)
{
	struct asking k = { .r = r, .a = a, .p = p };
	json_t *o = path_record_json(rec);

	int err = o == NULL ? -ENOMEM : hops ? record_with_hops(&k, rec, o) : E_OK;
	if (err == E_OK) {
		*ret = o;
	} else {
		json_decref(o);
	}
	return err;
}

int path_answer_json(struct snap_reader *r, const struct path_answer *answer, bool stale,
                     struct arena *a, json_t **ret, struct problem *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < answer->n; i++) {
		json_t *o;
		int err = path_answer_record(r, &answer->records[i], answer->hops, a, &o,
		                             p);
		if (err == E_OK && json_array_append_new(list, o) != 0) {
			err = -ENOMEM;
		}
		if (err != E_OK) {
			json_decref(list);
			return err;
		}
	}
	json_t *body = json_pack("{s:I}", "epoch", (json_int_t)snap_meta(r)->epoch);
	if (stale) {
		json_object_set_new(body, "stale", json_true());
	}
	if (json_object_set_new(body, "paths", list) != 0) {
		json_decref(body);
		return -ENOMEM;
	}
	*ret = body;
	return E_OK;
}
