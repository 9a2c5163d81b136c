/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sa/record/attributes.h"
#include "sa/record/record.h"
#include "tests/e2e/umad_port.h"

/*!
 * A differential run: the same pseudo-random queries to the subnet administration of two
 * subnet managers on the same fabric, and what they answered differently.
 *
 *   sa_differential write
 *   sa_differential read                          > VALUES
 *   sa_differential ask VALUES SEED FIRST COUNT [policy]   > ANSWERS
 *   sa_differential compare VALUES ANSWERS ANSWERS [PLAIN-VALUES] > DIFFERENCES
 *
 * `write` sets records of the kinds that clients write. `read` prints every record that
 * the SA of the local port's subnet has, `ask` makes query number FIRST and the following
 * ones out of these values and the seed and writes a line each; with `policy` all are for
 * paths, most by service ID, QoS class or P_Key. `compare` writes a line per query that
 * was answered differently; of a run with a policy it takes the values of one without,
 * for what paths have room for. A query depends on values, seed and its number alone, so
 * a run can be cut into shards.
 *
 * Queries are those that read: Get, GetTable and GetMulti of each attribute. Not asked is
 * what gets no answer from some SM (an unknown attribute, a wrong SM_Key): it takes a
 * time-out to see that, and a time-out may also be a busy machine.
 */
enum { DIFF_DATA_BYTES = 200, DIFF_SM_KEY = 1 };

struct diff_query {
	const struct sa_attr *attr;
	uint64_t number, mask;
	uint32_t attr_mod;
	uint8_t method;
	bool trusted;
	uint8_t data[DIFF_DATA_BYTES];
};

/*! Attributes that are asked for. */
extern const struct diff_attr {
	const struct sa_attr *attr;
	unsigned weight; /*!< how often, of the sum of all */
} diff_attrs[];
extern const unsigned n_diff_attrs;

/*! \brief Index into diff_attrs, or -1. */
int diff_attr_by_name(const char *name);

/*! Records of the fabric, per attribute of diff_attrs. */
struct diff_values {
	struct diff_value_list {
		uint8_t *data; /*!< n records of attr->size bytes */
		size_t n, cap;
	} * lists;
	bool policy; /*!< queries that a quality-of-service policy decides about */
};

/*! \brief Reads what `read` wrote; ends the program with a message when it cannot. */
void diff_values_read(const char *path, struct diff_values *ret_values);
void diff_values_free(struct diff_values *v);

/*! \brief The query with this number. */
void diff_query_make(const struct diff_values *v, uint64_t seed, uint64_t number,
                     struct diff_query *ret_query);

/* Through libibumad: */
struct diff_port {
	struct host_port host;
	uint32_t tid; /*!< of the last table that was read: each has its own, as RMPP needs */
};
void diff_port_open(struct diff_port *ret_port);
void diff_port_close(struct diff_port *p);

/*! \brief Asks queries first .. first + count - 1, writes a line each, in order. */
void diff_ask(struct diff_port *p, const struct diff_values *v, uint64_t seed,
              uint64_t first, uint64_t count, FILE *out);

/*! \brief Sets a record; ends the program when it is refused. */
void diff_set(struct diff_port *p, const struct diff_query *q);

/*! \brief Sets services, groups and subscriptions. */
void diff_write(struct diff_port *p);

/*! \brief Writes every record of every attribute. */
void diff_read(struct diff_port *p, FILE *out);

/*! \brief Compares two streams of answers. \return How many queries were answered
 * differently. */
uint64_t diff_compare(const struct diff_values *v, FILE *a, FILE *b, FILE *out);

/*! A request, and what the second side answered. */
struct diff_asked {
	const struct sa_attr *attr;
	uint64_t mask;
	const char *request; /*!< hexadecimal */
	const uint8_t *records;
	size_t n;
	bool get; /*!< one record is enough */
};

/*!
 * \brief Writes " facts=..." : what the fabric's values say about a request for paths and
 *        its answer, by rules of the specification alone; nothing for other attributes.
 */
void diff_write_facts(FILE *out, const struct diff_values *v, const struct diff_asked *q);

/*! \brief Is it kept in answers? Fields that differ in every record are cleared. */
bool diff_is_compared(const struct sa_attr *attr, unsigned component);

/*! \brief Is it the base LID of a switch? */
bool diff_is_switch(const struct diff_values *v, uint64_t lid);

/*! \brief A component of at most 64 bits, of a GID the GUID. */
uint64_t diff_get(const struct sa_attr *attr, const char *name, const uint8_t *record);
void diff_put(const struct sa_attr *attr, const char *name, uint8_t *record, uint64_t to);

/*! \brief Makes LIDs that a request names the base LIDs of their ports. */
void diff_own_base_lids(const struct diff_values *v, const struct sa_attr *attr,
                        uint8_t *record);

/*! \brief Copies a component. */
void diff_copy_bits(const struct sa_field *f, const uint8_t *from, uint8_t *to);

void diff_hex(FILE *out, const uint8_t *data, size_t n);
/*! \return Bytes, or -1 when it is no hexadecimal text of at most \a max bytes. */
int diff_unhex(const char *text, uint8_t *ret_bytes, size_t max);
_Noreturn void diff_die(const char *what, const char *of);
