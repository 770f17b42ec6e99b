#include "sched/admitted.h"
#include "sched/away.h"
#include "sched/cfs.h"
#include "sched/explain_share.h"
#include "sched/floating.h"
#include "sched/hops.h"
#include "sched/near_fit.h"
#include "sched/need.h"
#include "sched/order.h"
#include "sched/quota.h"
#include "sched/rates.h"
#include "sched/reserve.h"
#include "sched/sub_groups.h"
#include "sched/sweep.h"
#include "sched/topology.h"
#include "sched/whole_node.h"

/* What is asked: a job, and where nodes are counted. */
struct question {
    struct sched *sched;
    uint32_t job;
    const struct job *record;
    const struct list *list;
    const struct class *class;
    const struct requirement *requirement;
    struct str uniformity;
    int64_t now_ms;
    struct sched_explanation *answer;
    struct near_nodes near;
};

static bool is_in_pools(const struct question *question, uint32_t pool)
{
    return pool != NONE &&
           question->sched->pools.items[pool].policy_index >= 0 &&
           (question->list->pool == NONE || question->list->pool == pool);
}

/* Why a node is no place for the job, or SCHED_EXCLUSIONS. */
static enum sched_exclusion exclusion_of(const struct question *question,
                                         uint32_t index)
{
    const struct sched *sched = question->sched;
    const struct node *node = &sched->nodes.items[index];
    const struct resource_vec *request = &question->class->request;

    if (!is_in_pools(question, node->pool)) {
        return SCHED_EXCLUDED_POOL;
    }
    if (!sched->executors.items[node->executor].accepts) {
        return SCHED_EXCLUDED_EXECUTOR;
    }
    if (!node->is_accepting) {
        return node->record && !node->record->is_unschedulable
                   ? SCHED_EXCLUDED_QUARANTINED
                   : SCHED_EXCLUDED_UNSCHEDULABLE;
    }
    enum sched_exclusion why =
        match_static(sched, question->requirement, index);
    if (why == SCHED_EXCLUDED_TAINT &&
        away_matches(sched, question->list->class_index, index)) {
        why = SCHED_EXCLUSIONS;
    }
    if (why != SCHED_EXCLUSIONS) {
        return why;
    }
    if (job_avoids(sched, question->job, index)) {
        return SCHED_EXCLUDED_AVOIDED;
    }
    if (question->uniformity.byte_count &&
        !label_find(node->record->labels, node->record->label_count,
                    question->uniformity)) {
        return SCHED_EXCLUDED_UNIFORMITY;
    }
    if (question->class->is_impossible ||
        !amounts_fit(request, &node->capacity) ||
        !floating_may_fit(sched, node->pool, request)) {
        return SCHED_EXCLUDED_TOO_SMALL;
    }
    if (!amounts_fit(request, &sched->free[index])) {
        return SCHED_EXCLUDED_FULL;
    }
    if (whole_node_keeps_from(sched, question->job, index)) {
        return SCHED_EXCLUDED_HELD;
    }
    return reserve_keeps_from(sched, node->pool, question->job, index,
                              question->now_ms, &question->answer->for_job)
               ? SCHED_EXCLUDED_RESERVED
               : SCHED_EXCLUSIONS;
}

/* How much of a request is missing, in parts of itself. */
static double shortfall(const struct resource_vec *request,
                        const struct resource_vec *room)
{
    double sum = 0;

    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (room->v[r] < request->v[r]) {
            sum += (double)(request->v[r] - room->v[r]) / (double)request->v[r];
        }
    }
    return sum;
}

static void look_at_nodes(struct question *question)
{
    struct sched *sched = question->sched;
    struct sched_explanation *answer = question->answer;
    enum sched_exclusion best_why = SCHED_EXCLUDED_POOL;
    double best = 0;

    answer->nearest_node = NONE;
    for (struct seq_cursor at = {0}; !seq_is_end(&sched->nodes_by_name, at);
         seq_next(&sched->nodes_by_name, &at)) {
        uint32_t index = seq_get(&sched->nodes_by_name, at);
        const struct node *node = &sched->nodes.items[index];
        if (!node->record) {
            continue;
        }
        enum sched_exclusion why = exclusion_of(question, index);
        answer->nodes_total++;
        if (why >= SCHED_EXCLUDED_FULL) {
            near_add(&question->near, index,
                     shortfall(&question->class->request, &sched->free[index]));
        }
        if (why == SCHED_EXCLUSIONS) {
            answer->nodes_fit++;
            continue;
        }
        answer->nodes_excluded[why]++;
        if (why < SCHED_EXCLUDED_TOO_SMALL || why == SCHED_EXCLUDED_HELD) {
            continue;
        }
        const struct resource_vec *room = why == SCHED_EXCLUDED_TOO_SMALL
                                              ? &node->capacity
                                              : &sched->free[index];
        double lack = shortfall(&question->class->request, room);
        if (answer->nearest_node == NONE || why > best_why ||
            (why == best_why && lack < best)) {
            best_why = why;
            best = lack;
            answer->nearest_node = index;
            answer->available = *room;
            floating_strip(sched, &answer->available);
        }
    }
}

/* Whether the job's class is at its limit in every pool it might go to. */
static bool is_over_limit(const struct question *question)
{
    struct sched *sched = question->sched;
    struct sched_explanation *answer = question->answer;
    bool is_over = false;

    for (uint32_t p = 0; p < sched->pools.count; p++) {
        if (!is_in_pools(question, p)) {
            continue;
        }
        uint32_t at = account_get(sched, question->list->queue, p,
                                  question->class->priority_class);
        bool is_over_here = false;
        for (uint32_t r = 0; r < sched->policy->schema.column_count; r++) {
            int64_t limit = queue_limit_of(sched, question->list->queue, p,
                                           question->class->priority_class, r);
            int64_t used = sched->accounts.items[at].allocated.v[r];
            int64_t asked = question->class->request.v[r];
            if (limit >= sched->pools.items[p].total.v[r]) {
                continue; /* full is full, whatever the limit */
            }
            if (asked > 0 && used + asked > limit && !is_over_here) {
                is_over_here = true;
                answer->resource = (int)r;
                answer->limit = limit;
                answer->used = used;
            }
        }
        if (!is_over_here) {
            return false;
        }
        is_over = true;
    }
    return is_over;
}

static bool is_rated(const struct question *question)
{
    struct sched *sched = question->sched;
    struct sched_explanation *answer = question->answer;
    const struct queue *queue = &sched->queues.items[question->list->queue];
    struct bucket_rule all = rate_rule(&sched->policy->rate_global);
    struct bucket_rule each = rate_rule(&sched->policy->rate_per_queue);

    if (!bucket_has(&sched->bucket, &all, 1, question->now_ms)) {
        answer->wait = SCHED_WAIT_RATE;
        answer->until_ms =
            bucket_when(&sched->bucket, &all, 1, question->now_ms);
        return true;
    }
    if (!bucket_has(&queue->bucket, &each, 1, question->now_ms)) {
        answer->wait = SCHED_WAIT_QUEUE_RATE;
        answer->until_ms =
            bucket_when(&queue->bucket, &each, 1, question->now_ms);
        return true;
    }
    return false;
}

static bool is_resource_rated(const struct question *question)
{
    struct sched *sched = question->sched;
    struct sched_explanation *answer = question->answer;
    bool is_held = false;

    for (uint32_t p = 0; p < sched->pools.count; p++) {
        if (!is_in_pools(question, p)) {
            continue;
        }
        bool is_held_here = false;
        for (uint32_t r = 0; r < sched->policy->schema.column_count; r++) {
            struct bucket_rule rule = start_rule(sched, p, r);
            int64_t asked = question->class->request.v[r];
            const struct bucket *bucket = &sched->pools.items[p].start[r];
            if (asked > 0 &&
                !bucket_has(bucket, &rule, asked, question->now_ms)) {
                is_held_here = true;
                answer->resource = (int)r;
                answer->limit = rule.size;
                answer->until_ms =
                    bucket_when(bucket, &rule, asked, question->now_ms);
            }
        }
        if (!is_held_here) {
            return false;
        }
        is_held = true;
    }
    return is_held;
}

/* Whether what stands by one job goes before another of its level. */
static bool goes_before(const struct queue *queue, const struct sched *sched,
                        uint32_t a, uint32_t b)
{
    return queue->ordering == QUEUE_BY_CFS ? cfs_less(sched, a, b)
                                           : job_less(sched, a, b);
}

/* Waiting jobs of its queue that come first: a full count, list by list. */
static uint32_t count_ahead(const struct question *question)
{
    const struct sched *sched = question->sched;
    const struct queue *queue = &sched->queues.items[question->list->queue];
    uint32_t count = 0;

    if (queue->apps) {
        return order_ahead(sched, question->job);
    }
    for (size_t i = 0; i < queue->lists.count; i++) {
        const struct list *list = &sched->lists.items[queue->lists.items[i]];
        if (list->level < question->class->level) {
            continue;
        }
        bool is_gangs = list->class_index == NONE;
        for (struct seq_cursor at = {0}; !seq_is_end(&list->seq, at);
             seq_next(&list->seq, &at)) {
            uint32_t item = seq_get(&list->seq, at);
            uint32_t job = is_gangs ? sched->gangs.items[item].position : item;
            if (list->level == question->class->level &&
                !goes_before(queue, sched, job, question->job)) {
                break;
            }
            count += is_gangs ? sched->gangs.items[item].waiting.count : 1;
        }
    }
    return count;
}

static enum sched_wait capacity_of(const struct question *question)
{
    const struct sched_explanation *answer = question->answer;
    uint32_t unusable = answer->nodes_excluded[SCHED_EXCLUDED_POOL] +
                        answer->nodes_excluded[SCHED_EXCLUDED_EXECUTOR];

    if (answer->nodes_total == unusable) {
        return SCHED_WAIT_NO_NODES;
    }
    if (answer->nodes_fit) {
        return SCHED_WAIT_TURN;
    }
    if (answer->nodes_excluded[SCHED_EXCLUDED_RESERVED]) {
        return SCHED_WAIT_PASSED;
    }
    return answer->nodes_excluded[SCHED_EXCLUDED_FULL] ||
                   answer->nodes_excluded[SCHED_EXCLUDED_HELD] ||
                   answer->nodes_excluded[SCHED_EXCLUDED_AVOIDED] ||
                   answer->nodes_excluded[SCHED_EXCLUDED_UNSCHEDULABLE]
               ? SCHED_WAIT_CAPACITY
               : SCHED_WAIT_NEVER_FITS;
}

/* What the nodes say.  One that is too small is the nearest only to a job
 * that is too big for all: to others it is no place at all. */
static void judge_nodes(struct question *question)
{
    struct sched_explanation *answer = question->answer;

    look_at_nodes(question);
    answer->wait = capacity_of(question);
    if (answer->wait != SCHED_WAIT_NEVER_FITS &&
        !answer->nodes_excluded[SCHED_EXCLUDED_FULL] &&
        !answer->nodes_excluded[SCHED_EXCLUDED_RESERVED]) {
        answer->nearest_node = NONE;
        answer->available = (struct resource_vec){0};
    }
}

/* How many jobs of the class the free space holds, up to `count_max`. */
static uint32_t count_fitting(const struct question *question,
                              uint32_t count_max)
{
    const struct sched *sched = question->sched;
    const struct resource_vec *request = &question->class->request;
    uint64_t count = 0;

    for (uint32_t i = 0; i < sched->nodes.count && count < count_max; i++) {
        if (!sched->nodes.items[i].record ||
            exclusion_of(question, i) != SCHED_EXCLUSIONS) {
            continue;
        }
        int64_t here = count_max;
        for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
            if (request->v[r] > 0) {
                int64_t n = sched->free[i].v[r] / request->v[r];
                here = n < here ? n : here;
            }
        }
        count += (uint64_t)here;
    }
    return count < count_max ? (uint32_t)count : count_max;
}

/* Whether a sub-group of its gang has too little room near enough in a pool:
 * though there is room further away, or though nodes were empty. */
static bool is_too_far(const struct question *question, uint32_t pool,
                       const struct gang *gang, uint32_t sub_group)
{
    const struct sched *sched = question->sched;
    struct sched_explanation *answer = question->answer;
    uint32_t wanted = gang->subs->items[sub_group].asked.count;
    int64_t end_ms = hops_end_ms(sched, gang, sub_group);
    struct near_fit fit;

    if (wanted == 0 || question->now_ms >= end_ms ||
        gang->subs->terms.sub_groups[sub_group].hops_max == HOPS_ANY) {
        return false;
    }
    near_fit_of(sched, pool, gang, sub_group, &fit);
    if (fit.free_count >= wanted ||
        (fit.open_count < wanted && fit.empty_count >= wanted)) {
        return false;
    }
    uint32_t levels =
        topology_level_max(topology_of(sched, pool),
                           gang->subs->terms.sub_groups[sub_group].hops_max);
    answer->present = (uint32_t)fit.free_count;
    answer->wanted = wanted;
    answer->empty =
        fit.empty_count < wanted ? (uint32_t)fit.empty_count : wanted;
    answer->domain = fit.domain;
    answer->hops = 2 * levels;
    answer->pool = intern_get(sched->pool_names, pool);
    answer->until_ms = end_ms == INT64_MAX ? 0 : end_ms;
    return true;
}

/* Whether that is so in all pools where it could be; the last one is told. */
static bool lacks_nearness(const struct question *question)
{
    const struct sched *sched = question->sched;
    bool is_far = false;

    if (question->record->gang == NONE) {
        return false;
    }
    const struct gang *gang = &sched->gangs.items[question->record->gang];
    if (gang->position == NONE || !hops_are_capped(gang)) {
        return false;
    }
    for (uint32_t p = 0; p < sched->pools.count; p++) {
        bool is_here = false;
        if (!is_in_pools(question, p) || !topology_of(sched, p)) {
            continue;
        }
        for (uint32_t i = 0; i < gang->subs->terms.sub_group_count && !is_here;
             i++) {
            is_here = is_too_far(question, p, gang, i);
        }
        if (!is_here) {
            return false;
        }
        is_far = true;
    }
    return is_far;
}

/* The gang's part of an answer: is it there, and how far does it fit? */
static bool gang_waits(const struct question *question)
{
    struct sched_explanation *answer = question->answer;
    const struct gang *gang =
        &question->sched->gangs.items[question->record->gang];

    if (gang->subs && sub_groups_are_met(gang)) {
        answer->present = gang->leased.count;
        answer->wanted = gang->cardinality;
        answer->wait = SCHED_WAIT_GROWTH;
        return true;
    }
    if (gang->position == NONE) {
        answer->present = gang->waiting.count + gang->leased.count +
                          (gang->subs ? gang->subs->spare_count : 0);
        answer->wanted = gang->cardinality;
        answer->wait = SCHED_WAIT_GANG;
        return true;
    }
    uint32_t needed = gang_needed(gang);
    uint32_t fitting = count_fitting(question, gang->waiting.count);
    answer->present = fitting < needed ? fitting : needed;
    answer->wanted = needed;
    if (answer->wait == SCHED_WAIT_TURN &&
        (fitting < needed || question->uniformity.byte_count)) {
        answer->wait = SCHED_WAIT_GANG_CAPACITY;
        return true;
    }
    return false;
}

/* Whether the queue's ordering lets others go first, whatever is free. */
static bool is_kept_back(const struct question *question)
{
    const struct sched *sched = question->sched;
    enum sched_wait wait = question->answer->wait;
    uint32_t gang = question->record->gang;

    return (wait == SCHED_WAIT_TURN || wait == SCHED_WAIT_CAPACITY) &&
           !sched->queues.items[question->list->queue].is_cordoned &&
           (gang == NONE || sched->gangs.items[gang].position != NONE) &&
           order_explain(sched, question->job, question->now_ms,
                         question->answer);
}

/* Whether its place among the admitted says it all. */
static bool is_admitted(const struct question *question)
{
    struct sched_explanation *answer = question->answer;
    struct sched_admission admission;

    if (!sched_job_admission(question->sched, question->job, &admission)) {
        return false;
    }
    bool is_known = admission.start_ms != SCHED_START_UNKNOWN;
    answer->wait = is_known ? SCHED_WAIT_RESERVED : SCHED_WAIT_ADMITTED;
    answer->until_ms = is_known ? admission.start_ms : 0;
    return true;
}

/* Whether each pool has too little left of what is of no node. */
static bool lacks_floating(const struct question *question)
{
    const struct sched *sched = question->sched;
    struct sched_explanation *answer = question->answer;
    const struct job *record = question->record;
    const struct resource_vec *request =
        record->gang == NONE ? &question->class->request
                             : &sched->gangs.items[record->gang].waiting_sum;
    bool is_short = false;

    for (uint32_t p = 0; p < sched->pools.count; p++) {
        const struct pool *pool = &sched->pools.items[p];
        if (!is_in_pools(question, p)) {
            continue;
        }
        int r = floating_short(sched, p, &pool->used, request);
        if (r < 0) {
            return false;
        }
        is_short = true;
        answer->resource = r;
        answer->limit = pool->total.v[r];
        answer->used = pool->used.v[r];
    }
    return is_short;
}

/* Whether its queue may not have what it, or its gang, asks for. */
static bool is_over_quota(const struct question *question)
{
    const struct sched *sched = question->sched;
    struct sched_explanation *answer = question->answer;
    uint32_t queue = question->list->queue;
    const struct gang *gang = question->record->gang == NONE
                                  ? NULL
                                  : &sched->gangs.items[question->record->gang];

    if ((answer->wait != SCHED_WAIT_TURN &&
         answer->wait != SCHED_WAIT_CAPACITY) ||
        sched->queues.items[queue].is_cordoned ||
        (gang && gang->position == NONE)) {
        return false;
    }
    int r = quota_short_of(
        sched, queue, gang ? &gang->waiting_sum : &question->class->request,
        &answer->used);
    if (r >= 0) {
        answer->resource = r;
        answer->limit = sched->queues.items[queue].quota.v[r];
    }
    return r >= 0;
}

static void answer_waiting(struct question *question)
{
    struct sched *sched = question->sched;
    struct sched_explanation *answer = question->answer;
    uint32_t lookback_max = sched->policy->lookback_max;

    judge_nodes(question);
    answer->ahead = count_ahead(question);
    if (lacks_nearness(question)) {
        answer->wait = SCHED_WAIT_TOPOLOGY;
        return;
    }
    if (is_over_quota(question)) {
        answer->wait = SCHED_WAIT_QUOTA;
        return;
    }
    if (is_admitted(question) || is_kept_back(question) ||
        (question->record->gang != NONE && gang_waits(question))) {
        return;
    }
    if (sched->queues.items[question->list->queue].is_cordoned) {
        answer->wait = SCHED_WAIT_QUEUE_CORDONED;
    } else if (answer->wait != SCHED_WAIT_TURN &&
               answer->wait != SCHED_WAIT_CAPACITY) {
        return;
    } else if (explain_share(sched, question->job, question->now_ms, answer)) {
        return;
    } else if (lacks_floating(question)) {
        answer->wait = SCHED_WAIT_FLOATING;
    } else if (is_over_limit(question)) {
        answer->wait = SCHED_WAIT_QUEUE_LIMIT;
    } else if (answer->wait == SCHED_WAIT_CAPACITY) {
        if (question->record->gang != NONE) {
            answer->wait = SCHED_WAIT_GANG_CAPACITY;
        }
    } else if (is_rated(question)) {
        return;
    } else if (is_resource_rated(question)) {
        answer->wait = SCHED_WAIT_RESOURCE_RATE;
    } else if (lookback_max && answer->ahead >= lookback_max) {
        answer->wait = SCHED_WAIT_LOOKBACK;
    } else if (sweep_is_before(sched, question->job)) {
        answer->wait = SCHED_WAIT_ROUND;
    }
}

/* Ask about a job; what the question points to lives in `arena`. */
static void ask(struct sched *sched, uint32_t job,
                struct sched_explanation *answer, struct arena *arena,
                struct question *ret_question)
{
    ASSERT(job < sched->jobs.count && sched->jobs.items[job].list != LIST_NONE);
    nodes_sync(sched);
    const struct job *record = &sched->jobs.items[job];
    const struct list *list = &sched->lists.items[record->list];

    *ret_question = (struct question){
        .sched = sched,
        .job = job,
        .record = record,
        .list = list,
        .class = &sched->classes.items[list->class_index],
        .requirement = class_decode(sched, list->class_index, arena),
        .answer = answer,
    };
    if (record->gang != NONE) {
        ret_question->uniformity =
            str_of(sched->gangs.items[record->gang].uniformity);
    }
    *answer = (struct sched_explanation){
        .nearest_node = NONE,
        .resource = -1,
        .for_job = NONE,
        .behind = NONE,
        .needed = ret_question->class->request,
    };
}

void sched_explain(struct sched *sched, uint32_t job, int64_t now_ms,
                   struct sched_explanation *ret_explanation)
{
    auto_arena arena = {0};
    struct question question;

    ask(sched, job, ret_explanation, &arena, &question);
    question.now_ms = now_ms;
    if (question.record->run == NONE) {
        answer_waiting(&question);
    }
}

void sched_explain_need(struct sched *sched, uint32_t job, int64_t now_ms,
                        struct sched_explanation *ret_explanation,
                        struct sched_need *ret_need)
{
    auto_arena arena = {0};
    struct question question;
    uint32_t pool = 0;

    ask(sched, job, ret_explanation, &arena, &question);
    question.now_ms = now_ms;
    *ret_need = (struct sched_need){.node = NONE};
    if (question.record->run != NONE) {
        return;
    }
    answer_waiting(&question);
    while (pool < sched->pools.count && !is_in_pools(&question, pool)) {
        pool++;
    }
    if (pool < sched->pools.count) {
        need_find(sched, job, pool, now_ms, ret_explanation, &question.near,
                  ret_need);
    }
}

/* Count a node in its kind; false: there are too many kinds. */
static bool add_to_kind(const struct question *question, uint32_t index,
                        bool fits, struct sched_node_kind *kinds,
                        uint32_t *count)
{
    const struct sched *sched = question->sched;
    const struct resource_vec *capacity = &sched->nodes.items[index].capacity;
    const struct resource_vec *request = &question->class->request;
    uint32_t k = 0;

    while (k < *count &&
           memcmp(&kinds[k].capacity, capacity, sizeof(*capacity)) != 0) {
        k++;
    }
    if (k == SCHED_NODE_KINDS_MAX) {
        return false;
    }
    if (k == *count) {
        (*count)++;
        kinds[k] = (struct sched_node_kind){.first = index,
                                            .capacity = *capacity,
                                            .freest = index,
                                            .free = sched->free[index]};
    } else if (shortfall(request, &sched->free[index]) <
               shortfall(request, &kinds[k].free)) {
        kinds[k].freest = index;
        kinds[k].free = sched->free[index];
    }
    kinds[k].node_count++;
    kinds[k].fit_count += fits;
    return true;
}

uint32_t sched_explain_kinds(struct sched *sched, uint32_t job, int64_t now_ms,
                             struct sched_node_kind *ret_kinds,
                             uint32_t *ret_left_out_count)
{
    auto_arena arena = {0};
    struct sched_explanation answer;
    struct question question;
    uint32_t count = 0;

    ask(sched, job, &answer, &arena, &question);
    question.now_ms = now_ms;
    *ret_left_out_count = 0;
    for (struct seq_cursor at = {0}; !seq_is_end(&sched->nodes_by_name, at);
         seq_next(&sched->nodes_by_name, &at)) {
        uint32_t index = seq_get(&sched->nodes_by_name, at);
        if (!sched->nodes.items[index].record) {
            continue;
        }
        enum sched_exclusion why = exclusion_of(&question, index);
        if (why >= SCHED_EXCLUDED_TOO_SMALL) {
            *ret_left_out_count += !add_to_kind(
                &question, index, why == SCHED_EXCLUSIONS, ret_kinds, &count);
        }
    }
    for (uint32_t k = 0; k < count; k++) {
        floating_strip(sched, &ret_kinds[k].capacity);
        floating_strip(sched, &ret_kinds[k].free);
    }
    return count;
}

void sched_explain_nodes(struct sched *sched, uint32_t job,
                         struct sched_explanation *ret_explanation)
{
    auto_arena arena = {0};
    struct question question;

    ask(sched, job, ret_explanation, &arena, &question);
    judge_nodes(&question);
}

bool sched_has_place(struct sched *sched, uint32_t job, uint32_t *ret_looks)
{
    auto_arena arena = {0};
    struct sched_explanation answer;
    struct question question;

    ask(sched, job, &answer, &arena, &question);
    for (uint32_t i = 0; i < sched->nodes.count; i++) {
        (*ret_looks)++;
        if (sched->nodes.items[i].record) {
            enum sched_exclusion why = exclusion_of(&question, i);
            if (why >= SCHED_EXCLUDED_FULL) {
                return true;
            }
        }
    }
    return false;
}
