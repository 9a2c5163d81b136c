/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

struct sa_out;
struct sa_query;
struct snap_reader;

/*! \brief MCMemberRecord Set and Delete: the walks of rec_mcmember. */
int mcast_set(struct snap_reader *r, const struct sa_query *q, struct sa_out *out);
int mcast_delete(struct snap_reader *r, const struct sa_query *q, struct sa_out *out);
