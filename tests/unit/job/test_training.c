/* Sentences of job/training/training.h. */
#include <stdio.h>

#include "job/training/training.h"
#include "unit.h"

enum { HOUR_MS = 3600 * 1000, PODS_MAX = 16 };

static struct job_id id_of(uint32_t number)
{
    return (struct job_id){{1, number + 1}};
}

/* A TrainingJob of one pserver and so many trainers, whose ids count from
 * `first`. */
static void make(struct training *training, const char *name, uint32_t first,
                 uint32_t min, uint32_t max, bool is_fault_tolerant)
{
    struct job_id members[PODS_MAX];

    for (uint32_t i = 0; i <= max; i++) {
        members[i] = id_of(first + i);
    }
    training_set(training,
                 &(struct training_record){
                     .queue = STR("q"),
                     .name = str_of(name),
                     .gang_id = str_of(name),
                     .encoded = STR("bytes"),
                     .created_ms = 1,
                     .is_fault_tolerant = is_fault_tolerant,
                     .parts = {{.type = STR("PSERVER"), 1, 1, false, {0}},
                               {.type = STR("TRAINER"), min, max, true, {0}}},
                     .part_count = 2,
                     .members = members,
                     .member_count = max + 1,
                 });
}

static void note(struct training *training, uint32_t number,
                 enum job_state state)
{
    training_note(training, id_of(number), state, STR("exit code 3"), 5000);
}

static struct training_view look(const struct training *training,
                                 const char *name)
{
    struct training_view view;
    uint32_t index = training_find(training, STR("q"), str_of(name));

    assert_int_not_equal(index, TRAINING_NONE);
    training_get(training, index, &view);
    return view;
}

static void assert_phase(const struct training *training, const char *phase)
{
    assert_string_equal(training_phase_name(look(training, "a").phase), phase);
}

/* What is read back from its bytes has the same bytes. */
static void assert_kept(const struct training *training)
{
    auto_strbuf first = {0}, second = {0};
    struct training *copy = training_create();

    training_encode(training, &first);
    struct pack_reader reader = {.rest = strbuf_str(&first)};
    training_decode(copy, &reader);
    assert_false(reader.is_bad);
    assert_int_equal(reader.rest.byte_count, 0);
    training_encode(copy, &second);
    assert_true(str_equal(strbuf_str(&first), strbuf_str(&second)));
    training_destroy(copy);
}

static void
test_tj_04_phases_go_from_none_to_creating_running_succeeded(void **state)
{
    (void)state;
    struct training *training = training_create();

    make(training, "a", 0, 2, 2, false);
    assert_phase(training, "");
    note(training, 0, JOB_LEASED);
    assert_phase(training, "creating");
    for (uint32_t i = 0; i < 3; i++) {
        note(training, i, JOB_PENDING);
        note(training, i, JOB_RUNNING);
        assert_phase(training, i < 2 ? "creating" : "running");
    }
    assert_int_equal(look(training, "a").started_ms, 5000);
    assert_kept(training);
    note(training, 1, JOB_RUN_SUCCEEDED);
    note(training, 1, JOB_SUCCEEDED);
    assert_phase(training, "running");
    note(training, 2, JOB_SUCCEEDED);
    assert_phase(training, "succeeded");
    note(training, 0, JOB_CANCELLED);
    assert_phase(training, "succeeded");
    assert_int_equal(look(training, "a").completed_ms, 5000);
    assert_kept(training);
    training_destroy(training);
}

/* Three trainers run; then as many as said end badly, the others well. */
static struct training *end_three(bool is_fault_tolerant, uint32_t failed)
{
    struct training *training = training_create();

    make(training, "a", 0, 3, 3, is_fault_tolerant);
    for (uint32_t i = 0; i < 4; i++) {
        note(training, i, JOB_LEASED);
        note(training, i, JOB_RUNNING);
    }
    for (uint32_t i = 0; i < failed; i++) {
        note(training, 1 + i, JOB_FAILED);
    }
    for (uint32_t i = failed; is_fault_tolerant && i < 3; i++) {
        assert_phase(training, "running");
        note(training, 1 + i, JOB_SUCCEEDED);
    }
    return training;
}

static void test_tj_05_one_failed_trainer_fails_the_job(void **state)
{
    (void)state;
    struct training *training = end_three(false, 1);
    struct training_view view = look(training, "a");

    assert_phase(training, "failed");
    assert_true(str_starts_with(view.reason, STR("TRAINER ")));
    assert_non_null(strstr(view.reason.p, "failed: exit code 3"));
    assert_kept(training);
    training_destroy(training);
}

static void test_tj_05_a_tolerant_job_fails_with_its_last_trainer(void **state)
{
    (void)state;
    struct training *training = end_three(true, 1);

    assert_phase(training, "succeeded");
    assert_int_equal(look(training, "a").reason.byte_count, 0);
    training_destroy(training);
    training = end_three(true, 3);
    assert_phase(training, "failed");
    training_destroy(training);
}

static void test_it_is_scaling_until_the_new_pods_run(void **state)
{
    (void)state;
    struct training *training = training_create();

    make(training, "a", 0, 1, 3, true);
    for (uint32_t i = 0; i < 2; i++) {
        note(training, i, JOB_LEASED);
        note(training, i, JOB_RUNNING);
    }
    assert_phase(training, "running");
    training_scaled(training, id_of(2));
    note(training, 2, JOB_LEASED);
    assert_phase(training, "scaling");
    assert_kept(training);
    note(training, 2, JOB_RUNNING);
    assert_phase(training, "running");
    note(training, 2, JOB_QUEUED);
    assert_phase(training, "running");
    note(training, 1, JOB_QUEUED);
    assert_phase(training, "creating");
    note(training, 0, JOB_QUEUED);
    assert_phase(training, "");
    training_destroy(training);
}

static void test_what_was_refused_has_failed(void **state)
{
    (void)state;
    struct training *training = training_create();
    struct training_record record = {
        .queue = STR("q"),
        .name = STR("a"),
        .encoded = STR("bytes"),
        .reason = STR("max must equal min"),
        .created_ms = 7,
    };

    training_set(training, &record);
    assert_phase(training, "failed");
    assert_true(
        str_equal(look(training, "a").reason, STR("max must equal min")));
    assert_int_equal(look(training, "a").completed_ms, 7);
    assert_kept(training);
    training_destroy(training);
}

static void test_what_describes_it_can_change_under_way(void **state)
{
    (void)state;
    struct training *training = training_create();
    struct training_record record = {
        .queue = STR("q"),
        .name = STR("a"),
        .gang_id = STR("a"),
        .encoded = STR("other\0bytes"),
    };

    make(training, "a", 0, 1, 1, false);
    note(training, 0, JOB_LEASED);
    training_set(training, &record);
    assert_phase(training, "creating");
    assert_true(str_equal(look(training, "a").encoded, STR("other\0bytes")));
    assert_kept(training);
    training_destroy(training);
}

static void test_its_live_pods_come_in_order_of_their_ids(void **state)
{
    (void)state;
    struct training *training = training_create();
    struct job_id job = {{0, 0}};

    make(training, "a", 0, 2, 2, false);
    note(training, 1, JOB_LEASED);
    note(training, 1, JOB_CANCELLED);
    uint32_t index = training_find(training, STR("q"), STR("a"));
    assert_true(training_next_live(training, index, job, &job));
    assert_int_equal(job.v.lo, 1);
    assert_true(training_next_live(training, index, job, &job));
    assert_int_equal(job.v.lo, 3);
    assert_false(training_next_live(training, index, job, &job));
    training_destroy(training);
}

static void test_it_is_forgotten_in_time(void **state)
{
    (void)state;
    struct training *training = training_create();

    make(training, "a", 0, 1, 1, false);
    make(training, "b", 100, 1, 1, false);
    note(training, 1, JOB_FAILED);
    training_expire(training, 5000 + 71 * (int64_t)HOUR_MS);
    assert_int_equal(training_count(training), 2);
    training_expire(training, 5000 + 72 * (int64_t)HOUR_MS);
    assert_int_equal(training_count(training), 1);
    assert_int_equal(training_find(training, STR("q"), STR("a")),
                     TRAINING_NONE);
    note(training, 0, JOB_LEASED); /* nobody's now */
    training_delete(training, STR("q"), STR("b"));
    assert_int_equal(training_count(training), 0);
    training_destroy(training);
}

static void test_those_over_make_room_first_ended_first(void **state)
{
    (void)state;
    struct training *training = training_create();
    char name[32];

    for (int i = 0; i < TRAINING_JOBS_MAX; i++) {
        (void)snprintf(name, sizeof(name), "j%d", i);
        make(training, name, (uint32_t)i * 2, 1, 1, false);
    }
    assert_false(training_has_room(training, 1));
    training_note(training, id_of(7), JOB_FAILED, STR(""), 200);
    training_note(training, id_of(9), JOB_FAILED, STR(""), 100);
    assert_true(training_has_room(training, 1));
    assert_false(training_has_room(training, TRAINING_TABLE_BYTES_MAX));
    make(training, "new", 1 << 20, 1, 1, false);
    assert_int_equal(training_count(training), TRAINING_JOBS_MAX);
    assert_int_equal(training_find(training, STR("q"), STR("j4")),
                     TRAINING_NONE);
    assert_int_not_equal(training_find(training, STR("q"), STR("j3")),
                         TRAINING_NONE);
    training_destroy(training);
}

enum { OBJECTS = 40, PAGE_MAX = 64 };

/* Objects whose names come in another order than they are made in. */
static struct training *many(void)
{
    struct training *training = training_create();

    for (uint32_t i = 0; i < OBJECTS; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "n%02u", i * 7 % OBJECTS);
        make(training, name, i * 2, 1, 1, false);
    }
    return training;
}

static void test_pages_are_the_sorted_list_in_pieces(void **state)
{
    (void)state;
    struct training *training = many();
    uint32_t all_count, page[PAGE_MAX];
    auto_mem uint32_t *all = training_sorted(training, &all_count);

    for (uint32_t max = 1; max < PAGE_MAX; max++) {
        struct training_query query = {.count_max = max};
        struct training_view last;
        bool has_more = true;
        uint32_t at = 0;
        while (has_more) {
            uint32_t count = training_page(training, &query, page, &has_more);
            assert_memory_equal(page, &all[at], count * sizeof(*page));
            at += count;
            assert_int_equal(has_more, at < all_count);
            training_get(training, page[count - 1], &last);
            query.after_queue = last.queue;
            query.after_name = last.name;
        }
        assert_int_equal(at, all_count);
    }
    training_destroy(training);
}

static void test_page_has_only_what_is_wanted(void **state)
{
    (void)state;
    struct training *training = many();
    uint32_t page[PAGE_MAX];
    bool has_more;
    struct training_query named = {.name = STR("n07"), .count_max = 1};
    struct training_query other = {.queue = STR("r"), .count_max = 1};
    struct training_query behind = {
        .after_queue = STR("q"), .after_name = STR("n39"), .count_max = 1};

    assert_int_equal(training_page(training, &named, page, &has_more), 1);
    assert_false(has_more);
    assert_int_equal(page[0], training_find(training, STR("q"), STR("n07")));
    assert_int_equal(training_page(training, &other, page, &has_more), 0);
    assert_int_equal(training_page(training, &behind, page, &has_more), 0);
    assert_false(has_more);
    training_destroy(training);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_tj_04_phases_go_from_none_to_creating_running_succeeded),
        TEST(test_tj_05_one_failed_trainer_fails_the_job),
        TEST(test_tj_05_a_tolerant_job_fails_with_its_last_trainer),
        TEST(test_it_is_scaling_until_the_new_pods_run),
        TEST(test_what_was_refused_has_failed),
        TEST(test_what_describes_it_can_change_under_way),
        TEST(test_its_live_pods_come_in_order_of_their_ids),
        TEST(test_it_is_forgotten_in_time),
        TEST(test_those_over_make_room_first_ended_first),
        TEST(test_pages_are_the_sorted_list_in_pieces),
        TEST(test_page_has_only_what_is_wanted),
    };

    return RUN_TESTS(tests);
}
