/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/lib/raw_requests.h"

#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE_MS = 60000, ANSWER_BYTES = 16384 };

#define GET "GET /healthz HTTP/1.1\r\n"
#define POST "POST /healthz HTTP/1.1\r\n"
#define HOST "Host: localhost\r\n"
#define CHUNKED "Transfer-Encoding: chunked\r\n"
#define CHUNKS "2\r\n{}\r\n0\r\n\r\n"
#define SEND(what, bytes, status)                                                        \
	{                                                                                \
		what, bytes, sizeof(bytes) - 1, status                                   \
	}

/* clang-format off */
const struct raw_request raw_requests[] = {
	SEND("as it should be", GET HOST "\r\n", 200),
	SEND("an empty line in front", "\r\n" GET HOST "\r\n", 200),
	SEND("blanks around a value", GET "X-A:\t 1 \t\r\n" HOST "\r\n", 200),
	SEND("a value that is empty", GET "X-A:\r\n" HOST "\r\n", 200),
	SEND("the last value is empty", GET HOST "X-A: \r\n\r\n", 200),
	SEND("a header twice", GET HOST "X-A: 1\r\nX-A: 2\r\n\r\n", 200),
	SEND("a value with a colon", GET HOST "X-A: b:c\r\n\r\n", 200),
	SEND("parameters", "GET /healthz?&& HTTP/1.1\r\n" HOST "\r\n", 200),
	SEND("HTTP/1.0", "GET /healthz HTTP/1.0\r\n" HOST "Connection: keep-alive\r\n\r\n", 200),
	SEND("two lengths", POST HOST "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ", 400),
	SEND("two lengths, the same", POST HOST "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", 400),
	SEND("two lengths, other letters", POST HOST "content-length: 2\r\nCONTENT-LENGTH: 2\r\n\r\n{}", 400),
	SEND("a list of lengths", POST HOST "Content-Length: 2, 2\r\n\r\n{}", 400),
	SEND("a length with a sign", POST HOST "Content-Length: +2\r\n\r\n{}", 400),
	SEND("a length in hex", POST HOST "Content-Length: 0x2\r\n\r\n{}", 400),
	SEND("no length", POST HOST "Content-Length:\r\n\r\n{}", 400),
	SEND("a length, then chunks", POST HOST "Content-Length: 2\r\n" CHUNKED "\r\n" CHUNKS, 400),
	SEND("chunks, then a length", POST HOST CHUNKED "Content-Length: 2\r\n\r\n" CHUNKS, 400),
	SEND("chunks and length zero", GET HOST CHUNKED "Content-Length: 0\r\n\r\n" CHUNKS, 400),
	SEND("two encodings", POST HOST CHUNKED "Transfer-Encoding: identity\r\n\r\n" CHUNKS, 400),
	SEND("another encoding", POST HOST "Transfer-Encoding: xchunked\r\n\r\n" CHUNKS, 400),
	SEND("two encodings in a line", POST HOST "Transfer-Encoding: gzip, chunked\r\n\r\n" CHUNKS, 400),
	SEND("chunks by HTTP/1.0", "POST /healthz HTTP/1.0\r\n" HOST CHUNKED "\r\n" CHUNKS, 400),
	SEND("LF behind the request line", "GET /healthz HTTP/1.1\n" HOST "\r\n", 400),
	SEND("LF behind the first header", GET "X-A: 1\n" HOST "\r\n", 400),
	SEND("LF behind the last header", GET HOST "X-A: 1\n\r\n", 400),
	SEND("LF at the end of the head", GET HOST "\n", 400),
	SEND("LF at the end, another request", GET HOST "\n" GET HOST "\r\n", 400),
	SEND("LF only", "GET /healthz HTTP/1.1\nHost: localhost\n\n", 400),
	SEND("LF hides an encoding", POST HOST "X-A: 1\n" CHUNKED "\r\n" CHUNKS, 400),
	SEND("CR behind a header", GET "X-A: 1\r" HOST "\r\n", 400),
	SEND("CR in a value", GET "X-A: 1\rb\r\n" HOST "\r\n", 400),
	SEND("a control character in a value", GET "X-A: 1\002\r\n" HOST "\r\n", 400),
	SEND("folded", GET "X-A: 1\r\n 2\r\n" HOST "\r\n", 400),
	SEND("folded by a tab", GET "X-A: 1\r\n\t2\r\n" HOST "\r\n", 400),
	SEND("folded, the last", GET HOST "X-A: 1\r\n 2\r\n\r\n", 400),
	SEND("folded, the first", GET " X-A: 1\r\n" HOST "\r\n", 400),
	SEND("folded, empty", GET "X-A: 1\r\n \r\n" HOST "\r\n", 400),
	SEND("folded name", GET HOST "Content-Lengt: x\r\n h\r\n\r\n", 400),
	SEND("two hosts", GET HOST "Host: evil.example\r\n\r\n", 400),
	SEND("two hosts, the same", GET HOST HOST "\r\n", 400),
	SEND("no host", GET "\r\n", 400),
	SEND("NUL in a value", GET "X-A: 1\0002\r\n" HOST "\r\n", 400),
	SEND("NUL in Host", GET "Host: localhost\000.evil\r\n\r\n", 400),
	SEND("NUL in the last value", GET HOST "X-A: 1\0002\r\n\r\n", 400),
	SEND("NUL at the end of a value", GET "X-A: 1\000\r\n" HOST "\r\n", 400),
	SEND("NUL before a value", GET "X-A: \0001\r\n" HOST "\r\n", 400),
	SEND("NUL in a name", GET "X\000A: 1\r\n" HOST "\r\n", 400),
	SEND("NUL in the target", "GET /healthz\000x HTTP/1.1\r\n" HOST "\r\n", 400),
	SEND("a blank before the colon", GET "X-A : 1\r\n" HOST "\r\n", 400),
	SEND("a blank before the colon of a length", POST HOST "Content-Length : 2\r\n\r\n{}", 400),
	SEND("a line without a colon", GET "X-A\r\n" HOST "\r\n", 400),
	SEND("a header without a name", GET ": 1\r\n" HOST "\r\n", 400),
	SEND("a control character in a name", GET "X-A\001: 1\r\n" HOST "\r\n", 400),
	SEND("no version", "GET /healthz\r\n" HOST "\r\n", 400),
};
/* clang-format on */
const unsigned n_raw_requests = sizeof(raw_requests) / sizeof(raw_requests[0]);

bool raw_send(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);

		if (n <= 0) {
			return false;
		}
		bytes += n;
		len -= (size_t)n;
	}
	return true;
}

/* The next bytes. \return Their number, 0: the connection has ended. */
static size_t receive(int fd, char *to, size_t room)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	ck_assert_msg(poll(&p, 1, PATIENCE_MS) == 1, "neither an answer nor an end");
	ssize_t n = recv(fd, to, room, 0);
	return n > 0 ? (size_t)n : 0;
}

void raw_await_end(int fd)
{
	char bytes[ANSWER_BYTES];

	while (receive(fd, bytes, sizeof(bytes)) > 0) {
	}
}

/* Reads an answer as far as its head. \return Its status, 0: none came. */
static unsigned read_status(int fd)
{
	char answer[ANSWER_BYTES + 1] = "";
	size_t len = 0, n = 1;
	unsigned status = 0;

	while (n > 0 && strstr(answer, "\r\n\r\n") == NULL && len < ANSWER_BYTES) {
		n = receive(fd, answer + len, ANSWER_BYTES - len);
		len += n;
		answer[len] = '\0';
	}
	return sscanf(answer, "HTTP/1.%*c %u ", &status) == 1 ? status : 0;
}

void raw_request_check(const struct raw_request *r, int fd)
{
	static const char last[] = GET HOST "Connection: close\r\n\r\n";

	ck_assert_msg(raw_send(fd, r->bytes, r->len), "%s", r->what);
	unsigned status = read_status(fd);
	ck_assert_msg(status == r->status, "%s: %u", r->what, status);
	if (status == 200) { /* is its connection in order? */
		ck_assert_msg(raw_send(fd, last, sizeof(last) - 1), "%s", r->what);
	}
	raw_await_end(fd);
	close(fd);
}
