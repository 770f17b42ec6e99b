/* Encodes the live state.  Jobs come last, because they are the largest part.
 */

#include "control/checkpoint/checkpoint.h"
#include "control/fold/executors.h"
#include "control/fold/periodic.h"
#include "control/fold/pools.h"
#include "control/fold/windows.h"
#include "control/state/named.h"
#include "control/state/state.h"
#include "job/table/named_groups.h"

static void put_table(struct queue_table *table, struct strbuf *buf)
{
    uint32_t count;
    const struct queue_entry **list = queue_table_list(table, &count);

    pack_u64(buf, count);
    for (uint32_t i = 0; i < count; i++) {
        pack_str(buf, list[i]->name);
        pack_str(buf, list[i]->encoded);
    }
    queue_list_free(list, count);
}

/* Something that the log said of it must be kept. */
static bool is_worth_keeping(const struct control_executor *executor)
{
    return executor && (executor->is_known || executor->has_settings ||
                        executor->state != EXECUTOR_LIVE);
}

/* An event of the type that nodes have. */
static void put_event(const struct control_pending *event, struct strbuf *buf)
{
    if (event->bytes) {
        pack_str(buf, str_make(event->bytes, event->byte_count));
        pack_u64(buf, false);
    }
}

/* In order of names only where equal states are to be equal bytes. */
static void put_nodes(const struct control_executor *executor,
                      struct strbuf *buf, bool is_sorted)
{
    auto_mem struct named *named =
        mem_alloc_array((size_t)executor->node_count + 1, sizeof(*named));
    uint32_t count = 0;

    for (uint32_t i = 0; i < executor->nodes.count; i++) {
        if (executor->nodes.items[i].bytes) {
            named[count++] =
                (struct named){intern_get(&executor->node_names, i), i};
        }
    }
    ASSERT(count == executor->node_count);
    if (is_sorted) {
        named_sort(named, count);
    }
    pack_u64(buf, count + (executor->pending.bytes != NULL) +
                      (executor->protected.bytes != NULL));
    for (uint32_t i = 0; i < count; i++) {
        const struct control_node *node =
            &executor->nodes.items[named[i].index];
        pack_str(buf, str_make(node->bytes, node->byte_count));
        pack_u64(buf, node->is_cordoned);
    }
    put_event(&executor->pending, buf);
    put_event(&executor->protected, buf);
}

static void put_executors(const struct control *c, struct strbuf *buf,
                          bool is_sorted)
{
    auto_mem struct named *named =
        mem_alloc_array(c->executors.count + 1, sizeof(*named));
    uint32_t count = 0;

    for (uint32_t i = 0; i < c->executors.count; i++) {
        if (is_worth_keeping(c->executors.items[i])) {
            named[count++] = (struct named){c->executors.items[i]->id, i};
        }
    }
    named_sort(named, count);
    pack_u64(buf, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct control_executor *executor =
            c->executors.items[named[i].index];
        pack_str(buf, executor->id);
        pack_u64(buf, executor->is_known);
        pack_u64(buf, executor->has_settings);
        pack_u64(buf, executor->is_cordoned);
        pack_str(buf, str_of(executor->cordon_reason));
        pack_str(buf, str_of(executor->pool));
        pack_u64(buf, executor->state);
        put_nodes(executor, buf, is_sorted);
    }
}

static void put_marks(const struct control *c, struct strbuf *buf)
{
    pack_u64(buf, c->marks.count);
    for (size_t i = 0; i < c->marks.count; i++) {
        /* A leader that reads them reads no record after them. */
        ASSERT(c->marks.items[i].seq <= c->seq);
        pack_u64(buf, c->marks.items[i].seq);
        pack_i64(buf, c->marks.items[i].time_ms);
    }
}

void checkpoint_encode_head(struct control *c, struct strbuf *buf,
                            bool is_whole)
{
    auto_strbuf history = {0};

    /* What a planner has of its shard is not to be read meanwhile. */
    ASSERT(!pools_is_any_busy(c->pools));
    pools_history_pack(c->pools, &history);
    pack_u64(buf, CONTROL_CHECKPOINT_VERSION);
    pack_i64(buf, is_whole ? c->now_ms : 0);
    pack_str(buf,
             c->is_policy_logged ? str_of(c->policy->text) : (struct str){0});
    put_table(c->config.queues, buf);
    put_table(c->config.retry_policies, buf);
    pool_objects_pack(c, buf);
    windows_pack(c, buf);
    periodic_pack(c, buf);
    put_executors(c, buf, !is_whole);
    if (is_whole) {
        put_marks(c, buf);
        dedup_pack(c->dedup, buf);
    }
    pack_str(buf, strbuf_str(&history));
    named_groups_encode(c->jobs, buf);
    run_times_pack(c->run_times, buf);
}

void checkpoint_encode(struct control *c, struct strbuf *buf, bool is_whole)
{
    checkpoint_encode_head(c, buf, is_whole);
    jobs_encode(c->jobs, buf);
}

void control_encode_state(struct control *c, struct strbuf *buf)
{
    pools_sweep_reset(c->pools);
    checkpoint_encode(c, buf, false);
}
