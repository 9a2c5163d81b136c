/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "sa/path/path_query.h"

/*!
 * Records of a snapshot as JSON: names are the specification's in snake case. No HTTP, so
 * the command line prints the same. NULL (or -ENOMEM) means out of memory; all are owned
 * by the caller.
 */

/*! A PathRecord is text, without a NUL, because millions of them are written. */
enum { PATH_RECORD_BYTES = 640, PATH_BRIEF_BYTES = 192 };

/*! \brief A PathRecord plus mtu_bytes, rate_gbps and hop_count. \return The end, at most
 * PATH_RECORD_BYTES behind \a p. */
char *path_record_put(char *p, const struct path_record *rec);

/*! \brief Its members of an answer to many pairs: slid, dlid, sl, p_key, mtu, rate,
 * packet_life_time, hop_count, reversible. \return The end, at most PATH_BRIEF_BYTES behind \a p. */
char *path_brief_put(char *p, const struct path_record *rec);

/*! \brief [{"guid","name","description","lid","in_port","out_port"}]. \retval E_MALFORMED
 * A hop's node is not in the snapshot. */
int path_hops_json(struct snap_reader *r, const struct path_hop *hops, unsigned n,
                   json_t **ret_json);

/*! \brief A node; with its ports when \a ports. */
int node_json(struct snap_reader *r, const struct snap_node *node, bool ports,
              json_t **ret_json);

/*! \brief The owner of a LID range. */
int end_json(struct snap_reader *r, const struct snap_end *end, json_t **ret_json);

/*! \brief Head of the epoch: identity, counts, LIDs, stages of the sweep. */
json_t *fabric_json(const struct snap_meta *m);

/*! \brief Name of an SMInfo.SMState. */
const char *fabric_sm_state(uint8_t state);

/*! \brief Engine asked and used, fallback, proof, load. */
json_t *routing_json(const struct snap_meta *m);

/*! \brief SL-to-VL rule: null where SL n takes VL n. \retval E_MALFORMED -ENOMEM */
int vl_rule_json(struct snap_reader *r, json_t **ret_json);
