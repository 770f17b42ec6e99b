/* What the leader promises whatever its log and its clocks do: nothing
 * accepted is lost, nothing refused has happened. */

#include "leader_stage.h"
#include "unit.h"

/* A clock that is set back or forward stops nothing: times in the log never
 * run back, and silence is counted by the clock that cannot be set. */
static void clocks_that_jump_stop_nothing(void **state)
{
    static const int64_t jumps_ms[] = {-3600000, 31536000000, -31536000000,
                                       INT64_C(3153600000000)};
    struct stage *s = stage_begin(1);

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(jumps_ms); i++) {
        s->wall_ms += jumps_ms[i];
        struct job_id job = stage_leased(s, (struct stage_job){0});
        STAGE_HISTORY(s, job, "submit leased");
        stage_report(s, job, EVENT_RUN_RUNNING);
        stage_report(s, job, EVENT_RUN_SUCCEEDED);
        stage_settle(s);
    }
    assert_int_equal(stage_count(s, EVENT_EXECUTOR_STATE), 0);
    stage_end(s);
}

/* While the log takes its time nothing is told and nothing is decided. */
static void a_batch_in_flight_is_waited_for(void **state)
{
    struct stage *s = stage_begin(1);
    struct stage_job job = {0};

    (void)state;
    stage_settle(s);
    elog_memory_hold(s->storage, true);
    uint32_t before = s->answer_count;
    stage_post(s, stage_submit_command(s, "q", &job, 1));
    for (int i = 0; i < 3; i++) {
        stage_step(s);
        assert_int_equal(s->step_rc, 1);
    }
    stage_post(s, stage_submit_command(s, "q", &job, 1));
    stage_step(s);
    assert_int_equal(s->answer_count, before);
    elog_memory_hold(s->storage, false);
    stage_settle(s);
    assert_int_equal(s->answer_count, before + 2);
    assert_int_equal(stage_count(s, EVENT_LEASED), 2);
    /* Stopped in flight: answered, and nothing is there that was not. */
    elog_memory_hold(s->storage, true);
    stage_post(s, stage_submit_command(s, "q", &job, 1));
    stage_step(s);
    elog_memory_hold(s->storage, false);
    stage_crash(s);
    assert_int_equal(s->answer_count, before + 3);
    stage_start(s);
    assert_int_equal(stage_count(s, EVENT_SUBMIT), 2);
    stage_end(s);
}

/* TRAP-11. */
static void a_client_id_names_one_job(void **state)
{
    struct stage *s = stage_begin(1);
    struct stage_job twice[2] = {{.client_id = "x"}, {.client_id = "x"}};
    struct job_id first = stage_submit(s, "q", twice[0]);

    (void)state;
    struct job_id again = stage_submit(s, "q", twice[0]);
    assert_memory_equal(&first, &again, sizeof(first));
    stage_queue(s, "other");
    again = stage_submit(s, "other", twice[0]);
    assert_memory_not_equal(&first, &again, sizeof(first));
    stage_crash(s);
    stage_start(s);
    again = stage_submit(s, "q", twice[0]);
    assert_memory_equal(&first, &again, sizeof(first));
    /* Two commands of one batch. */
    struct stage_job fresh = {.client_id = "y"};
    stage_post(s, stage_submit_command(s, "q", &fresh, 1));
    stage_do(s, stage_submit_command(s, "q", &fresh, 1));
    stage_settle(s);
    assert_int_equal(stage_count(s, EVENT_SUBMIT), 3);
    /* Within one request both are new. */
    twice[0].client_id = twice[1].client_id = "z";
    stage_do(s, stage_submit_command(s, "q", twice, 2));
    assert_int_equal(stage_count(s, EVENT_SUBMIT), 5);
    stage_end(s);
}

/* The job of client id `x` after a minute less than `ms`, and after it. */
static void check_client_id_lives(int64_t deduplication_ms, int64_t ms)
{
    struct stage *s = mem_alloc(sizeof(*s));
    struct stage_job job = {.client_id = "x"};

    stage_init(s);
    s->deduplication_ms = deduplication_ms;
    stage_start(s);
    stage_queue(s, "q");
    struct job_id first = stage_submit(s, "q", job);
    s->wall_ms += ms - 60000;
    struct job_id again = stage_submit(s, "q", job);
    assert_memory_equal(&first, &again, sizeof(first));
    s->wall_ms += 120000;
    again = stage_submit(s, "q", job);
    assert_memory_not_equal(&first, &again, sizeof(first));
    stage_end(s);
}

static void a_client_id_names_its_job_as_long_as_configured(void **state)
{
    (void)state;
    check_client_id_lives(0, CONTROL_DEDUPLICATION_MS);
    check_client_id_lives(3600000, 3600000);
    check_client_id_lives(INT64_C(365) * 24 * 3600000,
                          INT64_C(365) * 24 * 3600000);
}

/* Another setting may be given to a log: what it has taken stays, for only new
 * jobs are logged. */
static void another_age_of_client_ids_replays_the_same_log(void **state)
{
    struct stage *s = stage_begin(1);
    struct stage_job job = {.client_id = "x"};
    struct job_id first = stage_submit(s, "q", job);

    (void)state;
    s->wall_ms += 3600000;
    stage_crash(s);
    s->deduplication_ms = 60000;
    stage_start(s);
    struct job_id second = stage_submit(s, "q", job);
    assert_memory_not_equal(&first, &second, sizeof(first));
    stage_crash(s);
    s->deduplication_ms = 0;
    stage_start(s);
    assert_int_equal(stage_count(s, EVENT_SUBMIT), 2);
    struct job_id third = stage_submit(s, "q", job); /* the later counts */
    assert_memory_equal(&second, &third, sizeof(second));
    stage_end(s);
}

/* Nobody is told that a job was taken into a queue that is gone. */
static void
a_submission_right_after_the_queue_was_deleted_is_refused(void **state)
{
    struct stage *s = stage_begin(1);
    struct stage_job job = {0};
    struct event event = stage_event_make(EVENT_QUEUE_DELETED);

    (void)state;
    event.queue.record.name = STR("q");
    stage_post(s, stage_event_command("", "", "root", &event));
    stage_do(s, stage_submit_command(s, "q", &job, 1));
    assert_int_equal(s->answer->result, COMMAND_UNKNOWN_QUEUE);
    assert_int_equal(stage_count(s, EVENT_SUBMIT), 0);
    stage_end(s);
}

static void an_unknown_queue_is_said(void **state)
{
    struct stage *s = stage_begin(1);
    struct stage_job job = {0};

    (void)state;
    stage_do(s, stage_submit_command(s, "nope", &job, 1));
    assert_int_equal(s->answer->result, COMMAND_UNKNOWN_QUEUE);
    assert_true(str_equal(s->answer->result_text,
                          STR("could not find queue \"nope\"")));
    struct event event = stage_event_make(EVENT_QUEUE_DELETED);
    event.queue.record.name = STR("q");
    stage_event(s, "", "", "root", &event);
    stage_do(s, stage_submit_command(s, "q", &job, 1));
    assert_int_equal(s->answer->result, COMMAND_UNKNOWN_QUEUE);
    stage_end(s);
}

static void count_and_destroy(struct command *command, void *ctx)
{
    *(uint32_t *)ctx += 1;
    command_destroy(command);
}

/* What is posted while the log is slow is bounded, and who posts is told. */
static void a_slow_log_fills_the_inbox_and_no_more(void **state)
{
    enum { POSTS_MAX = 200000 };
    struct stage *s = stage_begin(1);
    struct stage_job job = {0};
    uint32_t posted_count = 0, answered_count = 0;
    int rc = 0;

    (void)state;
    stage_settle(s);
    elog_memory_hold(s->storage, true);
    while (rc == 0 && posted_count < POSTS_MAX) {
        struct command *command = stage_submit_command(s, "q", &job, 1);
        command->done = count_and_destroy;
        command->ctx = &answered_count;
        rc = inbox_post(s->inbox, command);
        if (rc == 0) {
            posted_count++;
            stage_step(s);
        } else {
            command_destroy(command);
        }
    }
    assert_int_equal(rc, -ERR_LIMIT);
    elog_memory_hold(s->storage, false);
    stage_settle(s);
    assert_int_equal(answered_count, posted_count);
    stage_end(s);
}

/* A failed append changes nothing, and service goes on. */
static void a_full_disk_is_said_and_survived(void **state)
{
    struct stage *s = stage_begin(1);
    struct stage_job job = {.client_id = "x"};

    (void)state;
    stage_settle(s);
    elog_memory_inject(s->storage, 1, ELOG_MEMORY_FULL);
    stage_do(s, stage_submit_command(s, "q", &job, 1));
    assert_int_equal(s->answer->result, COMMAND_LOG_FAILED);
    assert_true(str_equal(s->answer->result_text,
                          STR("the log has no space left on its disk")));
    elog_memory_inject(s->storage, 2, ELOG_MEMORY_FULL);
    struct job_id id = stage_submit(s, "q", job);
    STAGE_HISTORY(s, id, "submit leased");
    elog_memory_inject(s->storage, 2, ELOG_MEMORY_FULL);
    stage_report(s, id, EVENT_RUN_SUCCEEDED);
    STAGE_HISTORY(s, id, "submit leased run-succeeded succeeded");
    stage_end(s);
}

static void a_deposed_leader_stops(void **state)
{
    struct stage *s = stage_begin(1);
    struct elog *other = elog_memory_open(s->storage);
    struct stage_job job = {0};
    uint64_t epoch;

    (void)state;
    assert_int_equal(elog_acquire(other, &epoch, &s->err), 0);
    stage_do(s, stage_submit_command(s, "q", &job, 1));
    assert_int_equal(s->step_rc, -ERR_FENCED);
    assert_int_equal(s->answer->result, COMMAND_LOG_FAILED);
    stage_do(s, stage_submit_command(s, "q", &job, 1));
    assert_int_equal(s->answer->result, COMMAND_UNAVAILABLE);
    elog_close(other);
    stage_fini(s);
    mem_free(s);
}

/* A disk that takes checkpoints one at a time, and slowly. */
struct slow_disk {
    bool is_busy;
    uint32_t stored_count, asked_count;
    uint64_t seq;
};

static bool is_idle(void *ctx)
{
    struct slow_disk *disk = ctx;

    disk->asked_count++;
    return !disk->is_busy;
}

static void store_slowly(void *ctx, uint64_t seq, char *bytes,
                         size_t byte_count)
{
    struct slow_disk *disk = ctx;

    (void)byte_count;
    assert_false(disk->is_busy);
    disk->is_busy = true;
    disk->stored_count++;
    disk->seq = seq;
    mem_free(bytes);
}

static void a_checkpoint_waits_for_the_one_that_is_written(void **state)
{
    struct slow_disk disk = {0};
    struct stage *s = mem_alloc(sizeof(*s));

    (void)state;
    stage_init(s);
    s->checkpoint_events = 10;
    s->hooks = (struct control_hooks){
        .ctx = &disk, .may_checkpoint = is_idle, .checkpoint = store_slowly};
    stage_start(s);
    stage_queue(s, "q");
    for (int i = 0; i < 100; i++) {
        (void)stage_submit(s, "q", (struct stage_job){0});
        stage_settle(s);
    }
    assert_int_equal(disk.stored_count, 1);
    assert_true(disk.asked_count > 1);
    uint64_t first_seq = disk.seq;
    disk.is_busy = false; /* and the next is made after the next record */
    (void)stage_submit(s, "q", (struct stage_job){0});
    stage_pass(s, 2000);
    assert_int_equal(disk.stored_count, 2);
    assert_true(disk.seq > first_seq + 50);
    stage_end(s);
}

/* The wall clock may jump; the log's time does not run backwards. */
static void time_never_runs_backwards(void **state)
{
    struct stage *s = stage_begin(1);
    struct control_metrics metrics;

    (void)state;
    s->wall_ms -= 1000000;
    struct job_id job = stage_leased(s, (struct stage_job){0});
    STAGE_HISTORY(s, job, "submit leased");
    control_metrics(s->control, &metrics);
    assert_int_equal(metrics.leased_count, 1);
    stage_end(s);
}

static void a_rate_goes_on_after_the_clock_was_set_back(void **state)
{
    const int64_t ahead_ms = INT64_C(40) * 24 * 3600 * 1000;
    struct stage *s = mem_alloc(sizeof(*s));

    (void)state;
    stage_init(s);
    s->policy.rate_global = (struct rate_limit){100, 1};
    stage_start(s);
    stage_queue(s, "q");
    stage_exchange(s, "e", 1, NULL, 0);
    s->wall_ms += ahead_ms;
    struct job_id first = stage_leased(s, (struct stage_job){0});
    STAGE_HISTORY(s, first, "submit leased");
    s->wall_ms -= ahead_ms;
    struct job_id second = stage_leased(s, (struct stage_job){0});
    STAGE_HISTORY(s, second, "submit");
    stage_pass(s, 15000); /* ten seconds for each start */
    STAGE_HISTORY(s, second, "submit");
    stage_pass(s, 10000); /* at half speed */
    STAGE_HISTORY(s, second, "submit leased");
    stage_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(clocks_that_jump_stop_nothing),
        TEST(a_batch_in_flight_is_waited_for),
        TEST(a_client_id_names_one_job),
        TEST(a_client_id_names_its_job_as_long_as_configured),
        TEST(another_age_of_client_ids_replays_the_same_log),
        TEST(a_submission_right_after_the_queue_was_deleted_is_refused),
        TEST(an_unknown_queue_is_said),
        TEST(a_slow_log_fills_the_inbox_and_no_more),
        TEST(a_full_disk_is_said_and_survived),
        TEST(a_deposed_leader_stops),
        TEST(a_checkpoint_waits_for_the_one_that_is_written),
        TEST(time_never_runs_backwards),
        TEST(a_rate_goes_on_after_the_clock_was_set_back),
    };

    return RUN_TESTS(tests);
}
