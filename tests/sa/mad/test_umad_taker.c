/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * The umad transport over a device of the test, which defines the functions of libibumad: how
 * MADs are sent and received, and when the receiver of diverted requests is pressed.
 */
#include <check.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <infiniband/umad_types.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "sa/mad/transport.h"
#include "sa/mad/umad.h"
#include "tests/lib/suite.h"

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int flags; /* of its descriptor */
	unsigned waiting;
	bool receiving;       /* a thread is in umad_recv() */
	unsigned taken, calm; /* requests; those that were given without haste */
	bool empty;           /* and found to be */
	bool again; /* calm after haste, without the device being empty between */
	/* one MAD that is received before the requests; 0 bytes: none */
	uint8_t mad[8192];
	int mad_bytes, mad_status;
	struct ib_user_mad header; /* of the last MAD that was sent */
	/* the last MAD that was sent, and the errno of the next send */
	int agent, sent_bytes, timeout_ms, retries, send_errno;
	int open_errno;      /* of opening the port, 0: it works */
	int refused_version; /* class version of the SA that cannot be registered */
} device = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static umad_port_t port = {
	.ca_name = "fake_0", .portnum = 1, .state = 4, .link_layer = "InfiniBand"
};

int umad_init(void)
{
	return 0;
}

int umad_get_cas_names(char cas[][UMAD_CA_NAME_LEN], int max)
{
	(void)max;
	strcpy(cas[0], port.ca_name);
	return 1;
}

int umad_get_ca(const char *ca_name, umad_ca_t *ca)
{
	memset(ca, 0, sizeof(*ca));
	strcpy(ca->ca_name, ca_name);
	ca->ports[1] = &port;
	return 0;
}

int umad_release_ca(umad_ca_t *ca)
{
	(void)ca;
	return 0;
}

int umad_open_port(const char *ca_name, int portnum)
{
	(void)ca_name;
	(void)portnum;
	if (device.open_errno != 0) {
		errno = device.open_errno;
		return -1;
	}
	return open("/dev/null", O_RDWR | device.flags);
}

int umad_close_port(int portid)
{
	return close(portid);
}

int umad_register(int portid, int mgmt_class, int mgmt_version, uint8_t rmpp_version,
                  long method_mask[16 / sizeof(long)])
{
	(void)portid;
	(void)rmpp_version;
	(void)method_mask;
	if (mgmt_class == UMAD_CLASS_SUBN_ADM && mgmt_version == device.refused_version) {
		return -EPERM;
	}
	return mgmt_class << 8 | mgmt_version; /* a number that tells who it is */
}

int umad_send(int portid, int agentid, void *umad, int length, int timeout_ms,
              int retries)
{
	(void)portid;
	memcpy(&device.header, umad, sizeof(device.header));
	device.agent = agentid;
	device.sent_bytes = length;
	device.timeout_ms = timeout_ms;
	device.retries = retries;
	errno = device.send_errno;
	return device.send_errno != 0 ? -1 : 0;
}

int umad_recv(int portid, void *umad, int *length, int timeout_ms)
{
	const struct umad_hdr request = { .base_version = 1,
		                          .mgmt_class = UMAD_CLASS_SUBN_ADM,
		                          .class_version = 2,
		                          .method = UMAD_METHOD_GET };
	int ret = 1;

	(void)portid;
	pthread_mutex_lock(&device.lock);
	device.receiving = true;
	device.empty = device.waiting == 0;
	pthread_cond_broadcast(&device.changed);
	if (device.waiting == 0 && device.mad_bytes == 0 && timeout_ms != 0) {
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 1000000L * (timeout_ms % 900);
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		int wait_ret = 0;
		while (device.waiting == 0 && device.mad_bytes == 0 && wait_ret == 0) {
			wait_ret = pthread_cond_timedwait(&device.changed, &device.lock,
			                                  &until);
		}
	}
	if (device.mad_bytes > *length) {
		*length = device.mad_bytes; /* it stays */
		ret = -ENOSPC;
	} else if (device.mad_bytes > 0) {
		memset(umad, 0, sizeof(struct ib_user_mad));
		((struct ib_user_mad *)umad)->status = (uint32_t)device.mad_status;
		memcpy(umad_get_mad(umad), device.mad, (size_t)device.mad_bytes);
		*length = device.mad_bytes;
		device.mad_bytes = 0;
	} else if (device.waiting > 0) {
		device.waiting--;
		memset(umad, 0, sizeof(struct ib_user_mad) + MAD_BYTES);
		memcpy(umad_get_mad(umad), &request, sizeof(request));
		*length = MAD_BYTES;
	} else {
		ret = timeout_ms == 0 ? -EWOULDBLOCK : -ETIMEDOUT;
	}
	device.receiving = false;
	pthread_mutex_unlock(&device.lock);
	return ret;
}

static void take(void *ctx, const struct mad_msg *m, unsigned n, bool pressed)
{
	(void)ctx;
	(void)m;
	pthread_mutex_lock(&device.lock);
	device.again = device.again ||
	               (!pressed && device.calm < device.taken && device.waiting > 0);
	device.taken += n;
	device.calm += pressed ? 0 : n;
	pthread_cond_broadcast(&device.changed);
	pthread_mutex_unlock(&device.lock);
}

static const struct transport_receiver taker = { .mgmt_class = UMAD_CLASS_SUBN_ADM,
	                                         .take = take };
static struct transport *transport;
static struct arena *a;

static void start(int flags)
{
	const char *why = "";

	device.flags = flags;
	a = arena_new();
	ck_assert_int_eq(umad_transport_open(NULL, 0, 0, a, &why, &transport), E_OK);
	transport->ops->divert(transport, &taker);
}

static void stop(void)
{
	transport->ops->close(transport);
	arena_free(a);
}

/* So many come at the same moment; returns when the device was found empty. */
static void come(unsigned n)
{
	pthread_mutex_lock(&device.lock);
	device.taken = device.calm = 0;
	device.waiting = n;
	device.empty = false;
	pthread_cond_broadcast(&device.changed);
	while (device.taken < n || !device.empty) {
		pthread_cond_wait(&device.changed, &device.lock);
	}
	pthread_mutex_unlock(&device.lock);
}

/* A few are taken without haste, again and again; of a flood only the first. */
START_TEST(a_flood)
{
	enum { FEW = 96, FLOOD = 5000, MOST = 400 };

	start(O_NONBLOCK);
	for (unsigned i = 0; i < 20; i++) {
		come(FEW);
		ck_assert_uint_eq(device.calm, FEW);
	}
	come(FLOOD);
	ck_assert_uint_ge(device.calm, FEW);
	ck_assert_uint_le(device.calm, MOST);
	ck_assert(!device.again);
	come(1);
	ck_assert_uint_eq(device.calm, 1);
	stop();
}
END_TEST

/* A device that does not say when it is empty might have any number more. */
START_TEST(never_known)
{
	start(0);
	come(3);
	ck_assert_uint_eq(device.calm, 0);
	stop();
}
END_TEST

/* --- sending and receiving -------------------------------------------------------- */

static int send_mad(uint8_t mgmt_class, uint8_t version, uint8_t method, size_t len)
{
	static uint8_t mad[8192];
	struct mad_msg m = { .mgmt_class = mgmt_class, .len = len, .data = mad };

	mad[0] = 1;
	mad[1] = mgmt_class;
	mad[2] = version;
	mad[3] = method;
	return transport->ops->send(transport, &m);
}

/* A MAD leaves by the agent of its class and version. Only requests have a timeout, and only
 * other MADs have RMPP retries. */
START_TEST(sending)
{
	static const struct {
		uint8_t mgmt_class, version, method;
		size_t len;
		bool request;
	} sent[] = {
		{ UMAD_CLASS_SUBN_DIRECTED_ROUTE, 1, UMAD_METHOD_GET, 256, true },
		{ UMAD_CLASS_SUBN_LID_ROUTED, 1, UMAD_METHOD_TRAP_REPRESS, 256, false },
		{ UMAD_CLASS_SUBN_LID_ROUTED, 1, UMAD_METHOD_GET_RESP, 256, false },
		{ UMAD_CLASS_SUBN_ADM, 2, UMAD_METHOD_REPORT, 256, true },
		{ UMAD_CLASS_SUBN_ADM, 2, UMAD_METHOD_GET_RESP, 4000, false },
		{ UMAD_CLASS_SUBN_ADM, 0x80, UMAD_METHOD_GET_RESP, 2048, false },
	};

	start(O_NONBLOCK);
	for (unsigned i = 0; i < sizeof(sent) / sizeof(sent[0]); i++) {
		ck_assert_int_eq(send_mad(sent[i].mgmt_class, sent[i].version,
		                          sent[i].method, sent[i].len),
		                 E_OK);
		ck_assert_int_eq(device.agent, sent[i].mgmt_class << 8 | sent[i].version);
		ck_assert_int_eq(device.sent_bytes, (int)sent[i].len);
		ck_assert_int_eq(device.timeout_ms > 0, sent[i].request);
		ck_assert_int_eq(device.retries > 0, !sent[i].request);
	}
	/* the agent of the class answers a request of a version that there is not */
	ck_assert_int_eq(send_mad(UMAD_CLASS_SUBN_ADM, 3, UMAD_METHOD_GET_RESP, 256),
	                 E_OK);
	ck_assert_int_eq(device.agent, UMAD_CLASS_SUBN_ADM << 8 | 2);
	ck_assert_int_eq(send_mad(UMAD_CLASS_DEVICE_MGMT, 1, UMAD_METHOD_GET, 256),
	                 -EINVAL);
	ck_assert_int_eq(send_mad(UMAD_CLASS_SUBN_ADM, 2, UMAD_METHOD_GET, 20), -EINVAL);
	device.send_errno = ENOBUFS; /* the local queue is full */
	ck_assert_int_eq(send_mad(UMAD_CLASS_SUBN_ADM, 2, UMAD_METHOD_GET, 256), -EAGAIN);
	device.send_errno = ENODEV;
	ck_assert_int_eq(send_mad(UMAD_CLASS_SUBN_ADM, 2, UMAD_METHOD_GET, 256), -EIO);
	device.send_errno = 0;
	stop();
}
END_TEST

/* A LID that does not fit the kernel's 16 bits is in a GRH with one hop: the OUI 00 06 6A, a zero, and the LID. So is
 * one that does, if the MAD leaves from a LID that does not. An InfiniBand GRH keeps its hops. */
START_TEST(high_lids)
{
	static const uint8_t to_12345[16] = { 0xfe, 0x80, 0,    0, 0, 0,    0,    0,
		                              0x00, 0x06, 0x6a, 0, 0, 0x01, 0x23, 0x45 };
	static uint8_t mad[256] = { 0x80, UMAD_CLASS_SUBN_LID_ROUTED, 0x80,
		                    UMAD_METHOD_GET };
	struct mad_msg m = { .mgmt_class = UMAD_CLASS_SUBN_LID_ROUTED,
		             .addr = { .lid = 0x12345 },
		             .len = sizeof(mad),
		             .data = mad };
	const struct ib_mad_addr *to = &device.header.addr;

	start(O_NONBLOCK);
	transport->prefix = UINT64_C(0xfe80000000000000);
	ck_assert_int_eq(transport_send(transport, &m), E_OK);
	ck_assert_int_eq(to->grh_present, 1);
	ck_assert_int_eq(to->hop_limit, 1);
	ck_assert_int_eq(to->gid_index, 0);
	ck_assert_mem_eq(to->gid, to_12345, sizeof(to_12345));
	ck_assert_uint_eq(be16toh(to->lid), 0x2345);
	m.addr.lid = 7;
	ck_assert_int_eq(transport_send(transport, &m), E_OK);
	ck_assert_int_eq(to->grh_present, 0);
	transport->lid = 0xc000;
	ck_assert_int_eq(transport_send(transport, &m), E_OK);
	ck_assert_int_eq(to->grh_present, 1);
	ck_assert_uint_eq(to->gid[15], 7);
	transport->lid = 5;
	m.addr.has_grh = true;
	memset(m.addr.gid, 0x11, sizeof(m.addr.gid));
	ck_assert_int_eq(transport_send(transport, &m), E_OK);
	ck_assert_int_eq(to->hop_limit, 64);
	stop();
}
END_TEST

static struct mad_msg receive_one(int bytes, int status)
{
	struct mad_msg m;

	pthread_mutex_lock(&device.lock);
	for (int i = 0; i < bytes; i++) {
		device.mad[i] = (uint8_t)(i * 7);
	}
	device.mad[1] = UMAD_CLASS_SUBN_LID_ROUTED;
	device.mad_status = status;
	device.mad_bytes = bytes;
	pthread_cond_broadcast(&device.changed);
	pthread_mutex_unlock(&device.lock);
	ck_assert_int_eq(transport->ops->recv(transport, UINT64_MAX, &m), E_OK);
	ck_assert_uint_eq(m.len, (size_t)bytes);
	ck_assert_mem_eq(m.data, device.mad, (size_t)bytes);
	ck_assert_uint_eq(m.mgmt_class, UMAD_CLASS_SUBN_LID_ROUTED);
	ck_assert_int_eq(m.addr.directed, false);
	return m;
}

/* MADs of any length arrive whole, a request without a response comes back as such, and a
 * wake-up interrupts the wait once. */
START_TEST(receiving)
{
	struct mad_msg m;

	start(_i == 0 ? O_NONBLOCK : 0);
	ck_assert_int_eq(receive_one(256, 0).status, 0);
	ck_assert_int_eq(receive_one(256, ETIMEDOUT).status, E_TIMEOUT);
	ck_assert_int_eq(receive_one(8000, 0).status, 0);
	ck_assert_int_eq(receive_one(100, 0).status, 0);
	transport->ops->wake(transport);
	ck_assert_int_eq(transport->ops->recv(transport, UINT64_MAX, &m), -EINTR);
	ck_assert_int_eq(transport->ops->recv(transport, 0, &m), E_TIMEOUT);
	stop();
}
END_TEST

/* --- opening ---------------------------------------------------------------------- */

/* Without the agent for Omni-Path the port is usable; another failure names the port. */
START_TEST(opening)
{
	const char *why = "";

	device.refused_version = 0x80;
	start(O_NONBLOCK);
	ck_assert_int_eq(send_mad(UMAD_CLASS_SUBN_ADM, 2, UMAD_METHOD_GET_RESP, 256),
	                 E_OK);
	ck_assert_int_eq(device.agent, UMAD_CLASS_SUBN_ADM << 8 | 2);
	stop();
	a = arena_new();
	device.refused_version = 2;
	ck_assert_int_eq(umad_transport_open(NULL, 0, 0, a, &why, &transport), E_LOCKED);
	ck_assert_ptr_nonnull(strstr(why, "fake_0/1"));
	device.refused_version = 0;
	device.open_errno = EIO;
	ck_assert_int_lt(umad_transport_open("fake_0", 1, 0, a, &why, &transport), 0);
	ck_assert_ptr_nonnull(strstr(why, "fake_0/1"));
	device.open_errno = 0;
	strcpy(port.link_layer, "Ethernet");
	ck_assert_int_eq(umad_transport_open(NULL, 0, 0, a, &why, &transport),
	                 E_NOTFOUND);
	arena_free(a);
}
END_TEST

/* The thread that receives has ended when the transport is closed. */
START_TEST(closing)
{
	start(0);
	pthread_mutex_lock(&device.lock);
	while (!device.receiving) {
		pthread_cond_wait(&device.changed, &device.lock);
	}
	pthread_mutex_unlock(&device.lock);
	stop();
	pthread_mutex_lock(&device.lock);
	ck_assert(!device.receiving);
	pthread_mutex_unlock(&device.lock);
}
END_TEST

/* Statics of this file keep what a case leaves in them. */
TEST_SUITE_FORKED(umad_taker)
{
	TCase *tc = tcase_create("haste");
	TCase *mads = tcase_create("mads");

	tcase_set_timeout(mads, 30);
	tcase_add_test(mads, sending);
	tcase_add_test(mads, high_lids);
	tcase_add_loop_test(mads, receiving, 0, 2);
	tcase_add_test(mads, opening);
	tcase_add_test(mads, closing);
	suite_add_tcase(suite, mads);

	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, a_flood);
	tcase_add_test(tc, never_known);
	suite_add_tcase(suite, tc);
}
