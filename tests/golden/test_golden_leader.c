/*
 * test_golden_leader - a log with every kind of event folds into the same
 * state for ever.
 *
 *     test_golden_leader LOG             print what folding LOG gives
 *     test_golden_leader LOG EXPECTED    compare it with that
 *     test_golden_leader --write         print the log of this release
 */
#include <stdio.h>
#include <stdlib.h>

#include "job/table/jobs.h"
#include "leader_log.h"
#include "leader_stage.h"

struct folding {
    struct jobs *jobs;
    struct strbuf *out;
    uint32_t counts[EVENT_DISMISSED + 1];
};

static int fold(const struct log_item *item, void *ctx)
{
    struct folding *folding = ctx;
    struct jobs_change change;

    ASSERT(item->event.type <= EVENT_DISMISSED);
    folding->counts[item->event.type]++;
    if (jobs_apply(folding->jobs, &item->scope, &item->event, &change) ==
        JOBS_LATE) {
        strbuf_addf(folding->out, "late: event %u of type %d\n", item->index,
                    item->event.type);
    }
    return 0;
}

static struct strbuf read_file(const char *path)
{
    struct strbuf text = {0};
    char part[4096];
    size_t count;
    FILE *file = fopen(path, "r");

    if (!file) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    while ((count = fread(part, 1, sizeof(part), file)) > 0) {
        strbuf_add(&text, part, count);
    }
    fclose(file);
    return text;
}

static int hex_digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* Take one line off `text`; false at the end. */
static bool next_record(struct str *text, int64_t *ret_time_ms,
                        struct strbuf *payload)
{
    if (text->byte_count == 0) {
        return false;
    }
    size_t line =
        (size_t)((const char *)memchr(text->p, '\n', text->byte_count) -
                 text->p);
    size_t at = (size_t)((const char *)memchr(text->p, ' ', line) - text->p);
    strbuf_clear(payload);
    *ret_time_ms = strtoll(text->p, NULL, 10);
    for (at++; at + 1 < line; at += 2) {
        strbuf_add_char(payload, (char)(hex_digit(text->p[at]) << 4 |
                                        hex_digit(text->p[at + 1])));
    }
    text->p += line + 1;
    text->byte_count -= line + 1;
    return true;
}

static void describe_job(struct folding *folding, uint32_t job)
{
    struct job_tried tried[JOBS_TRIED_MAX];
    struct job_digest digest;
    struct job_view view;
    char id[ID_TEXT_BYTES_MAX];

    jobs_get(folding->jobs, job, &view);
    jobs_digest(folding->jobs, job, &digest);
    strbuf_addf(folding->out,
                "job %s: %s, %.*s/%.*s of %.*s, priority %u, flags %u, runs "
                "%u, attempted %u, tried %u",
                job_id_format(view.id, id), job_state_name(view.state),
                STR_ARG(view.queue), STR_ARG(view.job_set), STR_ARG(view.user),
                view.priority, view.flags, view.run_count, view.attempted_count,
                jobs_tried(folding->jobs, job, tried));
    if (digest.gang_id.byte_count) {
        strbuf_addf(folding->out, ", gang %.*s %u..%u %.*s",
                    STR_ARG(digest.gang_id), digest.gang_minimum,
                    digest.gang_cardinality, STR_ARG(digest.gang_uniformity));
    }
    if (view.has_run) {
        strbuf_addf(folding->out, ", run %s on %.*s of %.*s in %.*s",
                    run_id_format(view.run.id, id), STR_ARG(view.run.node_name),
                    STR_ARG(view.run.executor_id), STR_ARG(view.run.pool));
    }
    strbuf_add_char(folding->out, '\n');
}

/* The job table's fold; jobs here have been submitted in the order of id. */
static void describe_fold(struct str log, struct strbuf *out)
{
    static struct policy policy;
    struct folding folding = {.jobs = jobs_create(), .out = out};
    auto_strbuf payload = {0};
    int64_t time_ms;

    policy_defaults(&policy);
    jobs_set_policy(folding.jobs, &policy);
    while (next_record(&log, &time_ms, &payload)) {
        auto_arena arena = {0};
        struct err err;
        if (log_decode(strbuf_str(&payload), &arena, fold, &folding, &err) <
            0) {
            strbuf_addf(out, "%s\n", err.text);
        }
    }
    for (int type = 0; type <= EVENT_DISMISSED; type++) {
        if (folding.counts[type]) {
            strbuf_addf(out, "type %d: %u\n", type, folding.counts[type]);
        }
    }
    struct job_id last = {{0, 0}};
    for (uint32_t left = jobs_count(folding.jobs); left > 0; left--) {
        uint32_t best = JOBS_NONE;
        struct job_id best_id = {{UINT64_MAX, UINT64_MAX}};
        for (uint32_t job = 0; job < jobs_index_end(folding.jobs); job++) {
            struct job_view view;
            if (!jobs_is_live(folding.jobs, job)) {
                continue;
            }
            jobs_get(folding.jobs, job, &view);
            if (key128_compare(view.id.v, last.v) > 0 &&
                key128_compare(view.id.v, best_id.v) < 0) {
                best = job;
                best_id = view.id;
            }
        }
        describe_job(&folding, best);
        last = best_id;
    }
    jobs_destroy(folding.jobs);
}

static void on_done(void *ctx, int result, uint64_t seq)
{
    (void)ctx;
    (void)seq;
    ASSERT(result == 0);
}

static void fill_storage(struct elog_memory_storage *storage, struct str log)
{
    auto_strbuf payload = {0};
    struct elog *elog = elog_memory_open(storage);
    struct elog_record record = {.format_version = 1};
    struct err err;

    int rc = elog_acquire(elog, &record.epoch, &err);
    ASSERT(rc == 0);
    while (next_record(&log, &record.time_ms, &payload)) {
        record.seq++;
        record.payload = strbuf_str(&payload);
        rc = elog_submit(elog, &record, on_done, NULL);
        ASSERT(rc == 0);
        elog_poll(elog, 0);
    }
    elog_close(elog);
}

/* The whole leader reads it, and leads. */
static void describe_leader(struct str log, struct strbuf *out)
{
    struct control_metrics metrics;
    struct stage stage;

    stage_init(&stage);
    fill_storage(stage.storage, log);
    stage_start(&stage);
    control_assert_valid(stage.control);
    control_metrics(stage.control, &metrics);
    strbuf_addf(out,
                "leader: %u jobs, %u queued, %u queues, %u nodes, %u client "
                "ids, %llu late\n",
                metrics.job_count, metrics.queued_count, metrics.queue_count,
                metrics.node_count, metrics.dedup_count,
                (unsigned long long)metrics.late_count);
    stage_settle(&stage);
    control_assert_valid(stage.control);
    control_metrics(stage.control, &metrics);
    strbuf_addf(out, "settled: %u jobs, %u queued\n", metrics.job_count,
                metrics.queued_count);
    stage_fini(&stage);
}

int main(int argc, char **argv)
{
    auto_strbuf out = {0};

    if (argc == 2 && strcmp(argv[1], "--write") == 0) {
        leader_log_write(&out);
        fputs(strbuf_text(&out), stdout);
        return 0;
    }
    if (argc < 2) {
        return 2;
    }
    auto_strbuf log = read_file(argv[1]);
    describe_fold(strbuf_str(&log), &out);
    describe_leader(strbuf_str(&log), &out);
    if (argc < 3) {
        fputs(strbuf_text(&out), stdout);
        return 0;
    }
    auto_strbuf expected = read_file(argv[2]);
    if (!str_equal(strbuf_str(&out), strbuf_str(&expected))) {
        printf("it gives now:\n%s", strbuf_text(&out));
        return 1;
    }
    return 0;
}
