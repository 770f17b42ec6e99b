/* The query store: what is asked of it. */
#include <pthread.h>

#include "elog/sq.h"
#include "store_fixture.h"

static void a_list_is_newest_first_and_pages(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};
    struct stored_job *jobs;

    for (int64_t n = 1; n <= 6; n++) {
        store_submit_as(world, n, n % 2 ? "odd" : "even", "", "");
    }
    store_world_apply(world);
    store_add_lease(world, 4, 0, T0 + 50);
    store_world_apply(world);

    struct store_filter any = {.count_max = 4};
    assert_int_equal(store_list(world->reader, &any, &arena, &jobs, NULL), 4);
    assert_int_equal(job_id_time_ms(jobs[0].id), T0 + 6);
    any.older_than = jobs[3].id;
    assert_int_equal(store_list(world->reader, &any, &arena, &jobs, NULL), 2);
    assert_int_equal(job_id_time_ms(jobs[1].id), T0 + 1);
    struct store_filter even = {
        .queue = STR("q"), .job_set = STR("even"), .count_max = 10};
    assert_int_equal(store_list(world->reader, &even, &arena, &jobs, NULL), 3);
    assert_int_equal(job_id_time_ms(jobs[0].id), T0 + 6);
    even.states = 1u << STORED_JOB_LEASED;
    assert_int_equal(store_list(world->reader, &even, &arena, &jobs, NULL), 1);
    even.queue = STR("");
    assert_int_equal(store_list(world->reader, &even, &arena, &jobs, NULL), 1);
    assert_int_equal(job_id_time_ms(jobs[0].id), T0 + 4);
    struct store_filter none = {.queue = STR("other"), .count_max = 10};
    assert_int_equal(store_list(world->reader, &none, &arena, &jobs, NULL), 0);
}

/* Whether a job, of which there are as many as JOBS, is as the filter says. */
static bool is_wanted(const struct store_filter *filter,
                      const struct stored_job *job)
{
    return (!filter->queue.byte_count ||
            str_equal(job->queue, filter->queue)) &&
           (!filter->job_set.byte_count ||
            str_equal(job->job_set, filter->job_set)) &&
           (!filter->owner.byte_count ||
            str_equal(job->owner, filter->owner)) &&
           (!filter->states || filter->states >> job->state & 1) &&
           (key128_is_none(filter->older_than.v) ||
            key128_compare(job->id.v, filter->older_than.v) < 0);
}

/* Whichever index a list goes by, it is the list of those that match. */
static void every_filter_lists_what_matches(void **state)
{
    static const uint32_t states[] = {
        0,
        1u << STORED_JOB_QUEUED,
        1u << STORED_JOB_LEASED | 1u << STORED_JOB_QUEUED,
        1u << STORED_JOB_CANCELLED | 1u << STORED_JOB_FAILED,
        1u << STORED_JOB_SUCCEEDED,
        1u << STORED_JOB_QUEUED | 1u << STORED_JOB_CANCELLED,
    };
    static const char *const queues[] = {"", "q", "nor"};
    static const char *const sets[] = {"", "a", "b"};
    static const char *const owners[] = {"", "ann", "nobody"};
    struct store_world *world = (struct store_world *)*state;
    struct store_filter any = {.count_max = 100};
    struct stored_job *all, *jobs;
    auto_arena arena = {0};

    for (int64_t n = 0; n < 12; n++) {
        store_submit_as(world, n, n % 2 ? "a" : "b", "", "");
        if (n % 4 == 1) {
            store_add_lease(world, n, 0, T0 + 50);
        } else if (n % 4 == 2) {
            store_add_event(world,
                            store_event_about(EVENT_CANCELLED, n, T0 + 50));
        } else if (n % 4 == 3) {
            store_add_event(world,
                            store_event_about(EVENT_SUCCEEDED, n, T0 + 50));
        }
    }
    store_world_apply(world);
    assert_int_equal(store_list(world->reader, &any, &arena, &all, NULL), 12);
    for (int i = 0; i < 6 * 3 * 3 * 3 * 2; i++) {
        struct store_filter filter = {
            .states = states[i % 6],
            .queue = str_of(queues[i / 6 % 3]),
            .job_set = str_of(sets[i / 18 % 3]),
            .owner = str_of(owners[i / 54 % 3]),
            .older_than = i / 162 ? all[4].id : (struct job_id){{0, 0}},
            .count_max = 100,
        };
        int count = store_list(world->reader, &filter, &arena, &jobs, NULL);
        int at = 0;
        for (int n = 0; n < 12; n++) {
            if (is_wanted(&filter, &all[n])) {
                assert_true(at < count);
                assert_true(key128_compare(jobs[at++].id.v, all[n].id.v) == 0);
            }
        }
        assert_int_equal(at, count);
    }
}

/* The sets behind one of these names, as "name:queued/leased/failed ...". */
static void assert_sets(struct store_world *world, const char *queue,
                        const char *after_queue, const char *after_name,
                        uint32_t count_max, const char *expected)
{
    auto_arena arena = {0};
    auto_strbuf text = {0};
    struct stored_job_set *sets;

    int count =
        store_job_sets(world->reader, str_of(queue), str_of(after_queue),
                       str_of(after_name), count_max, &arena, &sets, NULL);
    for (int i = 0; i < count; i++) {
        strbuf_addf(&text, "%.*s:%d/%d/%d ", STR_ARG(sets[i].name),
                    (int)sets[i].counts[STORED_JOB_QUEUED],
                    (int)sets[i].counts[STORED_JOB_LEASED],
                    (int)sets[i].counts[STORED_JOB_CANCELLED]);
    }
    strbuf_add_text(&text, "");
    assert_string_equal(strbuf_text(&text), expected);
}

static void job_sets_tell_how_their_jobs_stand(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};
    struct stored_job_set *sets;

    for (int64_t n = 1; n <= 4; n++) {
        store_submit_as(world, n, n == 4 ? "b" : "set", "", "");
    }
    store_add_lease(world, 1, 0, T0 + 10); /* in the same transaction */
    store_world_apply(world);
    assert_sets(world, "", "", "", 9, "b:1/0/0 set:2/1/0 ");
    store_add_lease(world, 2, 0, T0 + 20);
    store_add_event(world, store_event_about(EVENT_CANCELLED, 3, T0 + 30));
    store_add_event(world, store_event_about(EVENT_REPRIORITISED, 1, T0 + 40));
    store_world_apply(world);
    assert_sets(world, "q", "", "", 9, "b:1/0/0 set:0/2/1 ");
    assert_sets(world, "q", "", "", 1, "b:1/0/0 ");
    assert_sets(world, "q", "q", "b", 1, "set:0/2/1 ");
    assert_sets(world, "", "q", "set", 1, "");
    assert_sets(world, "p", "", "", 9, "");
    assert_sets(world, "r", "", "", 9, "");
    assert_sets(world, "q", "r", "", 9, "");
    assert_int_equal(store_job_sets(world->reader, STR("q"), STR(""), STR("b"),
                                    1, &arena, &sets, NULL),
                     1);
    assert_str(sets[0].name, "b"); /* all of q is behind "" */
    assert_int_equal(sets[0].changed_ms, T0 + 4);
    assert_int_equal(store_job_sets(world->reader, STR("q"), STR("q"), STR("b"),
                                    1, &arena, &sets, NULL),
                     1);
    assert_int_equal(sets[0].changed_ms, T0 + 30);
}

static void jobs_are_found_by_their_uri(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};
    struct job_id *ids;

    store_submit_as(world, 1, "set", "", "u");
    store_submit_as(world, 2, "set", "", "u");
    store_submit_as(world, 3, "other", "", "u");
    store_submit_as(world, 4, "set", "", "");
    store_world_apply(world);

    struct store_reader *r = world->reader;
    assert_int_equal(store_jobs_by_uri(r, STR("q"), STR("set"), STR("u"),
                                       &arena, &ids, NULL),
                     2);
    assert_int_equal(job_id_time_ms(ids[0]), T0 + 1);
    assert_int_equal(
        store_jobs_by_uri(r, STR("q"), STR("set"), STR(""), &arena, &ids, NULL),
        0);
}

/* The array "third", of jobs 3 and 6 until that one is pruned: its counts are
 * kept, and are those that counting its jobs gives.  Others lie between. */
static void check_array(struct store_world *world, uint32_t job_count)
{
    uint32_t kept[STORED_JOB_STATES], counted[STORED_JOB_STATES];
    uint32_t sum = 0;
    struct job_id oldest;

    assert_int_equal(store_label_states(world->reader, STR("berth.dev/array"),
                                        STR("third"), kept, NULL),
                     0);
    assert_int_equal(store_label_states(world->reader, STR("client"),
                                        STR("third"), counted, NULL),
                     0);
    assert_memory_equal(kept, counted, sizeof(kept));
    for (int i = 0; i < STORED_JOB_STATES; i++) {
        sum += kept[i];
    }
    assert_int_equal(sum, job_count);
    assert_int_equal(
        store_array_piece(world->reader, store_job_at(3), &oldest, NULL), 1);
    assert_int_equal(key128_compare(oldest.v, store_job_at(3).v), 0);
    assert_int_equal(
        store_array_piece(world->reader, store_job_at(5), &oldest, NULL), 1);
    assert_int_equal(key128_compare(oldest.v, store_job_at(4).v), 0);
    assert_int_equal(
        store_array_piece(world->reader, store_job_at(6), &oldest, NULL),
        job_count - 1);
}

static void jobs_are_found_by_a_label(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};
    struct stored_job *jobs;
    uint32_t counts[STORED_JOB_STATES];
    struct job_id id;

    for (int64_t n = 1; n <= 6; n++) {
        store_submit_as(world, n, "set", n % 3 ? "some" : "third", "");
    }
    store_add_lease(world, 3, 0, T0 + 50);
    store_add_event(world, store_event_about(EVENT_CANCELLED, 6, T0 + 60));
    store_world_apply(world);
    struct store_filter filter = {
        .label_key = STR("client"), .label_value = STR("some"), .count_max = 3};
    assert_int_equal(store_list(world->reader, &filter, &arena, &jobs, NULL),
                     3);
    assert_int_equal(job_id_time_ms(jobs[0].id), T0 + 5);
    assert_int_equal(job_id_time_ms(jobs[2].id), T0 + 2);
    filter.older_than = jobs[2].id;
    assert_int_equal(store_list(world->reader, &filter, &arena, &jobs, NULL),
                     1);
    filter = (struct store_filter){.label_key = STR("client"),
                                   .label_value = STR("third"),
                                   .states = 1u << STORED_JOB_LEASED,
                                   .count_max = 3};
    assert_int_equal(store_list(world->reader, &filter, &arena, &jobs, NULL),
                     1);
    assert_int_equal(store_label_newest(world->reader, STR("client"),
                                        STR("third"), &id, NULL),
                     0);
    assert_int_equal(key128_compare(id.v, store_job_at(6).v), 0);
    assert_int_equal(store_label_oldest(world->reader, STR("client"),
                                        STR("third"), &id, NULL),
                     0);
    assert_int_equal(key128_compare(id.v, store_job_at(3).v), 0);
    assert_int_equal(store_label_states(world->reader, STR("client"),
                                        STR("third"), counts, NULL),
                     0);
    assert_int_equal(counts[STORED_JOB_LEASED], 1);
    assert_int_equal(counts[STORED_JOB_CANCELLED], 1);
    check_array(world, 2);
    /* A new store has no jobs without the index. */
    assert_int_equal(store_label_since(world->reader, &id, NULL), 0);
    assert_true(key128_is_none(id.v));
    /* What is pruned is not found any more. */
    assert_true(store_prune(world->store, T0 + 100, 0, NULL) >= 0);
    check_array(world, 1);
    assert_int_equal(store_label_newest(world->reader, STR("client"),
                                        STR("third"), &id, NULL),
                     0);
    assert_int_equal(key128_compare(id.v, store_job_at(3).v), 0);
    assert_int_equal(store_label_newest(world->reader, STR("client"),
                                        STR("none"), &id, NULL),
                     0);
    assert_true(key128_is_none(id.v));
    assert_int_equal(store_label_oldest(world->reader, STR("client"),
                                        STR("none"), &id, NULL),
                     0);
    assert_true(key128_is_none(id.v));
}

/* Both ways to list a queue: as a whole, and by its job sets, which is for
 * queues of many jobs. */
static void a_queue_is_listed_alike_however_many_jobs_it_has(void **state)
{
    enum { JOBS = 40, FILTERS = 4 };
    struct store_world *world = (struct store_world *)*state;
    static const char *const sets[] = {"a", "b", "c"};
    const struct store_filter filters[FILTERS] = {
        {.queue = STR("q"), .count_max = 7},
        {.queue = STR("q"), .count_max = 3, .older_than = store_job_at(30)},
        {.queue = STR("q"),
         .count_max = 50,
         .states = 1u << STORED_JOB_QUEUED | 1u << STORED_JOB_CANCELLED},
        {.queue = STR("q"), .count_max = 50, .owner = STR("bob")},
    };
    auto_arena arena = {0};
    struct stored_job *before[FILTERS], *after;
    int counts[FILTERS];
    struct err err;
    sqlite3 *db;

    for (int64_t n = 1; n <= JOBS; n++) {
        store_submit_as(world, n, sets[n * n % 3], "", "");
    }
    for (int64_t n = 2; n <= JOBS; n += 5) {
        store_add_event(world, store_event_about(EVENT_CANCELLED, n, T0 + 60));
    }
    store_world_apply(world);
    for (int i = 0; i < FILTERS; i++) {
        counts[i] =
            store_list(world->reader, &filters[i], &arena, &before[i], NULL);
    }
    assert_int_equal(counts[0], 7);
    assert_int_equal(counts[3], 0);
    assert_int_equal(sq_open(&(struct sq_open){.path = world->path}, &db, &err),
                     0);
    assert_int_equal(
        sq_exec(db, "UPDATE set_count SET job_count = job_count + 30000", &err),
        0);
    sq_close(db);
    for (int i = 0; i < FILTERS; i++) {
        assert_int_equal(
            store_list(world->reader, &filters[i], &arena, &after, NULL),
            counts[i]);
        for (int j = 0; j < counts[i]; j++) {
            assert_int_equal(key128_compare(after[j].id.v, before[i][j].id.v),
                             0);
        }
    }
}

static void a_queue_is_active_while_its_jobs_hold_resources(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};
    struct stored_active_queue *pairs;

    store_submit_plain(world, 1);
    store_submit_plain(world, 2);
    store_world_apply(world);
    assert_int_equal(store_active_queues(world->reader, &arena, &pairs, NULL),
                     0);
    store_add_lease(world, 1, 0, T0 + 5);
    store_add_lease(world, 2, 0, T0 + 5);
    store_world_apply(world);
    store_add_event(world, store_event_about(EVENT_SUCCEEDED, 1, T0 + 6));
    store_world_apply(world);
    assert_int_equal(store_active_queues(world->reader, &arena, &pairs, NULL),
                     1);
    assert_str(pairs[0].pool, "pool");
    assert_str(pairs[0].queue, "q");
    store_add_event(world, store_event_about(EVENT_CANCELLED, 2, T0 + 7));
    store_world_apply(world);

    assert_int_equal(store_active_queues(world->reader, &arena, &pairs, NULL),
                     0);
}

static void a_job_set_finds_its_records(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    uint64_t seqs[8];
    int64_t key;

    store_submit_as(world, 1, "a", "", "");
    store_submit_as(world, 2, "b", "", "");
    store_submit_as(world, 3, "a", "", "");
    store_world_apply(world);
    store_submit_as(world, 4, "b", "", "");
    store_world_apply(world);
    store_submit_as(world, 5, "a", "", "");
    store_world_apply(world);

    struct store_reader *r = world->reader;
    assert_int_equal(store_job_set(r, STR("q"), STR("a"), &key, NULL), 1);
    assert_int_equal(store_job_set_seqs(r, key, 0, seqs, 8, NULL), 2);
    assert_int_equal(seqs[0], 1);
    assert_int_equal(seqs[1], 3);
    assert_int_equal(store_job_set_seqs(r, key, 1, seqs, 8, NULL), 1);
    assert_int_equal(store_job_set_seqs(r, key, 0, seqs, 1, NULL), 1);
    assert_int_equal(store_job_set_seqs(r, key, 3, seqs, 8, NULL), 0);
}

static void a_client_id_leads_to_its_job(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    struct job_id job;

    store_submit_as(world, 1, "set", "c", "");
    store_submit_as(world, 2, "set", "c", ""); /* in the same request */
    store_submit_as(world, 3, "set", "", "");
    store_world_apply(world);

    struct store_reader *r = world->reader;
    assert_int_equal(store_client_id(r, STR("q"), STR("c"), &job, NULL), 1);
    assert_int_equal(job_id_time_ms(job), T0 + 2);
    assert_int_equal(store_client_id(r, STR("q"), STR(""), &job, NULL), 0);
    assert_int_equal(store_client_id(r, STR("p"), STR("c"), &job, NULL), 0);
}

enum { PAIR_COUNT = 150 };

struct watcher {
    struct store *store;
    bool is_good;
};

/* Records hold two jobs each: an odd number is half a record. */
static void *watch(void *ctx)
{
    struct watcher *watcher = (struct watcher *)ctx;
    auto_ptr(store_reader) reader = NULL;
    struct store_filter filter = {.count_max = STORE_LIST_MAX};
    int count = 0;

    watcher->is_good = store_reader_open(watcher->store, &reader, NULL) == 0;
    while (watcher->is_good && count < 2 * PAIR_COUNT) {
        auto_arena arena = {0};
        struct stored_job *jobs;
        int last_count = count;

        count = store_list(reader, &filter, &arena, &jobs, NULL);
        watcher->is_good = count >= last_count && count % 2 == 0;
    }
    return NULL;
}

static void a_reader_sees_whole_records(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    struct watcher watcher = {.store = world->store};
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, watch, &watcher), 0);
    for (int64_t n = 0; n < PAIR_COUNT; n++) {
        store_submit_plain(world, 2 * n);
        store_submit_plain(world, 2 * n + 1);
        store_world_apply(world);
    }
    pthread_join(thread, NULL);

    assert_true(watcher.is_good);
}

int main(void)
{
#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, store_set_up, store_tear_down)
    const struct CMUnitTest tests[] = {
        CASE(every_filter_lists_what_matches),
        CASE(job_sets_tell_how_their_jobs_stand),
        CASE(a_list_is_newest_first_and_pages),
        CASE(jobs_are_found_by_their_uri),
        CASE(jobs_are_found_by_a_label),
        CASE(a_queue_is_listed_alike_however_many_jobs_it_has),
        CASE(a_queue_is_active_while_its_jobs_hold_resources),
        CASE(a_job_set_finds_its_records),
        CASE(a_client_id_leads_to_its_job),
        CASE(a_reader_sees_whole_records),
    };
    return RUN_TESTS(tests);
}
