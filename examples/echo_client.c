/* Sends what it is given to a host and port or to a service, and prints what comes back.
 * cc echo_client.c $(pkg-config --cflags --libs lightlag) -o echo_client && ./echo_client echo 0 hello */
#include <errno.h>
#include <lightlag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed(const char *what) {
    fprintf(stderr, "%s: %s\n", what, ll_strerror(errno));
    return 1;
}

int main(int count, char **words) {
    if (count != 4) {
        fprintf(stderr, "usage: %s HOST PORT TEXT (port 0: HOST is a service)\n", words[0]);
        return 2;
    }
    int fd = ll_socket();
    int priority = 3;
    if (fd < 0 || ll_setsockopt(fd, LL_PRIORITY, &priority, sizeof priority) < 0)
        return failed("ll_setsockopt");
    if (ll_connect(fd, words[1], (uint16_t)atoi(words[2])) < 0)
        return failed(words[1]);
    size_t length = strlen(words[3]);
    if (ll_send_with(fd, words[3], length, -1, 10000) != (ssize_t)length)
        return failed("ll_send_with");
    if (ll_shutdown(fd, SHUT_WR) < 0)
        return failed("ll_shutdown");
    char bytes[4096];
    ssize_t got;
    while ((got = ll_recv(fd, bytes, sizeof bytes, 0)) > 0)
        fwrite(bytes, 1, (size_t)got, stdout);
    if (got < 0)
        return failed("ll_recv");
    return ll_close(fd);
}
