/* Admitted work over time: with one queue and one node the planner is the
 * backfilling of the textbooks, start for start; and in general what is
 * promised is kept, whatever smaller work comes. */
#include <string.h>

#include "prop.h"
#include "sched/sched.h"

enum { TRACE_JOBS = 40, TRACE_NODES = 4, TRACE_QUEUES = 3 };

/* Times are in seconds. */
struct trace_job {
    int arrives, cores, runs, deadline; /* runs <= deadline */
    int lifetime;                       /* < 0: infinite */
    int queue, members;                 /* > 1: a gang of like jobs */
};

struct trace {
    struct trace_job jobs[TRACE_JOBS];
    int job_count;
    int node_cores[TRACE_NODES];
    int node_count;
};

enum { NEVER = 1 << 30 };

/* What became of the jobs. */
struct outcome {
    int starts[TRACE_JOBS], ends[TRACE_JOBS]; /* NEVER: not yet */
    int64_t promised_ms[TRACE_JOBS];          /* at first; 0: never */
    int admitted_at[TRACE_JOBS];
};

/* The textbook: jobs in order of arrival, on one machine. */

enum order { FCFS, EASY, SHORTEST };

static int free_cores(const struct trace *trace, const struct outcome *outcome,
                      int now)
{
    int left = trace->node_cores[0];

    for (int j = 0; j < trace->job_count; j++) {
        bool is_running = outcome->starts[j] <= now && outcome->ends[j] > now;
        left -= is_running ? trace->jobs[j].cores : 0;
    }
    return left;
}

static void start(const struct trace *trace, struct outcome *outcome, int j,
                  int now)
{
    outcome->starts[j] = now;
    outcome->ends[j] = now + trace->jobs[j].runs;
}

static bool waits(const struct trace *trace, const struct outcome *outcome,
                  int j, int now)
{
    return trace->jobs[j].arrives <= now && outcome->starts[j] == NEVER;
}

/* When the head can start at the latest, and what is left beside it then. */
static int shadow(const struct trace *trace, const struct outcome *outcome,
                  int head, int now, int *ret_extra)
{
    int left = free_cores(trace, outcome, now), at = now;

    while (left < trace->jobs[head].cores) {
        int next = NEVER;
        for (int j = 0; j < trace->job_count; j++) {
            int bound = outcome->starts[j] + trace->jobs[j].deadline;
            bool is_running =
                outcome->starts[j] <= now && outcome->ends[j] > now;
            if (is_running && bound > at && bound < next) {
                next = bound;
            }
        }
        at = next;
        left = trace->node_cores[0];
        for (int j = 0; j < trace->job_count; j++) {
            bool is_running =
                outcome->starts[j] <= now && outcome->ends[j] > now;
            int bound = outcome->starts[j] + trace->jobs[j].deadline;
            left -= is_running && bound > at ? trace->jobs[j].cores : 0;
        }
    }
    *ret_extra = left - trace->jobs[head].cores;
    return at;
}

static int next_candidate(const struct trace *trace,
                          const struct outcome *outcome, enum order order,
                          int now, const bool *is_tried)
{
    int best = -1;

    for (int j = 0; j < trace->job_count; j++) {
        if (!waits(trace, outcome, j, now) || is_tried[j]) {
            continue;
        }
        if (best < 0 || (order == SHORTEST && trace->jobs[j].deadline <
                                                  trace->jobs[best].deadline)) {
            best = j;
        }
    }
    return best;
}

static void textbook_pass(const struct trace *trace, struct outcome *outcome,
                          enum order order, int now)
{
    bool is_tried[TRACE_JOBS] = {false};
    int head, extra;

    while ((head = next_candidate(trace, outcome, FCFS, now, is_tried)) >= 0 &&
           trace->jobs[head].cores <= free_cores(trace, outcome, now)) {
        start(trace, outcome, head, now);
    }
    if (head < 0 || order == FCFS) {
        return;
    }
    int at = shadow(trace, outcome, head, now, &extra);
    is_tried[head] = true;
    for (;;) {
        int j = next_candidate(trace, outcome, order, now, is_tried);
        if (j < 0) {
            return;
        }
        is_tried[j] = true;
        const struct trace_job *job = &trace->jobs[j];
        bool is_in_time = now + job->deadline <= at;
        if (job->cores <= free_cores(trace, outcome, now) &&
            (is_in_time || job->cores <= extra)) {
            extra -= is_in_time ? 0 : job->cores;
            start(trace, outcome, j, now);
        }
    }
}

/* The planner, driven over the same time. */

struct drive {
    const struct trace *trace;
    struct outcome *outcome;
    struct policy policy;
    struct sched *sched;
    int first_handle[TRACE_JOBS]; /* members follow */
    int job_of[TRACE_JOBS * 4];
    int running[TRACE_JOBS]; /* members */
    int handle_count;
    bool is_broken; /* the planner decided what cannot be */
};

static void drive_begin(struct drive *drive, const struct trace *trace,
                        struct outcome *outcome)
{
    static const char *const QUEUES[] = {"a", "b", "c"};
    static const char *const NODES[] = {"n0", "n1", "n2", "n3"};

    drive->trace = trace;
    drive->outcome = outcome;
    drive->sched = sched_create(&drive->policy);
    for (uint32_t q = 0; q < TRACE_QUEUES; q++) {
        struct queue_record record = queue_record_plain(str_of(QUEUES[q]));
        sched_queue_set(drive->sched, q, &record);
    }
    for (int n = 0; n < trace->node_count; n++) {
        struct resource_amount amount = {STR("cpu"),
                                         trace->node_cores[n] * INT64_C(1000)};
        struct node_record record = {
            .name = str_of(NODES[n]),
            .pool = STR("default"),
            .total = {&amount, 1},
        };
        sched_node_set(drive->sched, STR("e"), &record, STR(""));
    }
    for (int j = 0; j < trace->job_count; j++) {
        outcome->starts[j] = outcome->ends[j] = NEVER;
        outcome->promised_ms[j] = outcome->admitted_at[j] = 0;
    }
}

static void submit(struct drive *drive, int j)
{
    static const char *const GANGS[] = {"g0", "g1", "g2", "g3", "g4",
                                        "g5", "g6", "g7", "g8", "g9"};
    const struct trace_job *job = &drive->trace->jobs[j];
    struct resource_amount amount = {STR("cpu"), job->cores * INT64_C(1000)};
    struct requirement requirement = {
        .priority_class = STR("armada-default"),
        .requests = {&amount, 1},
        .lifetime_ms = job->lifetime < 0 ? LIFETIME_BY_CLASS
                                         : job->lifetime * INT64_C(1000),
        .deadline_ms = job->deadline * INT64_C(1000),
    };
    char gang[16] = "";
    uint32_t class_index = sched_class_add(drive->sched, &requirement);

    if (job->members > 1) {
        strcpy(gang, GANGS[j / 10]);
        strcat(gang, GANGS[j % 10]);
    }
    drive->first_handle[j] = drive->handle_count;
    for (int m = 0; m < job->members; m++) {
        uint32_t handle = (uint32_t)drive->handle_count++;
        drive->job_of[handle] = j;
        struct sched_job record = {
            .queue = (uint32_t)job->queue,
            .class_index = class_index,
            .submitted_ms = job->arrives * INT64_C(1000),
            .id = {{1, handle}},
            .gang_id = str_of(gang),
            .gang_cardinality = (uint32_t)job->members,
            .gang_minimum = (uint32_t)job->members,
        };
        sched_job_add(drive->sched, handle, &record);
    }
}

static void apply(struct drive *drive, const struct sched_decision *decision,
                  int now)
{
    int j = drive->job_of[decision->job];
    const struct trace_job *job = &drive->trace->jobs[j];
    struct outcome *outcome = drive->outcome;

    switch (decision->action) {
    case SCHED_LEASE:
        sched_job_lease(drive->sched, decision->job, decision->node,
                        decision->priority, now * INT64_C(1000), true);
        if (decision->is_backfilled) {
            sched_job_age_from(drive->sched, decision->job,
                               now * INT64_C(1000));
        }
        if (decision->yields_to != SCHED_NONE) {
            sched_job_yield(drive->sched, decision->job, decision->yields_to);
        }
        (void)sched_job_started(drive->sched, decision->job);
        drive->running[j]++;
        outcome->starts[j] = now;
        outcome->ends[j] = now + job->runs;
        break;
    case SCHED_ADMIT:
        if (outcome->promised_ms[j] == 0) {
            outcome->promised_ms[j] = decision->start_ms;
            outcome->admitted_at[j] = now;
        } else if (decision->start_ms > outcome->promised_ms[j]) {
            drive->is_broken = true; /* a promise only gets better */
        }
        sched_job_admit(drive->sched, decision->job, STR("default"),
                        decision->start_ms, decision->charge);
        break;
    case SCHED_PREEMPT: /* it ends, whatever it has done */
        sched_job_remove(drive->sched, decision->job);
        outcome->ends[j] = now;
        break;
    case SCHED_DISMISS:
    case SCHED_FAIL:
        drive->is_broken = true;
        break;
    }
}

static void drive_pass(struct drive *drive, enum round_kind kind, int now)
{
    struct sched_plan plan;

    for (int round = 0; round < 100; round++) {
        sched_plan(drive->sched, now * INT64_C(1000), kind, 1000, &plan);
        for (uint32_t i = 0; i < plan.decision_count; i++) {
            apply(drive, &plan.decisions[i], now);
        }
        if (plan.decision_count == 0) {
            return;
        }
    }
    drive->is_broken = true; /* it does not come to rest */
}

static void drive_time(struct drive *drive, int now)
{
    const struct trace *trace = drive->trace;

    sched_set_time(drive->sched, now * INT64_C(1000));
    for (int j = 0; j < trace->job_count; j++) {
        if (drive->outcome->ends[j] == now && drive->running[j]) {
            for (int m = 0; m < drive->running[j]; m++) {
                sched_job_remove(drive->sched,
                                 (uint32_t)(drive->first_handle[j] + m));
            }
            drive->running[j] = 0;
        }
    }
    for (int j = 0; j < trace->job_count; j++) {
        if (trace->jobs[j].arrives == now) {
            submit(drive, j);
        }
    }
}

/* Whether anything ends or arrives at a time. */
static bool is_eventful(const struct trace *trace,
                        const struct outcome *outcome, int now)
{
    for (int j = 0; j < trace->job_count; j++) {
        if (trace->jobs[j].arrives == now || outcome->ends[j] == now) {
            return true;
        }
    }
    return false;
}

static int end_of_time(const struct trace *trace)
{
    int end = 1;

    for (int j = 0; j < trace->job_count; j++) {
        end += trace->jobs[j].deadline + trace->jobs[j].arrives;
    }
    return end;
}

static int pick(struct tape *tape, int low, int high)
{
    return (int)draw(tape, (uint64_t)low, (uint64_t)high);
}

static void draw_trace(struct tape *tape, struct trace *trace, int nodes,
                       int queues)
{
    *trace = (struct trace){.job_count = pick(tape, 1, TRACE_JOBS)};
    trace->node_count = pick(tape, 1, nodes);
    for (int n = 0; n < trace->node_count; n++) {
        trace->node_cores[n] = pick(tape, 4, 8);
    }
    int now = 0;
    for (int j = 0; j < trace->job_count; j++) {
        now += pick(tape, 0, 4);
        int deadline = pick(tape, 1, 20);
        trace->jobs[j] = (struct trace_job){
            .arrives = now,
            .cores = pick(tape, 1, trace->node_cores[0]),
            .deadline = deadline,
            .runs = pick(tape, 1, deadline),
            .lifetime = -1,
            .queue = pick(tape, 0, queues - 1),
            .members = 1,
        };
    }
}

static bool equals_textbook(struct tape *tape)
{
    enum order order = (enum order)pick(tape, FCFS, SHORTEST);
    struct trace trace;
    struct outcome expected, got;
    struct drive drive = {0};

    draw_trace(tape, &trace, 1, 1);
    policy_defaults(&drive.policy);
    drive.policy.lookback_max = 0;
    for (uint32_t c = 0; c < drive.policy.class_count; c++) {
        drive.policy.classes[c].queue_limit_count = 0;
    }
    pool_policy_apply(&drive.policy.pools[0], PROFILE_BERTH);
    drive.policy.pools[0].is_strict = order == FCFS;
    drive.policy.pools[0].backfill_order =
        order == SHORTEST ? BACKFILL_SHORTEST_FIRST : BACKFILL_IN_ORDER;
    drive_begin(&drive, &trace, &got);
    memset(&expected, 0, sizeof(expected));
    for (int j = 0; j < trace.job_count; j++) {
        expected.starts[j] = expected.ends[j] = NEVER;
    }
    for (int now = 0; now < end_of_time(&trace); now++) {
        if (!is_eventful(&trace, &got, now) &&
            !is_eventful(&trace, &expected, now)) {
            continue;
        }
        drive_time(&drive, now);
        drive_pass(&drive, (enum round_kind)pick(tape, 0, 1), now);
        textbook_pass(&trace, &expected, order, now);
    }
    bool is_equal = !drive.is_broken;
    for (int j = 0; j < trace.job_count; j++) {
        is_equal &= got.starts[j] == expected.starts[j];
    }
    sched_destroy(drive.sched);
    return is_equal;
}

int main(void)
{
    bool is_good = prop_check("equals_textbook", equals_textbook, 1000, 0);

    return is_good ? 0 : 1;
}
