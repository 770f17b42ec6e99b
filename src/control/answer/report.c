/* Scheduling reports: figures of queues and pools, as text for people. */
#include <inttypes.h>

#include "control/answer/answers.h"
#include "control/explain/amounts.h"
#include "control/explain/explain.h"
#include "control/state/inbox.h"
#include "control/state/state.h"
#include "wire/policy/policy_codec.h"

enum { MS_PER_S = 1000 };

static void put_queue_line(struct strbuf *buf, struct str name,
                           const struct sched_queue_stats *stats)
{
    strbuf_addf(buf, "\t%.*s\t%.3f\t%.4f\t%.4f\t%.4f\t%.4f\t%u\t%u\n",
                STR_ARG(name), stats->weight, stats->fair_share,
                stats->adjusted_share, stats->actual_share, stats->demand_share,
                stats->leased_count, stats->queued_count);
}

/* The lines of all queues, or of the one that is asked for. */
static void put_queue_lines(struct strbuf *buf, struct control *c,
                            const struct named *queues, uint32_t count,
                            uint32_t pool, struct str only_queue)
{
    auto_mem uint32_t *indexes = mem_alloc_array(count + 1, sizeof(*indexes));
    auto_mem struct sched_queue_stats *stats =
        mem_alloc_array(count + 1, sizeof(*stats));

    for (uint32_t i = 0; i < count; i++) {
        indexes[i] = queues[i].index;
    }
    pools_queues_stats(c->pools, indexes, count, pool, stats);
    for (uint32_t i = 0; i < count; i++) {
        if (only_queue.byte_count == 0 ||
            str_equal(only_queue, queues[i].name)) {
            put_queue_line(buf, queues[i].name, &stats[i]);
        }
    }
}

/* How many were admitted, and whether nodes are reserved for the first; not
 * which that is, for whoever reads this need not be allowed to see it. */
static void put_admitted(struct strbuf *buf, struct control *c,
                         const struct sched_pool_stats *stats)
{
    char start[WIRE_RFC3339_TEXT_BYTES_MAX];

    if (stats->admitted_count == 0) {
        return;
    }
    strbuf_addf(buf, "\tAdmitted:\t%u", stats->admitted_count);
    if (stats->head != SCHED_NONE && jobs_is_live(c->jobs, stats->head)) {
        strbuf_add_text(buf, "; nodes are reserved for the first");
        if (stats->head_start_ms != SCHED_START_UNKNOWN) {
            strbuf_addf(buf, ", which has room by %s",
                        moment_put(stats->head_start_ms, start));
        }
    }
    strbuf_add_char(buf, '\n');
}

/* Which rules it goes by: what is switched off, or says nothing, is left out.
 */
static void put_rules(struct strbuf *buf, const struct pool_policy *pool)
{
    strbuf_addf(buf, "\tRules:\tprofile %s, cost %s",
                policy_profile_word(pool->profile),
                policy_cost_word(pool->cost));
    if (pool->half_time_ms > 0) {
        strbuf_addf(buf, ", flowHalfTime %" PRId64 " s",
                    pool->half_time_ms / MS_PER_S);
    }
    strbuf_addf(buf, ", admittedWindow %u", pool->admitted_window);
    if (pool->admitted_window > 0) {
        strbuf_addf(buf, " (%u of a queue), strictOrder %s, backfill %s",
                    pool->admitted_window_per_queue,
                    pool->is_strict ? "on" : "off", policy_backfill_word(pool));
    }
    if (pool->over_share_ppm != POLICY_OFF) {
        strbuf_addf(buf, ", overShareFactor %.6g",
                    (double)pool->over_share_ppm / FRACTION_ONE_PPM);
    }
    if (pool->excess_budget_minutes != POLICY_OFF) {
        strbuf_addf(buf, ", excessBudgetMinutes %" PRId64,
                    pool->excess_budget_minutes);
    }
    strbuf_add_char(buf, '\n');
}

/* What labels make of its nodes, and where they contradict each other. */
static void put_levels(struct strbuf *buf, const struct sched_pool_stats *stats)
{
    if (stats->level_count == 0) {
        return;
    }
    strbuf_addf(buf, "\tTopology:\t%u levels, %u domains", stats->level_count,
                stats->domain_count);
    if (stats->split_count) {
        strbuf_addf(buf, "; values found in several places: %u",
                    stats->split_count);
    }
    if (stats->bare_count) {
        strbuf_addf(buf, "; nodes that lack a label: %u", stats->bare_count);
    }
    strbuf_add_char(buf, '\n');
}

static void put_pool(struct strbuf *buf, struct control *c, uint32_t pool,
                     struct str only_queue)
{
    struct sched_pool_stats stats;
    struct str name = pools_pool_name(c->pools, pool);
    uint32_t count;
    auto_mem struct named *queues = queues_sorted(c, &count);

    pools_pool_stats(c->pools, pool, &stats);
    strbuf_addf(buf, "Pool %.*s:\n", STR_ARG(name));
    strbuf_addf(buf, "\tNodes:\t%u\n\tTotal:\t", stats.node_count);
    amounts_put(buf, c, &stats.total);
    strbuf_add_text(buf, "\n\tAllocated:\t");
    amounts_put(buf, c, &stats.allocated);
    strbuf_addf(buf, "\n\tActive queues:\t%u\n", stats.active_queue_count);
    put_rules(buf, policy_pool_of(&c->policy->policy, name));
    put_levels(buf, &stats);
    put_admitted(buf, c, &stats);
    strbuf_add_text(buf, "\tQueue\tWeight\tFair share\tAdjusted\tActual\t"
                         "Demand\tLeased\tQueued\n");
    put_queue_lines(buf, c, queues, count, pool, only_queue);
}

static void answer_report(struct control *c, struct command *command)
{
    auto_strbuf text = {0};
    struct job_id job = command->report.job;

    if (!key128_is_none(job.v)) {
        uint32_t index = jobs_find(c->jobs, job);
        if (index == JOBS_NONE) {
            strbuf_add_text(&text, "no report: the job is not queued, leased, "
                                   "pending or running\n");
        } else {
            struct waiting waiting;
            waiting_ask(c, index, &command->arena, &waiting);
            explain_put_job(&text, c, index, &waiting);
        }
    } else {
        for (uint32_t i = 0; i < pools_pool_count(c->pools); i++) {
            put_pool(&text, c, i, command->report.queue);
        }
    }
    command->report.text = arena_str(&command->arena, strbuf_str(&text));
    command_answer(command, COMMAND_OK, "");
}

void report_answer(struct control *c, struct command *command)
{
    if (command->kind == COMMAND_QUERY_REPORT) {
        answer_report(c, command);
    } else if (command->kind == COMMAND_QUERY_QUEUES) {
        queues_answer(c, command);
    } else if (command->kind == COMMAND_QUERY_APPS) {
        apps_answer(c, command);
    } else if (command->kind == COMMAND_QUERY_NODES) {
        nodes_answer(c, command);
    } else if (command->kind == COMMAND_QUERY_EXECUTORS) {
        clusters_answer(c, command);
    } else if (command->kind == COMMAND_QUERY_POOLS ||
               command->kind == COMMAND_POOL_METRICS) {
        pool_objects_answer(c, command);
    } else if (command->kind == COMMAND_QUERY_ADMISSIONS) {
        admissions_answer(c, command);
    } else if (command->kind == COMMAND_QUERY_TRAINING) {
        training_answer(c, command);
    } else if (command->kind == COMMAND_QUERY_GANGS) {
        gangs_answer(c, command);
    } else if (command->kind == COMMAND_QUERY_WINDOWS) {
        windows_answer(c, command);
    } else if (command->kind == COMMAND_QUERY_PERIODIC) {
        periodic_answer(c, command);
    } else {
        explain_answer(c, command);
    }
}
