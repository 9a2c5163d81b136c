/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct lft;
struct graph;
struct lids;
struct manager;
struct run;
struct sa_store;
struct snap_reader;

enum { SERVICES_MAX = 64 };

/*! The SA as clients meet it: answers from the snapshot and the records on disk. */
struct clients {
	struct sa_store *store;     /*!< of the present subnet manager */
	struct snap_reader *reader; /*!< of its snapshot */
	uint64_t service[SERVICES_MAX]; /*!< [n] ServiceIDs whose registration was acknowledged */
	unsigned n, n_asked;
};

/*! \brief Opens store and reader of a subnet manager that was started. */
bool clients_open(struct run *r, struct manager *m);
void clients_close(struct manager *m);

/*! \brief A host registers a service. It is acknowledged, or the SA is not there yet, or its disk
 * fails. */
bool clients_register(struct run *r, struct manager *m, uint32_t what);

/*! \brief Every service that was acknowledged is found. */
bool clients_check_services(struct run *r, struct manager *m);

/*! \brief Answers about paths between hosts, and the forwarding tables that are published,
 * equal what stands in the switches. */
bool clients_check_paths(struct run *r, struct manager *m, const struct graph *g,
                         const struct lids *lids, const struct lft *lft);
