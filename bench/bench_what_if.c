/*
 * bench_what_if - how long a what-if takes at 10,000 nodes and 100,000 jobs, of
 * which more than half run, and how long the leader pauses for it at most: from
 * the question to the answer, with one course on a thread of its own, as berthd
 * does it.  One queue of 20 gets twice its weight, and there are 100 nodes
 * more.
 *
 *     bench_what_if [JOBS]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "control/what_if/what_if.h"
#include "main/common/machine.h"
#include "sim/world/cluster.h"

enum {
    NODES = 10000,
    JOBS = 100000,
    QUEUES = 20,
    KINDS = 16, /* of each queue */
    RUN_MS = 1 << 30,
    SPAN_MS = 60000,
};

/* What the hook was given. */
struct given {
    struct command *command;
    struct what_if_state state;
};

static void take(void *ctx, struct command *command, char *bytes,
                 size_t byte_count, int64_t now_ms)
{
    struct given *given = ctx;

    given->command = command;
    given->state = (struct what_if_state){str_make(bytes, byte_count), now_ms,
                                          WHAT_IF_P50};
}

static void die(const char *what, const struct err *err)
{
    fprintf(stderr, "bench_what_if: %s: %s\n", what, err->text);
    exit(1);
}

static void settle(struct world *world, int64_t until_ms)
{
    struct agenda_entry entry;
    struct err err;

    if (world_run(world, until_ms, &entry, &err) < 0) {
        die("world", &err);
    }
}

static void add_nodes(struct world *world)
{
    struct cluster_options options = {
        .name = STR("e"), .pool = STR("default"), .report_ms = 10};
    struct resource_amount total[] = {
        {STR("cpu"), 32000},
        {STR("memory"), (int64_t)128 << 40},
    };
    struct cluster *cluster = cluster_create(world, &options);

    for (uint32_t i = 0; i < NODES; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "node-%u", i);
        struct node_record record = {
            .name = str_of(name), .pool = STR("default"), .total = {total, 2}};
        cluster_add_node(cluster, &record);
    }
    cluster_open(cluster);
}

static void submit_kind(struct world *world, struct str queue, uint32_t n,
                        uint32_t count)
{
    struct resource_amount requests[] = {
        {STR("cpu"), (int64_t)(n + 1) * 1000},
        {STR("memory"), (int64_t)1 << 40},
    };
    struct world_kind kind = {
        .queue = queue,
        .job_set = STR("set"),
        .requirement = {.lifetime_ms = LIFETIME_BY_CLASS,
                        .priority_class = STR("armada-preemptible"),
                        .requests = {requests, 2}},
    };
    struct world_submission one = {.kind = world_add_kind(world, &kind),
                                   .run_ms = RUN_MS};

    for (uint32_t i = 0; i < count; i++) {
        (void)world_submit(world, &one, 1);
    }
}

static struct world *make_world(uint32_t job_count, struct given *given)
{
    struct policy policy;
    struct err err;

    policy_defaults(&policy);
    struct world_config config = {
        .policy = &policy,
        .seed = 1,
        .what_if_ctx = given,
        .what_if = take,
    };
    struct world *world = world_create(&config, &err);
    if (!world) {
        die("world", &err);
    }
    add_nodes(world);
    for (uint32_t q = 0; q < QUEUES; q++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "queue-%u", q);
        world_add_queue(world, str_of(name), 1, (struct str){0});
        settle(world, 1);
        for (uint32_t k = 0; k < KINDS; k++) {
            submit_kind(world, str_of(name), k, job_count / QUEUES / KINDS);
        }
    }
    settle(world, 120000);
    return world;
}

struct course {
    struct what_if_state state;
    struct what_if_changes *changes;
    struct what_if *what_if;
};

static void *play(void *ctx)
{
    struct what_if_bounds bounds = {.clock = NULL};
    struct course *course = ctx;
    struct err err;

    if (what_if_create(&course->state, course->changes, &bounds,
                       &course->what_if, &err) < 0 ||
        what_if_play(course->what_if, SPAN_MS, &err) < 0) {
        die("course", &err);
    }
    return NULL;
}

static double ms_since(uint64_t began_ns)
{
    return (double)(machine_clock.mono_ns(&machine_clock) - began_ns) / 1e6;
}

static void figure(const char *name, double value)
{
    printf("{\"name\": \"%s\", \"value\": %.3f, \"unit\": \"ms\"}\n", name,
           value);
    fflush(stdout);
}

static void unused(struct command *command, void *ctx)
{
    (void)command;
    (void)ctx;
}

int main(int argument_count, char **arguments)
{
    long jobs = argument_count > 1 ? strtol(arguments[1], NULL, 10) : JOBS;
    struct what_if_weight weight = {STR("queue-3"), 2};
    struct what_if_nodes nodes = {.count = 100};
    struct what_if_changes changes = {
        .weights = &weight,
        .nodes = &nodes,
        .weight_count = 1,
        .nodes_count = 1,
    };
    struct what_if_answer answer;
    auto_arena arena = {0};
    struct given given = {0};
    struct control_metrics metrics;
    pthread_t thread;
    struct err err;

    struct world *world = make_world((uint32_t)jobs, &given);
    struct command *command = command_create(COMMAND_WHAT_IF);
    command->done = unused;
    uint64_t began_ns = machine_clock.mono_ns(&machine_clock);
    world_post(world, command);
    double pause_ms = 0;
    while (!given.command) {
        uint64_t step_ns = machine_clock.mono_ns(&machine_clock);
        if (control_step(world->control, &err) < 0) {
            die("step", &err);
        }
        pause_ms = ms_since(step_ns) > pause_ms ? ms_since(step_ns) : pause_ms;
    }
    double given_ms = ms_since(began_ns);
    struct course as_is = {.state = given.state};
    struct course what_if = {.state = given.state, .changes = &changes};
    if (pthread_create(&thread, NULL, play, &as_is) != 0) {
        return 1;
    }
    (void)play(&what_if);
    (void)pthread_join(thread, NULL);
    if (what_if_compare(as_is.what_if, what_if.what_if, &arena, &answer, &err) <
        0) {
        die("compare", &err);
    }
    figure("whatif.answer_ms", ms_since(began_ns));
    figure("whatif.pause_ms", pause_ms);
    control_metrics(world->control, &metrics);
    fprintf(stderr,
            "%u jobs, %u run; %.1f MB of state after %.1f ms; %u rows, %u "
            "start, %u are preempted\n",
            metrics.job_count, metrics.running_count,
            (double)given.state.bytes.byte_count / 1e6, given_ms,
            answer.row_count, answer.counts[WHAT_IF_STARTS],
            answer.counts[WHAT_IF_PREEMPTED]);
    what_if_destroy(as_is.what_if);
    what_if_destroy(what_if.what_if);
    command_destroy(given.command);
    mem_free((void *)(uintptr_t)given.state.bytes.p);
    world_destroy(world);
    return 0;
}
