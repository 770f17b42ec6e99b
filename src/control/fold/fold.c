/* The effect of each event on the live state, the same for live and replayed
 * records. */
#include "control/fold/fold.h"

#include "control/fold/executors.h"
#include "control/fold/health.h"
#include "control/fold/periodic.h"
#include "control/fold/pools.h"
#include "control/fold/training.h"
#include "control/fold/windows.h"
#include "control/state/state.h"
#include "job/table/named_groups.h"

/* In slow builds all tables are checked after every so many records. */
enum { RECORDS_A_CHECK = 1024 };

static void fold_other(struct control *c, const struct log_item *item)
{
    const struct event *event = &item->event;

    switch ((int)event->type) {
    case EVENT_QUEUE_SET:
        queue_apply(c, &event->queue.record, event->queue.encoded);
        break;
    case EVENT_QUEUE_DELETED:
        queue_forget(c, event->queue.record.name);
        break;
    case EVENT_RETRY_POLICY_SET:
    case EVENT_RETRY_POLICY_DELETED:
        retry_policy_fold(c, event);
        break;
    case EVENT_EXECUTOR_NODES:
    case EVENT_EXECUTOR_SETTINGS:
    case EVENT_EXECUTOR_DELETED:
    case EVENT_EXECUTOR_STATE:
        executor_fold(c, event);
        break;
    case EVENT_ADMITTED:
    case EVENT_DISMISSED:
        fold_admission(c, event);
        break;
    case EVENT_LEADER_STARTED:
        pools_sweep_reset(c->pools);
        break;
    case EVENT_NODE_HEALTH:
        health_fold(c, event);
        break;
    case EVENT_POOL_SET:
    case EVENT_POOL_DELETED:
        pool_fold(c, event);
        break;
    case EVENT_WINDOW_SET:
    case EVENT_WINDOW_DELETED:
        window_fold(c, event);
        break;
    case EVENT_PERIODIC_SET:
    case EVENT_PERIODIC_DELETED:
    case EVENT_PERIODIC_RUN:
        periodic_fold(c, &item->scope, event);
        break;
    case EVENT_POLICY_SET:
        policy_apply(c, event->policy.text);
        break;
    case EVENT_TRAINING_JOB_SET:
    case EVENT_TRAINING_JOB_DELETED:
        training_fold(c, item);
        break;
    default:
        break;
    }
}

struct folding {
    struct control *c;
    uint64_t seq;
};

static int fold_item(const struct log_item *item, void *ctx)
{
    struct folding *folding = ctx;
    struct control *c = folding->c;
    struct jobs_change change;
    enum jobs_answer answer =
        jobs_apply(c->jobs, &item->scope, &item->event, &change);

    c->metrics.event_count++;
    c->events_since_checkpoint++;
    if (answer == JOBS_LATE) {
        c->metrics.late_count++;
    } else if (answer == JOBS_APPLIED && change.job != JOBS_NONE) {
        fold_job_change(c, &change, item, folding->seq);
    }
    named_groups_settle(c->jobs, c->now_ms);
    fold_other(c, item);
    return 0;
}

void fold_soon(const struct log_item *item, uint32_t stage,
               const struct control *c)
{
    uint32_t job = jobs_fetch(c->jobs, &item->event, stage);

    if (job != JOBS_NONE) { /* one that the planner has not does no harm */
        pools_job_fetch(c->pools, job, stage == LOG_SOON_STAGES - 1);
    }
}

static void soon_to_fold(const struct log_item *item, uint32_t stage, void *ctx)
{
    fold_soon(item, stage, ((struct folding *)ctx)->c);
}

void fold_unproven(struct control *c, uint32_t job)
{
    jobs_set_unproven(c->jobs, job, true);
    VEC_PUSH(&c->news, job);
    VEC_PUSH(&c->unchecked, job);
}

/* Nodes that are gone can no longer show that a job fits: jobs from before are
 * never refused for it.  So it does not matter whether this leader has asked
 * about a job already or a new leader asks again. */
static void settle_proofs(struct control *c, uint32_t nodes_before)
{
    if (!c->has_lost_nodes || nodes_before == 0) {
        return;
    }
    jobs_prove_all(c->jobs);
    for (size_t i = 0; i < c->news.count; i++) {
        if (jobs_is_live(c->jobs, c->news.items[i])) {
            jobs_set_unproven(c->jobs, c->news.items[i], true);
        }
    }
    c->loss_no += c->loss_no == UINT32_MAX ? 2 : 1;
}

int fold_payload(struct control *c, struct str payload, uint64_t seq,
                 int64_t time_ms, struct err *err)
{
    struct folding folding = {c, seq};
    uint32_t nodes_before = (uint32_t)c->metrics.node_count;

    ASSERT(seq > c->seq); /* records are folded once, in their order */
    arena_reset(&c->scratch);
    if (time_ms > c->now_ms) {
        c->now_ms = time_ms;
    }
    pools_set_time(c->pools, time_ms);
    named_groups_expire(c->jobs, time_ms);
    c->has_lost_nodes = false;
    c->news.count = 0;
    struct log_taker taker = {fold_item, soon_to_fold, &folding};
    int rc = log_decode_ahead(payload, &c->scratch, &taker, err);
    if (rc < 0) {
        return rc;
    }
    settle_proofs(c, nodes_before);
    c->seq = seq;
    ASSERT(c->loss_no != 0);             /* 0 is "never asked" */
    ASSERT(c->checkpoint_seq <= c->seq); /* it was made of what was folded */
    ASSERT_SLOW(seq % RECORDS_A_CHECK || fold_is_sound(c));
    if (c->marks.count == 0 ||
        c->now_ms - c->marks.items[c->marks.count - 1].time_ms >= 3600 * 1000) {
        VEC_PUSH(&c->marks, (struct time_mark){seq, c->now_ms});
    }
    ASSERT(c->marks.items[c->marks.count - 1].seq <= seq);
    return 0;
}
