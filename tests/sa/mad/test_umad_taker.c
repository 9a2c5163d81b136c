/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * When the one who takes requests from the umad transport is told to be quick.
 * libibumad's functions are stood in for by a device with as many requests as a test puts
 * there.
 */
#include <check.h>
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
	unsigned taken, calm; /* requests; those that were given without haste */
	bool empty;           /* and found to be */
	bool again; /* calm after haste, without the device being empty between */
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
	(void)mgmt_class;
	(void)mgmt_version;
	(void)rmpp_version;
	(void)method_mask;
	return 1;
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
	device.empty = device.waiting == 0;
	pthread_cond_broadcast(&device.changed);
	if (device.waiting == 0 && timeout_ms != 0) {
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 1000000L * (timeout_ms % 900);
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		int err = 0;
		while (device.waiting == 0 && err == 0) {
			err = pthread_cond_timedwait(&device.changed, &device.lock,
			                             &until);
		}
	}
	if (device.waiting > 0) {
		device.waiting--;
		memset(umad, 0, sizeof(struct ib_user_mad) + MAD_BYTES);
		memcpy(umad_get_mad(umad), &request, sizeof(request));
		*length = MAD_BYTES;
	} else {
		ret = timeout_ms == 0 ? -EWOULDBLOCK : -ETIMEDOUT;
	}
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

TEST_SUITE(umad_taker)
{
	TCase *tc = tcase_create("haste");

	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, a_flood);
	tcase_add_test(tc, never_known);
	suite_add_tcase(suite, tc);
}
