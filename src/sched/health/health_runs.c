/* Notes in the failure records how runs ended. */
#include "base/hash.h"
#include "sched/evict/cooldown.h"
#include "sched/health/health.h"

static uint64_t hash_of_gang(const struct sched *sched, uint32_t job)
{
    uint32_t at = sched->jobs.items[job].gang;

    if (at == NONE) {
        return 0;
    }
    const struct gang *gang = &sched->gangs.items[at];
    const struct queue *queue = &sched->queues.items[gang->queue];
    uint64_t seed = hash_bytes(queue->name, queue->name_bytes, 0);
    return hash_bytes(gang->id, gang->id_bytes, seed) | 1;
}

/* The failure of a gang's member was not its node's. */
static void forgive(struct sched *sched, const struct gang_failure *failure)
{
    for (size_t i = 0; i < sched->health->known.count; i++) {
        struct health_record *record =
            health_find(sched, sched->health->known.items[i]);
        if (record->name == failure->node &&
            quarantine_forgive(&record->quarantine, health_rules(sched),
                               failure->gang, failure->time_ms)) {
            quarantine_window_add(health_of_pool(sched, record->pool),
                                  health_rules(sched), failure->time_ms, true,
                                  -1);
        }
    }
}

/* Whether a gang's failure is not the node's, for mates failed elsewhere;
 * then theirs are forgiven as well. */
static bool fails_elsewhere(struct sched *sched, uint64_t node, uint64_t gang,
                            int64_t now_ms)
{
    struct health *health = sched->health;
    bool is_elsewhere = false;

    ASSERT(health->gang_next < HEALTH_GANGS_MAX);
    for (uint32_t i = 0; i < HEALTH_GANGS_MAX; i++) {
        const struct gang_failure *failure = &health->gangs[i];
        if (failure->gang == gang && failure->node != node &&
            quarantine_is_recent(health_rules(sched), failure->time_ms,
                                 now_ms)) {
            /* The first of them has been forgiven with the second. */
            if (!is_elsewhere) {
                forgive(sched, failure);
            }
            is_elsewhere = true;
        }
    }
    health->gangs[health->gang_next] =
        (struct gang_failure){gang, node, now_ms};
    health->gang_next = (health->gang_next + 1) % HEALTH_GANGS_MAX;
    return is_elsewhere;
}

void health_suspect(struct sched *sched, uint32_t node)
{
    struct health_record *record = health_find(sched, node);

    if (record->is_due && !record->is_listed) {
        record->is_listed = true;
        VEC_PUSH(&sched->health->suspects, node);
    }
}

void sched_run_ended(struct sched *sched, uint32_t job,
                     const struct sched_outcome *outcome)
{
    struct health *health = sched->health;
    uint32_t run = sched->jobs.items[job].run;

    ASSERT(run != NONE);
    uint32_t node = sched->runs.items[run].node;
    uint32_t pool = pool_get(sched, outcome->pool);
    if (health_rules(sched)->is_off) {
        return;
    }
    health_sweep(sched);
    struct health_record *record = health_get(sched, node);
    struct quarantine_outcome note = {
        .time_ms = sched->now_ms,
        .leased_ms = sched->runs.items[run].leased_ms,
        .is_failed = outcome->is_failed,
        .job_set = outcome->job_set,
        .gang = hash_of_gang(sched, job),
    };
    if (note.is_failed && outcome->is_exit && note.gang &&
        fails_elsewhere(sched, record->name, note.gang, note.time_ms)) {
        note.is_failed = false;
    }
    if (record->pool != pool) {
        health_clear_window(sched, record);
        record->pool = pool;
    }
    quarantine_note(&record->quarantine, health_rules(sched), &note);
    quarantine_window_add(health_of_pool(sched, pool), health_rules(sched),
                          note.time_ms, note.is_failed, 1);
    health->has_news |=
        note.is_failed || record->quarantine.health != NODE_NORMAL;
    /* Judged here, where a replay of the log has the same counts. */
    if (note.is_failed) {
        record->is_due = health_is_due(sched, node, sched->now_ms);
        health_suspect(sched, node);
    }
}
