#include "scrape.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "load.h"

enum {
    JOBS_OF_QUEUE = 2,
    TIMES = 21,
    PAGE_BYTES_MAX = 64 << 20,
    DEADLINE_MS = 60000,
    POLL_MS = 100,
};

_Noreturn static void fail(const char *what)
{
    fprintf(stderr, "scrape: %s\n", what);
    exit(1);
}

static int open_socket(const char *http)
{
    char host[128];
    size_t length = (size_t)(strrchr(http, ':') - http);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;

    snprintf(host, sizeof(host), "%.*s", (int)length, http);
    if (getaddrinfo(host, http + length + 1, &hints, &found) != 0) {
        fail("no such address");
    }
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen) < 0) {
        fail("cannot connect");
    }
    freeaddrinfo(found);
    return fd;
}

/* Read the page with its head into `ret_page`; how long that took. */
static double read_page(const char *http, struct strbuf *ret_page)
{
    static const char request[] =
        "GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n";
    static char piece[65536];
    ssize_t count;
    double begun_ms = load_now_ms();
    int fd = open_socket(http);

    if (write(fd, request, sizeof(request) - 1) != sizeof(request) - 1) {
        fail("cannot ask");
    }
    strbuf_clear(ret_page);
    while ((count = read(fd, piece, sizeof(piece))) > 0) {
        strbuf_add(ret_page, piece, (size_t)count);
    }
    close(fd);
    double took_ms = load_now_ms() - begun_ms;
    if (count < 0 || ret_page->is_over ||
        !strstr(strbuf_text(ret_page), " 200 ")) {
        fail("no page");
    }
    return took_ms;
}

/* Wait until a line is on the page. */
static void await_line(const char *http, struct strbuf *page, const char *name,
                       int value)
{
    char line[128];
    double begun_ms = load_now_ms();

    snprintf(line, sizeof(line), "\n%s %d\n", name, value);
    do {
        if (load_now_ms() - begun_ms > DEADLINE_MS) {
            fail(line);
        }
        nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000L}, NULL);
        (void)read_page(http, page);
    } while (!strstr(strbuf_text(page), line));
}

static void submit(struct rpc_channel *channel)
{
    struct strbuf *requests = mem_alloc_array(SCRAPE_QUEUES, sizeof(*requests));
    struct load_plan plan = {
        .channel = channel,
        .requests = requests,
        .request_kind_count = SCRAPE_QUEUES,
        .request_count = SCRAPE_QUEUES,
        .jobs_per_request = JOBS_OF_QUEUE,
        .in_flight_max = 16,
    };

    for (int i = 0; i < SCRAPE_QUEUES; i++) {
        char queue[32];
        snprintf(queue, sizeof(queue), "scrape-%d", i);
        load_create_queue(channel, queue);
        load_encode_request(queue, "scrape", JOBS_OF_QUEUE, &requests[i]);
    }
    (void)load_submit(&plan, NULL);
    for (int i = 0; i < SCRAPE_QUEUES; i++) {
        strbuf_fini(&requests[i]);
    }
    mem_free(requests);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void scrape_measure(struct rpc_channel *channel, const char *http,
                    double *ret_ms, double *ret_bytes)
{
    auto_strbuf page = strbuf_make(PAGE_BYTES_MAX);
    double times[TIMES];

    await_line(http, &page, "berth_nodes", SCRAPE_NODES);
    submit(channel);
    await_line(http, &page, "berth_jobs_leased_total",
               SCRAPE_QUEUES * JOBS_OF_QUEUE);
    for (int i = 0; i < TIMES; i++) {
        times[i] = read_page(http, &page);
    }
    qsort(times, TIMES, sizeof(*times), compare);
    *ret_ms = times[TIMES / 2];
    *ret_bytes = (double)page.byte_count;
}
