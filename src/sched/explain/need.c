#include "sched/explain/need.h"

#include "sched/explain/need_parts.h"
#include "sched/state/sub_groups.h"

/* When a rate or a timer lets it go: then, and not before. */
static void find_time(struct trials *trials, int64_t until_ms,
                      struct sched_need *need)
{
    need->kind = until_ms ? SCHED_NEED_TIME : SCHED_NEED_NONE;
    need->until_ms = until_ms;
    need->is_exact = until_ms > trials->now_ms && trial_may(trials) &&
                     trial_starts(trials, until_ms) && trial_may(trials) &&
                     !trial_starts(trials, until_ms - 1) && !trials->is_over;
}

/* What a reason is about. */
static void find(struct trials *trials, const struct need_question *question,
                 enum sched_wait wait, const struct sched_explanation *why,
                 struct sched_need *need)
{
    switch ((int)wait) {
    case SCHED_WAIT_GANG:
        need->kind = SCHED_NEED_MEMBERS;
        need->member_count = why->wanted - why->present;
        break;
    case SCHED_WAIT_RATE:
    case SCHED_WAIT_QUEUE_RATE:
    case SCHED_WAIT_RESOURCE_RATE:
    case SCHED_WAIT_APP_STARTING:
    case SCHED_WAIT_FROZEN:
        find_time(trials, why->until_ms, need);
        break;
    case SCHED_WAIT_OVER_SHARE:
        if (why->until_ms) { /* its flow falls */
            find_time(trials, why->until_ms, need);
        } else {
            need_share(trials, why, need);
        }
        break;
    case SCHED_WAIT_APP_LIMIT:
        need_apps(trials, need);
        break;
    case SCHED_WAIT_QUEUE_LIMIT:
        need_limit(trials, need);
        break;
    case SCHED_WAIT_QUOTA:
        need_quota(trials, need);
        break;
    case SCHED_WAIT_FLOATING:
        need_floating(trials, need);
        break;
    case SCHED_WAIT_BUDGET:
        need_budget(trials, why, need);
        break;
    case SCHED_WAIT_TOPOLOGY:
    case SCHED_WAIT_NO_NODES:
    case SCHED_WAIT_NEVER_FITS:
    case SCHED_WAIT_CAPACITY:
    case SCHED_WAIT_GANG_CAPACITY:
    case SCHED_WAIT_PASSED:
    case SCHED_WAIT_GPUS_KEPT:
    case SCHED_WAIT_WINDOW:
    case SCHED_WAIT_ADMITTED:
    case SCHED_WAIT_RESERVED:
    case SCHED_WAIT_COOLDOWN:
    case SCHED_WAIT_RESERVED_SOON:
    case SCHED_WAIT_GANG_PROTECTION:
    case SCHED_WAIT_PRICE:
        need_room(trials, question, need);
        break;
    default:
        break;
    }
}

void need_find(struct sched *sched, const struct need_question *question,
               struct sched_explanation *explanation,
               struct sched_need *ret_need)
{
    bool is_growth = explanation->wait == SCHED_WAIT_GROWTH;
    uint32_t job = question->job;
    struct trials trials = {
        .sched = sched,
        .job = job,
        .pool = question->pool,
        .gang = sched->jobs.items[job].gang,
        .sub_group = is_growth ? sub_group_of(sched, job) : NONE,
        .now_ms = question->now_ms,
    };

    *ret_need = (struct sched_need){.node = NONE};
    need_waiver(&trials, explanation);
    find(&trials, question, is_growth ? explanation->growth : explanation->wait,
         explanation, ret_need);
}
