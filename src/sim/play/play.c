#include "sim/play/play.h"

#include "sim/play/forecasting.h"
#include "sim/scenario/arrivals.h"
#include "sim/world/cluster.h"

enum { MILLI = 1000 };

struct playing {
    const struct scenario *scenario;
    const struct play_options *options;
    struct tally *tally;
    struct world *world;
    struct policy *policy;
    struct arrivals *arrivals;
    struct forecasting *forecasting; /* NULL: none are made */
};

/* Setting up. */

static void add_nodes(struct cluster *cluster,
                      const struct scenario_cluster *of,
                      const struct scenario_nodes *nodes)
{
    auto_arena arena = {0};
    struct node_record record = {
        .pool = of->pool,
        .total = nodes->resources,
        .labels = scenario_labels(&nodes->labels, &arena),
        .label_count = nodes->labels.count,
    };

    for (int64_t i = 0; i < nodes->count; i++) {
        auto_strbuf name = {0};
        strbuf_addf(&name, "%.*s-%.*s-%05d", STR_ARG(of->name),
                    STR_ARG(nodes->name), (int)i);
        record.name = strbuf_str(&name);
        cluster_add_node(cluster, &record);
    }
}

static void add_clusters(struct playing *p)
{
    for (uint32_t i = 0; i < p->scenario->cluster_count; i++) {
        const struct scenario_cluster *of = &p->scenario->clusters[i];
        struct cluster_options options = {
            of->name,
            of->pool,
            of->start_ms,
            of->stop_ms,
            of->report_ms,
            of->failures.mean_between_ms,
            of->failures.repair_ms,
        };
        struct cluster *cluster = cluster_create(p->world, &options);
        for (uint32_t k = 0; k < of->nodes_count; k++) {
            add_nodes(cluster, of, &of->nodes[k]);
        }
        cluster_open(cluster);
    }
}

static void add_pools(struct playing *p)
{
    for (uint32_t i = 0; i < p->scenario->pool_count; i++) {
        const struct scenario_pool *of = &p->scenario->pools[i];
        auto_arena arena = {0};
        struct pool_record record = {
            .name = of->name,
            .has_selector = true,
            .labels = scenario_labels(&of->node_selector, &arena),
            .label_count = of->node_selector.count,
            .is_preemption_off = of->is_preemption_off,
            .is_borrowing_off = of->is_borrowing_off,
            .is_sharing_off = of->is_sharing_off,
            .lenders = of->lenders.items,
            .lender_count = of->lenders.count,
            .preemption_order =
                str_equal(of->preemption_order, STR("borrow-first"))
                    ? BORROW_FIRST
                    : PREEMPT_FIRST,
        };
        world_add_pool(p->world, &record);
    }
}

static int set_up(struct playing *p, struct err *err)
{
    const struct scenario *scenario = p->scenario;
    struct world_config config = {
        .policy = p->policy,
        .seed = (uint64_t)scenario->seed,
        .log = p->options->log,
        .watch = tally_watch(p->tally),
        .what_if_ctx = p->forecasting,
        .what_if = p->forecasting ? forecasting_take : NULL,
    };

    int rc = policy_from_form(&scenario->scheduling, p->policy, err);
    if (rc < 0) {
        return rc;
    }
    p->world = world_create(&config, err);
    if (!p->world) {
        return -ERR_UNAVAILABLE;
    }
    for (uint32_t i = 0; i < scenario->queue_count; i++) {
        world_add_queue(p->world, scenario->queues[i].name,
                        (double)MILLI /
                            (double)scenario->queues[i].weight_milli,
                        scenario->queues[i].ordering);
    }
    add_pools(p);
    add_clusters(p);
    tally_begin(p->tally, p->world, scenario->warmup_ms);
    rc = world_step(p->world, err);
    if (rc < 0) {
        return rc;
    }
    p->arrivals = arrivals_create(scenario, p->world);
    agenda_add(&p->world->agenda, scenario->sample_ms, WORLD_SAMPLE, 0);
    return 0;
}

/* The course of things. */

static int go_on(struct playing *p, struct err *err)
{
    int64_t until_ms =
        p->scenario->duration_ms ? p->scenario->duration_ms : INT64_MAX;
    struct agenda_entry entry;
    int rc;

    while ((rc = world_run(p->world, until_ms, &entry, err)) == 1) {
        if (entry.kind == WORLD_ARRIVAL) {
            arrivals_bring(p->arrivals, (uint32_t)entry.id);
            continue;
        }
        rc = tally_sample(p->tally, err);
        if (rc == 0 && p->forecasting) {
            rc = forecasting_make(p->forecasting, p->world, err);
        }
        if (rc < 0) {
            return rc;
        }
        if (p->options->progress) {
            p->options->progress(p->options->ctx, p->world, p->tally);
        }
        if (!p->scenario->duration_ms &&
            tally_is_over(p->tally, arrivals_open_count(p->arrivals) > 0)) {
            return 0;
        }
        agenda_add(&p->world->agenda, p->world->now_ms + p->scenario->sample_ms,
                   WORLD_SAMPLE, 0);
    }
    return rc;
}

int play(const struct scenario *scenario, const struct play_options *options,
         struct tally *tally, struct world **ret_world, struct err *err)
{
    struct playing p = {
        .scenario = scenario,
        .options = options,
        .tally = tally,
        .policy = mem_alloc(sizeof(struct policy)),
    };

    p.forecasting = options->has_forecasts ? forecasting_create() : NULL;
    int rc = set_up(&p, err);
    if (rc == 0) {
        rc = go_on(&p, err);
    }
    if (rc == 0 && p.forecasting) {
        forecasting_judge(p.forecasting, p.world, &tally->forecasts);
    }
    forecasting_destroy(p.forecasting);
    arrivals_destroy(p.arrivals);
    mem_free(p.policy);
    if (rc < 0) {
        world_destroy(p.world);
        tally_fini(tally);
        return rc;
    }
    *ret_world = p.world;
    return 0;
}
