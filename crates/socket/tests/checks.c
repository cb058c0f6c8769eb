/* What the library promises, seen from C. Prints a line for each promise that is broken. */
#include <errno.h>
#include <fcntl.h>
#include <lightlag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int broken;
#define PROMISE(is_so) \
    do { \
        if (!(is_so)) { \
            printf("line %d: %s (errno %d, %s)\n", __LINE__, #is_so, errno, ll_strerror(errno)); \
            broken = 1; \
        } \
    } while (0)

static int option(int fd, int name) {
    int value = -2;
    socklen_t length = sizeof value;
    return ll_getsockopt(fd, name, &value, &length) < 0 ? -2 : value;
}

static void options_before_the_connection(void) {
    int fd = ll_socket(), three = 3, nine = 9, yes = 1;
    PROMISE(option(fd, LL_PRIORITY) == -1);
    PROMISE(ll_setsockopt(fd, LL_PRIORITY, &three, sizeof three) == 0 && option(fd, LL_PRIORITY) == 3);
    PROMISE(ll_setsockopt(fd, LL_PRIORITY, &nine, sizeof nine) == -1 && errno == EINVAL);
    PROMISE(ll_setsockopt(fd, 99, &nine, sizeof nine) == -1 && errno == ENOPROTOOPT);
    PROMISE(ll_setsockopt(fd, LL_DURABLE, &yes, sizeof yes) == 0 && option(fd, LL_DURABLE) == 1);
    PROMISE(ll_setsockopt(fd, LL_PEER, "far", 3) == 0);
    char peer[8];
    socklen_t length = sizeof peer;
    PROMISE(ll_getsockopt(fd, LL_PEER, peer, &length) == 0 && length == 4 && strcmp(peer, "far") == 0);
    length = 2;
    PROMISE(ll_getsockopt(fd, LL_PEER, peer, &length) == -1 && errno == ERANGE);
    PROMISE(ll_send(fd, "x", 1, 0) == -1 && errno == ENOTSOCK);
    PROMISE(ll_close(fd) == 0);
}

static void errors(void) {
    PROMISE(ll_connect(-1, "far", 1) == -1 && errno == EBADF);
    PROMISE(ll_connect(0, "far", 1) == -1 && errno == ENOTSOCK);
    int fd = ll_socket();
    PROMISE(ll_connect(fd, NULL, 1) == -1 && errno == EFAULT);
    PROMISE(ll_connect(fd, "127.0.0.1", 1) == -1 && errno == ECONNREFUSED);
    PROMISE(ll_connect(fd, "nothing", 0) == -1 && errno == EHOSTUNREACH);
    PROMISE(ll_listen(fd, 1) == -1 && errno == EDESTADDRREQ);
    PROMISE(ll_bind(fd, "no name") == -1 && errno == EINVAL);
    PROMISE(ll_setsockopt(fd, LL_PEER, "nobody", 6) == 0);
    PROMISE(ll_connect(fd, "echo", 0) == -1 && errno == EHOSTUNREACH);
    PROMISE(ll_setsockopt(fd, LL_DAEMON, "127.0.0.1:1", 11) == 0);
    PROMISE(ll_connect(fd, "echo", 0) == -1 && errno == LL_ENODAEMON);
    PROMISE(strstr(ll_strerror(LL_ENODAEMON), "LIGHTLAG_SOCKS") != NULL);
    PROMISE(strcmp(ll_strerror(ENOENT), strerror(ENOENT)) == 0);
    ll_close(fd);
}

static void a_connection(void) {
    int fd = ll_socket();
    PROMISE(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
    PROMISE(ll_connect(fd, "echo", 0) == 0);
    PROMISE(fcntl(fd, F_GETFL) & O_NONBLOCK);
    PROMISE(ll_connect(fd, "echo", 0) == -1 && errno == EISCONN);
    char bytes[8];
    PROMISE(ll_recv(fd, bytes, sizeof bytes, 0) == -1 && (errno == EAGAIN || errno == EWOULDBLOCK));
    PROMISE(write(fd, "abc", 3) == 3);
    struct pollfd one = {fd, POLLIN, 0};
    PROMISE(ll_poll(&one, 1, 20000) == 1 && (one.revents & POLLIN));
    PROMISE(read(fd, bytes, sizeof bytes) == 3 && memcmp(bytes, "abc", 3) == 0);
    int two = 2, yes = 1;
    PROMISE(option(fd, LL_PRIORITY) == 1);
    PROMISE(ll_setsockopt(fd, LL_PRIORITY, &two, sizeof two) == 0 && option(fd, LL_PRIORITY) == 2);
    PROMISE(ll_setsockopt(fd, LL_DURABLE, &yes, sizeof yes) == -1 && errno == EISCONN);
    PROMISE(ll_send_with(fd, "def", 3, 3, 20000) == 3 && option(fd, LL_PRIORITY) == 3);
    PROMISE(ll_poll(&one, 1, 20000) == 1 && ll_recv(fd, bytes, sizeof bytes, 0) == 3);
    size_t much = 256 << 20;
    char *all = calloc(1, much);
    ssize_t sent = ll_send_with(fd, all, much, -1, 300);
    PROMISE(sent > 0 && sent < (ssize_t)much);
    /* The echo is not read: at some time there is no room anywhere. */
    while (sent > 0)
        sent = ll_send_with(fd, all, much, -1, 300);
    PROMISE(sent == -1 && errno == ETIMEDOUT);
    free(all);
    PROMISE(ll_close(fd) == 0 && ll_close(fd) == -1 && errno == EBADF);
}

int main(void) {
    options_before_the_connection();
    errors();
    a_connection();
    return broken;
}
