/* Creates, changes and deletes pool objects. */
#include "control/fold/pools.h"

#include "control/fold/executors.h"
#include "control/state/state.h"
#include "pools/tables/match.h"

/* Pools are others: nodes find theirs anew, and all that waits is looked at
 * again. */
static void pool_objects_changed(struct control *c)
{
    /* The planner has a shard for each. */
    ASSERT(pools_object_count(c->pools) == c->pool_table.entries.count);
    executors_fold_again(c);
    c->has_lost_nodes = true; /* to whom they are not, or no more */
    c->node_generation++;
    c->is_plan_wanted = c->is_balance_wanted = true;
}

/* A pool is as its encoding says. */
static int put(struct control *c, struct str encoded)
{
    const struct pool_entry *entry;
    struct err err;

    int rc = pool_table_put(&c->pool_table, encoded, &entry, &err);
    if (rc == 0) {
        pools_pool_set(c->pools, &entry->record);
    }
    return rc;
}

void pool_fold(struct control *c, const struct event *event)
{
    struct str name = event->pool.record.name;

    pools_flows_hold(c->pools);
    if (event->type == EVENT_POOL_SET) {
        if (put(c, event->pool.encoded) == 0) {
            pool_objects_changed(c);
        } /* else a foreign log: what is no pool is passed over */
    } else if (pool_table_remove(&c->pool_table, name)) {
        pools_pool_delete(c->pools, name);
        pool_objects_changed(c);
    }
    pools_flows_keep(c->pools);
}

const char *pool_refusal(const struct control *c, const struct event *event)
{
    const struct policy *policy = &c->policy->policy;
    struct str name = event->pool.record.name;

    for (uint32_t i = 0; i < policy->pool_count; i++) {
        if (str_equal(policy->pools[i].name, name)) {
            return "it is a pool of the configuration, which is part of the "
                   "default pool and cannot be created, edited or deleted";
        }
    }
    if (c->pool_table.entries.count == POOL_OBJECTS_MAX &&
        !pool_table_find(&c->pool_table, name)) {
        return "the limit of pools is reached";
    }
    return NULL;
}

struct str pool_object_of(const struct control *c,
                          const struct node_record *record)
{
    const struct pool_record *found = NULL;

    for (size_t i = 0; i < c->pool_table.entries.count; i++) {
        const struct pool_record *pool =
            &c->pool_table.entries.items[i]->record;
        if (!match_selects(pool, record->labels, record->label_count)) {
            continue;
        }
        if (found) {
            return (struct str){0}; /* several: it is in the Default pool */
        }
        found = pool;
    }
    return found ? found->name : (struct str){0};
}

void pool_objects_pack(const struct control *c, struct strbuf *buf)
{
    pack_u64(buf, c->pool_table.entries.count);
    for (size_t i = 0; i < c->pool_table.entries.count; i++) {
        pack_str(buf, c->pool_table.entries.items[i]->encoded);
    }
}

void pool_objects_unpack(struct control *c, struct pack_reader *reader)
{
    uint32_t count = unpack_count(reader, POOL_OBJECTS_MAX);

    for (uint32_t i = 0; i < count && !reader->is_bad; i++) {
        reader->is_bad |= put(c, unpack_str(reader)) < 0;
    }
}

bool pool_has_conflict(const struct control *c,
                       const struct node_record *record)
{
    uint32_t count = 0;

    for (size_t i = 0; i < c->pool_table.entries.count && count < 2; i++) {
        count += match_selects(&c->pool_table.entries.items[i]->record,
                               record->labels, record->label_count);
    }
    return count > 1;
}

struct str pool_conflict(const struct control *c,
                         const struct node_record *record, struct arena *arena)
{
    auto_strbuf text = {0};
    uint32_t count = 0;

    if (c->pool_table.entries.count < 2) {
        return (struct str){0};
    }
    for (size_t i = 0; i < c->pool_table.entries.count; i++) {
        const struct pool_record *pool =
            &c->pool_table.entries.items[i]->record;
        if (match_selects(pool, record->labels, record->label_count)) {
            strbuf_addf(&text, "%s%.*s",
                        count++ ? ", "
                                : "in the default pool, for these all "
                                  "match it: ",
                        STR_ARG(pool->name));
        }
    }
    return count > 1 ? arena_str(arena, strbuf_str(&text)) : (struct str){0};
}
