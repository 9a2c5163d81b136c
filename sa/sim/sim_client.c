/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/sim_state.h"

#include <errno.h>
#include <infiniband/umad_types.h>
#include <stdlib.h>

#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "conf/base/vector.h"

/*
 * Delivery of MADs to programs: to the receiver of all ports if there is one, else to the SM's
 * transport or to clients, which are programs on simulated hosts that talk to the SA.
 *
 * The MADs of clients and their responses follow the programmed LFTs by the rules of data
 * packets. Messages of any length move whole, as the kernel's RMPP passes them to a program.
 * A port receives only after a client has opened it, by a send or a receive.
 */

void sim_clients_done(struct sim *s)
{
	free(s->clients); /* their messages belong to the pool */
}

int sim_deliver(struct sim *s, const struct sim_at *at, struct mad_buf *m)
{
	uint32_t port = sim_end_port(s, at);
	struct sim_event e = { .kind = EVENT_MAD, .msg = m, .port = port }, again = e;
	uint64_t delay = at->hops * (uint64_t)s->o.delay_us + at->late_us, late;
	int ret = E_OK;

	delay = s->o.virtual_clock ? delay : 0;
	if (s->receiver != NULL || port == s->sm_port) {
		delay += sim_fault_arrival(s, m, &again.msg, &late);
		ret = sim_event_add(s, &e, delay);
		if (again.msg != NULL && sim_event_add(s, &again, delay + late) != E_OK) {
			mad_pool_put(&s->pool, again.msg);
		}
	} else if (s->ports[port].client != 0) {
		mad_list_push(&s->clients[s->ports[port].client - 1].waiting, m);
	} else {
		ret = E_NOTFOUND; /* nobody listens */
	}
	if (ret != E_OK) {
		mad_pool_put(&s->pool, m);
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

static bool takes_packets(const struct sim *s, uint32_t port)
{
	return graph_is_host(s->g, port) && sim_lid(s, port) != 0 &&
	       field_get(s->ports[port].info, PI_PORT_STATE) == PORT_ACTIVE;
}

uint64_t sim_send_packets(struct sim *s, uint64_t *ret_lost)
{
	uint64_t sent = 0;

	*ret_lost = 0;
	pthread_mutex_lock(&s->lock);
	for (uint32_t i = 0; i < s->g->n_end_ports; i++) {
		const uint32_t from = s->g->end_ports[i];

		for (uint32_t k = 0; k < s->g->n_end_ports; k++) {
			const uint32_t to = s->g->end_ports[k];
			const struct port *p = &s->g->ports[from];
			struct sim_at at = { .node = p->node,
				             .port = p->num,
				             .slid = sim_lid(s, from) };

			if (i != k && takes_packets(s, from) && takes_packets(s, to)) {
				sent++;
				*ret_lost += !sim_walk_lid(s, &at, sim_lid(s, to),
				                           P_KEY_FULL | P_KEY_BASE);
			}
		}
	}
	pthread_mutex_unlock(&s->lock);
	return sent;
}
