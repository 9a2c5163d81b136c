/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * A server of libmicrohttpd that answers everything with BYTES constant bytes, set up as the
 * gateway's is: what the library alone can do. It prints its port and runs until its standard
 * input ends.
 */
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONNECTIONS_PER_THREAD = 120, CONNECTION_BYTES = 32 * 1024 };

struct constant {
	char *text;
	size_t len;
};

static int seen; /* its address marks a request whose head was handed over */

static enum MHD_Result answer(void *cls, struct MHD_Connection *conn, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **state)
{
	const struct constant *c = cls;

	(void)url;
	(void)method;
	(void)version;
	(void)upload;
	(void)upload_size;
	if (*state == NULL) {
		*state = &seen;
		return MHD_YES;
	}
	struct MHD_Response *r =
		MHD_create_response_from_buffer(c->len, c->text, MHD_RESPMEM_MUST_COPY);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
	enum MHD_Result answered = MHD_queue_response(conn, MHD_HTTP_OK, r);
	MHD_destroy_response(r);
	return answered;
}

int main(int argc, char **argv)
{
	struct constant c = { .len = argc > 1 ? strtoul(argv[1], NULL, 10) : 1024 };
	unsigned threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 4;
	char byte;

	c.text = malloc(c.len + 1);
	if (c.text == NULL) {
		return 1;
	}
	memset(c.text, 'x', c.len);
	struct MHD_Daemon *d = MHD_start_daemon(
		MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_USE_TURBO, 0, NULL,
		NULL, answer, &c, MHD_OPTION_THREAD_POOL_SIZE, threads,
		MHD_OPTION_CONNECTION_LIMIT, threads * CONNECTIONS_PER_THREAD,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
		MHD_OPTION_END);
	if (d == NULL) {
		fputs("http_constant: cannot start the server\n", stderr);
		return 1;
	}
	printf("%u\n", MHD_get_daemon_info(d, MHD_DAEMON_INFO_BIND_PORT)->port);
	fflush(stdout);
	while (read(0, &byte, 1) > 0) {
	}
	MHD_stop_daemon(d);
	free(c.text);
	return 0;
}
