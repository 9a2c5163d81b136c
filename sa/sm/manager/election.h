/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/base/log.h"
#include "sa/mad/fields.h"
#include "sa/mad/smp.h"

struct arena;
struct disc;
struct sm;

/*!
 * Election: who is master of this subnet?
 *
 *                        .--another is master, or should be--> STANDBY --DISABLE--.
 *                        |                                      |  |  ^            |
 *   DISCOVERING ---------+               .--the master is gone--'  |  '--STANDBY--NOT-ACTIVE
 *     ^                  |               |       or DISCOVER       |
 *     '------------------(---------------'                         |
 *                        |                                      HANDOVER
 *                        '--no other is--> MASTER <----------------'
 *                                            '--HANDOVER to a higher one--> STANDBY
 *
 * Names in capitals on arrows are AttributeModifiers of a Set(SMInfo). The other master sends
 * them, and we take them only with our SM_Key.
 *
 * Another SM is believed if it runs on the port that it names, if that port is in
 * allowed_sm_guids, and if it shows our SM_Key. It is no reason to become standby else, only a
 * warning. With an m_key, our SM_Key is shown only to those who know the M_Key.
 *
 * Rank: the higher priority, at equal priority the lower GUID. Ports with the IsSM bit are
 * asked for SMInfo: all of them during a heavy and a light sweep, one when trap 144 reports
 * that its bit changed. 
 *
 * Only SMs that are believed count, and of these the announced ones (sa/sm/discover/trust.h). One
 * that nobody announced is an alarm, and counts in two cases, as one that is respected:
 *   - Until we were master, or stood by for an announced one, all are respected: the fabric may
 *     have been another's before we started, and of two that start together one has to give way.
 *   - A master that finds one beside it that it stood by for before hands over to that one: at once
 *     if it is higher, else after STAYS_MS, in which a lower one that knows us hands over to us.
 *
 *   - Before we are master, any other master wins, and so does a higher SM that is no master
 *     yet.
 *   - A master hands over to a higher SM that it sees: Set(SMInfo) HANDOVER. It is standby
 *     when that is answered, and sends it again as long as the other one answers polls as
 *     standby. An SM that is DISCOVERING gets none: it may lose it, and will be standby. A
 *     lower master is expected to hand over to us.
 *   - A HANDOVER that comes while we are DISCOVERING is refused as long as the port that
 *     sent it is not found. OpenSM is standby all the same from then on. So it counts after
 *     all if that SM is found as standby, and nobody else is master.
 *   - A standby asks the master every sminfo_polling_timeout. The master is gone after
 *     polling_retry_number polls without a good answer, and at once if its port has lost the
 *     IsSM bit, which each poll reads, too. While it is silent, polls follow each other a little
 *     faster, so that the answer to the last one is overdue polling_retry_number *
 *     sminfo_polling_timeout after the last good answer. A standby that is higher than the
 *     master says so by trap 144.
 *   - An SM that did not become master although we waited for it is passed over: we become
 *     master and hand over to it. If it does not take the fabric then, we keep it, and
 *     offer it again after HANDOVER_PAUSE_MS, or when it is master after all. A higher master
 *     that refuses, because it has not found our port yet, gets it again after REFUSED_PAUSE_MS,
 *     then less and less often, and when it says by trap 144 that it is there.
 *
 *   - Where a link to standbys is configured, a higher SM is handed over to when it has a copy
 *     of our state, or after HANDOVER_COPY_MS. Clients get no answers meanwhile.
 *
 *   - A master that may have been replaced asks at once who is master (election_doubt()), and
 *     writes nothing until it knows. The lower one of two masters writes nothing any more from
 *     the moment when it sees the higher one, and hands over without waiting for a copy: what
 *     it was told is joined later (sa/standby/join.h). The higher one tells the lower one by
 *     trap 144 that it is there.
 *   - A second master that hands over writes nothing any more. One that is restarted says
 *     nothing. So a master remembers whom it saw as master beside it. When such an SM is no
 *     master any more, is silent, or its port is gone, this counts as a HANDOVER.
 *
 *   - An operator may give the fabric to the highest other SM. Our priority is 0 from then on,
 *     so that it does not come back at once.
 *
 * Source: IBA vol. 1, 14.4.1 (SM states), 14.2.5.13 (SMInfo), 13.4.9 (trap 144).
 */

/*! SMInfo.SMState. */
enum sm_state { SM_NOT_ACTIVE, SM_DISCOVERING, SM_STANDBY, SM_MASTER };

/*! AttributeModifier of Set(SMInfo). */
enum sm_control { SM_HANDOVER = 1, SM_ACKNOWLEDGE, SM_DISABLE, SM_STAND_BY, SM_DISCOVER };

enum {
	HANDOVER_PAUSE_MS =
		60000, /*!< until a fabric that was not taken is offered again */
	REFUSED_PAUSE_MS =
		1000, /*!< the same of a master, which may not have found us yet; it
	                             doubles up to HANDOVER_PAUSE_MS */
	HANDOVER_COPY_MS = 10000, /*!< that a higher SM has to copy our state */
	DOUBT_AGAIN_MS = 1000,    /*!< between questions who is master */
	DISCOVERING_MS =
		30000, /*!< that one which nobody announced may be DISCOVERING while we wait */
	STAYS_MS =
		5000, /*!< that a lower master, which nobody announced, has to hand over to us */
	JOIN_GAP_MS =
		10000, /*!< between sweeps for masters that hand over to a master ... */
	JOIN_GAP_MAX_MS =
		640000, /*!< ... and at most, when one that nobody announced goes on and on */
	ELECTION_RESPECTED = 8, /*!< masters that are remembered */
	ELECTION_SEEN = 8,      /*!< SMs that are remembered, master or not */
	ELECTION_BESIDE = 8,    /*!< masters beside us that are remembered */
	MISSED_MS = 600000, /*!< that an SM is missed whose port is not found any more */
	ELECTION_LOOKS = 16 /*!< ports whose trap 144 waits for a look */
};

/*! Another subnet manager. */
struct other_sm {
	uint64_t guid; /*!< 0: none */
	uint32_t lid;
	uint8_t priority, state;
	bool announced; /*!< sa/sm/discover/trust.h; else respected, see struct election */
	bool hides_key; /*!< it showed another SM_Key than ours, perhaps 0 */
	struct smp_path path;
};

/*! What others answer beside a sweep. */
struct sm_answers {
	struct other_sm master, other; /*!< the highest, as in struct election */
	unsigned pending;
};

struct election {
	struct sm *sm;
	enum sm_state state;
	bool swept; /*!< a heavy sweep ended well since we became master */
	struct other_sm highest_master; /*!< among those asked last */
	struct other_sm highest_other;  /*!< the same, neither MASTER nor NOT-ACTIVE */
	struct other_sm master; /*!< whom we hand over to, or wait for while standby */
	struct smp_dest master_dest;
	uint64_t waits_until; /*!< ms; for it to be master, if nobody announced it */
	bool master_alive;
	unsigned missed;        /*!< polls without a good answer, in a row */
	bool master_answers;    /*!< the last poll was answered */
	uint8_t master_said;    /*!< its state in that answer */
	bool master_left;       /*!< its port has lost the IsSM bit */
	bool offered;           /*!< we handed over to it */
	uint64_t
		priority_trap_ms; /*!< ms; the last trap 144 about our priority, 0: none */
	bool others_wrote;      /*!< another SM was master since our copies were made */
	bool others_assigned;   /*!< another SM was master since we made LIDs durable */
	bool waited;            /*!< another SM was master since our state was in force */
	bool heard; /*!< the master was heard over the link when it was polled */
	enum {
		YIELDED_NOT,
		YIELD_ASKED, /*!< an operator wants another SM to be master */
		YIELDED      /*!< our priority is 0 because of that */
	} yielded;
	bool quiet; /*!< clients get no answers, because the fabric is about to be handed over */
	struct {
		uint64_t
			guid; /*!< an SM that is higher and has no copy of our state yet, 0: none */
		uint64_t until; /*!< ms; then it is handed over to without one */
	} copying;
	enum { HANDOVER_NONE, HANDOVER_SENT, HANDOVER_TAKEN, HANDOVER_REFUSED } handover;
	struct {
		uint64_t guid;  /*!< an SM that we waited for in vain, 0: none */
		bool offered;   /*!< we had handed over to it */
		bool was_master; /*!< and it was one already */
		uint64_t until; /*!< ms; not offered again before */
		uint64_t pause; /*!< ms; the last one */
	} passed_over;
	struct {                     /* is another SM master, too? See election_ask.c */
		struct arena *arena; /*!< NULL: nobody is asked now */
		struct sm_answers seen;
		bool wanted;    /*!< others are to be asked */
		uint64_t at;    /*!< ms; then */
		uint64_t again; /*!< ms; not before, if a trap wants it */
		bool holds;     /*!< writes wait for the answers */
		uint64_t until; /*!< ms; until then */
		bool rank;      /*!< the answers are to be looked at when idle */
		bool lost; /*!< a higher master is there, so no write is sent any more */
	} doubt;
	struct {
		uint64_t guid; /*!< handed over before its port was found, 0: none */
		bool stands_by; /*!< it was found as standby since then */
	} early;
	bool settled; /*!< we were master, or stood by for an announced one, since our start */
	uint64_t respected[ELECTION_RESPECTED]; /*!< masters that nobody announced and that we
	                                           stood by for; 0: none */
	unsigned n_respected;
	struct {
		uint64_t guid, at_ms;    /*!< of an SM that counts, and of its last answer */
	} seen[ELECTION_SEEN];
	struct {
		uint64_t guid;  /*!< one of these that is master beside us, 0: none */
		uint64_t since; /*!< ms */
	} stays;
	struct {
		uint64_t guid; /*!< an SM that was master beside us at last, 0: none */
		bool announced;
	} beside[ELECTION_BESIDE];
	struct {
		bool wanted; /*!< a sweep, because a master handed over to us, or ended */
		bool announced;   /*!< one that is announced */
		uint64_t guid;    /*!< which one */
		const char *what; /*!< it did */
		uint64_t next_ms; /*!< not before, for one that is not */
		uint64_t gap_ms;
		uint64_t announced_ms; /*!< not before, for one that is */
	} joined;
	bool changed; /*!< SMInfo of a port, since election_news() */
	struct log_limit lines;
};

enum election_result {
	ELECTION_MASTER,  /*!< stay or become master */
	ELECTION_STANDBY, /*!< we are standby now */
	ELECTION_WAITS /*!< a handover was sent; call election_end() again when answered */
};

void election_set_state(struct election *e, enum sm_state state, const char *why);

/*! \brief Begins to ask: what others answered before counts no more. */
void election_begin(struct election *e);

/*!
 * \brief Asks the SM at a port (index in the graph), if it has the IsSM bit and is not ours,
 *        for SMInfo and keeps it in its port.
 * \param a  Must outlive the requests.
 */
void election_ask(struct election *e, struct disc *d, uint32_t port, struct arena *a);

/*! \brief Asks the same, if the SM may be believed, without waiting for other requests to its
 *  port. The answer goes to \a to alone. */
void election_ask_beside(struct election *e, struct disc *d, uint32_t port,
                         struct arena *a, struct sm_answers *to);

/*! \brief Begins, and asks all ports. */
void election_start(struct election *e, struct disc *d, struct arena *a);

/*! \brief When they answered: who is master? Changes the state unless the result is
 *  ELECTION_MASTER. */
enum election_result election_end(struct election *e);

/*! \return true: SMInfo of a port changed since the last call; it is to be published. */
bool election_news(struct election *e);

/*! \brief While standby: asks the master whether it still is. */
void election_poll_start(struct election *e);

/*! \brief Milliseconds from the beginning of the last poll until the next one. */
uint32_t election_poll_interval(const struct election *e);

/*! \brief Asks for a heavy sweep when the master is gone. */
void election_poll_end(struct election *e);

/*!
 * \brief Takes a Set(SMInfo) of another SM.
 * \param at  PortGUID of the port that it came from; 0: not known.
 * \return false: it is not legal in this state, or its sender is not believed or not announced.
 */
bool election_control(struct election *e, uint32_t control,
                      const uint8_t info[SMP_DATA_BYTES], uint64_t at);

/*! \brief Is the port of an SM that answered lately not found any more? It may be master of another
 *         part of the fabric by now. */
bool election_misses_one(const struct election *e);

/*! \brief While master: an SM that is believed answered that it is master, too. */
void election_beside(struct election *e, uint64_t guid, bool announced);

/*! \brief It handed over, so the sweep for that looks at what it wrote. */
void election_beside_forget(struct election *e, uint64_t guid);

/*! \brief An SM is silent, or answered that it is no master. If it was master beside us,
 *  it ended without HANDOVER, and a sweep is wanted. */
void election_beside_ended(struct election *e, uint64_t guid);

/*! \brief The same of all whose ports are not found any more. */
void election_beside_missing(struct election *e);

/*! \brief Wants a sweep, because another master wrote to the fabric until now.
 *  \param what  It did; static text. */
void election_join_wanted(struct election *e, uint64_t guid, bool announced,
                          const char *what);

/*! \brief Asks for the sweep that the end of another master made necessary, when its time
 *  has come. */
void election_join(struct election *e);

/*! \brief When it is, ms; UINT64_MAX: no sweep is wanted. */
uint64_t election_join_at(const struct election *e);

/*!
 * \brief An operator wants another SM to be master: it is handed over to at the next look.
 * \retval E_NOTREADY  We are no master, no other is known, or it would hand back at once;
 *                     \a why says so.
 */
int election_yield(struct election *e, char *why, size_t why_bytes);

/*! \brief The state of another master was taken over, or was left: clients are served from here on. */
void election_settled(struct election *e);

/*! \brief SMInfo of this SM as it is now, SM_Key included. */
void election_sm_info(const struct election *e, uint8_t info[SMP_DATA_BYTES]);

/*! \brief Are we to hand over to it: has it a higher rank, or is it to stay? false: also for none. */
bool election_outranks_us(const struct election *e, const struct other_sm *o);

/*! \brief Says by trap 144 to the SM at a LID that our priority is to be looked at; not more
 *  than once in 10 s. */
void election_tell_priority(struct election *e, uint32_t lid);

/*!
 * \brief While master: asks at once, beside what is at work, whether another SM is master, too.
 *
 * \param hold  Writes to the fabric wait for the answers, because another one may have taken
 *              our place: we did not run, or lost the link to a standby.
 */
void election_doubt(struct election *e, bool hold, const char *why);
/*! \brief The same without \a hold, in DOUBT_AGAIN_MS. */
void election_doubt_later(struct election *e);
/*! \brief A trap that is believed: an SM may say by it that we are to look at its rank, also
 *  while a sweep is at work. */
void election_heard_trap(struct election *e, const uint8_t *notice);

/*! \brief Once in a turn: begins when it is time, and takes the answers. */
void election_doubt_run(struct election *e);

/*! \brief When election_doubt_run() has something to do; UINT64_MAX: never. */
uint64_t election_doubt_deadline(const struct election *e);

/*! \brief Do the answers say that the fabric is another's? Then election_end() has them. */
bool election_doubt_ranks(struct election *e);

/*! \brief The election has ended: writes are sent again. */
void election_doubt_end(struct election *e);

/*! \brief Frees it, when nothing is in flight any more. */
void election_done(struct election *e);

/*! \brief Our priority as it is now: master_sm_priority counts while we are master. */
uint8_t election_priority(const struct election *e);
