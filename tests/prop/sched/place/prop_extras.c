/*
 * Host ports and resources beside the columns, over random histories, against
 * Kubernetes' rules as they are written.
 *
 *   - no two jobs on a node have the same port and protocol at one address, and
 *     no node gives more of a resource than it has
 *   - after a fast round no job waits that has room, its ports and its resource
 *     somewhere
 *   - after a full round no job waits for what less urgent work has, but for
 *     those that never preempt
 */
#include <stdio.h>

#include "drawn.h"
#include "prop.h"
#include "sched/state/state.h"
#include "unit.h"
#include "world.h"

enum {
    NODES = 5,
    JOBS = 80,
    ACTS = 50,
    RUNS = 900,
    PORTS = 2, /* of a job */
    MS = 1000,
};

static const char *const names[NODES] = {"n0", "n1", "n2", "n3", "n4"};

struct history {
    struct world world;
    int64_t cores[NODES], dongles[NODES];
    struct host_port ports[JOBS][PORTS];
    int64_t now_s;
    int gang_count;
    char gangs[JOBS][8];
};

static void tell_node(struct history *history, struct tape *tape, int node)
{
    history->cores[node] = pick(tape, 4, 12);
    history->dongles[node] = pick(tape, 0, 3);
    world_node(&history->world,
               &(struct world_node){.name = names[node],
                                    .cores = history->cores[node],
                                    .memory_gb = 1,
                                    .dongles = history->dongles[node]});
}

static void draw_ports(struct history *history, struct tape *tape,
                       struct world_job *job)
{
    static const char *const addresses[] = {"", "10.0.0.1", "10.0.0.2"};
    struct host_port *ports = history->ports[history->world.job_count];

    job->ports = ports;
    job->port_count = (uint32_t)pick(tape, 0, PORTS);
    for (uint32_t i = 0; i < job->port_count; i++) {
        ports[i] = (struct host_port){
            once_in(tape, 4) ? HOST_UDP : HOST_TCP,
            80 + i,
            str_of(addresses[pick(tape, 0, 2)]),
        };
    }
}

static void submit(struct history *history, struct tape *tape)
{
    static const char *const queues[] = {"A", "B", "C"};
    static const char *const classes[] = {"mid", "low", "high"};
    struct world_job job = {
        .queue = queues[draw(tape, 0, 2)],
        .priority_class = classes[draw(tape, 0, 2)],
        .cores = pick(tape, 1, 5),
        .dongles = once_in(tape, 3) ? pick(tape, 1, 3) : 0,
        .never_preempts = once_in(tape, 4),
        .submitted_ms = history->world.job_count,
    };
    uint32_t count = 1;

    if (once_in(tape, 5)) {
        count = (uint32_t)pick(tape, 2, 3);
        char *name = history->gangs[history->gang_count];
        (void)snprintf(name, sizeof(history->gangs[0]), "g%d",
                       history->gang_count++);
        job.gang = name;
        job.cardinality = job.minimum = count;
    }
    if (history->world.job_count + count <= JOBS) {
        draw_ports(history, tape, &job);
        world_submit_many(&history->world, &job, count);
    }
}

static bool do_clash(const struct host_port *a, const struct host_port *b)
{
    return a->port == b->port && a->protocol == b->protocol &&
           (a->ip.byte_count == 0 || b->ip.byte_count == 0 ||
            str_equal(a->ip, b->ip));
}

static bool have_clash(const struct world_job *a, const struct world_job *b)
{
    for (uint32_t i = 0; i < a->port_count; i++) {
        for (uint32_t k = 0; k < b->port_count; k++) {
            if (do_clash(&a->ports[i], &b->ports[k])) {
                return true;
            }
        }
    }
    return false;
}

static bool is_on(const struct history *history, uint32_t job, int node)
{
    return !history->world.is_gone[job] &&
           strcmp(world_node_of(&history->world, job), names[node]) == 0;
}

static int urgency(const struct world_job *job)
{
    return strcmp(job->priority_class, "high") == 0  ? 2
           : strcmp(job->priority_class, "mid") == 0 ? 1
                                                     : 0;
}

/* Whether a job fits on a node beside those that run there and are at least so
 * urgent. */
static bool fits_beside(const struct history *history, uint32_t job, int node,
                        int least)
{
    const struct world_job *record = &history->world.records[job];
    int64_t cores = record->cores, dongles = record->dongles;

    for (uint32_t j = 0; j < history->world.job_count; j++) {
        const struct world_job *other = &history->world.records[j];
        if (j != job && is_on(history, j, node) && urgency(other) >= least) {
            if (have_clash(record, other)) {
                return false;
            }
            cores += other->cores;
            dongles += other->dongles;
        }
    }
    return cores <= history->cores[node] &&
           (record->dongles == 0 || dongles <= history->dongles[node]);
}

static bool is_right(const struct history *history, enum round_kind kind)
{
    for (uint32_t j = 0; j < history->world.job_count; j++) {
        const struct world_job *job = &history->world.records[j];
        bool waits = !history->world.is_gone[j] &&
                     history->world.node_of[j] == SCHED_NONE;
        int least = kind == ROUND_FAST ? 0 : urgency(job);
        for (int n = 0; n < NODES; n++) {
            if (is_on(history, j, n) && !fits_beside(history, j, n, 0)) {
                return false;
            }
            bool has_tried = kind == ROUND_FAST || !job->never_preempts;
            if (waits && !job->gang && has_tried &&
                fits_beside(history, j, n, least)) {
                return false;
            }
        }
    }
    return sched_is_consistent(history->world.sched);
}

static bool plan(struct history *history, enum round_kind kind)
{
    world_round(&history->world, kind, ++history->now_s * MS);
    return is_right(history, kind);
}

static bool act(struct history *history, struct tape *tape)
{
    uint32_t job;

    switch (draw(tape, 0, 5)) {
    case 0:
        if (history->world.job_count > 0) {
            job = (uint32_t)draw(tape, 0, history->world.job_count - 1);
            if (!history->world.is_gone[job] &&
                history->world.node_of[job] != SCHED_NONE) {
                world_end(&history->world, job);
            }
        }
        return true;
    case 1:
    case 2:
    case 3:
        submit(history, tape);
        return true;
    default:
        return plan(history, (enum round_kind)draw(tape, 0, 1));
    }
}

static bool extras_are_kept(struct tape *tape)
{
    struct history *history = mem_alloc(sizeof(*history));
    bool holds = true;

    *history = (struct history){.now_s = 1};
    world_init(&history->world);
    for (int i = 0; i < NODES; i++) {
        tell_node(history, tape, i);
    }
    for (uint64_t left = draw(tape, 0, ACTS); holds && left > 0; left--) {
        holds = act(history, tape);
    }
    holds = holds && plan(history, ROUND_BALANCE) && plan(history, ROUND_FAST);
    if (holds) { /* who is told all of it anew by a policy knows the same */
        sched_policy_set(history->world.sched, &history->world.policy);
        holds = sched_is_consistent(history->world.sched);
    }
    world_fini(&history->world);
    mem_free(history);
    return holds;
}

int main(void)
{
    return prop_check("extras_are_kept", extras_are_kept, RUNS, 0) ? 0 : 1;
}
