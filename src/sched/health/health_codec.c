/* The failure records of nodes in a checkpoint, in the order of names. */
#include "sched/health/health.h"
#include "sched/state/history.h"

static bool is_worth_packing(const struct sched *sched, uint32_t node)
{
    const struct health_record *record = health_find(sched, node);

    return record && !quarantine_is_empty(&record->quarantine,
                                          health_rules(sched), sched->now_ms);
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
    quarantine_pack(buf, &record->quarantine, health_rules(sched),
                    sched->now_ms);
}

static bool is_recent(const struct sched *sched,
                      const struct gang_failure *failure)
{
    return failure->gang &&
           quarantine_is_recent(health_rules(sched), failure->time_ms,
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
    struct health_record *record = health_get(sched, node);

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
    health_suspect(sched, node);
    health_hold(sched, node, record->quarantine.health != NODE_NORMAL);
    health_show(sched, node, record->quarantine.health);
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
