#include "main/berthd/round_page.h"

#include <inttypes.h>

#include "main/berthd/pages.h"
#include "sched/sched.h"

static void put_attempts(struct strbuf *out, const struct control_metrics *m)
{
    static const char name[] = "scheduler_schedule_attempts_total";
    const struct {
        const char *result;
        uint64_t count;
    } rows[] = {
        {"scheduled", m->leased_count},
        {"unschedulable", m->rounds.miss_count},
        {"error", m->batch_failed_count},
    };

    pages_put_head(out, name, "counter",
                   "Attempts to place a job: leases, attempts without a place "
                   "(one for all equal jobs), batches that the log refused.");
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        strbuf_addf(out, "%s{result=\"%s\"} %" PRIu64 "\n", name,
                    rows[i].result, rows[i].count);
    }
}

static void put_times(struct strbuf *out, const struct control_metrics *m)
{
    static const char name[] =
        "scheduler_scheduling_algorithm_duration_seconds";
    uint64_t count = 0;

    pages_put_head(out, name, "histogram", "Time that rounds took.");
    for (uint32_t i = 0; i < ROUND_COUNTS_BUCKETS; i++) {
        count += m->rounds.took_counts[i];
        strbuf_addf(out, "%s_bucket{le=\"%.12g\"} %" PRIu64 "\n", name,
                    (double)(1u << i) / 1e3, count);
    }
    count += m->rounds.took_counts[ROUND_COUNTS_BUCKETS];
    strbuf_addf(out,
                "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n%s_sum %.12g\n"
                "%s_count %" PRIu64 "\n",
                name, count, name, (double)m->round_us_sum / 1e6, name, count);
}

static void put_preemptions(struct strbuf *out, const struct control_metrics *m)
{
    static const char *const reasons[] = {
        [SCHED_PREEMPT_FAIR_SHARE] = "fairShare",
        [SCHED_PREEMPT_URGENCY] = "urgency",
        [SCHED_PREEMPT_GANG] = "gang",
        [SCHED_PREEMPT_YIELD] = "yield",
        [SCHED_PREEMPT_HOME] = "home",
        [SCHED_PREEMPT_SURPLUS] = "surplus",
        [SCHED_PREEMPT_SCALED] = "scaled",
    };
    static const char name[] = "berth_preemptions_total";

    pages_put_head(out, name, "counter", "Runs preempted, by reason.");
    for (size_t i = SCHED_PREEMPT_FAIR_SHARE; i < ARRAY_COUNT(reasons); i++) {
        strbuf_addf(out, "%s{reason=\"%s\"} %" PRIu64 "\n", name, reasons[i],
                    m->rounds.preempted_counts[i]);
    }
}

static void put_one(struct strbuf *out, const char *name, const char *type,
                    const char *help, uint64_t value)
{
    pages_put_head(out, name, type, help);
    strbuf_addf(out, "%s %" PRIu64 "\n", name, value);
}

void round_page_put(struct strbuf *out, const struct control_metrics *m)
{
    put_attempts(out, m);
    put_times(out, m);
    put_one(out, "scheduler_total_preemption_attempts", "counter",
            "Rounds' decisions that preempted work for other work.",
            m->rounds.preempting_count);
    put_one(out, "scheduler_pod_preemption_victims", "gauge",
            "Runs preempted by the last of these decisions.",
            m->rounds.victim_count_last);
    put_preemptions(out, m);
    put_one(out, "berth_gang_pods_grown_total", "counter",
            "Pods that running gangs grew by.", m->rounds.grown_count);
    put_one(out, "berth_gang_pods_shrunk_total", "counter",
            "Pods above its minimum that a gang lost to other work or to the "
            "load ceiling.",
            m->rounds.shrunk_count);
}
