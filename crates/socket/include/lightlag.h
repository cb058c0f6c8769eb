/* lightlag.h: the sockets API through lightlagd. See lightlag(3). */
#ifndef LIGHTLAG_H
#define LIGHTLAG_H

#include <poll.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options. */
#define LL_PRIORITY 1      /* int: 0 to 3, higher goes first */
#define LL_DURABLE 2       /* int: stored before it is acknowledged, delivered though the program has left */
#define LL_DELAY_MOST_MS 3 /* int: milliseconds of one-way delay that the program bears */
#define LL_PEER 4          /* text: by which of the other daemons */
#define LL_DAEMON 5        /* text: where the daemon takes SOCKS, "host:port" */
#define LL_CONTROL 6       /* text: the socket of the daemon's owner */
#define LL_TIMEOUT_MS 7    /* int: milliseconds that calls wait at most; 0 is for ever */

/* Error numbers are those of errno.h, and: */
#define LL_ENODAEMON 10001 /* no daemon answers */

/* All return -1 and set errno where they fail. Descriptors are the kernel's: read, write, poll and close take them. */
int ll_socket(void);
int ll_connect(int fd, const char *host, uint16_t port); /* port 0: host is the name of a service */
int ll_bind(int fd, const char *service);
int ll_listen(int fd, int backlog);
int ll_accept(int fd);
ssize_t ll_send(int fd, const void *bytes, size_t length, int flags);
ssize_t ll_send_with(int fd, const void *bytes, size_t length, int priority, int deadline_ms);
ssize_t ll_recv(int fd, void *bytes, size_t length, int flags);
int ll_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int ll_shutdown(int fd, int how);
int ll_close(int fd);
int ll_setsockopt(int fd, int option, const void *value, socklen_t length);
int ll_getsockopt(int fd, int option, void *value, socklen_t *length);
const char *ll_strerror(int number);

#ifdef __cplusplus
}
#endif

#endif
