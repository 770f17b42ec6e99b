#include "sched/reserve/limit_wait.h"

#include "base/time_add.h"
#include "sched/data/merge_sort.h"
#include "sched/fairness/quota.h"
#include "sched/order/lane_held.h"
#include "sched/order/lane_quota.h"
#include "sched/order/lanes.h"
#include "sched/order/lending.h"

/* What of the queue ends. */
struct end {
    int64_t at_ms;
    const struct resource_vec *request;
    uint32_t count;
    bool is_of_class; /* that the claim's limit is on */
};

/* The limits of a claim, and what its queue has of them; INT64_MAX: none. */
struct limited {
    struct round *round;
    const struct claim *claim;
    uint32_t priority_class;
    struct resource_vec class_limit, class_used;
    struct resource_vec quota, quota_used;
    struct end *ends;
    uint32_t end_count;
};

/* The limits of a class in the pool, as far as they are less than that. */
static void find_class_limit(struct limited *limited, struct lane *lane)
{
    struct round *round = limited->round;
    const struct usage *usage =
        lane_usage(round, lane, limited->priority_class);
    bool may_recall = lending_may_recall(round);

    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        bool is_limit = usage && usage->limit.v[r] < round->pool->total.v[r];
        limited->class_limit.v[r] = is_limit ? usage->limit.v[r] : INT64_MAX;
        limited->class_used.v[r] =
            usage ? usage->used.v[r] - (may_recall ? usage->borrowed.v[r] : 0)
                  : 0;
    }
}

static void find_quota(struct limited *limited, const struct lane *lane)
{
    const struct sched *sched = limited->round->sched;
    const struct queue *queue = &sched->queues.items[lane->queue];

    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        limited->quota.v[r] =
            lane->quota
                ? what_if_quota(limited->round->what_if, sched, queue, (int)r)
                : INT64_MAX;
    }
    if (lane->quota) {
        limited->quota_used = lane->quota->elsewhere;
        amounts_add(&limited->quota_used, &lane->all);
        amounts_add(&limited->quota_used, &lane->quota->earlier);
    }
}

static struct limited limited_of(struct round *round, const struct claim *claim)
{
    struct limited limited = {
        .round = round,
        .claim = claim,
        .priority_class =
            class_at(round, class_of_job(round->sched, claim->job))
                ->priority_class,
    };

    find_class_limit(&limited, claim->lane);
    find_quota(&limited, claim->lane);
    return limited;
}

/* Whether what is used leaves room for a request. */
static bool is_within(const struct resource_vec *limit,
                      const struct resource_vec *used,
                      const struct resource_vec *request)
{
    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (request->v[r] > 0 && used->v[r] + request->v[r] > limit->v[r]) {
            return false;
        }
    }
    return true;
}

static bool is_let(const struct limited *limited,
                   const struct resource_vec *request)
{
    return is_within(&limited->class_limit, &limited->class_used, request) &&
           is_within(&limited->quota, &limited->quota_used, request);
}

static bool has_any(const struct limited *limited)
{
    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (limited->class_limit.v[r] != INT64_MAX ||
            limited->quota.v[r] != INT64_MAX) {
            return true;
        }
    }
    return false;
}

bool limit_wait_is_open(struct round *round, struct lane *lane,
                        uint32_t class_index, const struct resource_vec *least)
{
    const struct resource_vec none = {0};
    const struct usage *usage =
        lane_usage(round, lane, class_at(round, class_index)->priority_class);

    return round->sched->policy->rules_revision >= POLICY_RULES_LIMITS &&
           (!usage || is_within(&usage->limit, &none, least)) &&
           (!lane->quota ||
            quota_find_short(round->sched, round->what_if,
                             &round->sched->queues.items[lane->queue],
                             &lane->quota->elsewhere, &none, least) < 0);
}

/* Ends. */

static void add_end(struct limited *limited, const struct class *class,
                    int64_t start_ms, uint32_t count, bool is_own)
{
    int64_t now_ms = limited->round->now_ms;
    int64_t at_ms = time_add_saturating(start_ms, class->deadline_ms);

    limited->ends[limited->end_count++] = (struct end){
        .at_ms = at_ms > now_ms ? at_ms : now_ms + 1, /* overdue */
        .request = &class->request,
        .count = count,
        .is_of_class =
            is_own && class->priority_class == limited->priority_class,
    };
}

static void add_runs(struct limited *limited, const struct account *account)
{
    struct round *round = limited->round;
    const struct sched *sched = round->sched;
    bool may_recall = lending_may_recall(round);

    for (uint32_t at = account->run_first; at != NONE;
         at = sched->runs.items[at].account_next) {
        const struct run *run = &sched->runs.items[at];
        if (run->state != RUN_PREEMPTED) {
            add_end(limited, class_at(round, class_of_job(sched, run->job)),
                    run->started_ms != INT64_MAX ? run->started_ms
                                                 : round->now_ms,
                    1, !may_recall || !borrowed_has(sched, run->job));
        }
    }
}

/* All that the queue runs in the pool, and what the plan has put there. */
static void find_ends(struct limited *limited)
{
    struct round *round = limited->round;
    const struct sched *sched = round->sched;
    uint32_t queue = limited->claim->lane->queue;
    size_t count_max = sched->journal.count;

    for (uint32_t at = sched->queues.items[queue].account_first; at != NONE;
         at = sched->accounts.items[at].next) {
        count_max += sched->accounts.items[at].leased_count;
    }
    limited->ends =
        arena_alloc_array(round->arena, count_max, sizeof(*limited->ends));
    for (uint32_t at = sched->queues.items[queue].account_first; at != NONE;
         at = sched->accounts.items[at].next) {
        if (sched->accounts.items[at].pool == round->p) {
            add_runs(limited, &sched->accounts.items[at]);
        }
    }
    for (size_t i = 0; i < sched->journal.count; i++) {
        const struct journal_entry *entry = &sched->journal.items[i];
        if (entry->count && entry->job == queue &&
            sched->nodes.items[entry->node].pool == round->p) {
            add_end(limited, class_at(round, entry->class_index), round->now_ms,
                    entry->count, true);
        }
    }
    ASSERT(limited->end_count <= count_max);
    round->counters->nodes_examined += limited->end_count;
}

static void end_one(struct limited *limited, const struct end *end)
{
    amounts_add_times(&limited->quota_used, end->request, -(int64_t)end->count);
    if (end->is_of_class) {
        amounts_add_times(&limited->class_used, end->request,
                          -(int64_t)end->count);
    }
}

#define ENDS_BEFORE(a, b) ((a)->at_ms < (b)->at_ms)

int64_t limit_wait_until(struct round *round, const struct claim *claim,
                         const struct resource_vec *least)
{
    struct limited limited = limited_of(round, claim);

    if (round->sched->policy->rules_revision < POLICY_RULES_LIMITS ||
        is_let(&limited, least)) {
        return round->now_ms;
    }
    find_ends(&limited);
    struct end *spare = arena_alloc_array(round->arena, limited.end_count,
                                          sizeof(*limited.ends));
    const struct end *ends =
        MERGE_SORT(limited.ends, spare, limited.end_count, ENDS_BEFORE);
    for (uint32_t i = 0; i < limited.end_count; i++) {
        end_one(&limited, &ends[i]);
        if (is_let(&limited, least)) {
            return ends[i].at_ms;
        }
    }
    return SCHED_START_UNKNOWN;
}

/* What a limit leaves beside what is used and asked for. */
static struct resource_vec left_of(const struct resource_vec *limit,
                                   const struct resource_vec *used,
                                   const struct resource_vec *request)
{
    struct resource_vec left;

    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        left.v[r] = limit->v[r] == INT64_MAX
                        ? INT64_MAX
                        : limit->v[r] - used->v[r] - request->v[r];
    }
    return left;
}

void limit_wait_hold(struct round *round, const struct claim *claim,
                     const struct resource_vec *least,
                     const struct resource_vec *asked, int64_t at_ms)
{
    struct limited limited = limited_of(round, claim);

    ASSERT(!claim->lane->held);
    if (round->sched->policy->rules_revision < POLICY_RULES_LIMITS ||
        !has_any(&limited)) {
        return;
    }
    find_ends(&limited);
    for (uint32_t i = 0; i < limited.end_count; i++) {
        if (at_ms != SCHED_START_UNKNOWN && limited.ends[i].at_ms <= at_ms) {
            end_one(&limited, &limited.ends[i]);
        }
    }
    struct lane_held *held = arena_alloc(round->arena, sizeof(*held));
    *held = (struct lane_held){
        .at_ms = at_ms,
        .asked = *asked,
        .priority_class = limited.priority_class,
        .class_left = left_of(&limited.class_limit, &limited.class_used, least),
        .quota_left = left_of(&limited.quota, &limited.quota_used, least),
    };
    claim->lane->held = held;
}
