/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/sim_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <infiniband/umad_sm.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "sa/sim/sim_state.h"

/*
 * Files that never change are written once. Those of a port are rewritten when its PortInfo,
 * P_Keys or GUIDs have changed. Each is written to a temporary file that is then renamed, so that
 * a reader sees the old value or the new one.
 */

enum { GIDS = GUID_BLOCK, PATH_BYTES = 512 };

/* The values of a port that were last written. */
struct tree_port {
	uint32_t port;
	char dir[64]; /* class/infiniband/sim0/ports/1 */
	bool written;
	uint8_t info[SMP_DATA_BYTES];
	uint8_t guids[SMP_DATA_BYTES];
	uint16_t *pkeys; /* [n_pkeys] */
	unsigned n_pkeys;
};

struct sim_host {
	struct sim *s;
	char *dir;
	uint32_t nodes[SIM_HOST_NODES];
	unsigned n_nodes;
	struct tree_port *ports; /* by number of the umad device */
	unsigned n_ports;
	size_t cap_ports;
	int error; /* the first error of writing */
};

static void set_error(struct sim_host *h, int ret)
{
	h->error = h->error == E_OK ? -ret : h->error;
}

/* Makes the folders of a path below the host's. */
static void make_dirs(struct sim_host *h, const char *path)
{
	char full[PATH_BYTES];
	int base = snprintf(full, sizeof(full), "%s/", h->dir);

	snprintf(full + base, sizeof(full) - (size_t)base, "%s", path);
	for (char *p = full + base; (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		if (mkdir(full, 0755) != 0 && errno != EEXIST) {
			set_error(h, errno);
		}
		*p = '/';
	}
}

static void put_text(struct sim_host *h, const char *path, const char *text)
{
	char full[PATH_BYTES], temp[PATH_BYTES];
	size_t n = strlen(text);

	make_dirs(h, path);
	snprintf(full, sizeof(full), "%s/%s", h->dir, path);
	snprintf(temp, sizeof(temp), "%s/.new", h->dir);
	int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0) {
		set_error(h, errno);
		return;
	}
	bool good = write(fd, text, n) == (ssize_t)n;
	close(fd);
	if (!good || rename(temp, full) != 0) {
		set_error(h, errno);
	}
}

/* Writes one line to DIR/FILE. */
static void put(struct sim_host *h, const char *dir, const char *file, const char *fmt,
                ...) __attribute__((format(printf, 4, 5)));

static void put(struct sim_host *h, const char *dir, const char *file, const char *fmt,
                ...)
{
	char path[PATH_BYTES], text[256];
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(text, sizeof(text) - 1, fmt, ap);
	va_end(ap);
	n = n < (int)sizeof(text) - 1 ? n : (int)sizeof(text) - 2;
	memcpy(text + n, "\n", 2);
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	put_text(h, path, text);
}

#define GUID_FORMAT "%04x:%04x:%04x:%04x"
#define GUID_WORDS(g)                                                                    \
	(unsigned)((g) >> 48 & 0xFFFF), (unsigned)((g) >> 32 & 0xFFFF),                  \
		(unsigned)((g) >> 16 & 0xFFFF), (unsigned)((g)&0xFFFF)

static void put_node(struct sim_host *h, unsigned i)
{
	static const char *const types[] = { "", "1: CA", "2: switch", "3: router" };
	const struct node *n = &h->s->g->nodes[h->nodes[i]];
	char dir[64];

	snprintf(dir, sizeof(dir), "class/infiniband/sim%u", i);
	put(h, dir, "node_type", "%s", types[n->type <= NODE_ROUTER ? n->type : 0]);
	put(h, dir, "node_guid", GUID_FORMAT, GUID_WORDS(n->guid));
	put(h, dir, "sys_image_guid", GUID_FORMAT,
	    GUID_WORDS(n->system_image_guid != 0 ? n->system_image_guid : n->guid));
	put(h, dir, "node_desc", "%.64s", n->description);
	put(h, dir, "hca_type", "DEV%u", n->device_id);
	put(h, dir, "hw_rev", "%x", n->revision);
	put(h, dir, "fw_ver", "%u.%u.%u", 1, 0, 0);
	put(h, dir, "board_id", "%s", "SAGUARO_SIM");
}

static void put_info(struct sim_host *h, const struct tree_port *p)
{
	static const char *const states[] = {
		"0: NOP", "1: DOWN", "2: INIT", "3: ARMED", "4: ACTIVE", "5: ACTIVE_DEFER"
	};
	static const char *const phys[] = { "0: <unknown>",
		                            "1: Sleep",
		                            "2: Polling",
		                            "3: Disabled",
		                            "4: PortConfigurationTraining",
		                            "5: LinkUp",
		                            "6: LinkErrorRecovery",
		                            "7: Phy Test" };
	unsigned state = (unsigned)field_get(p->info, PI_PORT_STATE);
	unsigned phy = (unsigned)field_get(p->info, PI_PORT_PHYSICAL_STATE);
	uint8_t width = (uint8_t)field_get(p->info, PI_LINK_WIDTH_ACTIVE);
	uint8_t speed = port_info_speed(p->info);
	uint32_t rate = rate_speed(link_rate(width, speed));

	put(h, p->dir, "state", "%s", states[state <= 5 ? state : 0]);
	put(h, p->dir, "phys_state", "%s", phys[phy <= 7 ? phy : 0]);
	put(h, p->dir, "lid", "0x%x", (unsigned)field_get(p->info, PI_LID));
	put(h, p->dir, "lid_mask_count", "%u", (unsigned)field_get(p->info, PI_LMC));
	put(h, p->dir, "sm_lid", "0x%x", (unsigned)field_get(p->info, PI_MASTER_SM_LID));
	put(h, p->dir, "sm_sl", "%u", (unsigned)field_get(p->info, PI_MASTER_SM_SL));
	put(h, p->dir, "cap_mask", "0x%08x",
	    (unsigned)field_get(p->info, PI_CAPABILITY_MASK));
	put(h, p->dir, "link_layer", "InfiniBand");
	if (rate % 10 != 0) {
		put(h, p->dir, "rate", "%u.%u Gb/sec (%s %s)", rate / 10, rate % 10,
		    link_width_name(width), link_speed_name(speed));
	} else {
		put(h, p->dir, "rate", "%u Gb/sec (%s %s)", rate / 10,
		    link_width_name(width), link_speed_name(speed));
	}
}

static void put_gids(struct sim_host *h, const struct tree_port *p)
{
	uint64_t prefix = field_get(p->info, PI_GID_PREFIX);
	if (prefix == 0) { /* no SM has set it yet */
		prefix = 0xFE80000000000000u;
	}
	for (unsigned i = 0; i < GIDS; i++) {
		char file[32];
		uint64_t guid = field_get(p->guids, 64 * i, 64);
		snprintf(file, sizeof(file), "gids/%u", i);
		put(h, p->dir, file, GUID_FORMAT ":" GUID_FORMAT, GUID_WORDS(prefix),
		    GUID_WORDS(guid));
	}
}

static void put_pkeys(struct sim_host *h, struct tree_port *p)
{
	for (unsigned i = 0; i < p->n_pkeys; i++) {
		char file[32];
		uint16_t pkey = sim_pkey_at(h->s, p->port, i);
		if (p->written && p->pkeys[i] == pkey) {
			continue;
		}
		p->pkeys[i] = pkey;
		snprintf(file, sizeof(file), "pkeys/%u", i);
		put(h, p->dir, file, "0x%04x", pkey);
	}
}

static void refresh_port(struct sim_host *h, struct tree_port *p)
{
	const uint8_t *info = h->s->ports[p->port].info;
	const struct port *gp = &h->s->g->ports[p->port];
	struct sim_at at = { .node = gp->node, .port = gp->num };
	uint8_t guids[SMP_DATA_BYTES] = { 0 };

	sim_attr(h->s, &at, false, UMAD_SM_ATTR_GUID_INFO, 0, guids);
	bool new_info = memcmp(p->info, info, sizeof(p->info)) != 0;
	bool new_guids = memcmp(p->guids, guids, sizeof(guids)) != 0;
	memcpy(p->info, info, sizeof(p->info));
	memcpy(p->guids, guids, sizeof(guids));
	if (!p->written || new_info) {
		put_info(h, p);
	}
	if (!p->written || new_info || new_guids) {
		put_gids(h, p);
	}
	put_pkeys(h, p);
	p->written = true;
}

void sim_host_refresh(struct sim_host *h)
{
	pthread_mutex_lock(&h->s->lock);
	for (unsigned i = 0; i < h->n_ports; i++) {
		refresh_port(h, &h->ports[i]);
	}
	pthread_mutex_unlock(&h->s->lock);
}

static int add_ports(struct sim_host *h, unsigned i)
{
	const struct node *n = &h->s->g->nodes[h->nodes[i]];
	bool on_switch = n->type == NODE_SWITCH;
	unsigned first = on_switch ? 0 : 1;
	unsigned count = on_switch ? 1 : n->n_ports;

	if (VECTOR_RESERVE(h->ports, h->cap_ports, h->n_ports + count) != E_OK) {
		return -ENOMEM;
	}
	for (unsigned num = first; num < first + count; num++) {
		struct tree_port *p = &h->ports[h->n_ports];
		*p = (struct tree_port){ .port = n->first_port + num };
		snprintf(p->dir, sizeof(p->dir), "class/infiniband/sim%u/ports/%u", i,
		         num);
		p->n_pkeys = sim_partition_cap(n);
		p->pkeys = calloc(p->n_pkeys, sizeof(uint16_t));
		h->n_ports++;
		if (p->pkeys == NULL) {
			return -ENOMEM;
		}
		const char *const kinds[] = { "umad", "issm" };
		for (unsigned k = 0; k < 2; k++) {
			char dir[64], dev[64];
			snprintf(dir, sizeof(dir), "class/infiniband_mad/%s%u", kinds[k],
			         h->n_ports - 1);
			snprintf(dev, sizeof(dev), "dev/infiniband/%s%u", kinds[k],
			         h->n_ports - 1);
			put(h, dir, "ibdev", "sim%u", i);
			put(h, dir, "port", "%u", num);
			put_text(h, dev, "");
		}
	}
	return E_OK;
}

static int write_files(struct sim_host *h)
{
	int ret = mkdir(h->dir, 0755) == 0 ? E_OK : -errno;
	for (unsigned i = 0; ret == E_OK && i < h->n_nodes; i++) {
		put_node(h, i);
		ret = add_ports(h, i);
	}
	if (ret != E_OK) {
		return ret;
	}
	put(h, "class/infiniband_mad", "abi_version", "5");
	if (h->s->o.omni_path) { /* for sa/sim/preload_verbs.c */
		put(h, "class", "infiniband_omnipath", "1");
	}
	sim_host_refresh(h);
	return h->error;
}

int sim_host_new(struct sim *s, const char *dir, const uint32_t *nodes, unsigned n,
                 struct sim_host **ret_host)
{
	struct sim_host *h = calloc(1, sizeof(*h));
	if (h == NULL) {
		return -ENOMEM;
	}
	h->s = s;
	h->dir = strdup(dir);
	h->n_nodes = n;
	memcpy(h->nodes, nodes, n * sizeof(*nodes));
	int r = h->dir != NULL ? write_files(h) : -ENOMEM;
	if (r != E_OK) {
		sim_host_free(h);
		return r;
	}
	*ret_host = h;
	return E_OK;
}

void sim_host_free(struct sim_host *h)
{
	if (h == NULL) {
		return;
	}
	if (h->dir != NULL) {
		sim_tree_remove(h->dir);
	}
	for (unsigned i = 0; i < h->n_ports; i++) {
		free(h->ports[i].pkeys);
	}
	free(h->ports);
	free(h->dir);
	free(h);
}

const char *sim_host_dir(const struct sim_host *h)
{
	return h->dir;
}

bool sim_host_is(const struct sim_host *h, const uint32_t *nodes, unsigned n)
{
	return n == h->n_nodes && memcmp(nodes, h->nodes, n * sizeof(*nodes)) == 0;
}

uint32_t sim_host_port(const struct sim_host *h, uint32_t number)
{
	return number < h->n_ports ? h->ports[number].port : GRAPH_NONE;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	remove(path);
	return 0;
}

void sim_tree_remove(const char *dir)
{
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
