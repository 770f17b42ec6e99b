/* Descriptors and timers: curl's own and ours, in one epoll. */
#include <sys/timerfd.h>
#include <unistd.h>

#include "kube/http/http_private.h"

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx,
                     void *of_socket)
{
    struct http_client *client = ctx;
    struct epoll_event event = {.data.fd = fd};

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        (void)epoll_ctl(client->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
        return 0;
    }
    event.events = (what & CURL_POLL_IN ? (uint32_t)EPOLLIN : 0) |
                   (what & CURL_POLL_OUT ? (uint32_t)EPOLLOUT : 0);
    (void)epoll_ctl(client->epoll_fd, of_socket ? EPOLL_CTL_MOD : EPOLL_CTL_ADD,
                    fd, &event);
    (void)curl_multi_assign(client->multi, fd, client);
    return 0;
}

void http_set_timer(int timer_fd, int64_t ms)
{
    /* Zero would switch the timer off. */
    int64_t ns = ms > 0 ? ms * 1000000 : 1;
    struct itimerspec at = {0};

    if (ms >= 0) {
        at.it_value.tv_sec = (time_t)(ns / 1000000000);
        at.it_value.tv_nsec = (long)(ns % 1000000000);
    }
    (void)timerfd_settime(timer_fd, 0, &at, NULL);
}

static int on_timer(CURLM *multi, long ms, void *ctx)
{
    (void)multi;
    http_set_timer(((const struct http_client *)ctx)->curl_timer_fd, ms);
    return 0;
}

bool http_watch_fd(struct http_client *client, int fd, int what)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = what};

    return epoll_ctl(client->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

bool http_open_multi(struct http_client *client)
{
    client->multi = curl_multi_init();
    client->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    client->curl_timer_fd =
        timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    client->own_timer_fd =
        timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (!client->multi || client->epoll_fd < 0 ||
        !http_watch_fd(client, client->curl_timer_fd, READY_CURL_TIMER) ||
        !http_watch_fd(client, client->own_timer_fd, READY_OWN_TIMER) ||
        !http_watch_fd(client, credential_fd(client->credential),
                       READY_CREDENTIAL)) {
        return false;
    }
    (void)curl_multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    (void)curl_multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
    (void)curl_multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    (void)curl_multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
    (void)curl_multi_setopt(client->multi, CURLMOPT_PIPELINING,
                            CURLPIPE_MULTIPLEX);
    (void)curl_multi_setopt(client->multi, CURLMOPT_MAX_HOST_CONNECTIONS,
                            (long)HTTP_CLIENT_CONNECTIONS_MAX);
    return true;
}

void http_take_event(struct http_client *client,
                     const struct epoll_event *event)
{
    int fd = event->data.fd;
    int what = (event->events & EPOLLIN ? CURL_CSELECT_IN : 0) |
               (event->events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
               (event->events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
    uint64_t expired;
    int running;

    if (fd == READY_OWN_TIMER) {
        (void)!read(client->own_timer_fd, &expired, sizeof(expired));
        return;
    }
    client->is_in_curl = true;
    if (fd == READY_CURL_TIMER) {
        (void)!read(client->curl_timer_fd, &expired, sizeof(expired));
        (void)curl_multi_socket_action(client->multi, CURL_SOCKET_TIMEOUT, 0,
                                       &running);
    } else if (fd >= 0) {
        (void)curl_multi_socket_action(client->multi, fd, what, &running);
    }
    client->is_in_curl = false;
}
