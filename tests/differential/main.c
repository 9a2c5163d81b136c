/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/differential/differential.h"

_Noreturn void diff_die(const char *what, const char *of)
{
	fprintf(stderr, "sa_differential: %s%s%s\n", what, of ? ": " : "", of ? of : "");
	exit(2);
}

void diff_hex(FILE *out, const uint8_t *data, size_t n)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		putc(digits[data[i] >> 4], out);
		putc(digits[data[i] & 15], out);
	}
}

static int digit(char c)
{
	if (c >= '0' && c <= '9') {
		return c - '0';
	}
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int diff_unhex(const char *text, uint8_t *ret_bytes, size_t max)
{
	size_t len = strlen(text);

	if (len % 2 != 0 || len / 2 > max) {
		return -1;
	}
	for (size_t i = 0; i < len / 2; i++) {
		int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
		if (high < 0 || low < 0) {
			return -1;
		}
		ret_bytes[i] = (uint8_t)(high << 4 | low);
	}
	return (int)(len / 2);
}

int diff_attr_by_name(const char *name)
{
	for (unsigned i = 0; i < n_diff_attrs; i++) {
		if (strcmp(diff_attrs[i].attr->name, name) == 0) {
			return (int)i;
		}
	}
	return -1;
}

static void add_value(struct diff_value_list *l, const uint8_t *record, size_t size)
{
	if (l->n == l->cap) {
		l->cap = l->cap ? 2 * l->cap : 64;
		l->data = realloc(l->data, l->cap * size);
		if (l->data == NULL) {
			diff_die("out of memory", NULL);
		}
	}
	memcpy(l->data + l->n++ * size, record, size);
}

void diff_values_read(const char *path, struct diff_values *ret_values)
{
	char name[64], hex[2 * DIFF_DATA_BYTES + 1];
	uint8_t record[DIFF_DATA_BYTES];
	FILE *f = fopen(path, "r");

	ret_values->lists = calloc(n_diff_attrs, sizeof(*ret_values->lists));
	if (f == NULL || ret_values->lists == NULL) {
		diff_die("cannot read", path);
	}
	while (fscanf(f, "%63s %400s", name, hex) == 2) {
		int which = diff_attr_by_name(name);
		if (which < 0 || diff_unhex(hex, record, sizeof(record)) !=
		                         (int)diff_attrs[which].attr->size) {
			diff_die("not a list of values", path);
		}
		add_value(&ret_values->lists[which], record,
		          diff_attrs[which].attr->size);
	}
	fclose(f);
}

void diff_values_free(struct diff_values *v)
{
	for (unsigned i = 0; i < n_diff_attrs; i++) {
		free(v->lists[i].data);
	}
	free(v->lists);
}

static FILE *open_answers(const char *path)
{
	FILE *f = fopen(path, "r");

	if (f == NULL) {
		diff_die("cannot read", path);
	}
	return f;
}

static void take_paths(struct diff_values *from, struct diff_values *to)
{
	int path = diff_attr_by_name("PathRecord");
	struct diff_value_list own = to->lists[path];

	to->lists[path] = from->lists[path];
	from->lists[path] = own;
}

static int compare(char **files)
{
	struct diff_values values, plain;
	diff_values_read(files[0], &values);
	values.policy = files[3] != NULL;
	if (values.policy) {
		diff_values_read(files[3], &plain);
		take_paths(&plain, &values);
		diff_values_free(&plain);
	}
	FILE *a = open_answers(files[1]), *b = open_answers(files[2]);
	uint64_t n = diff_compare(&values, a, b, stdout);

	diff_values_free(&values);
	fclose(a);
	fclose(b);
	return n != 0;
}

static int talk(int argc, char **argv)
{
	struct diff_port port;

	diff_port_open(&port);
	if (strcmp(argv[1], "write") == 0) {
		diff_write(&port);
	} else if (argc == 2) {
		diff_read(&port, stdout);
	} else {
		struct diff_values values;
		diff_values_read(argv[2], &values);
		values.policy = argc == 7;
		diff_ask(&port, &values, strtoull(argv[3], NULL, 0),
		         strtoull(argv[4], NULL, 0), strtoull(argv[5], NULL, 0), stdout);
		diff_values_free(&values);
	}
	diff_port_close(&port);
	return fflush(stdout) == 0 ? 0 : 2;
}

int main(int argc, char **argv)
{
	if ((argc == 5 || argc == 6) && strcmp(argv[1], "compare") == 0) {
		return compare(argv + 2);
	}
	if ((argc == 2 && strcmp(argv[1], "write") == 0) ||
	    (argc == 2 && strcmp(argv[1], "read") == 0) ||
	    (argc == 6 && strcmp(argv[1], "ask") == 0) ||
	    (argc == 7 && strcmp(argv[1], "ask") == 0 &&
	     strcmp(argv[6], "policy") == 0)) {
		return talk(argc, argv);
	}
	fputs("Usage: sa_differential write | read | ask VALUES SEED FIRST COUNT [policy] | compare VALUES ANSWERS ANSWERS [PLAIN-VALUES]\n",
	      stderr);
	return 2;
}
