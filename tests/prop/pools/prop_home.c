/*
 * What pools come to, through the leader: with demand everywhere each runs its
 * own jobs only (model.md 5.7), gangs that grew abroad too; whose a job is is
 * never stored, so that a leader that starts again says the same; and what is
 * borrowed counts where it runs, never at home (6.8).
 */
#include <stdio.h>

#include "leader_stage.h"
#include "prop.h"
#include "wire/kube/pool_codec.h"
#include "wire/message/message.h"

enum { POOLS_MAX = 4, NODE_CPU = 10, STEPS = 6, PODS = 4 };

static const char *const names[POOLS_MAX] = {"a", "b", "c", "d"};

struct town {
    struct stage stage;
    struct tape *tape;
    uint32_t pool_count;
    uint32_t node_counts[POOLS_MAX];
    uint32_t gang_count;
    bool has_gangs;
    bool has_exclusive_nodes; /* some gang has its nodes whole, which it may not
                                 fill */
};

/* The nodes of all pools, each with the label of its pool. */
static void offer(struct town *t)
{
    struct command *command;
    uint32_t count = 0, at = 0;

    for (uint32_t p = 0; p < t->pool_count; p++) {
        count += t->node_counts[p];
    }
    command = stage_exchange_command("e", count, NULL, 0);
    struct node_record *nodes =
        (struct node_record *)(uintptr_t)command->exchange.request.nodes;
    for (uint32_t p = 0; p < t->pool_count; p++) {
        for (uint32_t n = 0; n < t->node_counts[p]; n++) {
            struct label *label = arena_alloc(&command->arena, sizeof(*label));
            *label = (struct label){str_of(names[p]), STR("true")};
            nodes[at].labels = label;
            nodes[at++].label_count = 1;
        }
    }
    command->exchange.request.is_full = false;
    stage_do(&t->stage, command);
}

static void set_pool(struct town *t, uint32_t p)
{
    auto_arena arena = {0};
    struct label label = {str_of(names[p]), STR("true")};
    struct pool_record record = {
        .name = str_of(names[p]),
        .has_selector = true,
        .labels = &label,
        .label_count = 1,
        .is_sharing_off = draw(t->tape, 0, 3) == 3,
        .is_borrowing_off = draw(t->tape, 0, 3) == 3,
        .preemption_order = draw(t->tape, 0, 3) == 3 ? BORROW_FIRST : 0,
    };
    struct event event = stage_event_make(EVENT_POOL_SET);

    event.pool.encoded =
        wire_encode_arena(&pool_message_of(&record, &arena)->base, &arena);
    stage_do(&t->stage, stage_event_command("", "", "anna", &event));
}

static void submit(struct town *t, uint32_t p, uint32_t count)
{
    static const char *const classes[] = {"armada-preemptible",
                                          "armada-default"};

    for (uint32_t i = 0; i < count; i++) {
        (void)stage_submit(
            &t->stage, "q",
            (struct stage_job){.pool = names[p],
                               .priority_class = classes[draw(t->tape, 0, 1)],
                               .is_requeue_preempted = true});
    }
}

/* A gang with terms, of which some must run, near together or not. */
static void submit_gang(struct town *t, uint32_t p)
{
    struct stage_job jobs[PODS];
    struct gang_terms terms = {
        .kind = GANG_POD_GROUP,
        .replace_timeout_ms = 300000,
        .has_exclusive_nodes = draw(t->tape, 0, 5) == 5,
        .sub_group_count = 1,
        .sub_groups = {{.name = STR("w"),
                        .min_count = (uint32_t)draw(t->tape, 1, PODS),
                        .max_count = PODS,
                        .hops_max = draw(t->tape, 0, 3) ? HOPS_ANY : 0}},
    };
    char gang[16];

    t->has_exclusive_nodes |= terms.has_exclusive_nodes;
    snprintf(gang, sizeof(gang), "g%u", t->gang_count++);
    for (uint32_t i = 0; i < PODS; i++) {
        jobs[i] = (struct stage_job){
            .pool = names[p],
            .priority_class = "armada-preemptible",
            .gang = gang,
            .gang_cardinality = PODS,
            .gang_minimum = terms.sub_groups[0].min_count,
            .terms = &terms,
            .is_requeue_preempted = true,
        };
    }
    stage_do(&t->stage, stage_submit_command(&t->stage, "q", jobs, PODS));
}

static void settle(struct town *t)
{
    for (int i = 0; i < 4; i++) {
        stage_settle(&t->stage);
        stage_pass(&t->stage, 2000);
    }
}

/* All pools' rows, which the next question ends. */
static const struct pool_row *ask(struct town *t)
{
    stage_do(&t->stage, command_create(COMMAND_QUERY_POOLS));
    ASSERT(t->stage.answer->pools.row_count == t->pool_count + 1);
    return t->stage.answer->pools.rows;
}

static bool is_same_after_a_restart(struct town *t)
{
    struct pool_row before[POOLS_MAX + 1];
    bool is_same = true;

    settle(t); /* so that nothing is left to do */
    memcpy(before, ask(t), (t->pool_count + 1) * sizeof(*before));
    stage_crash(&t->stage);
    stage_start(&t->stage);
    const struct pool_row *after = ask(t);
    for (uint32_t i = 0; i <= t->pool_count; i++) {
        is_same &=
            before[i].running_own_count == after[i].running_own_count &&
            before[i].running_foreign_count == after[i].running_foreign_count;
    }
    return is_same;
}

/* Whether a queue's share of each pool is what runs there, whosever it is. */
static bool is_counted_right(struct town *t)
{
    int64_t share_ppm[POOLS_MAX];
    uint32_t counts[POOLS_MAX], found = 0;
    bool holds = true;

    for (uint32_t p = 0; p < t->pool_count; p++) {
        const struct pool_row *row = &ask(t)[p + 1];
        counts[p] = row->running_own_count + row->running_foreign_count;
        share_ppm[p] = (int64_t)counts[p] * FRACTION_ONE_PPM /
                       (t->node_counts[p] * NODE_CPU);
    }
    stage_do(&t->stage, command_create(COMMAND_QUERY_QUEUES));
    for (uint32_t i = 0; i < t->stage.answer->queues.share_count; i++) {
        const struct queue_share *share = &t->stage.answer->queues.shares[i];
        for (uint32_t p = 0; p < t->pool_count; p++) {
            if (str_equal(share->pool, str_of(names[p]))) {
                found++;
                holds &= share->leased_count == counts[p] &&
                         share->actual_share_ppm == share_ppm[p];
            }
        }
    }
    return holds && found == t->pool_count;
}

/* A gang may grow between two questions: then ask once more. */
static bool counts_where_it_runs(struct town *t)
{
    return is_counted_right(t) || is_counted_right(t);
}

static bool are_all_at_home(struct town *t)
{
    const struct pool_row *rows = ask(t);
    bool are_all = true;

    for (uint32_t p = 0; p < t->pool_count; p++) {
        are_all &= rows[p + 1].running_foreign_count == 0 &&
                   (t->has_exclusive_nodes || rows[p + 1].running_own_count ==
                                                  t->node_counts[p] * NODE_CPU);
    }
    return are_all;
}

static bool pools_end_with_their_own_jobs(struct tape *tape)
{
    struct town t = {.tape = tape};
    bool holds = true;

    stage_init(&t.stage);
    t.has_gangs = draw(tape, 0, 1);
    if (t.has_gangs) {
        /* One at the head would have nodes kept for it, on which a borrower
         * stays until all of the gang can start. */
        t.stage.policy.pools[0].admitted_window = 0;
    }
    stage_start(&t.stage);
    stage_queue(&t.stage, "q");
    t.pool_count = (uint32_t)draw(tape, 2, POOLS_MAX);
    for (uint32_t p = 0; p < t.pool_count; p++) {
        t.node_counts[p] = (uint32_t)draw(tape, 1, 2);
    }
    offer(&t);
    for (uint32_t p = 0; p < t.pool_count; p++) {
        set_pool(&t, p);
    }
    for (int step = 0; step < STEPS && holds; step++) {
        submit(&t, (uint32_t)draw(tape, 0, t.pool_count - 1),
               (uint32_t)draw(tape, 0, 12));
        if (t.has_gangs && draw(tape, 0, 1)) {
            submit_gang(&t, (uint32_t)draw(tape, 0, t.pool_count - 1));
        }
        settle(&t);
        holds = counts_where_it_runs(&t);
        if (draw(tape, 0, 4) == 4) {
            set_pool(&t, (uint32_t)draw(tape, 0, t.pool_count - 1));
        }
        holds = holds && (draw(tape, 0, 4) != 4 || is_same_after_a_restart(&t));
    }
    for (uint32_t p = 0; p < t.pool_count; p++) {
        submit(&t, p, t.node_counts[p] * NODE_CPU);
    }
    settle(&t);
    settle(&t);
    holds = holds && are_all_at_home(&t) && counts_where_it_runs(&t);
    control_assert_valid(t.stage.control);
    stage_fini(&t.stage);
    return holds;
}

int main(void)
{
    return !prop_check("pools_end_with_their_own_jobs",
                       pools_end_with_their_own_jobs, 200, 0);
}
