/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/lib/gateway_client.h"

static size_t client_body(char *data, size_t size, size_t n, void *arg)
{
	struct client *c = arg;
	size_t more = size * n;

	c->body = realloc(c->body, c->len + more + 1);
	memcpy(c->body + c->len, data, more);
	c->len += more;
	c->body[c->len] = '\0';
	return more;
}

static void client_header_value(const char *line, size_t len, const char *name, char *to,
                                size_t room)
{
	size_t n = strlen(name);

	if (len > n + 1 && strncasecmp(line, name, n) == 0 && line[n] == ':') {
		const char *value = line + n + 1 + strspn(line + n + 1, " ");
		snprintf(to, room, "%.*s", (int)strcspn(value, "\r\n"), value);
	}
}

static size_t client_header(char *data, size_t size, size_t n, void *arg)
{
	struct client *c = arg;
	size_t len = size * n;

	client_header_value(data, len, "ETag", c->etag, sizeof(c->etag));
	client_header_value(data, len, "Content-Type", c->type, sizeof(c->type));
	client_header_value(data, len, "Allow", c->allow, sizeof(c->allow));
	client_header_value(data, len, "Fabric-Epoch", c->epoch, sizeof(c->epoch));
	client_header_value(data, len, "Access-Control-Allow-Origin", c->cors,
	                    sizeof(c->cors));
	client_header_value(data, len, "Content-Encoding", c->encoding,
	                    sizeof(c->encoding));
	client_header_value(data, len, "Vary", c->vary, sizeof(c->vary));
	client_header_value(data, len, "Link", c->link, sizeof(c->link));
	client_header_value(data, len, "Retry-After", c->retry_after,
	                    sizeof(c->retry_after));
	return len;
}

void client_init(struct client *c, unsigned port)
{
	memset(c, 0, sizeof(*c));
	c->port = port;
	c->curl = curl_easy_init();
	ck_assert_ptr_nonnull(c->curl);
}

void client_done(struct client *c)
{
	curl_easy_cleanup(c->curl);
	free(c->body);
}

void client_ask(struct client *c, const char *method, const char *target,
                const char *header, const char *post)
{
	char url[16384];
	struct curl_slist *headers =
		header != NULL ? curl_slist_append(NULL, header) : NULL;

	c->len = 0;
	c->encoding[0] = c->vary[0] = '\0';
	c->cors[0] = c->link[0] = c->etag[0] = c->type[0] = c->allow[0] = c->epoch[0] =
		c->retry_after[0] = '\0';
	if (c->body != NULL) {
		c->body[0] = '\0';
	}
	snprintf(url, sizeof(url), "http://127.0.0.1:%u%s", c->port, target);
	curl_easy_reset(c->curl);
	curl_easy_setopt(c->curl, CURLOPT_URL, url);
	curl_easy_setopt(c->curl, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(c->curl, CURLOPT_TIMEOUT, 120L);
	curl_easy_setopt(c->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c->curl, CURLOPT_PROXY, "");
	curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, client_body);
	curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, c);
	curl_easy_setopt(c->curl, CURLOPT_HEADERFUNCTION, client_header);
	curl_easy_setopt(c->curl, CURLOPT_HEADERDATA, c);
	if (strcmp(method, "HEAD") == 0) {
		curl_easy_setopt(c->curl, CURLOPT_NOBODY, 1L);
	} else if (post != NULL) {
		curl_easy_setopt(c->curl, CURLOPT_COPYPOSTFIELDS, post);
	}
	curl_easy_setopt(c->curl, CURLOPT_CUSTOMREQUEST, method);
	CURLcode code = curl_easy_perform(c->curl);
	ck_assert_msg(code == CURLE_OK, "%s %s: %s", method, target,
	              curl_easy_strerror(code));
	curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &c->status);
	curl_easy_getinfo(c->curl, CURLINFO_NUM_CONNECTS, &c->connects);
	curl_slist_free_all(headers);
}

long client_get(struct client *c, const char *target)
{
	client_ask(c, "GET", target, NULL, NULL);
	return c->status;
}

json_t *client_json(const struct client *c)
{
	json_error_t why;
	json_t *o = json_loadb(c->body, c->len, 0, &why);

	ck_assert_msg(o != NULL, "%s in: %.200s", why.text, c->body);
	return o;
}

json_t *client_get_json(struct client *c, const char *target)
{
	client_get(c, target);
	ck_assert_msg(c->status == 200, "%s: %ld %s", target, c->status, c->body);
	return client_json(c);
}

const char *text_of(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));
	return s != NULL ? s : "";
}

json_int_t int_of(const json_t *o, const char *name)
{
	return json_integer_value(json_object_get(o, name));
}

uint64_t guid_of(const json_t *o, const char *name)
{
	return strtoull(text_of(o, name), NULL, 16);
}
