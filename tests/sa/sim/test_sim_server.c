/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <config.h>

#include "tests/lib/sim_fixture.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sa/sim/sim_server.h"
#include "sa/sim/sim_socket.h"
#include "sa/sim/sim_state.h"
#include "tests/lib/suite.h"

/*
 * The simulator's server over real sockets, in a thread of the test; clients speak what
 * the preload library speaks. The fabric is that of sim_fixture.h.
 */

static char dir[64], path[100];
static struct sim_server *server;
static pthread_t thread;

static void *serve(void *arg)
{
	ck_assert_int_eq(sim_server_run(arg), E_OK);
	return NULL;
}

static void start_server(void)
{
	char why[SIM_SERVER_WHY];
	int ret = sim_server_new(fixture.s, fixture.g, path, why, &server);
	ck_assert_msg(ret == E_OK, "%s", why);
	ck_assert_int_eq(pthread_create(&thread, NULL, serve, server), 0);
}

static void stop_server(void)
{
	sim_server_stop(server);
	pthread_join(thread, NULL);
	sim_server_free(server);
}

static void open_server(void)
{
	snprintf(dir, sizeof(dir), "/tmp/saguaro-test.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/sock", dir);
	start_server();
}

static void setup_server(void)
{
	open_fixture(&(struct sim_options){ .seed = 1 });
	program();
	activate();
	open_server();
}

/* Omni-Path, with LIDs of 24 bits, as an SM would leave it. */
enum { OPA_LID_1 = 0x12345, OPA_LID_2 = 0x20001, OPA_LIDS = 0x30000 };

static void setup_opa_server(void)
{
	open_fixture(&(struct sim_options){ .seed = 1, .omni_path = true });
	for (uint32_t i = 0; i < fixture.g->n_nodes; i++) {
		struct opa_device *d = fixture.s->opa[i].device;
		const uint8_t to_h1 = d->guid == A ? 1 : 3, to_h2 = d->guid == A ? 3 : 1;

		d->managed = true;
		if (!d->is_switch) {
			field_set(d->ports[1].info, OPI_LID,
			          d->guid == H1 ? OPA_LID_1 : OPA_LID_2);
			continue;
		}
		d->lft_cap = OPA_LIDS;
		field_set(d->switch_info, OSI_LINEAR_FDB_TOP, OPA_LIDS - 1);
		ck_assert_int_eq(opa_lft_put(d, OPA_LID_1, &to_h1, 1), E_OK);
		ck_assert_int_eq(opa_lft_put(d, OPA_LID_2, &to_h2, 1), E_OK);
	}
	open_server();
}

static void teardown_server(void)
{
	stop_server();
	ck_assert_int_eq(rmdir(dir), 0); /* nothing is left behind */
	teardown();
}

static int say(enum sim_hello_kind kind, const char *host, uint32_t number,
               struct sim_welcome *w, int *data)
{
	struct sim_hello h = { .kind = kind, .number = number };
	snprintf(h.host, sizeof(h.host), "%s", host);
	return sim_socket_call(path, &h, w, data);
}

/* An open umad device. */
struct client {
	int calls, data;
};

static struct client open_umad(const char *host)
{
	struct sim_welcome w;
	struct client c;
	c.calls = say(SIM_UMAD, host, 0, &w, &c.data);
	ck_assert_msg(c.calls >= 0, "%s", w.text);
	ck_assert_int_ge(c.data, 0);
	return c;
}

static void close_umad(struct client *c)
{
	close(c->calls);
	close(c->data);
}

static int enrol(const struct client *c, uint8_t mgmt_class, uint8_t version,
                 uint64_t methods, uint8_t rmpp)
{
	struct sim_agent_call call = { .qpn = mgmt_class == 3,
		                       .mgmt_class = mgmt_class,
		                       .mgmt_class_version = version,
		                       .rmpp_version = rmpp,
		                       .method_mask = { methods, 0 } };
	struct sim_agent_reply r;
	ck_assert_int_eq(sim_socket_put(c->calls, &call, sizeof(call), NULL, 0, -1, 0),
	                 0);
	ck_assert_int_eq(sim_socket_get(c->calls, &r, sizeof(r), NULL, 0, NULL, 0),
	                 sizeof(r));
	return r.error != 0 ? -r.error : (int)r.id;
}

static uint8_t header[SIM_HEADER_BYTES];
static uint8_t mad[1 << 21];
static uint32_t opa_lid; /* put_mad() sends to it in a GRH, with the P_Key of a manager */

/* struct ib_user_mad_hdr: id, status, timeout, retries, length, qpn, qkey, lid ... */
static void put_mad(const struct client *c, int agent, uint32_t lid, size_t len,
                    uint32_t timeout_ms)
{
	uint32_t words[5] = { (uint32_t)agent, 0, timeout_ms, 0, 0 };
	memset(header, 0, sizeof(header));
	memcpy(header, words, sizeof(words));
	field_set(header + 20, 0, 32, 1);
	field_set(header + 24, 0, 32, UMAD_QKEY);
	field_set(header + 28, 0, 16, lid);
	if (opa_lid != 0) {
		const uint16_t p_key_index = 2;

		header[32] = header[34] = 1; /* grh_present, hop_limit */
		field_set(header + 36, 64, 64, UINT64_C(0x00066A) << 40 | opa_lid);
		memcpy(header + 56, &p_key_index, sizeof(p_key_index));
	}
	ck_assert_int_eq(sim_socket_put_mad(c->data, header, mad, len, 0), 0);
}

static uint32_t header_word(unsigned i)
{
	uint32_t w;
	memcpy(&w, header + 4 * i, sizeof(w));
	return w;
}

/* Waits for a MAD; its length. */
static size_t get_mad(const struct client *c)
{
	int memory;
	struct pollfd p = { .fd = c->data, .events = POLLIN };
	ck_assert_int_eq(poll(&p, 1, 120000), 1);
	ssize_t n = sim_socket_get(c->data, header, sizeof(header), mad, sizeof(mad),
	                           &memory, 0);
	ck_assert_int_ge(n, SIM_HEADER_BYTES);
	if (memory < 0) {
		ck_assert_uint_eq(header_word(4), (size_t)n);
		return (size_t)n - SIM_HEADER_BYTES;
	}
	void *bytes;
	size_t len;
	ck_assert_int_eq(n, SIM_HEADER_BYTES);
	ck_assert_int_eq(sim_socket_memory_read(memory, sizeof(mad), &bytes, &len), 0);
	close(memory);
	memcpy(mad, bytes, len);
	free(bytes);
	ck_assert_uint_eq(header_word(4), SIM_HEADER_BYTES + len);
	return len;
}

static void fill_sa(uint8_t method, uint64_t tid)
{
	memset(mad, 0, MAD_BYTES);
	field_set(mad, MAD_BASE_VERSION, 1);
	field_set(mad, MAD_MGMT_CLASS, UMAD_CLASS_SUBN_ADM);
	field_set(mad, MAD_CLASS_VERSION, 2);
	field_set(mad, MAD_METHOD, method);
	field_set(mad, MAD_TID, tid);
}

/* --- greeting ---------------------------------------------------------------------- */

START_TEST(refusals_name_the_remedy)
{
	struct sim_welcome w;
	ck_assert_int_eq(say(SIM_HOST_INFO, "h3", 0, &w, NULL), -ENODEV);
	ck_assert_ptr_nonnull(strstr(w.text, "'h3'"));
	ck_assert_ptr_nonnull(strstr(w.text, "did you mean"));
	ck_assert_ptr_nonnull(strstr(w.text, "saguaro-sim ctl list"));
	ck_assert_int_eq(say(SIM_UMAD, "h1", 7, &w, NULL), -ENXIO);
	char sentence[SIM_SERVER_WHY];
	struct sim_server *second;
	ck_assert_int_eq(sim_server_new(fixture.s, fixture.g, path, sentence, &second),
	                 E_LOCKED);
	ck_assert_ptr_nonnull(strstr(sentence, "--socket"));
	ck_assert_int_ge(say(SIM_HOST_INFO, "h1", 0, &w, NULL),
	                 0); /* the first serves on */
	char good[sizeof(path)];
	memcpy(good, path, sizeof(path));
	snprintf(path, sizeof(path), "%s/other", dir);
	ck_assert_int_eq(say(SIM_HOST_INFO, "h1", 0, &w, NULL), -ENOENT);
	ck_assert_ptr_nonnull(strstr(w.text, "saguaro-sim FILE"));
	memcpy(path, good, sizeof(path));
}
END_TEST

START_TEST(strangers_are_shown_out)
{
	struct sim_welcome w;
	struct sim_hello h = { .magic = 1 };
	int fd = say(SIM_CONTROL, "", 0, &w, NULL);
	ck_assert_int_ge(fd, 0);
	close(fd);
	for (size_t n = 1; n <= sizeof(h); n += 7) { /* odd sizes, wrong magic */
		struct sockaddr_un_any {
			uint16_t family;
			char text[108];
		} a = { .family = AF_UNIX };
		memcpy(a.text, path, strlen(path));
		fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
		ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
		ck_assert_int_eq(sim_socket_put(fd, &h, n, NULL, 0, -1, 0), 0);
		char byte;
		ck_assert_int_eq(recv(fd, &byte, 1, 0), 0);
		close(fd);
	}
	ck_assert_int_ge(fd = say(SIM_HOST_INFO, "", 0, &w, NULL), 0);
	close(fd);
}
END_TEST

static void check_file(const char *base, const char *file, const char *line)
{
	char name[700], text[200] = "";
	snprintf(name, sizeof(name), "%s/%s", base, file);
	FILE *f = fopen(name, "r");
	ck_assert_msg(f != NULL, "%s is missing", name);
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), f));
	fclose(f);
	text[strcspn(text, "\n")] = '\0';
	ck_assert_str_eq(text, line);
}

static void say_control(const char *line, int32_t want_bad, const char *want)
{
	struct sim_welcome w;
	int32_t bad;
	int memory;
	void *text;
	size_t len;
	int fd = say(SIM_CONTROL, "", 0, &w, NULL);
	ck_assert_int_eq(sim_socket_put(fd, line, strlen(line), NULL, 0, -1, 0), 0);
	ck_assert_int_eq(sim_socket_get(fd, &bad, sizeof(bad), NULL, 0, &memory, 0),
	                 sizeof(bad));
	close(fd);
	ck_assert_int_eq(sim_socket_memory_read(memory, 1 << 20, &text, &len), 0);
	close(memory);
	ck_assert_msg(bad == want_bad && strstr(text, want) != NULL,
	              "'%s' -> %d, '%s', not '%s'", line, bad, (char *)text, want);
	free(text);
}

START_TEST(files_of_a_host)
{
	struct sim_welcome w;
	int fd = say(SIM_HOST_INFO, "h2", 0, &w, NULL);
	ck_assert_int_ge(fd, 0);
	close(fd);
	check_file(w.text, "class/infiniband_mad/abi_version", "5");
	check_file(w.text, "class/infiniband_mad/umad0/ibdev", "sim0");
	check_file(w.text, "class/infiniband_mad/issm0/port", "1");
	check_file(w.text, "class/infiniband/sim0/node_type", "1: CA");
	check_file(w.text, "class/infiniband/sim0/node_guid", "0000:0000:0000:0200");
	check_file(w.text, "class/infiniband/sim0/ports/1/lid", "0x4");
	check_file(w.text, "class/infiniband/sim0/ports/1/state", "4: ACTIVE");
	check_file(w.text, "class/infiniband/sim0/ports/1/gids/0",
	           "fe80:0000:0000:0000:0000:0000:0000:0201");
	check_file(w.text, "class/infiniband/sim0/ports/1/pkeys/0", "0xffff");
	say_control("link down h2[1]", 0, "");
	check_file(w.text, "class/infiniband/sim0/ports/1/state", "1: DOWN");
}
END_TEST

START_TEST(device_of_a_switch)
{
	struct sim_welcome w;
	int fd = say(SIM_HOST_INFO, "switch a", 0, &w, NULL);
	ck_assert_int_ge(fd, 0);
	close(fd);
	check_file(w.text, "class/infiniband/sim0/node_type", "2: switch");
	check_file(w.text, "class/infiniband/sim0/ports/0/lid", "0x2");
	struct client c = open_umad("switch a");
	close_umad(&c);
}
END_TEST

/* --- MADs -------------------------------------------------------------------------- */

START_TEST(request_and_answer)
{
	struct client c = open_umad("h1"), s = open_umad("h2");
	int client = enrol(&c, 3, 2, 0, 1);
	int agent = enrol(&s, 3, 2, 1 << UMAD_METHOD_GET, 1);
	fill_sa(UMAD_METHOD_GET, 5);
	put_mad(&c, client, 4, MAD_BYTES, 20000);
	ck_assert_uint_eq(get_mad(&s), MAD_BYTES);
	ck_assert_uint_eq(field_get(header + 28, 0, 16), 1); /* from LID 1 */
	ck_assert_uint_eq(field_get(header + 20, 0, 32), 1); /* QP 1 */
	mad[3] = UMAD_METHOD_GET_RESP;
	put_mad(&s, agent, 1, MAD_BYTES, 0);
	ck_assert_uint_eq(get_mad(&c), MAD_BYTES);
	ck_assert_uint_eq(header_word(1), 0);
	ck_assert_uint_eq(field_get(mad, MAD_TID_LOW), 5);
	fill_sa(UMAD_METHOD_GET, 6);
	put_mad(&c, client, 4, MAD_BYTES, 30);
	ck_assert_uint_eq(get_mad(&c), 24);
	ck_assert_uint_eq(header_word(1), ETIMEDOUT);
	close_umad(&s);
	close_umad(&c);
}
END_TEST

/* As the kernel does it: a LID above 0xBFFF is in a GRH, as 00066A and 32 bits in place of a PortGUID. */
START_TEST(lids_of_24_bits_are_in_a_grh)
{
	struct client c = open_umad("h1");
	int agent = enrol(&c, 1, 0x80, 0, 0);

	memset(mad, 0, 64);
	memcpy(mad, (uint8_t[]){ 0x80, 1, 0x80, UMAD_METHOD_GET }, 4);
	field_set(mad, MAD_TID, 9);
	field_set(mad, MAD_ATTR_ID, OPA_NODE_DESCRIPTION);
	opa_lid = OPA_LID_2;
	put_mad(&c, agent, OPA_LID_2 & 0xFFFF, 40, 20000);
	opa_lid = 0;
	ck_assert_uint_eq(get_mad(&c), 96);
	ck_assert_str_eq((const char *)mad + 32, "h2");
	ck_assert_uint_eq(field_get(header + 28, 0, 16), OPA_LID_2 & 0xFFFF);
	ck_assert_uint_eq(header[32], 1);
	ck_assert_uint_eq(header[34], 1);
	ck_assert_uint_eq(field_get(header + 36, 0, 64), 0xFE80000000000000);
	ck_assert_uint_eq(field_get(header + 36, 64, 64),
	                  UINT64_C(0x00066A) << 40 | OPA_LID_2);
	close_umad(&c);
}
END_TEST

/* To and from a LID above 0xBFFF a MAD needs the GRH; the 16 bits alone are a multicast group, or nobody. */
START_TEST(without_a_grh)
{
	static const struct {
		uint32_t own, to, grh;
		bool may;
	} cases[] = {
		{ 5, 6, 0, true },
		{ 5, 0xbfff, 0, true },
		{ 5, 0xc000, 0, false },
		{ 5, 0xc000, 0xc000, true },
		{ 5, 0xc000, 0xc001, false },
		{ 5, 0x20001, 0, false },
		{ 5, 0x20001, 0x20001, true },
		{ 0xc000, 6, 0, false },
		{ 0xc000, 6, 6, true },
		{ 0xc000, 0xffff, 0, true }, /* a directed route */
	};
	struct client c = open_umad("h1");
	int agent = enrol(&c, 1, 0x80, 0, 0);
	uint32_t h1 = graph_port_by_guid(fixture.g, opa_port_guid(H1, 1));

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mad_addr a = { .lid = cases[i].to, .has_grh = cases[i].grh != 0 };

		field_set(a.gid, 64, 64, UINT64_C(0x00066A) << 40 | cases[i].grh);
		for (uint32_t p = 0; h1 == GRAPH_NONE && p < fixture.g->n_ports; p++) {
			h1 = fixture.g->nodes[fixture.g->ports[p].node].guid == H1 ? p
			                                                           : h1;
		}
		pthread_mutex_lock(&fixture.s->lock);
		field_set(sim_opa_port(fixture.s, h1)->info, OPI_LID, cases[i].own);
		ck_assert_msg(sim_opa_may_send(fixture.s, h1, &a) == cases[i].may,
		              "case %u", i);
		field_set(sim_opa_port(fixture.s, h1)->info, OPI_LID, OPA_LID_1);
		pthread_mutex_unlock(&fixture.s->lock);
	}
	memset(mad, 0, 64);
	memcpy(mad, (uint8_t[]){ 0x80, 1, 0x80, UMAD_METHOD_GET }, 4);
	field_set(mad, MAD_TID, 10);
	field_set(mad, MAD_ATTR_ID, OPA_NODE_DESCRIPTION);
	put_mad(&c, agent, OPA_LID_2 & 0xFFFF, 40, 1);
	get_mad(&c);
	ck_assert_uint_eq(header_word(1), ETIMEDOUT);
	close_umad(&c);
}
END_TEST

/* Longer than a socket takes in one packet: in a memory file both ways. */
START_TEST(long_messages)
{
	static uint8_t sent[sizeof(mad)];
	static const size_t lengths[] = { 257, 2048, 2049, 70000, 1500000 };
	struct client c = open_umad("h1"), s = open_umad("h2");
	int client = enrol(&c, 3, 2, 0, 1);
	int agent = enrol(&s, 3, 2, 1 << UMAD_SA_METHOD_GET_TABLE, 1);
	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		fill_sa(UMAD_SA_METHOD_GET_TABLE, 100 + i);
		put_mad(&c, client, 4, MAD_BYTES, 20000);
		get_mad(&s);
		mad[3] |= UMAD_METHOD_RESP_MASK;
		mad[24] = mad[25] = mad[26] = 1;
		for (size_t k = 56; k < lengths[i]; k++) {
			mad[k] = (uint8_t)(k * 13 + k / 256);
		}
		put_mad(&s, agent, 1, lengths[i], 0);
		memcpy(sent, mad, lengths[i]);
		memset(mad, 0, lengths[i]);
		ck_assert_uint_eq(get_mad(&c), lengths[i]);
		ck_assert_int_eq(memcmp(mad + 56, sent + 56, lengths[i] - 56), 0);
	}
	close_umad(&s);
	close_umad(&c);
}
END_TEST

/* Far more than a socket holds, to a program that does not read for a while. */
START_TEST(slow_reader)
{
	enum { MANY = 5000 };
	struct client c = open_umad("h1"), s = open_umad("h2"), other = open_umad("h1");
	int client = enrol(&c, 3, 2, 0, 1), third = enrol(&other, 3, 2, 0, 1);
	enrol(&s, 3, 2, 1 << UMAD_METHOD_GET, 1);
	for (unsigned i = 0; i < MANY; i++) {
		fill_sa(UMAD_METHOD_GET, i + 1);
		put_mad(&c, client, 4, MAD_BYTES, 600000);
	}
	fill_sa(UMAD_METHOD_SET, 1); /* others are served meanwhile */
	put_mad(&other, third, 4, MAD_BYTES, 20000);
	get_mad(&other);
	ck_assert_uint_eq(field_get(mad, MAD_STATUS), 0x000C);
	for (unsigned i = 0; i < MANY; i++) {
		get_mad(&s);
		ck_assert_uint_eq(field_get(mad, MAD_TID_LOW), i + 1);
	}
	close_umad(&other);
	close_umad(&s);
	close_umad(&c);
}
END_TEST

START_TEST(agents_of_a_program_that_ends)
{
	struct client first = open_umad("h1"), second = open_umad("h1");
	ck_assert_int_ge(enrol(&first, 3, 2, 1 << UMAD_METHOD_GET, 1), 0);
	ck_assert_int_eq(enrol(&second, 3, 2, 1 << UMAD_METHOD_GET, 1), -EINVAL);
	/* dies: only its data socket need go */
	close(first.data);
	char byte;
	ck_assert_int_eq(recv(first.calls, &byte, 1, 0), 0); /* the server has seen it */
	close(first.calls);
	ck_assert_int_ge(enrol(&second, 3, 2, 1 << UMAD_METHOD_GET, 1), 0);
	close_umad(&second);
}
END_TEST

START_TEST(issm_is_exclusive)
{
	struct sim_welcome w;
	uint8_t data[64];
	int first = say(SIM_ISSM, "h2", 0, &w, NULL);
	ck_assert_int_ge(first, 0);
	ck_assert_int_eq(sim_peek(fixture.s, H2, UMAD_SM_ATTR_PORT_INFO, 1, data), E_OK);
	ck_assert_uint_eq(field_get(data, PI_CAPABILITY_MASK) >> 1 & 1, 1);
	ck_assert_int_eq(say(SIM_ISSM, "h2", 0, &w, NULL), -EAGAIN);
	close(first);
	/* one that waits gets it when it is free */
	struct sim_hello h = { .kind = SIM_ISSM, .wait = 1, .host = "h2" };
	int second = sim_socket_call(path, &h, &w, NULL);
	ck_assert_int_ge(second, 0);
	close(second);
}
END_TEST

/* --- control ----------------------------------------------------------------------- */

START_TEST(control_lines)
{
	static const struct {
		const char *line;
		int32_t bad;
		const char *says;
	} rows[] = {
		{ "help", 0, "link " },
		{ "list", 0, "switch 0x00000000000000a0" },
		{ "list hosts", 0, "h2" },
		{ "list trees", 1, "none of: all switches hosts" },
		{ "show \"switch a\"", 0, "[3] active" },
		{ "show h2", 0, "lid 4" },
		{ "lnk down h2[1]", 1, "did you mean 'link'" },
		{ "link sideways h2[1]", 1, "none of: down up worn" },
		{ "link down h2", 1, "NODE[PORT]" },
		{ "link down \"switch b\"[2]", 1, "cables of this node are at 1, 3, 4" },
		{ "link down \"switch b\"[x]", 1, "no cable" },
		{ "link down \"switch c\"[1]", 1, "did you mean" },
		{ "link down 0x200[1]", 0, "" },
		{ "link up 0x201[1]", 0, "" },
		{ "node deaf switch b", 0, "" },
		{ "node awake switch b", 0, "" },
		{ "node deaf", 1, "a node is missing" },
		{ "node deaf h1[1]", 1, "port" },
		{ "reboot h1", 0, "" },
		{ "describe \"h1\" new name", 0, "" },
		{ "describe \"h1\"", 1, "description is missing" },
		{ "drop 1000001", 1, "1000000" },
		{ "drop 0 1", 1, "too much" },
		{ "drop 10", 0, "" },
		{ "clients", 0, "" },
		{ "smps", 0, "all " },
		{ "smps now", 1, "too much" },
		{ "", 0, "help" },
		{ "\"", 1, "unknown command" },
	};
	say_control(_i == 27 ? " " : rows[_i].line, rows[_i].bad, rows[_i].says);
}
END_TEST

START_TEST(control_acts)
{
	uint8_t data[64];
	say_control("link down \"switch a\"[3]", 0, "");
	ck_assert_int_eq(sim_peek(fixture.s, B, UMAD_SM_ATTR_PORT_INFO, 3, data), E_OK);
	ck_assert_uint_eq(field_get(data, PI_PORT_STATE), PORT_DOWN);
	say_control("link up \"switch b\"[3]", 0, "");
	ck_assert_int_eq(sim_peek(fixture.s, B, UMAD_SM_ATTR_PORT_INFO, 3, data), E_OK);
	ck_assert_uint_eq(field_get(data, PI_PORT_STATE), PORT_INIT);
	struct client c = open_umad("h1");
	say_control("clients", 0, "at \"h1\"[1]");
	close_umad(&c);
}
END_TEST

START_TEST(stop_by_control)
{
	say_control("stop", 0, "");
	pthread_join(thread, NULL);
	sim_server_free(server);
	ck_assert_int_ne(access(path, F_OK), 0);
	start_server();
}
END_TEST

/* A server that was killed leaves its socket and folder: the next takes over. */
START_TEST(after_a_kill)
{
	char left[160];
	stop_server();
	struct {
		uint16_t family;
		char text[108];
	} a = { .family = AF_UNIX };
	memcpy(a.text, path, strlen(path));
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	close(fd); /* the name stays, nobody listens */
	snprintf(left, sizeof(left), "%s.hosts", path);
	ck_assert_int_eq(mkdir(left, 0755), 0);
	snprintf(left, sizeof(left), "%s.hosts/0", path);
	ck_assert_int_eq(mkdir(left, 0755), 0);
	start_server();
	struct sim_welcome w;
	fd = say(SIM_HOST_INFO, "h1", 0, &w, NULL);
	ck_assert_msg(fd >= 0, "%s", w.text);
	close(fd);
}
END_TEST

TEST_SUITE(sim_server)
{
	TCase *t = tcase_create("sockets");
	tcase_add_checked_fixture(t, setup_server, teardown_server);
	tcase_add_test(t, refusals_name_the_remedy);
	tcase_add_test(t, strangers_are_shown_out);
	tcase_add_test(t, files_of_a_host);
	tcase_add_test(t, device_of_a_switch);
	tcase_add_test(t, request_and_answer);
	tcase_add_test(t, long_messages);
	tcase_add_test(t, slow_reader);
	tcase_add_test(t, agents_of_a_program_that_ends);
	tcase_add_test(t, issm_is_exclusive);
	tcase_add_loop_test(t, control_lines, 0, 29);
	tcase_add_test(t, control_acts);
	tcase_add_test(t, stop_by_control);
	tcase_add_test(t, after_a_kill);
	suite_add_tcase(suite, t);
	t = tcase_create("sockets of Omni-Path");
	tcase_add_checked_fixture(t, setup_opa_server, teardown_server);
	tcase_add_test(t, lids_of_24_bits_are_in_a_grh);
	tcase_add_test(t, without_a_grh);
	suite_add_tcase(suite, t);
}
