#include "regime.h"

#include <string.h>

enum { ROUNDS_MAX = 40 };

void regime_draw_like(struct tape *tape, struct instance *instance)
{
    instance_draw(tape, instance);
    instance_make_uniform(instance);
    instance->protected_percent = 100;
    instance->is_fair_share_off = instance->is_urgency_off = false;
    for (int q = 0; q < instance->queue_count; q++) {
        instance->queues[q].is_cordoned = false;
    }
}

static void draw_pooled_job(struct tape *tape, struct instance *instance,
                            int requests[][INSTANCE_KINDS])
{
    struct instance_job *job = &instance->jobs[instance->job_count++];
    int queue = (int)draw(tape, 0, (uint64_t)instance->queue_count - 1);

    *job = (struct instance_job){
        .is_there = true,
        .queue = queue,
        .request = {requests[queue][0], requests[queue][1]},
        .submitted = (int)draw(tape, 0, 5),
        .cardinality = 1,
        .minimum = 1,
        .node = NO_NODE,
        .lifetime = BY_CLASS,
        .charge = {0, 1},
        .started = NOT_STARTED,
        .promised = INT_MAX,
    };
    if (draw(tape, 0, 2) == 2 &&
        job->request[0] <= instance_free(instance, 0, 0) &&
        job->request[1] <= instance_free(instance, 0, 1)) {
        job->node = 0;
        job->was_leased = true;
        job->leased = (int)draw(tape, 0, 3);
    }
}

void regime_draw_pooled(struct tape *tape, struct instance *instance)
{
    int requests[INSTANCE_QUEUES_MAX][INSTANCE_KINDS];
    int count = (int)draw(tape, 0, INSTANCE_JOBS_MAX);

    *instance = (struct instance){
        .node_count = 1,
        .queue_count = (int)draw(tape, 1, INSTANCE_QUEUES_MAX),
        .protected_percent = 100,
        .over_share_percent = NO_LIMIT,
        .budget_minutes = NO_LIMIT,
    };
    instance->nodes[0] = (struct instance_node){
        .capacity = {(int)draw(tape, 4, 24), (int)draw(tape, 4, 24)}};
    for (int q = 0; q < instance->queue_count; q++) {
        instance->queues[q].factor_halves = (int)draw(tape, 2, 5);
        requests[q][0] = (int)draw(tape, 1, 4);
        requests[q][1] = (int)draw(tape, 0, 4);
    }
    while (instance->job_count < count) {
        draw_pooled_job(tape, instance, requests);
    }
}

bool regime_settle(const struct instance *instance, struct instance *ret_after)
{
    struct trial trial = {.instance = *instance, .now = TRIAL_NOW};
    bool is_quiet = false;

    built_init(&trial.built, instance, 0);
    for (int i = 0; i < ROUNDS_MAX && !is_quiet; i++) {
        trial_force(&trial);
        trial_plan(&trial, ROUND_BALANCE);
        is_quiet = trial.plan.decision_count == 0;
        trial_act_again(&trial);
    }
    built_fini(&trial.built);
    *ret_after = trial.instance;
    return is_quiet;
}

static double share_of(const struct instance *instance,
                       const int amounts[INSTANCE_KINDS])
{
    double best = 0;

    for (int k = 0; k < INSTANCE_KINDS; k++) {
        int total = 0;
        for (int n = 0; n < instance->node_count; n++) {
            total += instance->nodes[n].capacity[k];
        }
        double part = total ? (double)amounts[k] / total : 0;
        best = part > best ? part : best;
    }
    return best;
}

void regime_measure(const struct instance *instance,
                    struct outcome outcomes[INSTANCE_QUEUES_MAX])
{
    double weight = 0;

    memset(outcomes, 0, INSTANCE_QUEUES_MAX * sizeof(*outcomes));
    for (int j = 0; j < instance->job_count; j++) {
        const struct instance_job *job = &instance->jobs[j];
        struct outcome *of = &outcomes[job->queue];
        if (!job->is_there) {
            continue;
        }
        double size = share_of(instance, job->request);
        of->job = size > of->job ? size : of->job;
        of->running += job->node != NO_NODE;
        of->waiting += job->node == NO_NODE;
        for (int k = 0; k < INSTANCE_KINDS; k++) {
            of->amounts[k] += job->node != NO_NODE ? job->request[k] : 0;
        }
    }
    for (int q = 0; q < instance->queue_count; q++) {
        struct outcome *of = &outcomes[q];
        of->weight = 2.0 / instance->queues[q].factor_halves;
        of->share = share_of(instance, of->amounts);
        weight += of->running + of->waiting ? of->weight : 0;
    }
    for (int q = 0; q < instance->queue_count; q++) {
        outcomes[q].due = weight > 0 ? outcomes[q].weight / weight : 0;
    }
}
