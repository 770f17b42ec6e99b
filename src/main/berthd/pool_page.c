#include "main/berthd/pool_page.h"

#include "main/berthd/metric_table.h"
#include "main/berthd/pages.h"

/* `name{pool="...",` */
static void put_begin(struct strbuf *out, const char *name,
                      const struct pool_row *row)
{
    strbuf_addf(out, "%s{pool=\"", name);
    pages_put_label(out, row->name);
    strbuf_add_text(out, "\",");
}

/* Of one resource of one pool, a line for each type. */
static void put_amount(struct strbuf *out, const struct pool_row *row,
                       const char *resource, const struct pool_amount *amount)
{
    const struct {
        const char *type;
        int64_t milli;
    } types[] = {
        {"capacity", amount->capacity_milli},
        {"allocatable", amount->allocatable_milli},
        {"used", amount->used_milli},
        {"shared", amount->shared_milli},
        {"system", amount->system_milli},
        {"pending", amount->pending_milli},
    };

    for (size_t i = 0; i < ARRAY_COUNT(types); i++) {
        put_begin(out, "scheduler_pool_resource_details", row);
        strbuf_addf(out, "resource=\"%s\",type=\"%s\"} %.15g\n", resource,
                    types[i].type, (double)types[i].milli / 1e3);
    }
}

static void put_amounts(struct strbuf *out, const struct command *command)
{
    static const char *const resources[POOL_AMOUNTS] = {
        [POOL_AMOUNT_CPU] = "cpu",
        [POOL_AMOUNT_GPU] = "gpu",
        [POOL_AMOUNT_MEMORY] = "memory",
        [POOL_AMOUNT_STORAGE] = "ephemeral-storage",
        [POOL_AMOUNT_PODS] = "pods",
        [POOL_AMOUNT_NODES] = "node",
    };

    metric_head(out, "scheduler_pool_resource_details");
    for (uint32_t i = 0; i < command->pools.row_count; i++) {
        for (size_t r = 0; r < POOL_AMOUNTS; r++) {
            put_amount(out, &command->pools.rows[i], resources[r],
                       &command->pools.rows[i].amounts[r]);
        }
    }
}

static void put_features(struct strbuf *out, const struct command *command)
{
    metric_head(out, "scheduler_pool_features");
    for (uint32_t i = 0; i < command->pools.row_count; i++) {
        const struct pool_row *row = &command->pools.rows[i];
        const struct {
            const char *name;
            bool is_off;
        } features[] = {
            {"preemption", row->is_preemption_off},
            {"borrowing", row->is_borrowing_off},
            {"sharing", row->is_sharing_off},
        };
        for (size_t f = 0; f < ARRAY_COUNT(features); f++) {
            put_begin(out, "scheduler_pool_features", row);
            strbuf_addf(out, "feature=\"%s\"} %d\n", features[f].name,
                        !features[f].is_off);
        }
    }
}

static void put_ages(struct strbuf *out, const struct command *command)
{
    metric_head(out, "scheduler_pool_figures_age_seconds");
    for (uint32_t i = 0; i < command->pools.row_count; i++) {
        const struct pool_row *row = &command->pools.rows[i];
        strbuf_addf(out, "scheduler_pool_figures_age_seconds{pool=\"");
        pages_put_label(out, row->name);
        strbuf_addf(out, "\"} %.15g\n", (double)row->age_ms / 1e3);
    }
}

static void put_queues(struct strbuf *out, const struct command *command)
{
    metric_head(out, "scheduler_pool_queue_details");
    for (uint32_t i = 0; i < command->pools.row_count; i++) {
        const struct pool_row *row = &command->pools.rows[i];
        put_begin(out, "scheduler_pool_queue_details", row);
        strbuf_addf(out, "type=\"active\"} %u\n",
                    row->queued_own_count + row->queued_foreign_count);
        put_begin(out, "scheduler_pool_queue_details", row);
        strbuf_add_text(out, "type=\"unschedule\"} 0\n");
        put_begin(out, "scheduler_pool_queue_details", row);
        strbuf_add_text(out, "type=\"backoff\"} 0\n");
    }
}

static void put_names(struct strbuf *out, const struct command *command)
{
    metric_head(out, "scheduler_pool_nodes");
    for (uint32_t i = 0; i < command->pools.row_count; i++) {
        const struct pool_row *row = &command->pools.rows[i];
        for (uint32_t n = 0; n < row->node_name_count; n++) {
            put_begin(out, "scheduler_pool_nodes", row);
            strbuf_add_text(out, "node=\"");
            pages_put_label(out, row->nodes[n]);
            strbuf_add_text(out, "\"} 1\n");
        }
    }
    metric_head(out, "scheduler_pool_queue_pods");
    for (uint32_t i = 0; i < command->pools.row_count; i++) {
        const struct pool_row *row = &command->pools.rows[i];
        for (uint32_t n = 0; n < row->pod_name_count; n++) {
            put_begin(out, "scheduler_pool_queue_pods", row);
            strbuf_add_text(out, "pod_name=\"");
            pages_put_label(out, row->pods[n]);
            strbuf_add_text(out, "\",schedule_status=\"active\"} 1\n");
        }
    }
}

void pool_page_put(struct strbuf *out, const struct command *command)
{
    if (command->pools.row_count) {
        put_amounts(out, command);
        put_features(out, command);
        put_ages(out, command);
        put_queues(out, command);
        put_names(out, command);
    }
}
