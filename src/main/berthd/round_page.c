#include "main/berthd/round_page.h"

#include <inttypes.h>

#include "main/berthd/metric_table.h"
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

    metric_head(out, name);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        strbuf_addf(out, "%s{result=\"%s\"} %" PRIu64 "\n", name,
                    rows[i].result, rows[i].count);
    }
}

static void put_times(struct strbuf *out, const char *name,
                      const uint64_t counts[ROUND_COUNTS_BUCKETS + 1],
                      uint64_t us_sum)
{
    uint64_t count = 0;

    metric_head(out, name);
    for (uint32_t i = 0; i < ROUND_COUNTS_BUCKETS; i++) {
        count += counts[i];
        strbuf_addf(out, "%s_bucket{le=\"%.12g\"} %" PRIu64 "\n", name,
                    (double)(1u << i) / 1e3, count);
    }
    count += counts[ROUND_COUNTS_BUCKETS];
    strbuf_addf(out,
                "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n%s_sum %.12g\n"
                "%s_count %" PRIu64 "\n",
                name, count, name, (double)us_sum / 1e6, name, count);
}

static void put_preemptions(struct strbuf *out,
                            const struct round_counts *counts)
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
    static const char lost[] = "berth_preempted_run_seconds_total";

    metric_head(out, name);
    for (size_t i = SCHED_PREEMPT_FAIR_SHARE; i < ARRAY_COUNT(reasons); i++) {
        strbuf_addf(out, "%s{reason=\"%s\"} %" PRIu64 "\n", name, reasons[i],
                    counts->preempted_counts[i]);
    }
    metric_head(out, lost);
    for (size_t i = SCHED_PREEMPT_FAIR_SHARE; i < ARRAY_COUNT(reasons); i++) {
        strbuf_addf(out, "%s{reason=\"%s\"} %.12g\n", lost, reasons[i],
                    (double)counts->preempted_ms[i] / 1e3);
    }
}

static void put_one(struct strbuf *out, const char *name, uint64_t value)
{
    metric_head(out, name);
    strbuf_addf(out, "%s %" PRIu64 "\n", name, value);
}

void round_page_put(struct strbuf *out, const struct control_metrics *m)
{
    put_attempts(out, m);
    put_times(out, "scheduler_scheduling_algorithm_duration_seconds",
              m->rounds.took_counts, m->round_us_sum);
    put_times(out, "berth_submit_to_round_seconds", m->rounds.considered_counts,
              m->rounds.considered_us_sum);
    put_one(out, "scheduler_total_preemption_attempts",
            m->rounds.preempting_count);
    put_one(out, "scheduler_pod_preemption_victims",
            m->rounds.victim_count_last);
    put_preemptions(out, &m->rounds);
    put_one(out, "berth_fairness_claims_total", m->rounds.taking_count);
    metric_head(out, "berth_fairness_wait_seconds_total");
    strbuf_addf(out, "berth_fairness_wait_seconds_total %.12g\n",
                (double)m->rounds.taking_waited_ms / 1e3);
    put_one(out, "berth_gang_pods_grown_total", m->rounds.grown_count);
    put_one(out, "berth_gang_pods_shrunk_total", m->rounds.shrunk_count);
}
