/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/policy/qos.h"
#include "routing/graph/tables.h"
#include "sa/mad/smp.h"
#include "sa/sm/program/waves.h"
#include "sa/sm/table/table_io.h"

struct adaptive_job;
struct alternates;
struct arena;
struct config;
struct opa_lanes;
struct opa_profiles;
struct disc;
struct disc_node;
struct lids;
struct mft_block;
struct shadow;
struct transition;
struct lft_wave;

/*! Directions in which a port of a switch enforces partitions, as bits. */
enum { ENFORCE_IN = 1, ENFORCE_OUT = 2, ENFORCE_AS_IT_IS = 4 };

/*!
 * Programming: brings ports and tables to what was computed, by difference. Each step
 * queues its requests and has ended when the SMP engine has nothing pending.
 *
 *   program_read_lfts  tables of switches of which no copy is kept
 *   program_opa_qos    Omni-Path: maps, arbitration and buffers
 *   program_ports      PortInfo of all ports (LIDs, MTU, VLs, timeouts, SM's LID); INIT -> ARMED
 *                      in the same Set where that is safe, see program.c
 *   program_adaptive_* adaptive routing of Omni-Path, around the tables
 *   program_qos        SL-to-VL and VL arbitration tables, while QoS is on
 *   program_lfts       LFT blocks, then LinearFDBTop, in waves (program_lfts.c, waves.h). What
 *                      follows goes by LID, too, unless smp_routing is directed
 *   program_mfts       blocks of multicast forwarding tables
 *   program_states     INIT -> ARMED of the others, then ARMED -> ACTIVE
 */
struct program {
	struct smp *smp;
	struct disc *disc;
	struct keyring *keys;  /*!< M_Keys of ports */
	struct health *health; /*!< hears which ports refuse to be set up */
	struct shadow *shadow; /*!< lives from sweep to sweep */
	struct table_io tables; /*!< counts what is sent; its arena is that of the step */
	const struct config *config;
	struct arena *arena;
	const struct lids *lids;
	const struct lft *lft;
	const struct lanes *lanes;
	const uint32_t *changed_lid; /*!< [n_changed_lids] only their entries in lft may differ from what the
	                                switches are known to have; NULL: any */
	uint32_t n_changed_lids;
	bool only_changed; /*!< nodes that did not change, and have neighbors that did not, hold what they
	                      should, except for LFTs */
	uint32_t *
		nodes; /*!< [n_nodes] the others, ascending: those that are looked at; see
	                    program_find_nodes() */
	uint32_t n_nodes;
	uint8_t *look;    /*!< [graph.n_nodes] 1: in nodes; NULL: all are */
	uint8_t *enforce; /*!< [graph.n_ports] partition enforcement of switch ports: bits
	                     ENFORCE_*; NULL: stays as it is */
	const struct opa_lanes
		*opa; /*!< of program_opa_qos(); NULL: this is InfiniBand */
	struct opa_profiles *opa_profiles; /*!< used by program_opa.c */
	uint8_t *
		opa_restart; /*!< [graph.n_ports] 1: the link has another SC-to-VL map than it needs */
	bool qos; /*!< tables of quality of service are programmed */
	struct qos_setup qos_setup[QOS_CLASS_COUNT]; /*!< when they are */
	uint32_t sm_lid;
	bool reregister; /*!< ask clients to register again: the first sweep as master */
	struct lft_job *
		lft_jobs; /*!< [n_switches] of the LFT step at work, until program_end() */
	struct lft_wave *wave;               /*!< at work in that step */
	const struct transition *transition; /*!< the plan for the LFTs; NULL: all at once */
	uint32_t lft_step;                   /*!< of program_lft_steps(), from 1 */
	struct waves *waves;      /*!< of that step; NULL: directed routes only */
	struct smp_probe probe_mixed, probe_switches, probe_hosts; /*!< of this sweep */
	struct alternates *alternates; /*!< of lft, for adaptive routing; set by program_adaptive_begin() */
	struct lft *known;             /*!< what the switches have instead of lft; as before */
	struct adaptive_job *adaptive; /*!< [n_switches]; NULL: nothing adapts */
	/* outcome */
	uint32_t n_timeouts; /*!< requests without an answer */
	uint32_t n_switch_timeouts; /*!< of them, of switches */
	uint32_t n_refused;  /*!< answered with a bad status */
	uint32_t n_bounced;  /*!< ports whose link restarts for a new MTU or VLs */
	uint32_t
		n_waiting; /*!< ports of Omni-Path whose neighbour is not ready for ACTIVE yet */
	uint32_t
		n_moved; /*!< entries of LFTs (switch, LID) with another port than before */
	uint32_t n_port_sets;
	uint32_t n_adapted; /*!< entries of LFTs that switches had moved before this sweep changes tables */
	uint32_t n_adaptive_sets; /*!< Sets of SwitchInfo that pause or set adaptive routing */
	uint32_t n_way
		[WAY_COUNT]; /*!< switches that have their tables, by how they got them; set by
	                              program_end() */
	const char *first_trouble; /*!< sentence, NULL: none */
	const char *lane_trouble;  /*!< why lanes of the routing do not hold, NULL: they do */
	uint8_t lanes_there;       /*!< fewest operational VLs between switches, when they are fewer than
	                              the lanes; else 0 */
	int ret;                   /*!< first error of ours (-ENOMEM) */
};

/*! \brief Reads the LFTs of switches whose copy is missing or older than a restart. */
int program_read_lfts(struct program *p);

/*!
 * \brief Tables as the switches have them.
 *
 * \param lid  [n] NULL: any entry may have changed. Else \a ret_lft has the tables as
 *             they were, and only
 *             those of the switches that are looked at and the blocks of these LIDs are others now.
 * \param ret_lft  Of the shape of the present graph and LIDs. Unknown blocks have no
 *        routes.
 */
void program_known_tables(const struct program *p, const uint32_t *lid, uint32_t n,
                          struct lft *ret_lft);

/*!
 * \brief Lanes of the routing that made those tables.
 *
 * \param t    Tables of program_known_tables().
 * \param ret_lanes  In \a p->arena: rows of the shape of \a t, LANE_UNKNOWN where not
 *             known; n is 0 when nothing is known.
 * \retval -ENOMEM
 */
int program_known_lanes(const struct program *p, const struct lft *t,
                        struct lanes *ret_lanes);

/*!
 * \brief Maps of SLs, SCs and VLs, arbitration and buffer control, before program_ports(). Nothing on InfiniBand.
 *        Look at lane_trouble afterwards.
 * \param sls  SLs in use where no virtual fabrics say so, as bits.
 */
int program_opa_qos(struct program *p, uint32_t sls);

/*!
 * \brief Lists the nodes that a step has to look at: with only_changed those that changed, or one of
 *        whose tables did, and their neighbors; else all.
 * \retval -ENOMEM
 */
int program_find_nodes(struct program *p);

int program_ports(struct program *p);

/*! \brief Does a sweep set PortInfo of this port, as far as it was read? */
bool program_port_is_set(const struct disc_node *n, unsigned port);

/*!
 * \brief The first component that a sweep sets and that is not as it was. See program_kept.c.
 * \param now  PortInfo as read. \param native  The same as Omni-Path has it; NULL on InfiniBand.
 * \return Its name; NULL: there is none.
 */
const char *program_port_differs(const struct program *p, const struct disc_node *n,
                                 unsigned port, const uint8_t *now,
                                 const uint8_t *native);

/*!
 * Adaptive routing of Omni-Path (program_opa_adaptive.c). On another fabric these do nothing.
 *
 *   program_read_port_groups    what the switches have in force, where no copy is kept
 *   program_adaptive_begin      if tables are to change: switches pause, and their LFTs are read
 *   program_adaptive_tables     port groups, by difference
 *   program_adaptive_resume     PortGroupTop, the parameters, and Pause 0
 */
int program_read_port_groups(struct program *p);

/*!
 * \brief Fits alternates to what the switches take, and pauses these if anything is to change.
 *
 * \param x      Of \a p->lft. Becomes what is programmed: a group has the number under which the switch has
 *               it already; groups that a switch has no room for are left out.
 * \param known  What the switches have. When all is answered, it has the entries that they moved
 *               themselves, which \a p->n_adapted counts.
 */
int program_adaptive_begin(struct program *p, struct alternates *x, struct lft *known);

/*!
 * \brief Entries that a switch may have moved become those that it was given.
 * \param sw     Switch of the graph.
 * \param given  [n_lids] ports that it may have been given.
 * \param row    [n_lids] ports that it has.
 * \retval -ENOMEM
 */
int program_adaptive_recall(struct program *p, uint32_t sw, const uint8_t *given,
                            uint32_t n_lids, uint8_t *row);

int program_adaptive_tables(struct program *p);

/*! \brief When the tables are in: a switch that did not take its groups has no alternates. */
void program_adaptive_check(struct program *p);

int program_adaptive_resume(struct program *p);

/*!
 * \brief Can adaptive routing have made the copy of an LFT block into these bytes?
 * \param t  The LFT of \a n. \param data  A block that was read.
 */
bool program_adaptive_explains(const struct table_store *s, const struct disc_node *n,
                               const struct table *t, uint32_t block,
                               const uint8_t *data);

/*! \brief Begins to send LFTs: the first step of the transition. */
int program_lfts(struct program *p);

/*!
 * \brief How many steps the transition has: one per stage and, where LIDs are withdrawn,
 * one more to set them. In the last stage the withdrawn LIDs lose the entries that change.
 */
uint32_t program_lft_steps(const struct program *p);

/*!
 * \brief Milliseconds to wait before the next step: packets of withdrawn LIDs may block others
 * until they are dropped, if old and new routes together could deadlock. 0: none.
 */
uint32_t program_drain_ms(const struct program *p);

/*! \brief The next step, when nothing of the one before is pending. */
int program_lfts_next(struct program *p);

/*! \brief When all LFTs are in: other requests may go by LID, too, until program_end(). */
void program_lfts_end(struct program *p);

/*!
 * \brief After the last step: directed routes only from here on. What answered by LID and what did
 *        not is remembered in the shadow copies.
 */
void program_end(struct program *p);

/*! \brief Sets qos_setup by the options of each kind of port and by the lanes of the routing. */
void program_setup_qos(struct program *p);

/*! \brief Warns of options that have no effect on this setup because the routing decides. */
void program_warn_qos(const struct program *p, const char *engine);

/*!
 * \brief Forgets the QoS tables of ports that were restarted. Before program_ports(), which arms
 *        them: if the sweep is then given up, the next one cannot see any more that they were.
 */
void program_qos_forget(struct program *p);

/*! \brief After program_ports(), before program_lfts(). Look at lane_trouble afterwards. */
int program_qos(struct program *p);

/*! \brief Do all switches with cables between them map SLs to VLs? */
bool program_all_map_sls(const struct disc *d);

/*! The wanted contents of the multicast tables. */
struct program_mft {
	const struct mft_block *blocks; /*!< [n] by (switch, position, block) */
	uint32_t n;
	const uint16_t *used;           /*!< [n_used] ascending: blocks with an MLID that a group has */
	uint32_t n_used;
};

/*!
 * \brief Multicast forwarding tables.
 *
 * Of a switch of which nothing is known, as at the start, blocks in use are sent whatever
 * is in them; others are not looked at.
 *
 * \param m      Its lists, and \a arena: until nothing is pending.
 */
int program_mfts(struct program *p, const struct program_mft *m, struct arena *arena);

/*! \brief \a state is PORT_ARMED or PORT_ACTIVE; ports one state below get it. */
int program_states(struct program *p, unsigned state);

/*! \brief Copies the states of ports as now known into the graph, for a publish. */
void program_states_to_graph(struct program *p);

/*!
 * \brief For the parts that send requests: counts a failure and keeps the first one as a
 *        sentence.
 * \return true: there is an answer with a good status.
 */
bool program_answered(struct program *p, const struct disc_node *n, unsigned port,
                      int ret, unsigned status, const char *what);

/*! \brief The same for tables: table_io.answered. \param ctx  struct program */
void program_table_answered(void *ctx, const struct table_request *q,
                            const struct smp_reply *r);

/*!
 * \brief Calls \a start for the ports of a node by who answers for them: a switch for all, an adapter
 *        for each of its own.
 * \param start  Is given ports \a first to \a end - 1.
 * \return The first error of it.
 */
int program_each_agent(struct program *p, uint32_t node,
                       int (*start)(struct program *p, uint32_t node, unsigned first,
                                    unsigned end));

/*! \brief Blocks of multicast tables that were sent. */
static inline uint32_t program_mft_sets(const struct program *p)
{
	return p->tables.n_sets[TABLE_MFT] + p->tables.n_sets[TABLE_OPA_MFT];
}

/*! \brief Blocks of port groups that were sent. */
static inline uint32_t program_group_sets(const struct program *p)
{
	return p->tables.n_sets[TABLE_OPA_PORT_GROUPS] +
	       p->tables.n_sets[TABLE_OPA_PORT_GROUP_FT];
}

/*! \brief Tables of quality of service that were sent: SL-to-VL maps, arbitration, those of Omni-Path. */
static inline uint32_t program_qos_sets(const struct program *p)
{
	const uint32_t *n = p->tables.n_sets;
	uint32_t sum = n[TABLE_SL2VL] + n[TABLE_VL_ARB];

	for (unsigned k = TABLE_OPA_SL2SC; k <= TABLE_OPA_BUFFERS; k++) {
		sum += n[k];
	}
	return sum;
}
