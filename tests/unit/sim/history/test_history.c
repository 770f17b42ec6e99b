/* A history that is read from a log, and played again. */
#include "armada/queue.pb-c.h"
#include "played.h"
#include "sim/history/history.h"
#include "wire/log/log_codec.h"
#include "wire/message/message.h"

/* Two queues that want more than there is, gangs, and nodes that fail.  What
 * has not ended after two hours is never known to. */
static const char scenario[] =
    "duration: 2h\n"
    "clusters:\n"
    "  - {name: a, startDelay: 2s, nodes: [{name: n, count: 6, resources: "
    "{cpu: 8}}], failures: {meanBetween: 6h, repair: 10m}}\n"
    "queues: [{name: p}, {name: q, weight: 0.5}]\n"
    "jobs:\n"
    "  - {name: many, queue: p, count: 300, resources: {cpu: 1}, "
    "runTime: {distribution: uniform, a: 5m, b: 25m}, failures: 0.05}\n"
    "  - {name: late, queue: q, arrivals: poisson, rate: 0.02, first: 10m, "
    "last: 2h, resources: {cpu: 2}, runTime: {distribution: exponential, a: "
    "10m}}\n"
    "  - {name: gang, queue: q, arrivals: steady, rate: 0.002, last: 1h, "
    "resources: {cpu: 4}, gang: {size: 4}, runTime: {a: 10m}}\n";

struct scene {
    struct elog_memory_storage *storage;
    struct played played;
    struct history history;
};

/* Read the history of what was played. */
static void read_log(struct scene *scene)
{
    struct elog_reader *reader;
    struct err err;

    assert_int_equal(elog_reader_open(scene->played.world->log, &reader, &err),
                     0);
    if (history_read(reader, &scene->history, &err) < 0) {
        fail_msg("%s", err.text);
    }
    elog_reader_close(reader);
}

static struct scene *begin(const char *text)
{
    struct scene *scene = mem_alloc(sizeof(*scene));

    scene->storage = elog_memory_storage_create();
    play_into(&scene->played, text, 1, elog_memory_open(scene->storage));
    read_log(scene);
    return scene;
}

static void end(struct scene *scene)
{
    history_fini(&scene->history);
    tally_fini(&scene->played.tally);
    world_destroy(scene->played.world);
    arena_fini(&scene->played.arena);
    elog_memory_storage_destroy(scene->storage);
    mem_free(scene);
}

static void assert_near(double a, double b, double part)
{
    if (!(a - b <= part * (a + b) && b - a <= part * (a + b))) {
        fail_msg("%g is not near %g", a, b);
    }
}

static void play_again(struct scene *scene, struct history_changes *changes,
                       uint64_t seed, struct history_result *ret_result)
{
    struct err err;

    if (history_play(&scene->history, changes, seed, ret_result, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

static void test_what_was_is_what_the_simulation_counted(void **state)
{
    struct scene *scene = begin(scenario);
    const struct tally_result *tallied = &scene->played.result;
    struct history_result was;

    (void)state;
    history_as_it_was(&scene->history, &was);
    assert_int_equal(was.started_count, tallied->started_count);
    assert_int_equal(was.succeeded_count, tallied->succeeded_count);
    /* Those that failed before they started, too. */
    assert_int_equal(was.unstarted_count,
                     tallied->submitted_count - tallied->started_count);
    assert_int_equal(was.preemption_count, tallied->preemption_count);
    assert_int_equal(scene->history.nodes.count, 6);
    assert_int_equal(scene->history.start_ms / 1000, 2);
    /* Who never started counts with all of the time. */
    assert_true(was.unstarted_count > 0);
    assert_true(was.mean_wait_s * (double)tallied->submitted_count >
                tallied->wait_s.mean * (double)tallied->started_count);
    history_result_fini(&was);
    end(scene);
}

static void test_by_the_same_rules_it_comes_as_it_was(void **state)
{
    struct scene *scene = begin(scenario);
    struct history_result was, again;

    (void)state;
    history_as_it_was(&scene->history, &was);
    play_again(scene, NULL, 1, &again);
    assert_near(again.started_count, was.started_count, 0.03);
    assert_near(again.succeeded_count, was.succeeded_count, 0.03);
    assert_near(again.mean_wait_s, was.mean_wait_s, 0.03);
    assert_near(again.use, was.use, 0.03);
    assert_near(again.samples[HISTORY_SAMPLES / 2].running_count,
                was.samples[HISTORY_SAMPLES / 2].running_count, 0.1);
    assert_true(was.gpu_use < 0 && again.gpu_use < 0);
    history_result_fini(&was);
    history_result_fini(&again);
    end(scene);
}

/* They do not wait to the end of the history. */
static void test_who_can_never_start_waits_until_it_fails(void **state)
{
    static const char refused[] =
        "duration: 1h\n"
        "clusters:\n"
        "  - {name: a, nodes: [{name: n, count: 1, resources: {cpu: 8}}]}\n"
        "queues: [{name: p}]\n"
        "jobs:\n"
        "  - {name: small, queue: p, count: 1, resources: {cpu: 1}, "
        "runTime: {a: 50m}}\n"
        "  - {name: large, queue: p, count: 3, resources: {cpu: 9}, "
        "runTime: {a: 5m}}\n";
    struct scene *scene = begin(refused);
    struct history_result was, again;

    (void)state;
    history_as_it_was(&scene->history, &was);
    play_again(scene, NULL, 1, &again);
    const struct history_result *const results[] = {&was, &again};
    for (size_t i = 0; i < ARRAY_COUNT(results); i++) {
        assert_int_equal(results[i]->unstarted_count, 3);
        assert_true(results[i]->mean_wait_s < 60);
        assert_true(results[i]->queues[0].mean_wait_s < 60);
        assert_int_equal(results[i]->samples[HISTORY_SAMPLES / 2].queued_count,
                         0);
    }
    history_result_fini(&was);
    history_result_fini(&again);
    end(scene);
}

static void test_one_seed_is_one_course(void **state)
{
    struct scene *scene = begin(scenario);
    struct history_result one, same, other;

    (void)state;
    play_again(scene, NULL, 1, &one);
    play_again(scene, NULL, 1, &same);
    play_again(scene, NULL, 2, &other);
    for (uint32_t i = 0; i < HISTORY_FIGURES; i++) {
        assert_true(history_figure(&one, i) == history_figure(&same, i));
    }
    /* Run times that nobody knows are drawn otherwise. */
    assert_true(one.mean_wait_s != other.mean_wait_s ||
                one.succeeded_count != other.succeeded_count);
    history_result_fini(&one);
    history_result_fini(&same);
    history_result_fini(&other);
    end(scene);
}

static void test_more_nodes_leave_less_waiting(void **state)
{
    struct scene *scene = begin(scenario);
    struct history_changes changes = {.policy = NULL};
    struct history_more more = {.count = 6};
    struct history_result before, after;

    (void)state;
    VEC_PUSH(&changes.nodes, more);
    play_again(scene, NULL, 1, &before);
    play_again(scene, &changes, 1, &after);
    assert_true(after.unstarted_count < before.unstarted_count);
    assert_true(after.mean_wait_s < before.mean_wait_s);
    VEC_FREE(&changes.nodes);
    history_result_fini(&before);
    history_result_fini(&after);
    end(scene);
}

static void test_a_weight_moves_the_waiting_to_others(void **state)
{
    struct scene *scene = begin(scenario);
    struct history_changes changes = {.policy = NULL};
    struct history_weight weight = {.weight = 4};
    struct history_result before, after;

    (void)state;
    assert_true(str_equal(scene->history.queues.items[1].name, STR("q")));
    weight.queue = 1;
    VEC_PUSH(&changes.weights, weight);
    play_again(scene, NULL, 1, &before);
    play_again(scene, &changes, 1, &after);
    assert_true(after.queues[1].mean_wait_s < before.queues[1].mean_wait_s);
    assert_true(after.queues[0].mean_wait_s > before.queues[0].mean_wait_s);
    VEC_FREE(&changes.weights);
    history_result_fini(&before);
    history_result_fini(&after);
    end(scene);
}

static void test_a_node_that_never_was_is_refused(void **state)
{
    struct scene *scene = begin(scenario);
    struct history_changes changes = {.policy = NULL};
    struct history_more more = {.like = STR("none"), .count = 1};
    struct history_result result;
    struct err err;

    (void)state;
    VEC_PUSH(&changes.nodes, more);
    assert_int_equal(history_play(&scene->history, &changes, 1, &result, &err),
                     -ERR_NOT_FOUND);
    assert_string_equal(err.text, "there was no node \"none\"");
    VEC_FREE(&changes.nodes);
    end(scene);
}

/* At its end the queue is like this. */
static void set_queue(struct scene *scene, Api__Queue *queue)
{
    auto_arena arena = {0};
    struct err err;

    queue->priority_factor = 1;
    world_set_queue(scene->played.world, str_of(queue->name),
                    wire_encode_arena(&queue->base, &arena));
    assert_true(world_step(scene->played.world, &err) >= 0);
    history_fini(&scene->history);
    read_log(scene);
}

static void test_a_queue_keeps_its_limits(void **state)
{
    struct scene *scene = begin(scenario);
    Api__Queue queue = API__QUEUE__INIT;
    Api__QueueScheduling scheduling = API__QUEUE_SCHEDULING__INIT;
    Api__QueueScheduling__QuotaEntry none =
        API__QUEUE_SCHEDULING__QUOTA_ENTRY__INIT;
    Api__QueueScheduling__QuotaEntry *quota[] = {&none};
    struct history_changes changes = {.policy = NULL};
    struct history_weight weight = {.queue = 1, .weight = 4};
    struct history_result result;

    (void)state;
    none.key = (char[]){"cpu"};
    none.value = (char[]){"0"};
    scheduling.n_quota = 1;
    scheduling.quota = quota;
    queue.name = (char[]){"q"};
    queue.scheduling = &scheduling;
    set_queue(scene, &queue);
    play_again(scene, NULL, 1, &result);
    assert_int_equal(result.queues[1].started_count, 0);
    assert_true(result.queues[0].started_count > 0);
    history_result_fini(&result);
    /* Another weight leaves the rest as it is. */
    VEC_PUSH(&changes.weights, weight);
    play_again(scene, &changes, 1, &result);
    assert_int_equal(result.queues[1].started_count, 0);
    VEC_FREE(&changes.weights);
    history_result_fini(&result);
    end(scene);
}

static void test_a_cordon_of_a_queue_is_passed_over(void **state)
{
    struct scene *scene = begin(scenario);
    Api__Queue queue = API__QUEUE__INIT;
    struct history_result result;

    (void)state;
    queue.name = (char[]){"q"};
    queue.cordoned = true;
    set_queue(scene, &queue);
    play_again(scene, NULL, 1, &result);
    assert_true(result.queues[1].started_count > 0);
    history_result_fini(&result);
    end(scene);
}

static void test_taints_of_nodes_keep_jobs_away(void **state)
{
    struct scene *scene = begin(scenario);
    const struct taint taint = {STR("only"), STR("others"), TAINT_NO_SCHEDULE};
    struct history_result result;

    (void)state;
    for (size_t i = 0; i < scene->history.nodes.count; i++) {
        scene->history.nodes.items[i].record.taints = &taint;
        scene->history.nodes.items[i].record.taint_count = 1;
    }
    play_again(scene, NULL, 1, &result);
    assert_true(result.started_count == 0);
    history_result_fini(&result);
    end(scene);
}

/* Jobs that name no pool are not for the nodes that an object takes. */
static void test_a_pool_selects_by_expressions(void **state)
{
    struct scene *scene = begin(scenario);
    struct affinity_expression expression = {.key = STR("none"),
                                             .op = AFFINITY_DOES_NOT_EXIST};
    struct pool_record pool = {
        .name = STR("elsewhere"),
        .has_selector = true,
        .expressions = &expression,
        .expression_count = 1,
        .is_sharing_off = true,
    };
    struct history_result result;

    (void)state;
    VEC_PUSH(&scene->history.pools, pool);
    play_again(scene, NULL, 1, &result);
    assert_true(result.started_count == 0);
    history_result_fini(&result);
    end(scene);
}

static void test_an_added_node_has_a_name_of_its_own(void **state)
{
    struct scene *scene = begin(scenario);
    struct history_changes changes = {.policy = NULL};
    struct history_more more = {.count = 2};
    struct history_result result;

    (void)state;
    scene->history.nodes.items[0].record.name = STR("what-if-2");
    scene->history.nodes.items[5].record.name = STR("what-if-1");
    VEC_PUSH(&changes.nodes, more);
    play_again(scene, &changes, 1, &result);
    assert_true(result.started_count > 0);
    VEC_FREE(&changes.nodes);
    history_result_fini(&result);
    end(scene);
}

static void assert_too_large(struct scene *scene,
                             struct history_changes *changes, const char *text)
{
    struct history_result result;
    struct err err = {.text = ""};

    assert_int_equal(history_play(&scene->history, changes, 1, &result, &err),
                     -ERR_LIMIT);
    assert_string_equal(err.text, text);
}

static void test_a_size_beyond_a_limit_is_refused(void **state)
{
    struct scene *scene = begin(scenario);
    struct history_changes changes = {.policy = NULL};
    struct history_more more = {.count = NODES_MAX / 2};

    (void)state;
    VEC_PUSH(&changes.nodes, more);
    VEC_PUSH(&changes.nodes, more);
    assert_too_large(scene, &changes,
                     "there are 1048582 nodes, with those that are added; at "
                     "most 1048576 can be played");
    for (uint32_t i = 1; i <= EXECUTORS_MAX; i++) {
        VEC_PUSH(&scene->history.executors, STR("more"));
    }
    assert_too_large(scene, NULL,
                     "there were 4097 executors; at most 4096 can be played");
    VEC_FREE(&changes.nodes);
    end(scene);
}

/* A log whose first records are gone begins with its checkpoint. */
static void test_what_is_gone_is_as_the_checkpoint_has_it(void **state)
{
    struct scene *scene = begin(scenario);
    struct world *world = scene->played.world;
    struct history_result was;
    struct elog_reader *reader;
    struct history rest;
    uint64_t first_seq = 0;
    struct err err;

    (void)state;
    assert_int_equal(control_checkpoint(world->control, &err), 0);
    assert_int_equal(elog_trim(world->log, 200, &first_seq, &err), 0);
    assert_int_equal(first_seq, 200);
    assert_int_equal(elog_reader_open(world->log, &reader, &err), 0);
    if (history_read(reader, &rest, &err) < 0) {
        fail_msg("%s", err.text);
    }
    elog_reader_close(reader);
    assert_true(rest.jobs.count > 0);
    assert_true(rest.jobs.count < scene->history.jobs.count);
    assert_int_equal(rest.nodes.count, scene->history.nodes.count);
    assert_int_equal(rest.queues.count, scene->history.queues.count);
    assert_true(rest.span_ms < scene->history.span_ms);
    history_as_it_was(&rest, &was);
    assert_true(was.started_count > 0);
    history_result_fini(&was);
    assert_int_equal(history_play(&rest, NULL, 1, &was, &err), 0);
    assert_true(was.started_count > 0);
    history_result_fini(&was);
    history_fini(&rest);
    end(scene);
}

static void test_a_log_without_jobs_has_no_history(void **state)
{
    struct elog_memory_storage *storage = elog_memory_storage_create();
    struct elog *log = elog_memory_open(storage);
    struct elog_reader *reader;
    struct history history;
    struct err err;

    (void)state;
    assert_int_equal(elog_reader_open(log, &reader, &err), 0);
    assert_int_equal(history_read(reader, &history, &err), -ERR_NOT_FOUND);
    elog_reader_close(reader);
    elog_close(log);
    elog_memory_storage_destroy(storage);
}

/* A log that is written by hand. */

struct book {
    struct elog_memory_storage *storage;
    struct elog *log;
    uint64_t epoch, seq;
};

static void book_open(struct book *book)
{
    struct err err;

    *book = (struct book){.storage = elog_memory_storage_create()};
    book->log = elog_memory_open(book->storage);
    assert_int_equal(elog_acquire(book->log, &book->epoch, &err), 0);
}

static void book_close(struct book *book)
{
    elog_close(book->log);
    elog_memory_storage_destroy(book->storage);
}

static void note_written(void *ctx, int result, uint64_t seq)
{
    (void)ctx;
    (void)seq;
    assert_int_equal(result, 0);
}

/* Append a record, a second after the one before. */
static void book_add(struct book *book, struct str payload)
{
    struct elog_record record = {
        .seq = ++book->seq,
        .epoch = book->epoch,
        .time_ms = WORLD_EPOCH_MS + (int64_t)book->seq * 1000,
        .payload = payload,
    };

    assert_int_equal(elog_submit(book->log, &record, note_written, NULL), 0);
    while (elog_in_flight_count(book->log) > 0) {
        (void)elog_poll(book->log, 1000);
    }
}

static void book_add_event(struct book *book, const struct event *event)
{
    struct event_scope scope = {.user = STR("operator")};
    auto_log_batch batch = {0};

    log_batch_add(&batch, &scope, event);
    book_add(book, log_batch_finish(&batch));
}

static int book_read(const struct book *book, struct history *ret_history,
                     struct err *err)
{
    struct elog_reader *reader;

    assert_int_equal(elog_reader_open(book->log, &reader, err), 0);
    int rc = history_read(reader, ret_history, err);
    elog_reader_close(reader);
    return rc;
}

static void test_a_record_that_cannot_be_read_is_told_of(void **state)
{
    struct err err = {.text = "nothing was said"};
    struct history history;
    struct book book;

    (void)state;
    book_open(&book);
    book_add(&book, STR("\xff\xff"));
    assert_int_equal(book_read(&book, &history, &err), -ERR_CORRUPT);
    assert_string_not_equal(err.text, "nothing was said");
    book_close(&book);
}

static void test_a_policy_that_cannot_be_read_is_told_of(void **state)
{
    struct err err = {.text = "nothing was said"};
    struct event event = {.type = EVENT_POLICY_SET};
    struct history history;
    struct book book;

    (void)state;
    book_open(&book);
    event.policy.text = STR("nonesuch: 1\n");
    book_add_event(&book, &event);
    assert_true(book_read(&book, &history, &err) < 0);
    assert_non_null(strstr(err.text, "nonesuch"));
    book_close(&book);
}

static void test_the_courses_are_drawn(void **state)
{
    struct scene *scene = begin(scenario);
    struct history_result was;
    auto_strbuf out = {0};

    (void)state;
    history_as_it_was(&scene->history, &was);
    const struct history_result *const courses[] = {&was, &was, &was};
    history_svg(&scene->history, courses, &out);
    assert_non_null(strstr(strbuf_text(&out), "jobs that wait"));
    assert_non_null(strstr(strbuf_text(&out), "</svg>"));
    history_result_fini(&was);
    end(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_was_is_what_the_simulation_counted),
        TEST(test_by_the_same_rules_it_comes_as_it_was),
        TEST(test_who_can_never_start_waits_until_it_fails),
        TEST(test_one_seed_is_one_course),
        TEST(test_more_nodes_leave_less_waiting),
        TEST(test_a_weight_moves_the_waiting_to_others),
        TEST(test_a_node_that_never_was_is_refused),
        TEST(test_a_queue_keeps_its_limits),
        TEST(test_a_cordon_of_a_queue_is_passed_over),
        TEST(test_taints_of_nodes_keep_jobs_away),
        TEST(test_a_pool_selects_by_expressions),
        TEST(test_an_added_node_has_a_name_of_its_own),
        TEST(test_a_size_beyond_a_limit_is_refused),
        TEST(test_what_is_gone_is_as_the_checkpoint_has_it),
        TEST(test_a_log_without_jobs_has_no_history),
        TEST(test_a_record_that_cannot_be_read_is_told_of),
        TEST(test_a_policy_that_cannot_be_read_is_told_of),
        TEST(test_the_courses_are_drawn),
    };

    return RUN_TESTS(tests);
}
