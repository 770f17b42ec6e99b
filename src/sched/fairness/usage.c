#include "sched/state/borrowed.h"

/* Which amount a resource is, or SCHED_AMOUNTS. */
static enum sched_amount amount_of(struct str name)
{
    static const struct {
        const char *name;
        enum sched_amount amount;
    } names[] = {
        {"cpu", SCHED_AMOUNT_CPU},
        {"gpu", SCHED_AMOUNT_GPU},
        {"memory", SCHED_AMOUNT_MEMORY},
        {"ephemeral-storage", SCHED_AMOUNT_STORAGE},
        {"pods", SCHED_AMOUNT_PODS},
    };

    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        if (str_equal(name, str_of(names[i].name))) {
            return names[i].amount;
        }
    }
    bool is_gpu = name.byte_count > 4 &&
                  memcmp(name.p + name.byte_count - 4, "/gpu", 4) == 0;
    return is_gpu ? SCHED_AMOUNT_GPU : SCHED_AMOUNTS;
}

static void add_list(const struct resource_list *list,
                     int64_t sums[SCHED_AMOUNTS])
{
    for (uint32_t i = 0; i < list->count; i++) {
        enum sched_amount amount = amount_of(list->items[i].name);
        if (amount < SCHED_AMOUNTS) {
            sums[amount] += list->items[i].milli;
        }
    }
}

/* Add the vector of `count` jobs, each a pod. */
static void add_jobs(const struct sched *sched, const struct resource_vec *vec,
                     uint32_t count, int64_t sums[SCHED_AMOUNTS])
{
    const struct resource_schema *schema = &sched->policy->schema;

    for (uint32_t r = 0; r < schema->column_count; r++) {
        enum sched_amount amount = amount_of(schema->columns[r].name);
        if (amount < SCHED_AMOUNT_PODS) {
            sums[amount] += vec->v[r] * schema->columns[r].unit_milli;
        }
    }
    sums[SCHED_AMOUNT_PODS] += (int64_t)count * 1000;
}

/* What borrowed jobs have of a node. */
static void add_borrowed(const struct sched *sched, const struct node *node,
                         struct sched_usage *usage)
{
    for (uint32_t at = node->run_first; at != NONE;
         at = sched->runs.items[at].node_next) {
        uint32_t job = sched->runs.items[at].job;
        if (borrowed_has(sched, job)) {
            const struct class *class =
                &sched->classes.items[class_of_job(sched, job)];
            add_jobs(sched, &class->request, 1, usage->shared);
        }
    }
}

static void add_nodes(const struct sched *sched, struct sched_usage *usage)
{
    for (size_t i = 0; i < sched->nodes.count; i++) {
        const struct node *node = &sched->nodes.items[i];
        if (borrowed_runs_on(sched, (uint32_t)i)) {
            add_borrowed(sched, node, usage);
        }
        if (node->record) {
            usage->node_count++;
            add_list(&node->record->total, usage->allocatable);
            add_list(&node->record->foreign, usage->system);
        }
    }
}

void sched_usage(const struct sched *sched, struct sched_usage *ret_usage)
{
    struct sched_usage usage = {0};

    add_nodes(sched, &usage);
    for (size_t i = 0; i < sched->accounts.count; i++) {
        const struct account *account = &sched->accounts.items[i];
        add_jobs(sched, &account->allocated, account->leased_count, usage.own);
        add_jobs(sched, &account->queued, account->queued_count, usage.pending);
        usage.own_running_count += account->leased_count;
        usage.own_waiting_count += account->queued_count;
    }
    for (int i = 0; i < SCHED_AMOUNTS; i++) {
        usage.own[i] -= usage.shared[i];
    }
    usage.borrowed_running_count = borrowed_run_count(sched);
    usage.own_running_count -= usage.borrowed_running_count;
    usage.borrowed_waiting_count = borrowed_waiting_count(sched);
    usage.own_waiting_count -= usage.borrowed_waiting_count;
    *ret_usage = usage;
}
