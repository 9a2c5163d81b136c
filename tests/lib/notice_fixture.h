/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "tests/lib/answer_util.h"

#include <errno.h>
#include <pthread.h>

#include "conf/base/log.h"
#include "sa/server/notice_report.h"
#include "sa/server/server.h"
#include "sa/store/store.h"

/*! Shared by tests of notice reports: a transport that keeps what was sent, subscribers, a server. */
enum { REPORT = 0x06, REPORT_RESP = 0x86, NOTICE = 0x02, SENT = 4096, QP = 0x1234 };

/* A transport that keeps what was sent. */
static struct wire {
	struct transport t;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct mad_addr addr[SENT];
	uint8_t mad[SENT][256];
	unsigned n, refuse;
} wire;

static inline int wire_send(struct transport *t, const struct mad_msg *m)
{
	int ret = E_OK;

	(void)t;
	pthread_mutex_lock(&wire.lock);
	if (wire.refuse > 0) {
		wire.refuse--;
		ret = -EAGAIN;
	} else {
		ck_assert_uint_lt(wire.n, SENT);
		ck_assert_uint_eq(m->mgmt_class, 3);
		ck_assert_uint_eq(m->len, m->data[0] == 1 ? 256 : DATA + 96);
		wire.addr[wire.n] = m->addr;
		memcpy(wire.mad[wire.n++], m->data, m->len);
		pthread_cond_broadcast(&wire.changed);
	}
	pthread_mutex_unlock(&wire.lock);
	return ret;
}

static unsigned woken;

static inline void wire_wake(struct transport *t)
{
	(void)t;
	__atomic_add_fetch(&woken, 1, __ATOMIC_RELAXED);
}

static const struct transport_ops wire_ops = { .name = "wire",
	                                       .send = wire_send,
	                                       .wake = wire_wake };
static struct reports *reports;

static inline void setup(void)
{
	start();
	memset(&wire, 0, sizeof(wire));
	wire.t.ops = &wire_ops;
	pthread_mutex_init(&wire.lock, NULL);
	pthread_cond_init(&wire.changed, NULL);
	ck_assert_int_eq(store_new(NULL, 0, &store), E_OK);
	ck_assert_int_eq(reports_new(&wire.t, &reports), E_OK);
	log_set_level((enum log_level) - 1);
}

static inline void teardown(void)
{
	reports_free(reports);
	reports_free(NULL);
	store_free(store);
	store = NULL;
	stop();
}

static inline struct request inform(uint64_t gid, unsigned begin, unsigned end, unsigned generic,
                             unsigned type, unsigned trap, unsigned producer)
{
	struct request q = request(SET, INFORM_INFO, 0);

	if (gid) {
		put_gid(&q, 0, FIXTURE_PREFIX, gid);
	}
	put_component(&q, 16, 2, begin);
	put_component(&q, 18, 2, end);
	put_component(&q, 22, 1, generic);
	put_component(&q, 23, 1, 1);
	put_component(&q, 24, 2, type);
	put_component(&q, 26, 2, trap);
	put_component(&q, 33, 3, producer);
	return q;
}

static inline struct request everything(unsigned trap)
{
	return inform(0, 0xffff, 0, 1, 0xffff, trap, 0xffffff);
}

static inline void subscribe(uint64_t port_guid, const struct request *q)
{
	asker = lid_of(port_guid);
	ck_assert_uint_eq(status_of(q), 0);
}

/* Notice by hand: type 3, number, issuer LID; producer type 2 is a switch. */
static inline const uint8_t *notice_of(unsigned trap, uint64_t issuer)
{
	static uint8_t n[80];

	memset(n, 0, sizeof(n));
	put(n, 4, UINT32_C(0x83000002));
	put(n + 4, 2, trap);
	put(n + 6, 2, lid_of(issuer));
	put(n + 64, 8, FIXTURE_PREFIX);
	put(n + 72, 8, issuer);
	return n;
}

static inline void event(unsigned trap, uint64_t issuer)
{
	reports_event(reports, w->r, store, notice_of(trap, issuer), false);
}

static inline bool answer(unsigned i)
{
	uint8_t mad[256];

	memcpy(mad, wire.mad[i], 256);
	mad[3] = REPORT_RESP;
	return reports_answer(reports, mad, sizeof(mad), wire.addr[i].lid);
}

/* Takes a port's LID away, or gives it back, and publishes. */
static inline void set_lid(uint32_t port, uint32_t lid, bool there)
{
	w->lids.of[port].base = there ? lid : 0;
	w->lids.owner[lid] = there ? port : GRAPH_NONE;
	w->lids.count += there ? 1 : UINT32_MAX;
	query_fixture_publish(w, PATH_MINIMAL);
}

static struct sa_server *server;
static struct state *state;

static inline void open_server(void)
{
	char dir[100];
	const char *why = "";

	snprintf(dir, sizeof(dir), "%s/state", w->dir);
	ck_assert_msg(state_open(dir, w->a, &why, &state) == E_OK, "%s", why);
	ck_assert_int_eq(sa_server_new(&wire.t, w->w, state, &limits, &server), E_OK);
}

static inline void close_server(void)
{
	sa_server_free(server);
	state_close(state);
}

static inline void push(const struct request *q, uint64_t from)
{
	struct request copy = *q;
	struct mad_msg m = { .mgmt_class = 3,
		             .addr = { .lid = lid_of(from), .qpn = QP },
		             .len = 256,
		             .data = copy.mad };

	sa_server_receive(server, &m, 1, true);
}

/* Waits until so many MADs were sent; the last one. */
static inline const uint8_t *wait_for(unsigned n)
{
	pthread_mutex_lock(&wire.lock);
	while (wire.n < n) {
		pthread_cond_wait(&wire.changed, &wire.lock);
	}
	pthread_mutex_unlock(&wire.lock);
	return wire.mad[n - 1];
}

