/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <config.h>

#include "tests/lib/sim_fixture.h"

#include <fcntl.h>
#include <infiniband/umad.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sa/sim/sim_server.h"
#include "tests/lib/suite.h"

/*
 * The preload library, met by a program that uses libibumad and the umad device itself.
 * The test serves the fabric of sim_fixture.h and runs itself under saguaro-sim --run as that
 * program, on a host that has both adapters: sim0 at h1 (LID 1), sim1 at h2 (LID 4). Each
 * row below is a function that such a run calls; what it prints is why it failed.
 */

#define CHECK(what)                                                                      \
	do {                                                                             \
		if (!(what)) {                                                           \
			fprintf(stderr, "%s:%d: %s (errno %d)\n", __func__, __LINE__,    \
			        #what, errno);                                           \
			exit(1);                                                         \
		}                                                                        \
	} while (0)

enum { WAIT_MS = 120000, HDR = 64, OLD_HDR = 56, TABLE = UMAD_SA_METHOD_GET_TABLE };

/* --- the program ------------------------------------------------------------------- */

static uint64_t room[(1 << 20) / 8];

static uint8_t *mad_of(void)
{
	return umad_get_mad(room);
}

static void sa_mad(uint8_t method, uint64_t tid)
{
	memset(room, 0, umad_size() + MAD_BYTES);
	uint8_t *mad = mad_of();
	field_set(mad, MAD_BASE_VERSION, 1);
	field_set(mad, MAD_MGMT_CLASS, UMAD_CLASS_SUBN_ADM);
	field_set(mad, MAD_CLASS_VERSION, 2);
	field_set(mad, MAD_METHOD, method);
	field_set(mad, MAD_TID, tid);
}

static int sa_client(int fd)
{
	return umad_register(fd, UMAD_CLASS_SUBN_ADM, 2, 1, NULL);
}

static int sa_server(int fd, uint8_t method)
{
	long mask[16 / sizeof(long)] = { 0 };
	mask[method / (8 * sizeof(long))] |= 1L << method % (8 * sizeof(long));
	return umad_register(fd, UMAD_CLASS_SUBN_ADM, 2, 1, mask);
}

static void probe_devices(void)
{
	char names[8][UMAD_CA_NAME_LEN];
	umad_ca_t ca;
	char path[256];
	struct stat st;

	CHECK(umad_get_cas_names(names, 8) == 2);
	CHECK(strcmp(names[0], "sim0") == 0 && strcmp(names[1], "sim1") == 0);
	CHECK(umad_get_ca("sim1", &ca) == 0);
	CHECK(ca.numports == 1 && ca.node_type == 1 && ca.ports[1] != NULL);
	CHECK(ca.ports[1]->base_lid == 4 && ca.ports[1]->sm_lid == 1);
	CHECK(ca.ports[1]->state == 4 &&
	      strcmp(ca.ports[1]->link_layer, "InfiniBand") == 0);
	CHECK(ca.ports[1]->pkeys[0] == 0xFFFF);
	CHECK(umad_release_ca(&ca) == 0);
	CHECK(umad_get_issm_path("sim1", 1, path, sizeof(path)) == 0);
	CHECK(access(path, F_OK) == 0 && stat(path, &st) == 0);
	CHECK(umad_get_ca("sim2", &ca) != 0);
	CHECK(open("/sys/class/infiniband/mlx5_0/node_type", O_RDONLY) < 0);
	CHECK(open("/dev/infiniband/umad7", O_RDWR) < 0 && errno == ENXIO);
	CHECK(open("/dev/null", O_RDWR) >= 0); /* what is not ours works on */
	FILE *f = fopen("/sys/class/infiniband_mad/abi_version", "r");
	CHECK(f != NULL && fgetc(f) == '5');
	fclose(f);
}

static void probe_two_devices(void)
{
	int a = umad_open_port("sim0", 1), b = umad_open_port("sim1", 1);
	CHECK(a >= 0 && b >= 0);
	int client = sa_client(a), server = sa_server(b, UMAD_METHOD_GET);
	CHECK(client >= 0 && server >= 0);
	CHECK(sa_server(b, UMAD_METHOD_GET) < 0); /* taken */
	for (uint64_t tid = 1; tid <= 100; tid++) {
		int len = MAD_BYTES;
		sa_mad(UMAD_METHOD_GET, tid);
		umad_set_addr(room, 4, 1, 0, UMAD_QKEY);
		CHECK(umad_send(a, client, room, MAD_BYTES, WAIT_MS, 0) == 0);
		CHECK(umad_recv(b, room, &len, WAIT_MS) == server && len == MAD_BYTES);
		CHECK(umad_get_mad_addr(room)->lid == htobe16(1));
		mad_of()[3] = UMAD_METHOD_GET_RESP;
		umad_set_addr(room, 1, 1, 0, UMAD_QKEY);
		CHECK(umad_send(b, server, room, MAD_BYTES, 0, 0) == 0);
		CHECK(umad_recv(a, room, &len, WAIT_MS) == client);
		CHECK(umad_status(room) == 0);
		CHECK(field_get(mad_of(), MAD_TID_LOW) == tid);
	}
	CHECK(umad_unregister(b, server) == 0 && umad_unregister(b, server) != 0);
	CHECK(umad_close_port(a) == 0 && umad_close_port(b) == 0);
}

/* A table longer than the buffer: it stays, and the length says how long it is. */
static void probe_short_buffer(void)
{
	const int whole = 300000;
	int a = umad_open_port("sim0", 1), b = umad_open_port("sim1", 1), len = MAD_BYTES;
	int client = sa_client(a), server = sa_server(b, TABLE);
	sa_mad(TABLE, 9);
	umad_set_addr(room, 4, 1, 0, UMAD_QKEY);
	CHECK(umad_send(a, client, room, MAD_BYTES, WAIT_MS, 0) == 0);
	CHECK(umad_recv(b, room, &len, WAIT_MS) == server);
	uint8_t *mad = mad_of();
	mad[3] |= UMAD_METHOD_RESP_MASK;
	mad[24] = mad[25] = mad[26] = 1;
	for (int i = 56; i < whole; i++) {
		mad[i] = (uint8_t)(i % 253);
	}
	umad_set_addr(room, 1, 1, 0, UMAD_QKEY);
	CHECK(umad_send(b, server, room, whole, 0, 0) == 0);
	memset(room, 0, sizeof(room));
	for (unsigned i = 0; i < 3; i++) {
		struct pollfd p = { .fd = umad_get_fd(a), .events = POLLIN };
		CHECK(poll(&p, 1, WAIT_MS) == 1);
		len = MAD_BYTES;
		errno = 0;
		CHECK(umad_recv(a, room, &len, WAIT_MS) == -ENOSPC);
		CHECK(len == whole);
	}
	CHECK(umad_recv(a, room, &len, WAIT_MS) == client && len == whole);
	for (int i = 56; i < whole; i++) {
		CHECK(mad[i] == (uint8_t)(i % 253));
	}
	umad_close_port(a);
	umad_close_port(b);
}

/* The descriptor waits like any other. */
static void probe_waiting(void)
{
	int a = umad_open_port("sim0", 1), len = MAD_BYTES;
	int client = sa_client(a), ep = epoll_create1(0);
	struct epoll_event e = { .events = EPOLLIN };
	fd_set set;

	CHECK(umad_recv(a, room, &len, 1) == -ETIMEDOUT);
	CHECK(umad_poll(a, 1) == -ETIMEDOUT);
	CHECK(epoll_ctl(ep, EPOLL_CTL_ADD, umad_get_fd(a), &e) == 0);
	CHECK(epoll_wait(ep, &e, 1, 0) == 0);
	sa_mad(UMAD_METHOD_GET, 1);
	umad_set_addr(room, 99, 1, 0, UMAD_QKEY); /* nobody */
	CHECK(umad_send(a, client, room, MAD_BYTES, 20, 1) == 0);
	CHECK(epoll_wait(ep, &e, 1, WAIT_MS) == 1);
	FD_ZERO(&set);
	FD_SET(umad_get_fd(a), &set);
	CHECK(select(umad_get_fd(a) + 1, &set, NULL, NULL, NULL) == 1);
	len = MAD_BYTES;
	CHECK(umad_recv(a, room, &len, WAIT_MS) == client);
	CHECK(umad_status(room) == ETIMEDOUT && len == 24);
	CHECK(field_get(mad_of(), MAD_TID_LOW) == 1);
	umad_close_port(a);
}

/* Calls that write() and read() refuse. */
static void probe_refusals(void)
{
	int a = umad_open_port("sim0", 1), fd = umad_get_fd(a);
	int plain = umad_register(a, UMAD_CLASS_SUBN_ADM, 2, 0, NULL),
	    rmpp = sa_client(a);
	sa_mad(UMAD_METHOD_GET, 1);
	struct ib_user_mad *m = (struct ib_user_mad *)room;
	m->timeout_ms = WAIT_MS;
	CHECK(write(fd, room, HDR + 35) < 0 && errno == EINVAL);
	m->agent_id = 40;
	CHECK(write(fd, room, HDR + MAD_BYTES) < 0 && errno == EINVAL);
	m->agent_id = 7;
	CHECK(write(fd, room, HDR + MAD_BYTES) < 0 && errno == EIO);
	m->agent_id = (uint32_t)plain;
	CHECK(write(fd, room, HDR + MAD_BYTES + 1) < 0 && errno == EINVAL);
	mad_of()[0] = 0x80;
	CHECK(write(fd, room, HDR + 2049) < 0 && errno == EINVAL);
	mad_of()[0] = 1;
	CHECK(read(fd, room, 20) < 0 && errno == EINVAL);
	CHECK(read(fd, room, sizeof(room)) < 0 && errno == EAGAIN); /* O_NONBLOCK */
	CHECK(ioctl(fd, 0x5401, room) < 0 && errno == ENOTTY);
	CHECK(umad_unregister(a, plain) == 0);
	m->agent_id = (uint32_t)plain;
	CHECK(write(fd, room, HDR + MAD_BYTES) < 0 && errno == EIO);
	CHECK(rmpp >= 0);
	umad_close_port(a);
	int file = open("/proc/self/status", O_RDONLY); /* the number is used again */
	CHECK(file >= 0 && read(file, room, 4) == 4);
	close(file);
}

/* A program that never asked for P_Key indices: headers of 56 bytes. */
static void probe_old_header(void)
{
	struct { /* struct ib_user_mad_reg_req */
		uint32_t id;
		uint32_t mask[4];
		uint8_t qpn, mgmt_class, version, oui[3], rmpp_version;
	} reg = { .qpn = 0, .mgmt_class = UMAD_CLASS_SUBN_DIRECTED_ROUTE, .version = 1 };
	int fd = open("/dev/infiniband/umad1", O_RDWR); /* blocks */
	CHECK(fd >= 0);
	CHECK(ioctl(fd, _IOWR(0x1b, 1, reg), &reg) == 0);
	fixture.path[0] = 0;
	fill(UMAD_METHOD_GET, UMAD_SM_ATTR_NODE_INFO, 0);
	struct ib_user_mad *m = (struct ib_user_mad *)room;
	memset(room, 0, OLD_HDR);
	m->agent_id = reg.id;
	m->timeout_ms = WAIT_MS;
	m->addr.lid = 0xFFFF;
	memcpy((uint8_t *)room + OLD_HDR, fixture.mad, MAD_BYTES);
	CHECK(write(fd, room, OLD_HDR + MAD_BYTES) == OLD_HDR + MAD_BYTES);
	CHECK(read(fd, room, OLD_HDR + MAD_BYTES) == OLD_HDR + MAD_BYTES);
	CHECK(m->length == OLD_HDR + MAD_BYTES && m->status == 0);
	CHECK(field_get((uint8_t *)room + OLD_HDR + SMP_DATA_AT, NI_NODE_GUID) == H2);
	close(fd);
}

/* IsSM belongs to whoever has the device open. */
static void probe_issm(void)
{
	umad_port_t port;
	int fd = open("/dev/infiniband/issm1", O_RDWR | O_NONBLOCK);
	CHECK(fd >= 0);
	CHECK(open("/dev/infiniband/issm1", O_RDWR | O_NONBLOCK) < 0 && errno == EAGAIN);
	CHECK(umad_get_port("sim1", 1, &port) == 0);
	CHECK(be32toh(port.capmask) & 2);
	umad_release_port(&port);
	close(fd);
	fd = open("/dev/infiniband/issm1",
	          O_RDWR); /* waits until the server has seen it */
	CHECK(fd >= 0);
	close(fd);
}

/* Reads must not mix when several threads read one device. */
static void *reader(void *arg)
{
	int fd = *(int *)arg;
	uint64_t own[(HDR + MAD_BYTES) / 8];
	for (unsigned i = 0; i < 500; i++) {
		int len, ret;
		do { /* both wake up for one MAD: the other thread may have it, as with the kernel */
			len = MAD_BYTES;
			ret = umad_recv(fd, own, &len, WAIT_MS);
		} while (ret < 0 && errno == EAGAIN);
		CHECK(ret >= 0);
		CHECK(umad_status(own) == 0 && len == MAD_BYTES);
	}
	return NULL;
}

static void probe_threads(void)
{
	pthread_t t[2];
	int a = umad_open_port("sim0", 1);
	int client = sa_client(a);
	for (unsigned i = 0; i < 2; i++) {
		CHECK(pthread_create(&t[i], NULL, reader, &a) == 0);
	}
	for (uint64_t tid = 1; tid <= 1000; tid++) { /* nobody serves: answered at once */
		sa_mad(UMAD_METHOD_GET, tid);
		umad_set_addr(room, 4, 1, 0, UMAD_QKEY);
		CHECK(umad_send(a, client, room, MAD_BYTES, WAIT_MS, 0) == 0);
	}
	for (unsigned i = 0; i < 2; i++) {
		CHECK(pthread_join(t[i], NULL) == 0);
	}
	umad_close_port(a);
}

static const struct {
	const char *name;
	void (*run)(void);
} probes[] = {
	{ "devices", probe_devices },
	{ "two devices", probe_two_devices },
	{ "short buffer", probe_short_buffer },
	{ "waiting", probe_waiting },
	{ "refusals", probe_refusals },
	{ "old header", probe_old_header },
	{ "issm", probe_issm },
	{ "threads", probe_threads },
};

enum { N_PROBES = sizeof(probes) / sizeof(probes[0]) };

/* --- the test ---------------------------------------------------------------------- */

static char dir[64], path[100];
static struct sim_server *server;
static pthread_t thread;

static void *serve(void *arg)
{
	ck_assert_int_eq(sim_server_run(arg), E_OK);
	return NULL;
}

static void setup_server(void)
{
	char why[SIM_SERVER_WHY];
	open_fixture(&(struct sim_options){ .seed = 1 });
	program();
	activate();
	snprintf(dir, sizeof(dir), "/tmp/saguaro-test.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/sock", dir);
	ck_assert_msg(sim_server_new(fixture.s, fixture.g, path, why, &server) == E_OK,
	              "%s", why);
	ck_assert_int_eq(pthread_create(&thread, NULL, serve, server), 0);
}

static void teardown_server(void)
{
	sim_server_stop(server);
	pthread_join(thread, NULL);
	sim_server_free(server);
	rmdir(dir);
	teardown();
}

START_TEST(probe)
{
	char program_path[4096], number[16];
	const char *top = getenv("top_builddir");
	snprintf(program_path, sizeof(program_path), "%s/saguaro-sim", top ? top : ".");
	snprintf(number, sizeof(number), "%d", _i);
	pid_t pid = fork();
	if (pid == 0) {
		/* The library comes before a sanitizer's here, which is as it should be.
		 */
		setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
		execl(program_path, "saguaro-sim", "--run", "--socket", path, "--host",
		      "h1,h2", test_program, "probe", number, (char *)NULL);
		fprintf(stderr, "cannot run %s: %s\n", program_path, strerror(errno));
		_exit(1);
	}
	int status;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: status 0x%x",
	              probes[_i].name, status);
}
END_TEST

static int run_probe(char **argv)
{
	int i = argv[0] ? atoi(argv[0]) : -1;
	CHECK(i >= 0 && i < N_PROBES);
	probes[i].run();
	return 0;
}

TEST_ROLE(probe, run_probe)

TEST_SUITE(sim_preload)
{
	TCase *t = tcase_create("probes");
	tcase_add_checked_fixture(t, setup_server, teardown_server);
	tcase_add_loop_test(t, probe, 0, N_PROBES);
	suite_add_tcase(suite, t);
}
