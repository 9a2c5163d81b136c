/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The form of a file of LMDB 0.9 (version 1 of its data), in words and byte order of the machine:
 *
 *   page      number, 2 bytes of padding, flags, then how far the pointers reach and where the nodes
 *             begin, or how many pages of overflow follow
 *   meta      pages 0 and 1: magic, version, address, size of the map, the trees of free pages and of
 *             names, the last page in use, the number of the transaction. The higher number counts
 *   branch    nodes with a key and a page; the key of the first is not stored
 *   leaf      nodes with a key and a value, or with the first of the pages that hold it
 *   tree      4 bytes of padding, flags, depth, numbers of pages of each kind, rows, root
 *
 * Every number is read once into a variable and compared there, because the writer may be at work
 * on a page that a reader lost. What comes out of a file whose pages are sound is what LMDB gives;
 * the tests compare the two.
 *
 * Source: the on-disk form that lmdb.h and its manual describe, and files made by it.
 */
#include "db/lmdb/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/err.h"
#include "db/lmdb/cut.h"

enum {
	WORD = sizeof(size_t),
	PAGE_FLAGS = WORD + 2,
	PAGE_LOWER =
		WORD + 4, /* end of the pointers; of overflow: number of pages, 4 bytes */
	PAGE_HEAD = WORD + 8,
	IS_BRANCH = 1,
	IS_LEAF = 2,
	IS_OVERFLOW = 4,
	PAGE_KIND = 0x0f | 0x20 | 0x40,
	NODE_FLAGS = 4,
	NODE_KEY_LEN = 6,
	NODE_HEAD = 8,
	NODE_OVERFLOWS = 1, /* the value is the number of a page */
	NODE_TREE = 2,      /* the value is a tree */
	TREE_FLAGS = 4,
	TREE_ROWS = 8 + 3 * WORD,
	TREE_ROOT = TREE_ROWS + WORD,
	TREE_BYTES = TREE_ROOT + WORD,
	META_MAGIC = PAGE_HEAD,
	META_PAGE_SIZE = PAGE_HEAD + 8 + 2 * WORD,
	META_FREE = META_PAGE_SIZE, /* its padding is the size of a page */
	META_NAMES = META_FREE + TREE_BYTES,
	META_LAST_PAGE = META_NAMES + TREE_BYTES,
	META_TXN = META_LAST_PAGE + WORD
};

_Static_assert(sizeof(size_t) != 8 || (META_PAGE_SIZE == 40 && META_TXN == 144),
               "as in data.mdb of LMDB 0.9 on machines with 64-bit words");

#define LMDB_MAGIC UINT32_C(0xBEEFC0DE)
#define MAP_BYTES_MIN ((size_t)64 << 20)

static uint16_t u16_at(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint32_t u32_at(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static size_t word_at(const uint8_t *p)
{
	size_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* --- the file and its metas ------------------------------------------------------------- */

/* LMDB writes numbers in the byte order and the word size of its machine. */
static bool is_of_other_machine(const uint8_t *page)
{
	uint32_t in_32 = u32_at(page + 4 + 8), in_64 = u32_at(page + 8 + 8);
	uint32_t swapped = __builtin_bswap32(LMDB_MAGIC);

	return in_32 == LMDB_MAGIC || in_32 == swapped || in_64 == LMDB_MAGIC ||
	       in_64 == swapped;
}

int tree_head(int fd, off_t at, uint64_t *ret_page_bytes, uint64_t *ret_last_page)
{
	uint8_t page[META_TXN + WORD];

	if (pread(fd, page, sizeof(page), at) != (ssize_t)sizeof(page)) {
		return E_FOREIGN;
	}
	if (u32_at(page + META_MAGIC) != LMDB_MAGIC) {
		return is_of_other_machine(page) ? E_LAYOUT : E_FOREIGN;
	}
	*ret_page_bytes = u32_at(page + META_PAGE_SIZE);
	*ret_last_page = word_at(page + META_LAST_PAGE);
	return E_OK;
}

int tree_open(const char *path, uint64_t map_bytes, struct tree_file *ret_file)
{
	char file[4096];
	uint64_t page_bytes, last;
	struct tree_file f = { .map_bytes = map_bytes < SIZE_MAX / 8 ? (size_t)map_bytes
		                                                     : SIZE_MAX / 8 };
	void *map;
	int ret;

	if (snprintf(file, sizeof(file), "%s/data.mdb", path) >= (int)sizeof(file)) {
		return -ENAMETOOLONG;
	}
	f.fd = open(file, O_RDONLY | O_CLOEXEC);
	if (f.fd < 0) {
		return -errno;
	}
	if (tree_head(f.fd, 0, &page_bytes, &last) != E_OK || page_bytes < 512 ||
	    page_bytes > 65536) {
		close(f.fd);
		return E_MALFORMED;
	}
	f.page_bytes = (size_t)page_bytes;
	while ((map = mmap(NULL, f.map_bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, f.fd,
	                   0)) == MAP_FAILED &&
	       errno == ENOMEM && f.map_bytes / 2 >= MAP_BYTES_MIN) {
		f.map_bytes /= 2;
	}
	if (map == MAP_FAILED) {
		ret = -errno;
		close(f.fd);
		return ret;
	}
	f.map = map;
	f.watch = cut_watch(map, f.map_bytes);
	*ret_file = f;
	return E_OK;
}

void tree_close(struct tree_file *f)
{
	if (f->map != NULL) {
		cut_unwatch(f->watch);
		munmap((void *)f->map, f->map_bytes);
		close(f->fd);
	}
	*f = (struct tree_file){ .map = NULL };
}

static const uint8_t *newest_meta(const struct tree_file *f, uint64_t *ret_txn)
{
	const uint8_t *a = f->map, *b = f->map + f->page_bytes;
	/* the writer changes them meanwhile, the number of the transaction last */
	size_t txn_a = __atomic_load_n((const size_t *)(const void *)(a + META_TXN),
	                               __ATOMIC_ACQUIRE);
	size_t txn_b = __atomic_load_n((const size_t *)(const void *)(b + META_TXN),
	                               __ATOMIC_ACQUIRE);

	*ret_txn = txn_a > txn_b ? txn_a : txn_b;
	return txn_a > txn_b ? a : b;
}

uint64_t tree_last_txn(const struct tree_file *f)
{
	uint64_t txn;

	(void)newest_meta(f, &txn);
	return txn;
}

uint64_t tree_cuts(const struct tree_file *f)
{
	return cut_count(f->watch);
}

/* \return false: no file of this size has so many rows. */
static bool root_at(const struct tree_txn *t, const uint8_t *p,
                    struct tree_root *ret_root)
{
	size_t page = word_at(p + TREE_ROOT);

	*ret_root = (struct tree_root){ .page = page,
		                        .n_rows = word_at(p + TREE_ROWS),
		                        .is_empty = page == SIZE_MAX };
	return ret_root->n_rows <= t->n_pages * t->file->page_bytes / NODE_HEAD;
}

int tree_begin(const struct tree_file *f, struct tree_txn *ret_txn)
{
	struct tree_txn t = { .file = f };
	struct stat st;
	const uint8_t *meta;
	uint64_t last;
	int ret = cut_mend(f->watch, f->fd);

	if (ret != E_OK) {
		return ret;
	}
	t.cuts = tree_cuts(f);
	if (fstat(f->fd, &st) != 0) {
		return -errno;
	}
	t.n_pages = (uint64_t)st.st_size / f->page_bytes;
	if (t.n_pages > f->map_bytes / f->page_bytes) {
		t.n_pages = f->map_bytes / f->page_bytes;
	}
	if (t.n_pages < 2) {
		return E_MALFORMED;
	}
	meta = newest_meta(f, &t.id);
	last = word_at(meta + META_LAST_PAGE);
	t.n_pages = last < t.n_pages ? last + 1 : t.n_pages;
	if (!root_at(&t, meta + META_NAMES, &t.names) ||
	    !root_at(&t, meta + META_FREE, &t.free)) {
		return E_MALFORMED;
	}
	*ret_txn = t;
	return E_OK;
}

/* --- pages and nodes -------------------------------------------------------------------- */

/* A page of a tree. \return NULL: it is none. */
static const uint8_t *page_at(const struct tree_txn *t, uint64_t number,
                              unsigned *ret_kind, unsigned *ret_n)
{
	const uint8_t *p;
	unsigned lower, kind;

	if (number < 2 || number >= t->n_pages) {
		return NULL;
	}
	p = t->file->map + number * t->file->page_bytes;
	kind = u16_at(p + PAGE_FLAGS) & PAGE_KIND;
	lower = u16_at(p + PAGE_LOWER);
	if (word_at(p) != number || (kind != IS_BRANCH && kind != IS_LEAF) ||
	    lower <= PAGE_HEAD || lower > t->file->page_bytes || lower % 2 != 0) {
		return NULL;
	}
	*ret_kind = kind;
	*ret_n = (lower - PAGE_HEAD) / 2;
	return p;
}

struct node {
	const uint8_t *at;
	struct tree_bytes key;
	size_t left; /* bytes of the page behind the key */
};

static bool node_at(const struct tree_txn *t, const uint8_t *page, unsigned i,
                    struct node *ret_node)
{
	size_t at = u16_at(page + PAGE_HEAD + 2 * (size_t)i), end = t->file->page_bytes,
	       len;

	if (at < PAGE_HEAD || at + NODE_HEAD > end) {
		return false;
	}
	len = u16_at(page + at + NODE_KEY_LEN);
	if (len > end - at - NODE_HEAD) {
		return false;
	}
	*ret_node = (struct node){ .at = page + at,
		                   .key = { page + at + NODE_HEAD, len },
		                   .left = end - at - NODE_HEAD - len };
	return true;
}

static uint32_t low_32(const uint8_t *node)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return u16_at(node) | (uint32_t)u16_at(node + 2) << 16;
#else
	return u16_at(node + 2) | (uint32_t)u16_at(node) << 16;
#endif
}

static uint64_t child_of(const struct node *n)
{
	uint64_t low = low_32(n->at);

	return WORD == 8 ? low | (uint64_t)u16_at(n->at + NODE_FLAGS) << 32 : low;
}

/* The value of a node of a leaf. \return false: it is not valid. */
static bool value_of(const struct tree_txn *t, const struct node *n,
                     struct tree_bytes *ret_bytes)
{
	size_t len = low_32(n->at), page_bytes = t->file->page_bytes, number, most;
	const uint8_t *data = n->at + NODE_HEAD + n->key.len, *page;
	unsigned flags = u16_at(n->at + NODE_FLAGS);

	if (!(flags & NODE_OVERFLOWS)) {
		*ret_bytes = (struct tree_bytes){ data, len };
		return len <= n->left;
	}
	if (n->left < WORD) {
		return false;
	}
	number = word_at(data);
	if (number < 2 || number >= t->n_pages) {
		return false;
	}
	most = (size_t)(t->n_pages - number);
	page = t->file->map + number * page_bytes;
	if (word_at(page) != number ||
	    (u16_at(page + PAGE_FLAGS) & PAGE_KIND) != IS_OVERFLOW) {
		return false;
	}
	if (u32_at(page + PAGE_LOWER) < most) {
		most = u32_at(page + PAGE_LOWER);
	}
	*ret_bytes = (struct tree_bytes){ page + PAGE_HEAD, len };
	return most > 0 && len <= most * page_bytes - PAGE_HEAD;
}

static int compare(const struct tree_bytes *a, const void *key, size_t len)
{
	size_t common = a->len < len ? a->len : len;
	int order = common > 0 ? memcmp(a->data, key, common) : 0;

	return order != 0 ? order : a->len < len ? -1 : a->len > len;
}

/* First node from \a from on whose key is >= \a key; *ret_index is n if there is none.
 * \return false: a node is not valid. */
static bool first_not_below(const struct tree_txn *t, const uint8_t *page, unsigned from,
                            unsigned n, const void *key, size_t len, unsigned *ret_index)
{
	while (from < n) {
		unsigned mid = from + (n - from) / 2;
		struct node node;

		if (!node_at(t, page, mid, &node)) {
			return false;
		}
		if (compare(&node.key, key, len) < 0) {
			from = mid + 1;
		} else {
			n = mid;
		}
	}
	*ret_index = from;
	return true;
}

/* --- cursors ---------------------------------------------------------------------------- */

/* The row that the cursor is on. */
static int row_at(const struct tree_txn *t, const struct tree_cursor *c,
                  struct tree_bytes *ret_key, struct tree_bytes *ret_bytes)
{
	unsigned kind, n, i = c->level[c->depth - 1].at;
	const uint8_t *page = page_at(t, c->level[c->depth - 1].page, &kind, &n);
	struct node node;

	if (page == NULL || kind != IS_LEAF || i >= n || !node_at(t, page, i, &node) ||
	    !value_of(t, &node, ret_bytes)) {
		return E_MALFORMED;
	}
	*ret_key = node.key;
	return E_OK;
}

/* Goes down from a page to a leaf: to the node of the key, or the first one. key NULL: the first. */
static int descend(const struct tree_txn *t, struct tree_cursor *c, uint64_t number,
                   const void *key, size_t len)
{
	while (c->depth < TREE_LEVELS) {
		unsigned kind, n, at = 0;
		const uint8_t *page = page_at(t, number, &kind, &n);
		struct node node;

		if (page == NULL || number > UINT32_MAX ||
		    (key != NULL &&
		     !first_not_below(t, page, kind == IS_BRANCH, n, key, len, &at))) {
			return E_MALFORMED;
		}
		if (kind == IS_BRANCH &&
		    key != NULL) { /* the last child that is not above */
			at = at < n && node_at(t, page, at, &node) &&
			                     compare(&node.key, key, len) == 0
			             ? at
			             : at - 1;
		}
		c->level[c->depth].page = (uint32_t)number;
		c->level[c->depth].at = (uint16_t)at;
		c->level[c->depth++].n = (uint16_t)n;
		if (kind == IS_LEAF) {
			return E_OK;
		}
		if (!node_at(t, page, at, &node)) {
			return E_MALFORMED;
		}
		number = child_of(&node);
	}
	return E_MALFORMED; /* a loop, or a tree that nobody makes */
}

/* Moves to the next leaf. */
static int next_leaf(const struct tree_txn *t, struct tree_cursor *c)
{
	unsigned kind, n;
	struct node node;
	const uint8_t *page;

	c->depth--;
	while (c->depth > 0 &&
	       c->level[c->depth - 1].at + 1U >= c->level[c->depth - 1].n) {
		c->depth--;
	}
	if (c->depth == 0) {
		return E_NOTFOUND;
	}
	page = page_at(t, c->level[c->depth - 1].page, &kind, &n);
	if (page == NULL || kind != IS_BRANCH || ++c->level[c->depth - 1].at >= n ||
	    !node_at(t, page, c->level[c->depth - 1].at, &node)) {
		return E_MALFORMED;
	}
	return descend(t, c, child_of(&node), NULL, 0);
}

/* The row that the cursor is on, or the first of the next leaf. */
static int row_from(const struct tree_txn *t, struct tree_cursor *c,
                    struct tree_bytes *ret_key, struct tree_bytes *ret_bytes)
{
	if (c->level[c->depth - 1].at >= c->level[c->depth - 1].n) {
		int ret = next_leaf(t, c);

		if (ret != E_OK) {
			return ret;
		}
	}
	return row_at(t, c, ret_key, ret_bytes);
}

/* Is the key on the leaf that the cursor is on? Then the cursor is put on it. */
static bool is_near(const struct tree_txn *t, struct tree_cursor *c, const void *key,
                    size_t len)
{
	unsigned kind, n, at;
	const uint8_t *page;
	struct node first, last;

	if (c->depth == 0) {
		return false;
	}
	page = page_at(t, c->level[c->depth - 1].page, &kind, &n);
	if (page == NULL || kind != IS_LEAF || n != c->level[c->depth - 1].n ||
	    !node_at(t, page, 0, &first) || !node_at(t, page, n - 1, &last) ||
	    compare(&first.key, key, len) > 0 || compare(&last.key, key, len) < 0 ||
	    !first_not_below(t, page, 0, n, key, len, &at)) {
		return false;
	}
	c->level[c->depth - 1].at = (uint16_t)at;
	return true;
}

int tree_seek(const struct tree_txn *t, const struct tree_root *root,
              struct tree_cursor *c, const void *key, size_t key_len, bool exact,
              struct tree_bytes *ret_key, struct tree_bytes *ret_bytes)
{
	int ret = E_OK;

	if (root->is_empty) {
		c->depth = 0;
		return E_NOTFOUND;
	}
	if (key_len == 0 || !is_near(t, c, key, key_len)) {
		c->depth = 0;
		ret = descend(t, c, root->page, key_len != 0 ? key : NULL, key_len);
	}
	if (ret == E_OK && exact &&
	    c->level[c->depth - 1].at >= c->level[c->depth - 1].n) {
		ret = E_NOTFOUND; /* the keys of the next leaf are above */
	}
	if (ret == E_OK) {
		ret = row_from(t, c, ret_key, ret_bytes);
	}
	if (ret == E_OK && exact && compare(ret_key, key, key_len) != 0) {
		ret = E_NOTFOUND;
	}
	if (ret != E_OK) {
		c->depth = 0;
	}
	return ret;
}

int tree_next(const struct tree_txn *t, struct tree_cursor *c, struct tree_bytes *ret_key,
              struct tree_bytes *ret_bytes)
{
	int ret;

	if (c->depth == 0) {
		return E_NOTFOUND;
	}
	c->level[c->depth - 1].at++;
	ret = row_from(t, c, ret_key, ret_bytes);
	if (ret != E_OK) {
		c->depth = 0;
	}
	return ret;
}

int tree_find(const struct tree_txn *t, const char *name, struct tree_root *ret_root)
{
	struct tree_cursor c = { .depth = 0 };
	struct tree_bytes key, val;
	int ret = tree_seek(t, &t->names, &c, name, strlen(name), true, &key, &val);

	if (ret != E_OK) {
		return ret;
	}
	return val.len == TREE_BYTES && u16_at(val.data + TREE_FLAGS) == 0 &&
	                       root_at(t, val.data, ret_root)
	               ? E_OK
	               : E_MALFORMED;
}
