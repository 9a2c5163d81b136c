/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/sim/options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/err.h"
#include "conf/option.h"
#include "tests/sim/simulate.h"

enum { VALUES_MAX = 4 };

/* Values that are drawn in place of the default. */
static const struct {
	const char *key, *value[VALUES_MAX];
} values[] = {
	{ "qos", { "TRUE", "TRUE", "FALSE" } },
	{ "qos_max_vls", { "2", "3", "8" } },
	{ "qos_high_limit", { "0", "10", "255" } },
	{ "qos_vlarb_high", { "0:32,1:16", "0:4", "2:64,3:8,0:1" } },
	{ "qos_vlarb_low", { "0:1,1:2,2:3", "0:64,1:64", "1:4,0:9" } },
	{ "qos_sl2vl",
	  { "0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3", "1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0" } },
	{ "qos_ca_max_vls", { "2", "4" } },
	{ "qos_swe_high_limit", { "7", "255" } },
	{ "qos_sw0_vlarb_low", { "0:7,1:5" } },
	{ "use_optimized_slvl", { "FALSE" } },
	{ "max_op_vls", { "2", "3", "4" } },
	{ "max_op_vls_ca", { "2", "3" } },
	{ "max_op_vls_sw", { "3", "4" } },
	{ "max_neighbor_mtu", { "3", "4", "5" } },
	{ "vl_stall_count", { "3", "6" } },
	{ "leaf_vl_stall_count", { "2", "5" } },
	{ "head_of_queue_lifetime", { "0x10", "0x13", "31" } },
	{ "leaf_head_of_queue_lifetime", { "0x0c", "0x11" } },
	{ "local_phy_errors_threshold", { "4", "15" } },
	{ "overrun_errors_threshold", { "5", "0" } },
	{ "force_link_speed", { "1", "7", "0" } },
	{ "force_link_speed_ext", { "1", "30", "0" } },
	{ "force_link_width", { "2", "3", "0" } },
	{ "packet_life_time", { "0x10", "0x0e" } },
	{ "subnet_timeout", { "17", "20" } },
	{ "client_rereg_mode", { "1" } },
	{ "lmc_esp0", { "TRUE", "1", "2" } },
	{ "m_key", { "0x1234", "0xfedcba9876543210" } },
	{ "m_key_per_port", { "FALSE" } },
	{ "m_key_protection_level", { "0", "2", "3" } },
	{ "m_key_lease_period", { "30", "1000" } },
	{ "sm_key", { "0x77" } },
	{ "sm_sl", { "1", "2" } },
	{ "part_enforce", { "in", "out", "off" } },
	{ "allow_both_pkeys", { "TRUE" } },
	{ "keep_pkey_indexes", { "FALSE" } },
	{ "path_selection", { "pairwise", "orderall", "srcdstall" } },
	{ "local_sweeps_check", { "1", "3" } },
	{ "audit_interval", { "20", "60" } },
	{ "max_wire_smps", { "1", "4", "0" } },
	{ "transaction_timeout", { "100", "400" } },
	{ "transaction_retries", { "4", "6" } },
	{ "rebalance", { "ask", "never" } },
	{ "rebalance_quiet", { "5", "20" } },
	{ "rebalance_gain", { "1", "30" } },
	{ "hm_num_flapping_sweeps", { "2" } },
	{ "hm_num_no_resp_sweeps", { "2" } },
	{ "hm_num_set_err_sweeps", { "2" } },
	{ "hm_num_traps", { "5" } },
	{ "sminfo_polling_timeout", { "100", "1000" } },
	{ "polling_retry_number", { "3", "6" } },
	{ "sm_assigned_guid", { "7" } },
	{ "sa_groups_per_port", { "3" } },
};

/* clang-format off */
/* Files that an option names: in the first lines all hosts are members, so that each pair has a path. */
static const struct {
	const char *key, *text[VALUES_MAX];
} files[] = {
	{ "partition_config_file",
	  { "Default=0x7fff,ipoib:ALL=full;\nRed=0x10,ipoib,sl=1,mtu=4,rate=3:ALL_CAS=full;\n",
	    "Default=0x7fff:ALL=both,SELF=full;\nStore=0x20,indx0:ALL_SWITCHES=full,SELF;\nJob=0x30,defmember=both:ALL;\n",
	    "Default=0x7fff:ALL=full;\nA=0x1,ipoib:SELF=full,ALL=limited;\nB=0x2:ALL_CAS=full;\nC=0x3,sl=2:ALL=full;\n" } },
	{ "qos_policy_file",
	  { "qos-levels\nqos-level\nname: DEFAULT\nsl: 0\nend-qos-level\nqos-level\nname: fast\nsl: 1\nmtu-limit: 4\n"
	    "rate-limit: 3\npacket-life: 10\nend-qos-level\nend-qos-levels\nqos-match-rules\nqos-match-rule\n"
	    "qos-level-name: fast\nservice-id: 0x100-0x1ff\nend-qos-match-rule\nend-qos-match-rules\n" } },
	{ "prefix_routes_file",
	  { "0xfec0000000000000 *\n", "* 0x100\n0xfec0000000000001 0x200\n" } },
};
/* clang-format on */

static bool set(struct run *r, const char *key, const char *value)
{
	return option_set(&r->sets, r->a, key, value, "test", 1, &r->diags) == E_OK ||
	       run_fail(r, "%s %s: %s", key, value, diags_first_error(&r->diags));
}

/* The file is in the folder of the run, and its name is the same in all runs, because messages and the snapshot
 * have it. */
static bool set_file(struct run *r, const char *key, const char *text)
{
	int top = open(".", O_RDONLY | O_DIRECTORY);
	bool there = top >= 0 && chdir(r->dir) == 0;
	FILE *f = there ? fopen(key, "w") : NULL;
	bool good = f != NULL && fputs(text, f) != EOF && fclose(f) == 0;

	good = good ? set(r, key, key)
	            : run_fail(r, "cannot write %s: %s", key, strerror(errno));
	if (there && fchdir(top) != 0) {
		good = run_fail(r, "cannot leave %s: %s", r->dir, strerror(errno));
	}
	if (top >= 0) {
		close(top);
	}
	return good;
}

/* One of the values; NULL: the default. */
static const char *draw(uint32_t *state, const char *const value[VALUES_MAX])
{
	unsigned n = 0, k;

	while (n < VALUES_MAX && value[n] != NULL) {
		n++;
	}
	*state = *state * UINT32_C(1664525) + UINT32_C(1013904223);
	k = *state >> 16;
	return k % 3 == 0 ? value[k / 3 % n] : NULL;
}

bool options_draw(struct run *r, uint32_t seed)
{
	uint32_t state = seed * UINT32_C(2654435761);
	bool good = true;

	for (unsigned i = 0; good && i < sizeof(values) / sizeof(*values); i++) {
		const char *value = draw(&state, values[i].value);

		good = value == NULL || set(r, values[i].key, value);
	}
	for (unsigned i = 0; good && i < sizeof(files) / sizeof(*files); i++) {
		const char *text = draw(&state, files[i].text);

		good = text == NULL || set_file(r, files[i].key, text);
	}
	return good;
}
