/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "sa/record/record.h"

/*!
 * The table of all attributes. Nothing that the table lists depends on it.
 */
/*! All attributes: no two have the same version, number and a method in common. */
extern const struct sa_attr *const sa_attrs[];
extern const unsigned n_sa_attrs;

/*! \param methods  Any of them. \return NULL: not served. */
const struct sa_attr *sa_attr_find(uint8_t version, uint16_t id, unsigned methods);

extern const struct sa_attr rec_mcmember, rec_class_port_info, rec_node, rec_port_info, rec_slvl_table,
	rec_switch_info, rec_linear_ft, rec_mcast_ft, rec_sm_info, rec_link, rec_guid_info,
	rec_p_key_table, rec_path, rec_path_trace, rec_vl_arb, rec_trace, rec_multi_path,
	rec_service, rec_inform_info, rec_inform_info_record;

extern const struct sa_attr opa_class_port_info, opa_node, opa_port_info, opa_switch_info,
	opa_linear_ft, opa_sm_info, opa_link, opa_p_key_table, opa_path, opa_mcast_ft,
	opa_vl_arb, opa_port_group_ft, opa_port_group_table, opa_sl_to_sc, opa_sc_to_sl,
	opa_sc_to_sc, opa_sc_to_vl_t, opa_sc_to_vl_nt, opa_sc_to_vl_r, opa_fabric_info,
	opa_device_tree, opa_vf_info, opa_mcmember, opa_service, opa_inform_info,
	opa_inform_info_record, opa_trace, opa_path_trace;

/*! Attributes that have no records here. */
enum { OPA_NONE = 11 };
extern const struct sa_attr opa_none[OPA_NONE];
