/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/record/attributes.h"

#include <stddef.h>

const struct sa_attr *const sa_attrs[] = {
	&rec_class_port_info,
	&rec_node,
	&rec_port_info,
	&rec_slvl_table,
	&rec_switch_info,
	&rec_linear_ft,
	&rec_mcast_ft,
	&rec_sm_info,
	&rec_link,
	&rec_guid_info,
	&rec_p_key_table,
	&rec_path,
	&rec_vl_arb,
	&rec_trace,
	&rec_path_trace,
	&rec_multi_path,
	&rec_mcmember,
	&rec_service,
	&rec_inform_info,
	&rec_inform_info_record,
	/* Omni-Path; those above are found first by name */
	&opa_class_port_info,
	&opa_node,
	&opa_port_info,
	&opa_switch_info,
	&opa_linear_ft,
	&opa_sm_info,
	&opa_link,
	&opa_p_key_table,
	&opa_path,
	&opa_mcast_ft,
	&opa_vl_arb,
	&opa_port_group_ft,
	&opa_port_group_table,
	&opa_sl_to_sc,
	&opa_sc_to_sl,
	&opa_sc_to_sc,
	&opa_sc_to_vl_t,
	&opa_sc_to_vl_nt,
	&opa_sc_to_vl_r,
	&opa_fabric_info,
	&opa_device_tree,
	&opa_vf_info,
	&opa_trace,
	&opa_path_trace,
	&opa_mcmember,
	&opa_service,
	&opa_inform_info,
	&opa_inform_info_record,
	&opa_none[0],
	&opa_none[1],
	&opa_none[2],
	&opa_none[3],
	&opa_none[4],
	&opa_none[5],
	&opa_none[6],
	&opa_none[7],
	&opa_none[8],
	&opa_none[9],
	&opa_none[10],
};
const unsigned n_sa_attrs = sizeof(sa_attrs) / sizeof(sa_attrs[0]);

const struct sa_attr *sa_attr_find(uint8_t version, uint16_t id, unsigned methods)
{
	for (unsigned i = 0; i < n_sa_attrs; i++) {
		if (sa_attrs[i]->id == id && sa_attrs[i]->version == version &&
		    (sa_attrs[i]->methods & methods) != 0) {
			return sa_attrs[i];
		}
	}
	return NULL;
}
