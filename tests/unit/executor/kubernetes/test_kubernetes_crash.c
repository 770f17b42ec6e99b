/*
 * kubernetes under the executor's loop, which is killed at random moments while
 * its cluster and its server fail at random: each job succeeds, each pod is
 * made once, and nothing is left.
 */
#include <stdio.h>

#include "base/hash.h"
#include "executor/kubernetes/kubernetes.h"
#include "kube/fake/fake_api.h"
#include "server.h"
#include "support.h"
#include "unit.h"

enum {
    SEEDS = 40,
    JOBS = 6,
    TURN_MS = 20,
    BAD_TURNS = 300,      /* in which things go wrong */
    SETTLE_TURNS = 90000, /* in which they must come right: a removal that
                           * failed is repeated after up to 30 s */
    ARRIVALS_MAX = 10000, /* between two turns */
};

/* What may happen in a bad turn, one time in so many. */
enum {
    KILL_1_IN = 25,
    LOSE_1_IN = 12,
    REFUSE_1_IN = 12,
    STALE_1_IN = 20,
    COMPACT_1_IN = 40,
    AWAY_1_IN = 30,
    OFFER_1_IN = 8,
};

struct world {
    uint64_t random;
    struct test_clock clock;
    struct server server;
    struct fake_api *api;
    struct runtime *runtime;
    struct executor *executor;
    int kill_count;
    bool is_stale;
};

static bool happens(struct world *w, uint64_t one_in)
{
    w->random = hash_mix(w->random + 1);
    return w->random % one_in == 0;
}

static void start(struct world *w)
{
    struct kubernetes_options options;
    struct executor_options loop;
    struct err err;

    kubernetes_options_default(&options);
    options.executor_id = STR("one");
    options.retention_ms = 0;
    assert_int_equal(kubernetes_open(&options, fake_api_port(w->api),
                                     &w->clock.clock, &machine_rng, &w->runtime,
                                     &err),
                     0);
    executor_options_default(&loop);
    w->executor =
        executor_create(&loop, &w->clock.clock, &w->server.port, w->runtime);
}

static void kill_executor(struct world *w)
{
    executor_destroy(w->executor);
    runtime_close(w->runtime);
    w->server.is_open = false;
    /* What was on its way to the old one is lost. */
    while (w->server.queue_first < w->server.queue.count) {
        mem_free(w->server.queue.items[w->server.queue_first++].bytes);
    }
    w->kill_count++;
    start(w);
}

static void turn(struct world *w)
{
    int arrivals = 0;

    do {
        (void)executor_step(w->executor);
        assert_true(arrivals++ < ARRIVALS_MAX);
    } while (w->server.queue_first < w->server.queue.count);
    w->clock.now_ms += TURN_MS;
}

static void go_wrong(struct world *w, int *offered)
{
    static const char *const methods[] = {"POST", "DELETE", "GET"};
    const char *method = methods[hash_mix(w->random) % ARRAY_COUNT(methods)];

    if (*offered < JOBS && happens(w, OFFER_1_IN)) {
        (void)server_offer(&w->server, (*offered)++);
    }
    if (happens(w, LOSE_1_IN)) {
        fake_api_answer(w->api, method, 1, 0, "", "", happens(w, 2));
    }
    if (happens(w, REFUSE_1_IN)) {
        fake_api_answer(w->api, method, 1, happens(w, 2) ? 429 : 503, "",
                        "not now", false);
    }
    if (happens(w, STALE_1_IN)) {
        w->is_stale = !w->is_stale;
        fake_api_hold_watches(w->api, w->is_stale);
    }
    if (happens(w, COMPACT_1_IN)) {
        fake_api_compact(w->api);
    }
    if (happens(w, AWAY_1_IN)) {
        w->server.is_away = !w->server.is_away;
    }
    if (happens(w, KILL_1_IN)) {
        kill_executor(w);
    }
}

static bool is_settled(const struct world *w)
{
    for (size_t i = 0; i < w->server.jobs.count; i++) {
        if (!w->server.jobs.items[i].is_ended) {
            return false;
        }
    }
    return fake_api_pod_count(w->api) == 0;
}

static void check(const struct world *w)
{
    assert_int_equal(fake_api_made_count(w->api), JOBS);
    assert_int_equal(fake_api_pod_count(w->api), 0);
    assert_int_equal(fake_api_other_count(w->api), 0);
    assert_true(fake_api_made_other_count(w->api) <=
                (w->server.has_services ? JOBS : 0));
    for (size_t i = 0; i < w->server.jobs.count; i++) {
        const char *events = w->server.jobs.items[i].events;
        assert_non_null(strchr(events, 's'));
        assert_null(strpbrk(events, "fbp"));
    }
}

/* One life of an executor and its successors; how often it was killed. */
static int live(uint64_t seed, uint32_t *service_count)
{
    static struct world world;
    struct world *w = &world;
    int offered = 0;

    *w = (struct world){.random = hash_mix(seed)};
    test_clock_init(&w->clock);
    server_init(&w->server, &w->clock);
    w->server.cpu = "100m";
    w->server.has_services = seed % 2 == 0;
    w->api = fake_api_create(&w->clock.clock);
    fake_api_put_node(w->api, "fake-node-0", true);
    fake_api_set_page(w->api, seed % 3);
    start(w);
    for (int i = 0; i < BAD_TURNS; i++) {
        go_wrong(w, &offered);
        turn(w);
    }
    while (offered < JOBS) {
        (void)server_offer(&w->server, offered++);
    }
    w->server.is_away = false;
    fake_api_hold_watches(w->api, false);
    for (int i = 0; i < SETTLE_TURNS && !is_settled(w); i++) {
        turn(w);
    }
    check(w);
    *service_count += fake_api_made_other_count(w->api);
    executor_destroy(w->executor);
    runtime_close(w->runtime);
    fake_api_destroy(w->api);
    server_fini(&w->server);
    return w->kill_count;
}

static void nothing_is_lost_or_made_twice_whenever_it_is_killed(void **state)
{
    int kill_count = 0;
    uint32_t service_count = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        kill_count += live(seed, &service_count);
    }
    /* Else the test has tried nothing. */
    assert_true(kill_count > 5 * SEEDS);
    assert_true(service_count > SEEDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_or_made_twice_whenever_it_is_killed),
    };

    return RUN_TESTS(tests);
}
