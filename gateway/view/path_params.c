/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/view/path_params.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "db/lmdb/known.h"
#include "db/snapshot/policy.h"
#include "gateway/view/body.h"
#include "gateway/view/json_text.h"
#include "gateway/view/path_json.h"
#include "gateway/view/path_none.h"
#include "gateway/view/path_why_json.h"

/* Context of all steps of reading the parameters. */
struct context {
	struct snap_reader *r;
	const struct path_params *params;
	struct ends *ends;
	struct arena *a;
	struct problem *p;
};

#define NAME(name) #name,
const char *const path_param_names[] = { PATH_PARAMS(NAME) NULL };
#undef NAME

static json_t *candidates_json(const struct endpoint_candidates *c)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < c->n; i++) {
		json_array_append_new(list, text_json(c->text[i]));
	}
	return list;
}

static int endpoint_problem(struct context *cx, int ret, const char *parameter,
                            const char *text, const struct endpoint_candidates *c)
{
	struct known_node gone;
	const char *known;

	switch (ret) {
	case E_AMBIGUOUS:
		problem_param(cx->p, cx->a, ret, parameter,
		              "'%s' names %u end ports; choose one of the candidates",
		              text, c->total);
		problem_member(cx->p, "candidates", candidates_json(c));
		return ret;
	case E_NOTFOUND:
		known = path_none_port(cx->r, text, cx->a);
		if (known != NULL) {
			problem_member(cx->p, "reason", json_string("no-lid"));
			return problem_param(cx->p, cx->a, ret, parameter, "%s", known);
		}
		if (snap_known_gone(cx->r, text, &gone) == E_OK) {
			problem_member(cx->p, "reason", json_string("gone"));
			return problem_param(cx->p, cx->a, ret, parameter, "%s",
			                     path_none_gone(&gone, cx->a));
		}
		problem_param(cx->p, cx->a, ret, parameter,
		              "there is no end port '%s'%s%s%s", text,
		              c->n > 0 ? "; did you mean '" : "",
		              c->n > 0 ? c->text[0] : "", c->n > 0 ? "'?" : "");
		problem_member(cx->p, "near", candidates_json(c));
		return ret;
	case E_SYNTAX:
	case E_RANGE:
		return problem_param(
			cx->p, cx->a, ret, parameter,
			"'%s' names no end port: expected a LID (1-65535 or 0x...), a GUID (0x and up to 16 hex digits), a GID (IPv6 form), a node description, or description:port",
			text);
	}
	return ret;
}

static int resolve(struct context *cx, const char *parameter, const char *text,
                   struct endpoint *ret_endpoint)
{
	struct endpoint_candidates c;

	if (text == NULL || text[0] == '\0') {
		return problem_param(
			cx->p, cx->a, E_HTTP_PARAMETER, parameter,
			"'%s' is missing: use a LID, GUID, GID, node description or description:port",
			parameter);
	}
	int ret = ends_find(cx->ends, cx->r, text, ret_endpoint);
	if (ret == E_NOTFOUND ||
	    ret == E_AMBIGUOUS) { /* in another case, or candidates */
		ret = endpoint_resolve(cx->r, text, ret_endpoint, &c);
	}
	return ret == E_OK ? E_OK : endpoint_problem(cx, ret, parameter, text, &c);
}

/* A number from min to max; \a what names it in the sentence on failure. */
static int read_number(struct context *cx, const char *parameter, const char *text,
                       uint64_t min, uint64_t max, const char *what, uint64_t *ret_number)
{
	uint64_t v;
	int ret = text_u64(text, max, &v);

	if (ret == E_OK && v < min) {
		ret = E_RANGE;
	}
	if (ret != E_OK) {
		return problem_param(cx->p, cx->a, ret, parameter,
		                     "%s='%s': expected %s, %llu-%llu", parameter, text,
		                     what, (unsigned long long)min,
		                     (unsigned long long)max);
	}
	*ret_number = v;
	return E_OK;
}

/* Position of a word in a NULL-terminated list. */
static int read_word(struct context *cx, const char *parameter, const char *text,
                     const char *const *names, uint8_t *ret_value)
{
	char known[160] = "";

	for (unsigned i = 0; names[i] != NULL; i++) {
		if (strcasecmp(names[i], text) == 0) {
			*ret_value = (uint8_t)i;
			return E_OK;
		}
		size_t len = strlen(known);
		snprintf(known + len, sizeof(known) - len, "%s%s", i > 0 ? ", " : "",
		         names[i]);
	}
	return problem_param(cx->p, cx->a, E_UNKNOWN, parameter,
	                     "%s='%s': expected one of %s", parameter, text, known);
}

/* ">4", "<4", "=4" and "largest" say the selector in front of the value. */
static void split_selector(const char **text, const char **selector)
{
	static const struct {
		const char *sign, *word;
	} signs[] = { { ">", "greater" }, { "<", "less" }, { "=", "exact" } };

	if (*text == NULL || *selector != NULL) {
		return;
	}
	for (unsigned i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if ((*text)[0] == signs[i].sign[0]) {
			*selector = signs[i].word;
			++*text;
			return;
		}
	}
	if (strcasecmp(*text, "largest") == 0 || strcasecmp(*text, "smallest") == 0) {
		*selector = "largest";
		*text = NULL;
	}
}

static int read_limit(struct context *cx, const char *name, const char *text,
                      const char *selector_name, const char *selector, uint64_t min,
                      uint64_t max, struct path_limit *ret_limit)
{
	static const char *const selectors[] = { "greater", "less", "exact", "largest",
		                                 NULL };
	struct path_limit l = { .selector = SEL_EXACT };
	uint64_t v = min;
	int ret;

	split_selector(&text, &selector);
	if (text == NULL && selector == NULL) {
		return E_OK;
	}
	if (selector != NULL) {
		ret = read_word(cx, selector_name, selector, selectors, &l.selector);
		if (ret != E_OK) {
			return ret;
		}
	}
	if (text == NULL && l.selector != SEL_LARGEST) {
		return problem_param(cx->p, cx->a, E_HTTP_PARAMETER, selector_name,
		                     "%s=%s needs %s=CODE", selector_name, selector,
		                     name);
	}
	if (text != NULL) {
		ret = read_number(cx, name, text, min, max, "the code of the record", &v);
		if (ret != E_OK) {
			return ret;
		}
	}
	l.given = true;
	l.value = (uint8_t)v;
	*ret_limit = l;
	return E_OK;
}

/* Criteria of a policy: ServiceID and QoSClass. */
static int read_service(struct context *cx, struct path_query *q)
{
	const struct path_params *params = cx->params;
	uint64_t v = 0;
	int ret = E_OK;

	if (params->service_id != NULL) {
		ret = read_number(cx, "service_id", params->service_id, 0, UINT64_MAX,
		                  "a service ID", &q->service_id);
		q->has_service_id = true;
	}
	if (ret == E_OK && params->qos_class != NULL) {
		ret = read_number(cx, "qos_class", params->qos_class, 0, 0xfff,
		                  "a QoS class", &v);
		q->has_qos_class = true;
		q->qos_class = (uint16_t)v;
	}
	return ret;
}

/* The value of a parameter that has two names. */
static int one_of(struct context *cx, const char *name, const char *a, const char *alias,
                  const char *b, const char **ret_text)
{
	if (a != NULL && b != NULL) {
		return problem_param(cx->p, cx->a, E_HTTP_PARAMETER, alias,
		                     "%s and %s are the same; use one of them", name,
		                     alias);
	}
	*ret_text = a != NULL ? a : b;
	return E_OK;
}

static int read_components(struct context *cx, struct path_query *q)
{
	const struct path_params *params = cx->params;
	const char *life = NULL, *p_key = NULL;
	uint64_t v = 0;

	int ret = one_of(cx, "packet_life_time", params->packet_life_time, "life",
	                 params->life, &life);
	if (ret == E_OK) {
		ret = one_of(cx, "p_key", params->p_key, "pkey", params->pkey, &p_key);
	}
	if (ret == E_OK) {
		ret = read_limit(cx, "mtu", params->mtu, "mtu_selector",
		                 params->mtu_selector, 1, 5, &q->mtu);
	}
	if (ret == E_OK) {
		ret = read_limit(cx, "rate", params->rate, "rate_selector",
		                 params->rate_selector, 2, 63, &q->rate);
	}
	if (ret == E_OK) {
		ret = read_limit(
			cx, "packet_life_time", life, "packet_life_time_selector",
			params->packet_life_time_selector, 0, 63, &q->packet_life_time);
	}
	if (ret == E_OK && params->sl != NULL) {
		ret = read_number(cx, "sl", params->sl, 0, 15, "a service level", &v);
		q->has_sl = true;
		q->sl = (uint8_t)v;
	}
	if (ret == E_OK && p_key != NULL) {
		ret = read_number(cx, "p_key", p_key, 1, 0xffff, "a P_Key", &v);
		q->has_p_key = true;
		q->p_key = (uint16_t)v;
	}
	return ret == E_OK ? read_service(cx, q) : ret;
}

static bool is_any(const char *end)
{
	return end != NULL && strcmp(end, "*") == 0;
}

bool path_params_have_wildcard(const struct path_params *params)
{
	return is_any(params->src) || is_any(params->dst);
}

/* The ends that are named. */
static int read_ends(struct context *cx, struct path_query *q, struct path_answer *answer)
{
	const struct path_params *params = cx->params;
	int ret = E_OK;

	if (!is_any(params->src)) {
		ret = resolve(cx, "src", params->src, &answer->src);
	}
	if (ret == E_OK && !is_any(params->dst)) {
		ret = resolve(cx, "dst", params->dst, &answer->dst);
	}
	if (ret == E_OK) {
		q->src = answer->src.end;
		q->dst = answer->dst.end;
		q->src_alias = answer->src.alias;
		q->dst_alias = answer->dst.alias;
		q->slid = answer->src.lid;
		q->dlid = answer->dst.lid;
	}
	return ret;
}

static int read_query(struct context *cx, struct path_query *q,
                      struct path_answer *answer)
{
	static const char *const flags[] = { "0", "1", NULL };
	const struct path_params *params = cx->params;
	uint8_t mode = snap_meta(cx->r)->path_selection, hops = 0, why = 0;
	uint64_t numb_path = 0;

	int ret = read_ends(cx, q, answer);
	if (ret == E_OK && params->mode != NULL) {
		ret = read_word(cx, "mode", params->mode, path_selection_names, &mode);
	}
	if (ret == E_OK && params->numb_path != NULL) {
		ret = read_number(cx, "numb_path", params->numb_path, 1, 127,
		                  "a number of paths", &numb_path);
	}
	if (ret == E_OK && params->hops != NULL) {
		ret = read_word(cx, "hops", params->hops, flags, &hops);
	}
	if (ret == E_OK && params->why != NULL) {
		ret = read_word(cx, "why", params->why, flags, &why);
	}
	if (ret == E_OK) {
		ret = read_components(cx, q);
	}
	if (ret != E_OK) {
		return ret;
	}
	q->mode = (enum path_selection)mode;
	q->numb_path = (uint32_t)numb_path;
	answer->mode = q->mode;
	answer->detail = why == 1    ? PATH_WITH_WHY
	                 : hops == 1 ? PATH_WITH_HOPS
	                             : PATH_PLAIN;
	return E_OK;
}

/* Most records there can be: each pair of LIDs, for each virtual fabric. */
static int most_records(struct context *cx, const struct path_query *q, size_t *ret_most)
{
	size_t pairs = (size_t)1 << (q->src.lmc + q->dst.lmc);
	const struct policy *policy;

	if (pairs > PATH_RECORDS_MAX) {
		return E_MALFORMED;
	}
	int ret = snap_policy(cx->r, &policy);
	if (ret == E_OK) {
		size_t levels = policy != NULL ? policy->head.n_fabrics : 0;
		*ret_most = levels != 0 ? pairs * levels : pairs;
	}
	return ret;
}

/* The records, or why there are none. */
static int run_query(struct context *cx, struct components *components,
                     const struct path_query *q, struct path_answer *answer)
{
	bool why = answer->detail == PATH_WITH_WHY;
	size_t max;

	int ret = most_records(cx, q, &max);
	if (ret != E_OK) {
		return ret;
	}
	if (q->numb_path != 0 && q->numb_path < max) {
		max = q->numb_path;
	}
	answer->records = arena_array(cx->a, max, sizeof(*answer->records));
	if (answer->records == NULL) {
		return -ENOMEM;
	}
	ret = path_query_run(cx->r, q, answer->records, max, &answer->n);
	if (ret != E_OK) {
		return path_none_explain(cx->r, q, ret, components, cx->a, cx->p);
	}
	if (why && answer->n > PATH_WHY_MAX) {
		return problem_param(
			cx->p, cx->a, E_RANGE, "why",
			"there are %zu paths, and why=1 explains %d at most: add numb_path=N",
			answer->n, PATH_WHY_MAX);
	}
	return why && answer->n == 0 ? path_none_selectors(cx->r, q, &answer->excluded)
	                             : E_OK;
}

int path_params_answer(struct snap_reader *r, const struct path_params *params,
                       struct ends *ends, struct components *components, struct arena *a,
                       struct path_answer *ret_answer, struct problem *p)
{
	struct context cx = { .r = r, .params = params, .ends = ends, .a = a, .p = p };
	struct path_query q = { .numb_path = 0 };
	struct path_answer answer = { .n = 0 };

	int ret = read_query(&cx, &q, &answer);
	if (ret == E_OK) {
		ret = run_query(&cx, components, &q, &answer);
	}
	if (ret == E_OK) {
		*ret_answer = answer;
	}
	return ret;
}

/* Adds "hops", and "why" when that is wanted, to a record that was just written. */
static int add_hops(struct context *cx, const struct path_record *rec,
                    enum path_detail detail, struct body *out)
{
	struct path_hop hops[PATH_HOPS_MAX];
	json_t *list = NULL, *why = NULL;
	unsigned n = 0;

	int ret = path_hops(cx->r, rec->slid, rec->dlid, hops, &n);
	if (ret == E_NOPATH || ret == E_LOOP) {
		return problem_set(cx->p, cx->a, ret, "the path from LID %u to LID %u %s",
		                   (unsigned)rec->slid, (unsigned)rec->dlid,
		                   ret == E_LOOP ? "runs in a loop"
		                                 : "ends at a switch without a route");
	}
	if (ret == E_OK) {
		ret = path_hops_json(cx->r, hops, n, &list);
	}
	if (ret == E_OK && detail == PATH_WITH_WHY) {
		ret = path_why_json(cx->r, rec, hops, n, cx->a, list, &why);
	}
	if (ret != E_OK) {
		json_decref(list);
		return ret;
	}
	out->len--; /* the brace of the record */
	body_printf(out, ",\"hops\":");
	body_value(out, list);
	if (why != NULL) {
		body_printf(out, ",\"why\":");
		body_value(out, why);
	}
	body_write(out, "}", 1);
	return E_OK;
}

int path_params_wildcard(struct snap_reader *r, const struct path_params *params,
                         struct ends *ends, struct arena *a,
                         struct path_wildcard *ret_wildcard, struct problem *p)
{
	struct context cx = { .r = r, .params = params, .ends = ends, .a = a, .p = p };
	struct path_query q = { .numb_path = 0 };
	struct path_answer answer = { .n = 0 };

	int ret = read_query(&cx, &q, &answer);
	if (ret == E_OK) {
		*ret_wildcard = (struct path_wildcard){ .q = q,
			                                .any_src = is_any(params->src),
			                                .any_dst = is_any(params->dst),
			                                .detail = answer.detail };
	}
	return ret;
}

int path_answer_record(struct snap_reader *r, const struct path_record *rec,
                       enum path_detail detail, struct arena *a, struct body *out,
                       struct problem *p)
{
	struct context cx = { .r = r, .a = a, .p = p };
	size_t begin = out->len;
	char *at = body_room(out, PATH_RECORD_BYTES);

	if (at == NULL) {
		return -ENOMEM;
	}
	out->len += (size_t)(path_record_put(at, rec) - at);
	int ret = detail == PATH_PLAIN ? E_OK : add_hops(&cx, rec, detail, out);
	if (ret != E_OK) {
		out->len = begin;
	}
	return ret;
}

int path_answer_write(struct snap_reader *r, struct path_answer *answer, bool stale,
                      struct arena *a, struct body *out, struct problem *p)
{
	enum { HEAD_BYTES = 64 };
	char *begin = body_room(out, HEAD_BYTES + PATH_RECORD_BYTES), *at = begin;
	int ret = at == NULL ? -ENOMEM : E_OK;

	if (ret == E_OK) {
		at = json_put_number(JSON_PUT(at, "{\"epoch\":"), snap_meta(r)->epoch);
		at = stale ? JSON_PUT(at, ",\"stale\":true") : at;
		at = JSON_PUT(at, ",\"paths\":[");
		out->len += (size_t)(at - begin);
	}
	for (size_t i = 0; ret == E_OK && i < answer->n; i++) {
		if (i > 0) {
			body_write(out, ",", 1);
		}
		ret = path_answer_record(r, &answer->records[i], answer->detail, a, out,
		                         p);
	}
	body_write(out, "]", 1);
	if (answer->excluded != NULL) {
		body_printf(out, ",\"excluded_by\":");
		body_value(out, answer->excluded);
		answer->excluded = NULL;
	}
	body_write(out, "}\n", 2);
	return ret == E_OK ? body_done(out) : ret;
}
