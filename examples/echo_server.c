/* Offers a service that gives back what it gets, a connection after the other.
 * cc echo_server.c $(pkg-config --cflags --libs lightlag) -o echo_server && ./echo_server echo */
#include <errno.h>
#include <lightlag.h>
#include <stdio.h>

static int failed(const char *what) {
    fprintf(stderr, "%s: %s\n", what, ll_strerror(errno));
    return 1;
}

int main(int count, char **words) {
    const char *service = count > 1 ? words[1] : "echo";
    int listener = ll_socket();
    if (listener < 0 || ll_bind(listener, service) < 0 || ll_listen(listener, 16) < 0)
        return failed(service);
    for (;;) {
        int fd = ll_accept(listener);
        if (fd < 0)
            return failed("ll_accept");
        char bytes[4096];
        ssize_t got;
        while ((got = ll_recv(fd, bytes, sizeof bytes, 0)) > 0)
            if (ll_send_with(fd, bytes, (size_t)got, -1, -1) < 0)
                break;
        ll_close(fd);
    }
}
