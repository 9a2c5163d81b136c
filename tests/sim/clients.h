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

enum { CLIENT_RECORDS_MAX = 64 };

enum client_kind { CLIENT_SERVICE, CLIENT_MEMBER, CLIENT_SUBSCRIPTION, CLIENT_KINDS };

/*! A record whose registration was acknowledged. */
struct client_record {
	enum client_kind kind;
	uint64_t guid; /*!< of the port that registered it */
	uint64_t id;   /*!< ServiceID, low half of the MGID, or TrapNumber */
	bool there;    /*!< false: its end was acknowledged, too */
	bool known; /*!< false: its end was asked for, and nobody knows whether it came */
};

/*! The SA as clients meet it: answers from the snapshot and the records on disk. */
struct clients {
	struct sa_store *store;     /*!< of the present subnet manager */
	struct snap_reader *reader; /*!< of its snapshot */
	struct client_record record[CLIENT_RECORDS_MAX]; /*!< [n] */
	unsigned n, n_asked;
};

/*! \brief Opens store and reader of a subnet manager that was started. */
bool clients_open(struct run *r, struct manager *m);
void clients_close(struct manager *m);

/*! \brief A host registers a service, joins a group or subscribes to notices, or takes back what it
 * has. That is acknowledged, or the SA is not there yet, or its disk fails. */
bool clients_register(struct run *r, struct manager *m, uint32_t what);

/*! \brief Each acknowledged registration stands, and each acknowledged end, too. */
bool clients_check_records(struct run *r, struct manager *m);

/*! \brief Answers about paths between hosts, and the forwarding tables that are published,
 * equal what stands in the switches. */
bool clients_check_paths(struct run *r, struct manager *m, const struct graph *g,
                         const struct lids *lids, const struct lft *lft);
