/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/virtual_fabric.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/xml.h"
#include "conf/device_group.h"
#include "conf/named.h"
#include "conf/opafm_value.h"
#include "conf/option.h"

/* Values of one element each are rows of an option table: one parser, one way to say no.
 */

#define QOS(m) .offset = offsetof(struct vf_qos, m)
#define VF(m) .offset = offsetof(struct virtual_fabric, m)

/* clang-format off */
static const struct option_row qos_rows[] = {
	{ .name = "HighPriority", .type = OPT_BOOL, QOS(high_priority), .def = "0" },
	{ .name = "Bandwidth", .type = OPT_UINT, QOS(bandwidth), .def = "0", .max = 100,
	  .from_xml = opafm_percent, .xml_expected = "0% to 100%" },
	{ .name = "PktLifeTimeMult", .type = OPT_UINT, QOS(life_time_mult), .def = "1", .min = 1, .max = 1 << 19 },
	{ .name = "BaseSL", .type = OPT_INT, QOS(base_sl), .def = "-1", .max = 15 },
	{ .name = "MulticastSL", .type = OPT_INT, QOS(multicast_sl), .def = "-1", .max = 15 },
	{ .name = "FlowControlDisable", .type = OPT_BOOL, QOS(flow_control_disable), .def = "0" },
	{ .name = "PreemptRank", .type = OPT_UINT, QOS(preempt_rank), .def = "0", .max = 127 },
	{ .name = "HoqLife", .type = OPT_INT, QOS(hoq_life), .def = "-1", .max = 31,
	  .from_xml = opafm_life_time, .xml_expected = opafm_life_time_expected },
	{ .name = NULL }
};

static const char *const mtu_names[] = { "Unlimited", "256", "512", "1024", "2048", "4096", "8192",
	                                 "10240", NULL };

static const struct option_row fabric_rows[] = {
	{ .name = "Enable", .type = OPT_BOOL, VF(enable), .def = "0" },
	{ .name = "Standby", .type = OPT_BOOL, VF(standby), .def = "0" },
	{ .name = "Security", .type = OPT_BOOL, VF(security), .def = "0" },
	{ .name = "PKey", .type = OPT_UINT, VF(pkey), .def = "0", .min = 1, .max = 0x7fff,
	  .from_xml = opafm_pkey, .xml_expected = "a P_Key from 0x1 to 0x7fff" },
	{ .name = "MaxMTU", .type = OPT_ENUM, VF(max_mtu), .def = "Unlimited", .names = mtu_names },
	{ .name = "MaxRate", .type = OPT_UINT, VF(max_rate), .def = "0", .max = 10000,
	  .from_xml = opafm_rate, .xml_expected = "Unlimited or a rate such as 100g" },
	{ .name = "QOS", .type = OPT_BOOL, VF(qos), .def = "0" },
	{ .name = "QOSGroup", .type = OPT_STRING, VF(qos_group) },
	{ .name = NULL }
};
static const struct option_row group_rows[] = {
	{ .name = "Enable", .type = OPT_BOOL, .offset = 0, .def = "0" },
	{ .name = NULL }
};
/* clang-format on */

/* No value written: what the rows' own defaults would refuse to say. */
static const struct vf_qos no_qos = { .base_sl = -1, .multicast_sl = -1, .hoq_life = -1 };

struct qos_group {
	bool enable;
	struct vf_qos service;
};

struct fabric_reader {
	struct arena *arena;
	struct diags *d;
	const char *path;
	const struct device_groups *groups;
	struct named *group_names; /* of the device groups */
	struct named *apps, *qos;  /* [n_apps] [n_qos] */
	uint32_t n_apps, n_qos;
	struct qos_group *qos_groups;
	bool qos_in_use; /* a QOSGroup is enabled */
	int ret;
};

static void refuse_setting(struct fabric_reader *r, unsigned line, const char *what,
                           const char *name, const char *text)
{
	diag_add(r->d, DIAG_ERROR, r->path, line, "%s '%.64s': %s", what, name, text);
	r->ret = r->ret == E_OK ? E_SYNTAX : r->ret;
}

/* Stores e by a row of the sets. \return false: no row has its name */
static bool store(struct fabric_reader *r, const struct option_sets *sets,
                  const struct xml_element *e)
{
	if (option_find(sets, e->name) == NULL) {
		return false;
	}
	int ret = option_set_element(sets, r->arena, e->name, e->text, e->name, r->path,
	                             e->line, r->d);
	if (ret != E_OK && r->ret == E_OK) {
		r->ret = ret == -ENOMEM ? ret : E_SYNTAX;
	}
	return true;
}

static void warn_unknown(struct fabric_reader *r, const struct xml_element *e,
                         const char *where)
{
	diag_add(r->d, DIAG_WARNING, r->path, e->line,
	         "unknown element %.64s in a %s: no effect", e->name, where);
}

/* The multiplier rounded up to a power of two, as its exponent. */
static uint32_t exponent(uint32_t mult)
{
	uint32_t e = 0;
	while (UINT32_C(1) << e < mult) {
		e++;
	}
	return e;
}

/* --- QOSGroups ------------------------------------------------------------------- */

static int read_qos_groups(struct fabric_reader *r, const struct vf_sections *s)
{
	int ret = named_collect(r->path, s->qos_groups, s->n_qos_groups, "QOSGroup", NULL,
	                        0, r->arena, r->d, &r->qos, &r->n_qos);
	if (ret == -ENOMEM) {
		return ret;
	}
	r->ret = r->ret == E_OK ? ret : r->ret;
	r->qos_groups = arena_array(r->arena, r->n_qos, sizeof(*r->qos_groups));
	if (r->qos_groups == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < r->n_qos; i++) {
		struct qos_group *g = &r->qos_groups[i];
		struct option_sets sets = { .n = 0 };

		g->service = no_qos;
		option_sets_add(&sets, qos_rows, &g->service);
		option_sets_add(&sets, group_rows, &g->enable);
		for (const struct xml_element *e = r->qos[i].element->child; e != NULL;
		     e = e->next) {
			if (strcmp(e->name, "Name") != 0 && !store(r, &sets, e)) {
				warn_unknown(r, e, "QOSGroup");
			}
		}
		g->service.life_time_mult = exponent(g->service.life_time_mult);
		r->qos_in_use |= g->enable;
	}
	return E_OK;
}

/* --- VirtualFabrics -------------------------------------------------------------- */

static void read_member(struct fabric_reader *r, const struct xml_element *e,
                        uint32_t *list, uint32_t *n)
{
	uint32_t at = named_find(r->group_names, r->groups->n, e->text);

	if (at != NAMED_NONE) {
		list[(*n)++] = at;
		return;
	}
	named_unknown(r->group_names, r->groups->n, e->name, "device group",
	              "DeviceGroups", e->text, r->path, e->line, r->d);
	r->ret = r->ret == E_OK ? E_SYNTAX : r->ret;
}

static void read_application(struct fabric_reader *r, const struct xml_element *e,
                             uint32_t *list, uint32_t *n)
{
	uint32_t at = named_find(r->apps, r->n_apps, e->text);

	if (at != NAMED_NONE) {
		list[(*n)++] = at;
		return;
	}
	named_unknown(r->apps, r->n_apps, e->name, "application", "Applications", e->text,
	              r->path, e->line, r->d);
	r->ret = r->ret == E_OK ? E_SYNTAX : r->ret;
}

/* Does the fabric set quality of service itself? The first such element. */
static const struct xml_element *own_qos(const struct xml_element *fabric)
{
	const struct option_sets sets = { .set = { { .rows = qos_rows } }, .n = 1 };
	const struct xml_element *e = fabric->child;

	while (e != NULL && option_find(&sets, e->name) == NULL) {
		e = e->next;
	}
	return e;
}

static void take_qos_group(struct fabric_reader *r, struct virtual_fabric *vf,
                           const struct xml_element *element)
{
	uint32_t at = vf->qos_group != NULL ? named_find(r->qos, r->n_qos, vf->qos_group)
	                                    : NAMED_NONE;
	const struct xml_element *own = own_qos(element);

	if (vf->qos_group == NULL) {
		if (r->qos_in_use && vf->enable) {
			refuse_setting(r, vf->line, "VirtualFabric", vf->name,
			               "needs a QOSGroup, as one is enabled");
		}
		return;
	}
	if (at == NAMED_NONE) {
		named_unknown(r->qos, r->n_qos, "QOSGroup", "QOSGroup", "QOSGroups",
		              vf->qos_group, r->path,
		              xml_child(element, "QOSGroup")->line, r->d);
		r->ret = r->ret == E_OK ? E_SYNTAX : r->ret;
		return;
	}
	if (own != NULL) {
		refuse_setting(
			r, own->line, own->name, own->text,
			"the VirtualFabric has a QOSGroup, which says this for it");
	}
	if (vf->pkey == 0) {
		refuse_setting(r, vf->line, "VirtualFabric", vf->name,
		               "needs a PKey, as it has a QOSGroup");
	}
	if (!r->qos_groups[at].enable && vf->enable) {
		refuse_setting(r, vf->line, "VirtualFabric", vf->name,
		               "its QOSGroup is not enabled: <Enable>1</Enable> there");
	}
	vf->qos = true;
	vf->service = r->qos_groups[at].service;
}

static void read_fabric(struct fabric_reader *r, const struct named *from,
                        struct virtual_fabric *vf)
{
	uint32_t room = xml_count(from->element);
	uint32_t *members = arena_array(r->arena, room, sizeof(*members));
	uint32_t *limited = arena_array(r->arena, room, sizeof(*limited));
	uint32_t *apps = arena_array(r->arena, room, sizeof(*apps));
	struct option_sets sets = { .n = 0 };

	*vf = (struct virtual_fabric){ .name = from->name,
		                       .line = from->element->line,
		                       .service = no_qos,
		                       .members = members,
		                       .limited = limited,
		                       .applications = apps };
	if (members == NULL || limited == NULL || apps == NULL) {
		r->ret = -ENOMEM;
		return;
	}
	option_sets_add(&sets, fabric_rows, vf);
	option_sets_add(&sets, qos_rows, &vf->service);
	for (const struct xml_element *e = from->element->child; e != NULL; e = e->next) {
		if (strcmp(e->name, "Member") == 0) {
			read_member(r, e, members, &vf->n_members);
		} else if (strcmp(e->name, "LimitedMember") == 0) {
			read_member(r, e, limited, &vf->n_limited);
		} else if (strcmp(e->name, "Application") == 0) {
			read_application(r, e, apps, &vf->n_applications);
		} else if (strcmp(e->name, "Name") != 0 && !store(r, &sets, e)) {
			warn_unknown(r, e, "VirtualFabric");
		}
	}
	vf->service.life_time_mult = exponent(vf->service.life_time_mult);
	take_qos_group(r, vf, from->element);
}

/* --- all together ---------------------------------------------------------------- */

static void check_bandwidth(struct fabric_reader *r, const struct virtual_fabric *all,
                            uint32_t n)
{
	uint32_t sum = 0, most = 100;

	for (uint32_t i = 0; i < n; i++) {
		if (all[i].enable && !all[i].qos) {
			most = 95; /* the others share 5 per cent at least */
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct virtual_fabric *vf = &all[i];
		/* fabrics of one QOSGroup share its bandwidth */
		if (!vf->enable || !vf->qos || vf->service.high_priority ||
		    vf->qos_group != NULL) {
			continue;
		}
		sum += vf->service.bandwidth;
		if (sum > most && sum - vf->service.bandwidth <= most) {
			refuse_setting(
				r, vf->line, "VirtualFabric", vf->name,
				most == 100
					? "Bandwidth of the enabled ones adds up to more than 100%"
					: "Bandwidth adds up to more than 95%; the enabled ones without QOS need the rest");
		}
	}
}

/* An SL that one fabric has for multicast alone is nobody's BaseSL. */
static void check_multicast_sls(struct fabric_reader *r, const struct virtual_fabric *all,
                                uint32_t n)
{
	uint32_t base = 0; /* a bit per SL */

	for (uint32_t i = 0; i < n; i++) {
		if (all[i].enable && all[i].qos && all[i].service.base_sl >= 0) {
			base |= UINT32_C(1) << all[i].service.base_sl;
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct vf_qos *q = &all[i].service;
		if (all[i].enable && all[i].qos && q->multicast_sl >= 0 &&
		    q->multicast_sl != q->base_sl && (base >> q->multicast_sl & 1) != 0) {
			refuse_setting(r, all[i].line, "VirtualFabric", all[i].name,
			               "its MulticastSL is the BaseSL of another one");
		}
	}
}

static int read_fabrics(struct fabric_reader *r, const struct vf_sections *s,
                        struct virtual_fabrics *out)
{
	struct named *names = NULL;
	int ret = named_collect(r->path, s->fabrics, s->n_fabrics, "VirtualFabric", NULL,
	                        0, r->arena, r->d, &names, &out->n);
	struct virtual_fabric *all =
		ret != -ENOMEM ? arena_array(r->arena, out->n, sizeof(*all)) : NULL;

	if (all == NULL) {
		return -ENOMEM;
	}
	r->ret = r->ret == E_OK ? ret : r->ret;
	for (uint32_t i = 0; i < out->n && r->ret != -ENOMEM; i++) {
		read_fabric(r, &names[i], &all[i]);
	}
	check_bandwidth(r, all, out->n);
	check_multicast_sls(r, all, out->n);
	if (r->ret == E_OK) {
		r->ret = virtual_fabrics_assign(all, out->n, r->path, r->arena, r->d);
	}
	out->all = all;
	return r->ret == -ENOMEM ? -ENOMEM : E_OK;
}

int virtual_fabrics_parse(const char *path, const struct vf_sections *s,
                          const struct device_groups *groups, struct arena *a,
                          struct diags *d, const struct virtual_fabrics **ret_fabrics)
{
	struct fabric_reader r = { .arena = a, .d = d, .path = path, .groups = groups };
	struct virtual_fabrics *out = arena_alloc(a, sizeof(*out));

	if (out == NULL) {
		return -ENOMEM;
	}
	out->groups = groups;
	r.ret = applications_parse(path, s->applications, s->n_applications, a, d,
	                           &out->applications);
	if (r.ret == -ENOMEM) {
		return r.ret;
	}
	r.n_apps = out->applications.n;
	r.apps = arena_array(a, r.n_apps, sizeof(*r.apps));
	r.group_names = arena_array(a, groups->n, sizeof(*r.group_names));
	if (r.apps == NULL || r.group_names == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < groups->n; i++) {
		r.group_names[i].name = groups->groups[i].name;
	}
	for (uint32_t i = 0; i < r.n_apps; i++) {
		r.apps[i].name = out->applications.all[i].name;
	}
	int ret = read_qos_groups(&r, s);
	if (ret == E_OK) {
		ret = read_fabrics(&r, s, out);
	}
	if (ret == E_OK && r.ret == E_OK) {
		*ret_fabrics = out;
	}
	return ret != E_OK ? ret : r.ret;
}
