/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/base/service.h"
#include "gateway/http/gw_config.h"
#include "gateway/http/http.h"
#include "gateway/view/body.h"
#include "gateway/web/page.h"

static const char me[] = "gateway";

/* Each listener needs a descriptor, and the usual soft limit is 1024. Nothing here uses
 * select(), so the hard limit may be used. */
static void raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* The last words of the log about the snapshot. */
struct watch {
	struct http *http;
	int ret;       /* of the last look; 1: there was none */
	char why[512]; /* of the last failure */
};

/* Says in the log, and in "systemctl status", when there is nothing to answer with, and why, and
 * when there is again. */
static void look(void *ctx)
{
	struct watch *w = ctx;
	const char *why = "";
	uint64_t epoch = 0;
	int ret = http_look(w->http, &why, &epoch);

	if (ret == w->ret && (ret == E_OK || strcmp(why, w->why) == 0)) {
		return;
	}
	w->ret = ret;
	snprintf(w->why, sizeof(w->why), "%s", ret == E_OK ? "" : why);
	if (ret == E_OK) {
		log_info(me, "answers from epoch %" PRIu64, epoch);
		service_status(http_address(w->http));
	} else if (ret == E_NOTREADY) {
		log_info(me, "waiting: %s", w->why);
		service_status(w->why);
	} else {
		log_message(MSG_GATEWAY_NO_SNAPSHOT, me, "%s", w->why);
		service_status(w->why);
	}
}

/* A page that cannot be read is no reason not to answer. */
static struct page *read_page(const struct gw_config *c, struct arena *a)
{
	struct page *page = NULL;
	struct diags d;

	diags_init(&d, a);
	int ret = page_read(c->web_dir, &d, &page);
	if (ret != E_OK) {
		const char *why = diags_first_error(&d);
		log_message(MSG_GATEWAY_NO_PAGE, me,
		            "no page at /: %s; browsers get the list of resources",
		            why != NULL ? why : err_text(ret));
	} else if (page == NULL) {
		log_info(
			me,
			"no page in %s (--web-dir); browsers get the list of resources at /",
			c->web_dir);
	}
	return page;
}

static int answer(const struct gw_config *c, const struct page *page, struct arena *a)
{
	int socket = service_socket();
	struct http_options o = { .listen = c->listen,
		                  .socket = socket > 0 ? socket : 0,
		                  .snapshot_dir = c->snapshot_dir,
		                  .threads = c->threads,
		                  .per_address = c->per_address,
		                  .listeners = c->listeners,
		                  .listeners_per_address = c->listeners_per_address,
		                  .program = c->program,
		                  .page = page,
		                  .admin_url = c->admin_url,
		                  .hosts = c->hosts,
		                  .origins = c->origins };
	struct http *h = NULL;
	const char *why = NULL;

	raise_descriptors();
	int ret = http_start(&o, a, &why, &h);
	if (ret != E_OK) {
		log_message(MSG_GATEWAY_NO_ADDRESS, me, "%s", why);
		return ret;
	}
	log_info(me, "answering on http://%s from %s", http_address(h), c->snapshot_dir);
	if (http_is_public(h)) {
		log_message(
			MSG_GATEWAY_PUBLIC, me,
			"other machines can reach %s and there is no authentication yet: whoever reaches the port reads the fabric",
			http_address(h));
	}
	struct watch watch = { .http = h, .ret = 1 };
	ret = service_run_server(&(struct service_server){ .source = me,
	                                                   .options = &c->server,
	                                                   .look = look,
	                                                   .ctx = &watch,
	                                                   .address = http_address(h),
	                                                   .port = http_port(h) });
	http_stop(h);
	return ret;
}

static int serve(const void *config, struct arena *a)
{
	struct page *page = read_page(config, a);
	int ret = answer(config, page, a);

	page_free(page);
	return ret;
}

int main(int argc, char **argv)
{
	struct gw_config c;

	const struct service_program program = { .name = "saguaro-gateway",
		                                 .source = me,
		                                 .config = &c,
		                                 .options = &c.server,
		                                 .read = gw_config_read,
		                                 .serve = serve };

	body_watch_json();
	return service_main(&program, argc, argv);
}
