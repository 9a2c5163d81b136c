/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/mad/mad_buf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "sa/mad/fields.h"

enum {
	POOL_CHUNK = 64,
	KEEP_BYTES =
		64 * 1024 /* a buffer frees a larger block when it returns to the pool */
};

static int pool_grow(struct mad_pool *p)
{
	if (VECTOR_RESERVE(p->chunks, p->cap_chunks, p->n_chunks + 1) != E_OK) {
		return -ENOMEM;
	}
	struct mad_buf *m = calloc(POOL_CHUNK, sizeof(*m));
	if (m == NULL) {
		return -ENOMEM;
	}
	p->chunks[p->n_chunks++] = m;
	for (size_t i = 0; i < POOL_CHUNK; i++) {
		m[i].data = m[i].mad;
		m[i].cap = sizeof(m[i].mad);
		mad_pool_put(p, &m[i]);
	}
	return E_OK;
}

struct mad_buf *mad_pool_get(struct mad_pool *p, const uint8_t *data, size_t len)
{
	if (p->free == NULL && pool_grow(p) != E_OK) {
		return NULL;
	}
	struct mad_buf *m = p->free;
	if (len > m->cap) {
		uint8_t *block = malloc(len);
		if (block == NULL) {
			return NULL;
		}
		if (m->data != m->mad) {
			free(m->data);
		}
		m->data = block;
		m->cap = len;
	}
	p->free = m->next;
	m->next = NULL;
	m->len = len;
	m->status = 0;
	m->addr = (struct mad_addr){ 0 };
	memcpy(m->data, data, len);
	return m;
}

void mad_pool_put(struct mad_pool *p, struct mad_buf *m)
{
	if (m == NULL) {
		return;
	}
	if (m->cap > KEEP_BYTES) {
		free(m->data);
		m->data = m->mad;
		m->cap = sizeof(m->mad);
	}
	m->next = p->free;
	p->free = m;
}

void mad_pool_done(struct mad_pool *p)
{
	for (size_t c = 0; c < p->n_chunks; c++) {
		struct mad_buf *m = p->chunks[c];
		for (size_t i = 0; i < POOL_CHUNK; i++) {
			if (m[i].data != m[i].mad) {
				free(m[i].data);
			}
		}
		free(m);
	}
	free(p->chunks);
	*p = (struct mad_pool){ 0 };
}

void mad_list_push(struct mad_list *l, struct mad_buf *m)
{
	m->next = NULL;
	if (l->first == NULL) {
		l->first = m;
	} else {
		l->last->next = m;
	}
	l->last = m;
	l->n++;
}

struct mad_buf *mad_list_pop(struct mad_list *l)
{
	struct mad_buf *m = l->first;
	if (m != NULL) {
		l->first = m->next;
		m->next = NULL;
		l->n--;
	}
	return m;
}

struct mad_msg mad_buf_msg(const struct mad_buf *m)
{
	return (struct mad_msg){
		.mgmt_class = (uint8_t)field_get(m->data, MAD_MGMT_CLASS),
		.status = m->status,
		.addr = m->addr,
		.len = m->len,
		.data = m->data,
	};
}
