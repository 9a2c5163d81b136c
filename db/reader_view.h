/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>

struct db;
struct ends_cache;
struct guid_cache;
struct key_cache;
struct policy_cache;
struct snap_reader;
struct view;

/*! \brief Reader on an open environment, of which a reference is taken. Private to this
 * room. */
int snap_reader_new(struct db *db, bool foreign, struct snap_reader **ret);

/*! \brief What a reader reads through. Private to this room. */
struct view *snap_view(struct snap_reader *r);

/*! \brief Where the answers by pair of P_Key sets of this epoch are kept; NULL inside: none
 * yet. Private to this room. */
struct key_cache **snap_key_cache(struct snap_reader *r);
void key_cache_free(struct key_cache *c);

/*! \brief Likewise the end ports by PortGUID. */
struct ends_cache **snap_ends_cache(struct snap_reader *r);
void ends_cache_free(struct ends_cache *c);

/*! \brief Likewise the end ports found by GUID. */
struct guid_cache **snap_guid_cache(struct snap_reader *r);
void guid_cache_free(struct guid_cache *c);

/*! \brief Likewise the policy. */
struct policy_cache **snap_policy_cache(struct snap_reader *r);
void policy_cache_free(struct policy_cache *c);
