#include "sched/health/health.h"

#include "base/hash.h"
#include "sched/evict/cooldown.h"
#include "sched/state/history.h"

enum { SWEEP_MS = 60000 };

static const struct quarantine_policy *rules_of(const struct sched *sched)
{
    return &sched->policy->quarantine;
}

static void record_free(struct health_record *record)
{
    if (record) {
        mem_free(record->reason);
        mem_free(record);
    }
}

void health_init(struct sched *sched)
{
    sched->health = mem_alloc(sizeof(*sched->health));
    sched->health->window_ms = rules_of(sched)->window_ms;
}

void health_fini(struct sched *sched)
{
    struct health *health = sched->health;

    for (size_t i = 0; i < health->nodes.count; i++) {
        record_free(health->nodes.items[i]);
    }
    VEC_FREE(&health->nodes);
    VEC_FREE(&health->pools);
    VEC_FREE(&health->known);
    VEC_FREE(&health->held);
    VEC_FREE(&health->suspects);
    VEC_FREE(&health->changes);
    mem_free(health);
}

/* Records. */

struct health_record *health_find(const struct sched *sched, uint32_t node)
{
    return node < sched->health->nodes.count ? sched->health->nodes.items[node]
                                             : NULL;
}

static uint64_t hash_of_node(const struct sched *sched, uint32_t node)
{
    struct str executor = sched_node_executor(sched, node);
    struct str name = sched_node_name(sched, node);
    uint64_t seed = hash_bytes(executor.p, executor.byte_count, 0);

    return hash_bytes(name.p, name.byte_count, seed);
}

static struct health_record *get(struct sched *sched, uint32_t node)
{
    struct health *health = sched->health;

    while (health->nodes.count <= node) {
        VEC_PUSH(&health->nodes, NULL);
    }
    if (!health->nodes.items[node]) {
        struct health_record *record = mem_alloc(sizeof(*record));
        ASSERT(!sched->nodes.items[node].has_health);
        record->pool = NONE;
        record->name = hash_of_node(sched, node);
        health->nodes.items[node] = record;
        sched->nodes.items[node].has_health = true;
        VEC_PUSH(&health->known, node);
    }
    return health->nodes.items[node];
}

struct quarantine_window *health_of_pool(struct sched *sched, uint32_t pool)
{
    struct health *health = sched->health;

    while (health->pools.count <= pool) {
        VEC_PUSH(&health->pools, (struct quarantine_window){0});
    }
    return &health->pools.items[pool];
}

/* Forget what is known of a node's runs, in its pool too. */
static void clear_window(struct sched *sched, struct health_record *record)
{
    ASSERT(record->pool == NONE || record->pool < sched->pools.count);
    if (record->pool != NONE) {
        quarantine_window_subtract(health_of_pool(sched, record->pool),
                                   &record->quarantine.window);
    }
    record->quarantine.window = (struct quarantine_window){0};
    record->quarantine.failure_count = 0;
    record->is_due = false;
}

void health_follow(struct sched *sched)
{
    struct health *health = sched->health;

    health->has_news = true;
    if (health->window_ms == rules_of(sched)->window_ms) {
        return;
    }
    health->window_ms = rules_of(sched)->window_ms;
    /* What was counted by other slots cannot be told in these. */
    for (size_t i = 0; i < health->known.count; i++) {
        clear_window(sched, health_find(sched, health->known.items[i]));
    }
    health->pools.count = 0;
}

/* Drop the records that say nothing any more. */
static void sweep(struct sched *sched)
{
    struct health *health = sched->health;

    if (sched->now_ms - health->swept_ms < SWEEP_MS) {
        return;
    }
    health->swept_ms = sched->now_ms;
    for (size_t i = health->known.count; i > 0; i--) {
        uint32_t node = health->known.items[i - 1];
        ASSERT(sched->nodes.items[node].has_health);
        if (quarantine_is_empty(&health_find(sched, node)->quarantine,
                                rules_of(sched), sched->now_ms)) {
            record_free(health->nodes.items[node]);
            health->nodes.items[node] = NULL;
            sched->nodes.items[node].has_health = false;
            health->known.items[i - 1] =
                health->known.items[--health->known.count];
            node_touch(sched, node); /* its slot may be free now */
        }
    }
}

/* Runs that end. */

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
            quarantine_forgive(&record->quarantine, rules_of(sched),
                               failure->gang, failure->time_ms)) {
            quarantine_window_add(health_of_pool(sched, record->pool),
                                  rules_of(sched), failure->time_ms, true, -1);
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
            quarantine_is_recent(rules_of(sched), failure->time_ms, now_ms)) {
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

static void suspect(struct sched *sched, uint32_t node)
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
    if (rules_of(sched)->is_off) {
        return;
    }
    sweep(sched);
    struct health_record *record = get(sched, node);
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
        clear_window(sched, record);
        record->pool = pool;
    }
    quarantine_note(&record->quarantine, rules_of(sched), &note);
    quarantine_window_add(health_of_pool(sched, pool), rules_of(sched),
                          note.time_ms, note.is_failed, 1);
    health->has_news |=
        note.is_failed || record->quarantine.health != NODE_NORMAL;
    /* Judged here, where a replay of the log has the same counts. */
    if (note.is_failed) {
        record->is_due = health_is_due(sched, node, sched->now_ms);
        suspect(sched, node);
    }
}

/* What has been decided. */

static void hold(struct sched *sched, uint32_t node, bool is_held)
{
    struct health *health = sched->health;
    size_t at = 0;

    ASSERT(health->held.count <= health->known.count);
    while (at < health->held.count && health->held.items[at] != node) {
        at++;
    }
    if (is_held && at == health->held.count) {
        VEC_PUSH(&health->held, node);
    } else if (!is_held && at < health->held.count) {
        health->held.items[at] = health->held.items[--health->held.count];
    }
}

static void show_health(struct sched *sched, uint32_t index,
                        enum node_health health)
{
    sched->nodes.items[index].is_out = health == NODE_OUT;
    sched->nodes.items[index].is_on_trial = health == NODE_TRIAL;
    node_refresh(sched, index);
}

void sched_health_set(struct sched *sched, uint32_t node,
                      const struct sched_health *health)
{
    sched->version++;
    cooldown_news(sched);
    if (health->health == NODE_NORMAL && !health_find(sched, node)) {
        node_touch(sched, node); /* nobody may need its slot */
        return;
    }
    struct health_record *entry = get(sched, node);
    struct quarantine *record = &entry->quarantine;
    mem_free(entry->reason);
    entry->reason = str_dup(health->reason);
    record->health = health->health;
    record->is_pinned = health->is_pinned;
    record->since_ms = sched->now_ms;
    record->until_ms = health->health == NODE_OUT ? health->until_ms : 0;
    record->probation_ms = health->probation_ms;
    record->success_count = 0;
    record->has_failed = false;
    if (health->health == NODE_NORMAL) {
        clear_window(sched, entry);
    }
    hold(sched, node, health->health != NODE_NORMAL);
    show_health(sched, node, health->health);
    sched->health->has_news = true; /* a place may be free for another */
}

void sched_health_get(const struct sched *sched, uint32_t node, int64_t now_ms,
                      struct sched_health *ret_health)
{
    *ret_health = (struct sched_health){0};
    if (!health_find(sched, node)) {
        return;
    }
    const struct quarantine *record = &health_find(sched, node)->quarantine;
    struct quarantine_sums sums =
        quarantine_window_sums(&record->window, rules_of(sched), now_ms);
    ret_health->health = record->health;
    ret_health->is_pinned = record->is_pinned;
    ret_health->until_ms = record->until_ms;
    ret_health->probation_ms = record->probation_ms;
    ret_health->success_count = record->success_count;
    ret_health->reason = str_of(health_find(sched, node)->reason);
    ret_health->ended_count = sums.ended;
    ret_health->failed_count = sums.failed;
}

uint32_t sched_health_count(const struct sched *sched, enum node_health health)
{
    uint32_t count = 0;

    for (size_t i = 0; i < sched->health->held.count; i++) {
        uint32_t node = sched->health->held.items[i];
        count += health_find(sched, node)->quarantine.health == health &&
                 sched->nodes.items[node].record;
    }
    return count;
}

/* Packing: in the order of names. */

static bool is_worth_packing(const struct sched *sched, uint32_t node)
{
    const struct health_record *record = health_find(sched, node);

    return record && !quarantine_is_empty(&record->quarantine, rules_of(sched),
                                          sched->now_ms);
}

static void pack_record(const struct sched *sched, struct strbuf *buf,
                        uint32_t node)
{
    const struct health_record *record = health_find(sched, node);

    pack_str(buf, sched_node_executor(sched, node));
    pack_str(buf, sched_node_name(sched, node));
    pack_u64(buf, record->pool != NONE);
    if (record->pool != NONE) {
        pack_str(buf, intern_get(sched->pool_names, record->pool));
    }
    pack_str(buf, str_of(record->reason));
    pack_u64(buf, record->is_due);
    quarantine_pack(buf, &record->quarantine, rules_of(sched), sched->now_ms);
}

static bool is_recent(const struct sched *sched,
                      const struct gang_failure *failure)
{
    return failure->gang &&
           quarantine_is_recent(rules_of(sched), failure->time_ms,
                                sched->now_ms);
}

static void pack_gangs(const struct sched *sched, struct strbuf *buf)
{
    const struct health *health = sched->health;
    uint32_t count = 0;

    for (uint32_t i = 0; i < HEALTH_GANGS_MAX; i++) {
        count += is_recent(sched, &health->gangs[i]);
    }
    pack_u64(buf, count);
    for (uint32_t i = 0; i < HEALTH_GANGS_MAX; i++) {
        const struct gang_failure *failure =
            &health->gangs[(health->gang_next + i) % HEALTH_GANGS_MAX];
        if (is_recent(sched, failure)) {
            pack_u64(buf, failure->gang);
            pack_u64(buf, failure->node);
            pack_i64(buf, failure->time_ms);
        }
    }
}

void health_pack(const struct sched *sched, struct strbuf *buf)
{
    uint32_t count = 0;
    bool has_gangs = false;

    for (uint32_t i = 0; i < HEALTH_GANGS_MAX; i++) {
        has_gangs |= is_recent(sched, &sched->health->gangs[i]);
    }
    for (size_t i = 0; i < sched->health->known.count; i++) {
        count += is_worth_packing(sched, sched->health->known.items[i]);
    }
    if (count == 0 && !has_gangs) {
        return;
    }
    pack_u64(buf, count);
    for (struct seq_cursor at = {0};
         count > 0 && !seq_is_end(&sched->nodes_by_name, at);
         seq_next(&sched->nodes_by_name, &at)) {
        uint32_t node = seq_get(&sched->nodes_by_name, at);
        if (is_worth_packing(sched, node)) {
            pack_record(sched, buf, node);
        }
    }
    pack_gangs(sched, buf);
}

static void unpack_record(struct sched *sched, struct pack_reader *reader)
{
    struct str executor = unpack_str(reader);
    uint32_t node = sched_node_index(sched, executor, unpack_str(reader));
    struct health_record *record = get(sched, node);

    if (unpack_count(reader, 1) == 1) {
        record->pool = pool_get(sched, unpack_str(reader));
    }
    mem_free(record->reason);
    record->reason = str_dup(unpack_str(reader));
    bool is_due = unpack_count(reader, 1);
    quarantine_unpack(reader, &record->quarantine);
    if (record->pool != NONE) {
        quarantine_window_merge(health_of_pool(sched, record->pool),
                                &record->quarantine.window);
    }
    record->is_due = is_due;
    suspect(sched, node);
    hold(sched, node, record->quarantine.health != NODE_NORMAL);
    show_health(sched, node, record->quarantine.health);
}

void health_unpack(struct sched *sched, struct history_reader *from)
{
    struct health *health = sched->health;

    struct pack_reader *reader = &from->pack;
    uint32_t count = unpack_count(reader, NODES_MAX);

    health->swept_ms = sched->now_ms;
    for (uint32_t i = 0; i < count && !reader->is_bad; i++) {
        unpack_record(sched, reader);
    }
    count = unpack_count(reader, HEALTH_GANGS_MAX);
    for (uint32_t i = 0; i < count && !reader->is_bad; i++) {
        health->gangs[i].gang = unpack_u64(reader);
        health->gangs[i].node = unpack_u64(reader);
        health->gangs[i].time_ms = unpack_i64(reader);
    }
    health->gang_next = count % HEALTH_GANGS_MAX;
    health->has_news = true;
}
