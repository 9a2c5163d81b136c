/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct state;

/*!
 * The link between saguarods of one subnet: the master gives its durable state to the standbys,
 * so that client records and LIDs survive a takeover (doc/decisions/0013).
 *
 * A standby connects to its peers in turn until one says that it is master. It gets a whole copy
 * and then each transaction, which it stores before it acknowledges it. The master may let its
 * commits wait for that (wait_ms). A standby that is too slow is dropped, and gets a new copy
 * when it connects again. The election decides which side gives and which one takes.
 *
 *            .--connect, TLS, HELLO: no master--.
 *            v                                  |
 *   (standby) next peer --HELLO: master--> copy --COPY_END--> in step --silent, closed--.
 *            ^                                                                          |
 *            '--------------------------------------------------------------------------'
 *
 * The copy may be used as long as it was in step when the master was alive last: no poll of the
 * master over the fabric that began after the link was lost has been answered. Else the master
 * has gone on without us.
 *
 * A standby that was master before gives what it was told since another one had all of its rows,
 * and then gets its copy (sa/standby/join.h).
 *
 * A thread of its own does all input and output. All functions are for the fabric thread.
 */
struct standby;

enum standby_role { STANDBY_IDLE, STANDBY_GIVES, STANDBY_TAKES };

struct standby_options {
	const char *listen; /*!< "ADDR:PORT", NULL: no standby can connect */
	const char *peers;  /*!< "HOST:PORT[,HOST:PORT...]", NULL: none */
	const char *secret; /*!< file, see sa/standby/secret.h */
	uint32_t wait_ms;   /*!< how long a commit waits for standbys; 0: it does not */
	uint32_t storing_ms; /*!< a standby that takes or stores its copy may be silent for so
	                          long; 0: a minute */
	uint64_t guid, prefix; /*!< port GUID of this SM, subnet prefix */
	struct state *state;   /*!< borrowed */
	void (*changed)(
		void *ctx); /*!< a standby has its copy, our master is lost, or there
	                                 are news; any thread. May be NULL */
	void *ctx;
};

/*!
 * \param ret_why  On failure a sentence in \a a.
 * \retval E_SYNTAX  An address. \retval -ENOTSUP  Built without GnuTLS.
 * \retval others  The secret cannot be used, or the address cannot be listened on.
 */
int standby_new(const struct standby_options *o, struct arena *a, const char **ret_why,
                struct standby **ret_standby);
/*! \brief Ends the link, before the state is closed. NULL is fine, for all functions below, too:
 *  there is no link. */
void standby_free(struct standby *l);

/*! \brief Port that it listens on; 0: none. */
unsigned standby_port(const struct standby *l);

/*! \brief From now on we give, take, or neither. */
void standby_set_role(struct standby *l, enum standby_role role);

/*! \brief Do we hear the master, and have all that it said? To be asked when a poll is sent. */
bool standby_hears(struct standby *l);

/*!
 * \brief Was the link with the master, or with a standby that had its copy, lost? Has a standby its
 *        copy? Each is told once.
 */
bool standby_lost(struct standby *l);
bool standby_arrived(struct standby *l);

/*! \brief Was the state changed by what a master was told that is our standby now
 *         (sa/standby/join.h)? Told once. */
bool standby_joined(struct standby *l);

enum standby_news { STANDBY_NO_NEWS, STANDBY_PAUSED, STANDBY_RESUMED };

/*!
 * \brief Does the copy pause because it cannot be stored, or go on after that? Each is told once.
 * \param why  [why_bytes] What is wrong and what to do, or what was copied; "" stays without news.
 */
enum standby_news standby_news(struct standby *l, char *why, size_t why_bytes);

/*! \brief The master answered the poll that was sent when standby_hears() was asked last and said
 *  false. The copy lags, unless the master was heard since. */
void standby_outlived(struct standby *l);

/*!
 * \brief Ends to take, and begins to give.
 * \param from  Port GUID of the master whose place we take.
 * \param why   [why_bytes] What was copied, or why the copy is of no use.
 * \return true: the state is a copy in step with that master.
 */
bool standby_take_over(struct standby *l, uint64_t from, char *why, size_t why_bytes);

/*!
 * \brief Has the standby all that was committed? Waits for it up to \a wait_ms.
 */
bool standby_in_step(struct standby *l, uint64_t guid, uint32_t wait_ms);

/*! \brief Has the SM with this port GUID shown over the link, since the start, that it knows the secret?
 *  false without a link. Any thread. */
bool standby_knows(struct standby *l, uint64_t guid);

struct standby_status {
	enum standby_role role;
	bool connected,
		in_step; /*!< taking: with the master; giving: with any standby, with all */
	unsigned n_standbys, n_in_step; /*!< giving */
	uint64_t master; /*!< taking: port GUID of the one that gave last, 0: none yet */
	uint64_t sequence;    /*!< last transaction given or stored */
	uint64_t rows, bytes; /*!< taking: of the last whole copy */
	bool paused;    /*!< taking: the copy cannot be stored, see standby_pause.c */
	uint64_t tries; /*!< how often that was tried again */
	uint64_t copies,
		dropped; /*!< whole copies that were given or stored; standbys dropped for being slow */
	char trouble[200]; /*!< why it is not connected or the copy was refused, "" */
};

void standby_status(struct standby *l, struct standby_status *ret_status);
