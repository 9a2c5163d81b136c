/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "sa/mad/request.h"

/*!
 * SMP engine: sends many requests at the same time, retries them by its own timers, and shares
 * the window fairly between destinations. One thread; time is that of the transport.
 *
 * A request takes the directed route of its destination. The processor of each switch on the
 * way handles it, so it is slow. Where the caller knows routes by LID, the first try takes
 *   - the route to the LID of the destination, if it has one, else
 *   - the route to the LID of a neighbour, and one directed hop from there (mixed).
 * If that try is not answered, the destination is asked by its directed route from then on.
 * That try is not one of the request's retries. Destinations that share a probe are all asked by
 * directed routes when a few such requests were not answered and none was.
 *
 * Answers that belong to no request are ignored and counted (sa/mad/request.h). An answer by
 * LID comes from the LID that was asked. One over a directed route shows the route of its
 * request, and the ports by which the nodes on the way are entered, as far as they are known.
 *
 * On a fabric of Omni-Path fresh requests of one destination that wait one behind the other share a MAD: blocks
 * that follow each other as such, other attributes in an Aggregate. Each of them gets its own answer,
 * and those that a refused MAD says nothing of are sent again one by one.
 *
 * On a fabric of Omni-Path requests and answers are in InfiniBand's form nevertheless, and translated
 * (sa/mad/opa_smp.h); see smp_set_omni_path().
 */
enum { SMP_HOPS_MAX = 63 };

/*! Directed route: port[1] .. port[hops] are the egress ports from the local node on. */
struct smp_path {
	uint8_t hops;
	uint8_t port[SMP_HOPS_MAX + 1]; /*!< port[0] is unused, as on the wire */
	uint8_t n_back; /*!< how many of \a back are known, from the first on */
	/*! back[i]: port by which the i-th node is entered; answers return over these */
	uint8_t back[SMP_HOPS_MAX + 1];
};

struct smp_job;

/*! What became of requests by LID, or mixed, to some destinations. Owned by the caller. */
struct smp_probe {
	uint32_t answered, unanswered;
};

/*!
 * A destination: the unit of fairness. Owned by the caller, usually part of a node; must
 * outlive its requests. Only the engine uses the members other than path, the LIDs, probe, and dead.
 */
struct smp_dest {
	struct smp_path path;
	uint32_t lid;     /*!< tables lead to it and back; 0: not known */
	uint32_t via_lid; /*!< the same of a neighbour that is a switch; 0: none */
	uint8_t via_port; /*!< of the neighbour, towards the destination */
	bool keyed;       /*!< by smp_dest_set_key(); false: smp_limits.m_key */
	uint64_t m_key;   /*!< that its port holds */
	uint64_t m_key_next; /*!< that it is being given */
	struct smp_probe *probe; /*!< of requests that are not directed; NULL: none */
	bool not_by_lid; /*!< a request by LID or mixed was not answered: set by the engine */
	bool lid_answered; /*!< a request by LID was answered: set by the engine */
	bool not_joined;   /*!< its agent takes one request per MAD: set by the engine */
	bool dead; /*!< a request failed for good; all others fail immediately until
	              smp_dest_revive() */
	bool ready;
	uint16_t in_flight;
	uint16_t late; /*!< requests that timed out at least once and are not finished */
	TAILQ_HEAD(, smp_job) waiting;
	TAILQ_ENTRY(smp_dest) entry;
};

struct smp_reply {
	int ret;         /*!< E_OK, E_TIMEOUT, E_MALFORMED (status not zero) */
	uint16_t status; /*!< MAD status without the direction bit */
	uint8_t method;  /*!< of the request */
	uint16_t attr;
	uint32_t mod;
	const uint8_t *data; /*!< 64 bytes, NULL unless E_OK; borrowed for the call */
	const uint8_t
		*native; /*!< [native_len] as Omni-Path has it; NULL on InfiniBand */
	size_t native_len;
	struct smp_dest *dest;
	bool repeated; /*!< it was sent more than once, so another one may still arrive */
};

/*! Called once per request, never from inside smp_submit(). May submit. */
typedef void smp_done_f(void *ctx, const struct smp_reply *r);

struct smp_request {
	struct smp_dest *dest;
	uint8_t method; /*!< UMAD_METHOD_GET or UMAD_METHOD_SET */
	uint16_t attr;
	uint32_t mod;
	const uint8_t *data; /*!< 64 bytes, copied; NULL: zeros */
	/*! Omni-Path: the attribute as last read, for Sets of PortInfo and SwitchInfo; copied */
	const uint8_t *basis;
	/*! Omni-Path: not 0: attr, mod and, of a Set, data (so many bytes) are sent as they are */
	size_t native_len;
	/*! Omni-Path: the agent is an adapter's, which takes any attributes in one MAD; of those of
	 *  switches, whose rules are not public, only some share one */
	bool shares;
	unsigned retries;    /*!< tries after the first */
	bool without_m_key;  /*!< a program will read it, which may be anybody's */
	smp_done_f *done;
	void (*late)(
		void *ctx); /*!< its first try was not answered; may submit. NULL: none */
	void *ctx;
};

struct smp_limits {
	unsigned window;     /*!< most requests in flight, 0: the maximum */
	unsigned timeout_ms; /*!< of one try */
	uint64_t m_key;      /*!< host order */
};

struct smp_counters {
	uint64_t sent; /*!< sent SMPs, including retries */
	uint64_t retries;
	uint64_t timeouts; /*!< requests that failed without a response */
	uint64_t bad_status;
	uint64_t unexpected; /*!< late or duplicate responses, which are ignored */
	uint64_t forged; /*!< to requests that nobody sent, or not from where they went */
	uint64_t by_lid;     /*!< of sent: to the LID of their destination */
	uint64_t mixed;      /*!< of sent: to the LID of a neighbour */
	uint64_t repeated_directed; /*!< requests by LID or mixed that were not answered */
};

struct smp;

/*! \brief New engine over a transport (borrowed). \retval -ENOMEM */
int smp_new(struct transport *t, const struct smp_limits *l, struct smp **ret_smp);
void smp_free(struct smp *s);

/*! \brief New limits from the next request on. */
void smp_set_limits(struct smp *s, const struct smp_limits *l);

/*!
 * \brief Allows requests by LID, from the next one on.
 * \param lid  Of the local port, to which answers return; 0: directed routes only.
 */
void smp_set_lid(struct smp *s, uint32_t lid);

/*!
 * \brief From here on all nodes are Omni-Path's. Requests that wait or are in flight must not exist.
 * \param p_key_index  Of 0xFFFF in the table of the local port.
 */
void smp_set_omni_path(struct smp *s, uint16_t p_key_index);
bool smp_is_omni_path(const struct smp *s);
uint16_t smp_p_key_index(const struct smp *s); /*!< 0 on InfiniBand */

/*! \brief Prepares a destination, without LIDs. \a path is copied. */
void smp_dest_init(struct smp_dest *d, const struct smp_path *path);

/*!
 * \brief The M_Key of requests to a destination from the next try on.
 * \param next  The key that the port is being given: a try that is repeated takes turns between
 *              both, because an answer may have been lost. Else the same as \a key.
 */
void smp_dest_set_key(struct smp_dest *d, uint64_t key, uint64_t next);

/*! \brief Clears \a dead. The destination must have no waiting requests. */
void smp_dest_revive(struct smp_dest *d);

/*! \brief \a from plus one hop. \retval E_RANGE  Longer than SMP_HOPS_MAX. */
int smp_path_extend(const struct smp_path *from, uint8_t port, struct smp_path *ret_path);

/*! \brief Notes by which port a path enters its last node, if this is known of the nodes before. */
void smp_path_enter(struct smp_path *p, uint8_t port);

/*! \brief "0,1,5" as other tools print it; "0" is the local port. \return \a buf */
enum { SMP_PATH_TEXT = 4 * (SMP_HOPS_MAX + 1) };
const char *smp_path_text(const struct smp_path *p, char buf[SMP_PATH_TEXT]);

/*!
 * \brief Queues a request; the next smp_run() or smp_receive() sends it.
 * \retval -ENOMEM  \a request->done is not called.
 */
int smp_submit(struct smp *s, const struct smp_request *request);

/*! \brief Handles a received MAD: a response, or one of our SMPs that got none. */
enum mad_kind smp_receive(struct smp *s, const struct mad_msg *m);

/*! \brief Handles timeouts and sends. Call it once per iteration of the main loop. */
void smp_run(struct smp *s);

/*! \brief The time at which smp_run() has something to do; UINT64_MAX: never. */
uint64_t smp_deadline(const struct smp *s);

/*! \brief Number of requests that wait or are in flight. */
unsigned smp_pending(const struct smp *s);

/*!
 * What becomes of requests that write to the fabric: Sets of anything but SMInfo. A subnet manager
 * that may have been replaced holds them until it knows, and refuses them when it was.
 */
enum smp_writes {
	SMP_WRITES_GO,
	SMP_WRITES_WAIT, /*!< other requests overtake them; the time that they wait is no try */
	SMP_WRITES_REFUSED /*!< they fail with E_TIMEOUT and are not sent, also tries that are due */
};

void smp_set_writes(struct smp *s, enum smp_writes writes);

/*! \brief Drops all requests without calling done; their destinations may be freed then. */
void smp_abort(struct smp *s);

const struct smp_counters *smp_counters(const struct smp *s);
