/* Sentences of job/table/named_groups.h. */
#include <stdio.h>

#include "job/table/named_groups.h"
#include "table.h"
#include "unit.h"

enum { HOUR_MS = 3600 * 1000, PS = 0, TRAINER = 1, NOW_MS = 5000 };

static const struct event_scope scope = {{"q", 1}, {"set", 3}, {"anna", 4}};

static void set(struct jobs *jobs, const char *name, const char *encoded)
{
    named_group_set(jobs, &(struct named_group_record){
                              .queue = STR("q"),
                              .name = str_of(name),
                              .gang_id = str_of(name),
                              .encoded = str_of(encoded),
                              .created_ms = 1,
                          });
}

/* A TrainingJob of one pserver and so many trainers, whose jobs count from
 * `first`; their gang has its name. */
static void make(struct jobs *jobs, const char *name, uint32_t first,
                 uint32_t min, uint32_t max, bool is_fault_tolerant)
{
    struct gang_terms terms = {
        .kind = is_fault_tolerant ? GANG_TRAINING_TOLERANT : GANG_TRAINING,
        .sub_group_count = 2,
        .sub_groups = {{STR("pserver"), 1, 1, HOPS_ANY, 0, true},
                       {STR("trainer"), min, max, HOPS_ANY, 0, false}},
    };
    auto_strbuf packed = {0};

    set(jobs, name, "bytes");
    gang_terms_pack(&packed, &terms);
    for (uint32_t i = 0; i <= max; i++) {
        struct table_submission submission = {
            .scope = scope,
            .class_name = "armada-preemptible",
            .digest = {.gang_id = str_of(name),
                       .gang_cardinality = max + 1,
                       .gang_minimum = min + 1,
                       .gang_terms = strbuf_str(&packed),
                       .sub_group = i > 0 ? TRAINER : PS},
        };
        table_submit(jobs, first + i, &submission);
        named_groups_settle(jobs, NOW_MS);
    }
}

/* An event about a job, folded as the leader folds it. */
static void happen_at(struct jobs *jobs, uint32_t n, enum event_type type,
                      int64_t now_ms)
{
    struct event event = table_about(jobs, n, type);
    struct jobs_change change;

    if (type == EVENT_LEASED || type == EVENT_RUN_ERRORS ||
        type == EVENT_FAILED) {
        event.run.v = (struct key128){7, n + 1};
    }
    if (type == EVENT_LEASED) {
        event.leased.executor_id = STR("exec");
        event.leased.node_name = STR("node");
        event.leased.pool = STR("default");
    } else if (type == EVENT_RUN_ERRORS || type == EVENT_FAILED) {
        event.error.kind = ERROR_POD;
        event.error.is_terminal = true;
        event.error.message = STR("exit code 3");
    }
    assert_int_equal(jobs_apply(jobs, &scope, &event, &change), JOBS_APPLIED);
    named_groups_settle(jobs, now_ms);
    jobs_assert_valid(jobs);
}

static void happen(struct jobs *jobs, uint32_t n, enum event_type type)
{
    happen_at(jobs, n, type, NOW_MS);
}

static void run(struct jobs *jobs, uint32_t first, uint32_t count)
{
    for (uint32_t n = first; n < first + count; n++) {
        happen(jobs, n, EVENT_LEASED);
        happen(jobs, n, EVENT_RUN_RUNNING);
    }
}

static void end_badly(struct jobs *jobs, uint32_t n)
{
    happen(jobs, n, EVENT_RUN_ERRORS);
    happen(jobs, n, EVENT_FAILED);
}

static void end_well(struct jobs *jobs, uint32_t n)
{
    happen(jobs, n, EVENT_RUN_SUCCEEDED);
    happen(jobs, n, EVENT_SUCCEEDED);
}

static void requeue(struct jobs *jobs, uint32_t n)
{
    happen(jobs, n, EVENT_RUN_PREEMPTED);
    happen(jobs, n, EVENT_REQUEUED);
}

static struct named_group_view look(const struct jobs *jobs, const char *name)
{
    struct named_group_view view;
    uint32_t index = named_group_find(jobs, STR("q"), str_of(name));

    assert_int_not_equal(index, JOBS_NONE);
    named_group_get(jobs, index, &view);
    return view;
}

static void assert_phase(const struct jobs *jobs, const char *phase)
{
    assert_string_equal(group_phase_name(look(jobs, "a").phase), phase);
}

static void encode(const struct jobs *jobs, struct strbuf *buf)
{
    named_groups_encode(jobs, buf);
    jobs_encode(jobs, buf);
}

/* What is read back stands as it did, and has the same bytes. */
static void assert_kept(struct jobs *jobs)
{
    auto_strbuf first = {0}, second = {0};
    auto_ptr(jobs) copy = table_create();
    struct err err;

    encode(jobs, &first);
    struct pack_reader reader = {.rest = strbuf_str(&first)};
    named_groups_decode(copy, NAMED_GROUPS_FORMAT_GANG, &reader);
    assert_false(reader.is_bad);
    assert_int_equal(jobs_decode(copy, reader.rest, &err), 0);
    named_groups_settle(copy, NOW_MS + 1);
    struct named_group_view before = look(jobs, "a"), after = look(copy, "a");
    assert_int_equal(before.phase, after.phase);
    assert_memory_equal(before.counts, after.counts,
                        before.sub_group_count * sizeof(before.counts[0]));
    encode(copy, &second);
    assert_true(str_equal(strbuf_str(&first), strbuf_str(&second)));
}

static void
tj_04_phases_go_from_none_to_creating_running_succeeded(void **state)
{
    (void)state;
    auto_ptr(jobs) jobs = table_create();

    make(jobs, "a", 0, 2, 2, false);
    assert_phase(jobs, "");
    assert_kept(jobs);
    happen(jobs, 0, EVENT_LEASED);
    assert_phase(jobs, "creating");
    happen(jobs, 0, EVENT_RUN_RUNNING);
    run(jobs, 1, 1);
    assert_phase(jobs, "creating");
    assert_int_equal(look(jobs, "a").started_ms, 0);
    run(jobs, 2, 1);
    assert_phase(jobs, "running");
    assert_int_equal(look(jobs, "a").started_ms, NOW_MS);
    assert_kept(jobs);
    happen(jobs, 1, EVENT_RUN_SUCCEEDED);
    assert_phase(jobs, "running"); /* nothing is decided yet */
    assert_kept(jobs);
    happen(jobs, 1, EVENT_SUCCEEDED);
    assert_phase(jobs, "running");
    end_well(jobs, 2);
    assert_phase(jobs, "succeeded");
    happen(jobs, 0, EVENT_RUN_CANCELLED);
    happen(jobs, 0, EVENT_CANCELLED);
    /* Its gang is gone, and it stands as it did. */
    assert_int_equal(jobs_count(jobs), 0);
    assert_phase(jobs, "succeeded");
    assert_int_equal(look(jobs, "a").completed_ms, NOW_MS);
    assert_int_equal(look(jobs, "a").counts[TRAINER].succeeded, 2);
    assert_kept(jobs);
}

static void a_pod_that_ends_before_it_ran_is_not_running(void **state)
{
    (void)state;
    auto_ptr(jobs) jobs = table_create();

    make(jobs, "a", 0, 1, 1, true);
    run(jobs, 0, 1);
    happen(jobs, 1, EVENT_LEASED);
    happen(jobs, 1, EVENT_RUN_ERRORS);
    assert_phase(jobs, "creating");
    assert_int_equal(look(jobs, "a").started_ms, 0);
}

/* Three trainers run; then as many as said end badly, the others well. */
static struct jobs *end_three(bool is_fault_tolerant, uint32_t failed)
{
    struct jobs *jobs = table_create();

    make(jobs, "a", 0, 3, 3, is_fault_tolerant);
    run(jobs, 0, 4);
    for (uint32_t i = 0; i < failed; i++) {
        end_badly(jobs, 1 + i);
    }
    for (uint32_t i = failed; is_fault_tolerant && i < 3; i++) {
        assert_phase(jobs, "running");
        end_well(jobs, 1 + i);
    }
    return jobs;
}

static void tj_05_one_failed_trainer_fails_the_job(void **state)
{
    (void)state;
    auto_ptr(jobs) jobs = end_three(false, 1);
    struct named_group_view view = look(jobs, "a");

    assert_phase(jobs, "failed");
    assert_true(str_starts_with(view.reason, STR("trainer ")));
    assert_non_null(strstr(view.reason.p, "failed: exit code 3"));
    assert_kept(jobs);
}

static void tj_05_a_tolerant_job_fails_with_its_last_trainer(void **state)
{
    (void)state;
    auto_ptr(jobs) some = end_three(true, 1);
    auto_ptr(jobs) all = end_three(true, 3);

    assert_phase(some, "succeeded");
    assert_int_equal(look(some, "a").reason.byte_count, 0);
    assert_phase(all, "failed");
}

static void it_is_scaling_until_the_new_pods_run(void **state)
{
    (void)state;
    auto_ptr(jobs) jobs = table_create();
    struct jobs_change change;

    make(jobs, "a", 0, 1, 3, true);
    run(jobs, 0, 2);
    assert_phase(jobs, "running");
    struct event event = table_about(jobs, 2, EVENT_LEASED);
    event.run.v = (struct key128){8, 1};
    event.leased.executor_id = STR("exec");
    event.leased.node_name = STR("node");
    event.leased.is_growth = true;
    assert_int_equal(jobs_apply(jobs, &scope, &event, &change), JOBS_APPLIED);
    named_groups_settle(jobs, NOW_MS);
    assert_phase(jobs, "scaling");
    assert_kept(jobs);
    happen(jobs, 2, EVENT_RUN_RUNNING);
    assert_phase(jobs, "running");
    requeue(jobs, 2);
    assert_phase(jobs, "running");
    requeue(jobs, 1);
    assert_phase(jobs, "creating");
    requeue(jobs, 0);
    assert_phase(jobs, "");
}

static void what_was_refused_has_failed(void **state)
{
    (void)state;
    auto_ptr(jobs) jobs = table_create();
    struct named_group_record record = {
        .queue = STR("q"),
        .name = STR("a"),
        .encoded = STR("bytes"),
        .reason = STR("max must equal min"),
        .created_ms = 7,
    };

    named_group_set(jobs, &record);
    assert_phase(jobs, "failed");
    assert_true(str_equal(look(jobs, "a").reason, record.reason));
    assert_int_equal(look(jobs, "a").completed_ms, 7);
    assert_kept(jobs);
}

static void what_describes_it_can_change_under_way(void **state)
{
    (void)state;
    auto_ptr(jobs) jobs = table_create();

    make(jobs, "a", 0, 1, 1, false);
    happen(jobs, 0, EVENT_LEASED);
    set(jobs, "a", "other bytes");
    assert_phase(jobs, "creating");
    assert_true(str_equal(look(jobs, "a").encoded, STR("other bytes")));
    assert_kept(jobs);
}

static void its_live_pods_come_in_order_of_their_ids(void **state)
{
    (void)state;
    auto_ptr(jobs) jobs = table_create();
    auto_arena arena = {0};
    struct job_id *pods;

    make(jobs, "a", 0, 2, 2, false);
    happen(jobs, 1, EVENT_CANCELLED);
    uint32_t index = named_group_find(jobs, STR("q"), STR("a"));
    assert_int_equal(named_group_members(jobs, index, &arena, &pods), 2);
    assert_int_equal(key128_compare(pods[0].v, table_id(0).v), 0);
    assert_int_equal(key128_compare(pods[1].v, table_id(2).v), 0);
}

static void it_is_forgotten_in_time(void **state)
{
    (void)state;
    auto_ptr(jobs) jobs = table_create();

    make(jobs, "a", 0, 1, 1, false);
    make(jobs, "b", 100, 1, 1, false);
    run(jobs, 1, 1);
    end_badly(jobs, 1);
    named_groups_expire(jobs, NOW_MS + 71 * (int64_t)HOUR_MS);
    assert_int_equal(named_groups_count(jobs), 2);
    named_groups_expire(jobs, NOW_MS + 72 * (int64_t)HOUR_MS);
    assert_int_equal(named_groups_count(jobs), 1);
    assert_int_equal(named_group_find(jobs, STR("q"), STR("a")), JOBS_NONE);
    happen(jobs, 0, EVENT_LEASED); /* of a group without a name now */
    named_group_delete(jobs, STR("q"), STR("b"));
    assert_int_equal(named_groups_count(jobs), 0);
    happen(jobs, 101, EVENT_CANCELLED);
}

static void those_over_make_room_first_ended_first(void **state)
{
    (void)state;
    auto_ptr(jobs) jobs = table_create();
    char name[32];

    for (int i = 0; i < NAMED_GROUPS_MAX; i++) {
        (void)snprintf(name, sizeof(name), "j%d", i);
        set(jobs, name, "bytes");
    }
    assert_false(named_groups_have_room(jobs, 1));
    named_group_delete(jobs, STR("q"), STR("j3"));
    make(jobs, "j3", 0, 1, 1, false);
    named_group_delete(jobs, STR("q"), STR("j4"));
    make(jobs, "j4", 10, 1, 1, false);
    happen_at(jobs, 1, EVENT_CANCELLED, 200);
    happen_at(jobs, 11, EVENT_CANCELLED, 100);
    assert_true(named_groups_have_room(jobs, 1));
    assert_false(named_groups_have_room(jobs, NAMED_GROUPS_BYTES_MAX));
    set(jobs, "new", "bytes");
    assert_int_equal(named_groups_count(jobs), NAMED_GROUPS_MAX);
    assert_int_equal(named_group_find(jobs, STR("q"), STR("j4")), JOBS_NONE);
    assert_int_not_equal(named_group_find(jobs, STR("q"), STR("j3")),
                         JOBS_NONE);
}

static void put_old_part(struct strbuf *buf, const char *type, uint32_t count,
                         bool is_trainer, const uint32_t counts[6])
{
    pack_str(buf, str_of(type));
    pack_u64(buf, count);
    pack_u64(buf, count);
    pack_u64(buf, is_trainer);
    for (int i = 0; i < 6; i++) {
        pack_u64(buf, counts[i]);
    }
}

/* As release 4 of checkpoints had it: a pserver and a trainer run, and
 * another trainer has succeeded. */
static void put_old(struct strbuf *buf)
{
    pack_u64(buf, 1);
    pack_str(buf, STR("q"));
    pack_str(buf, STR("a"));
    pack_str(buf, STR("a")); /* its gang */
    pack_str(buf, STR("bytes"));
    pack_str(buf, STR("")); /* reason, failure */
    pack_str(buf, STR(""));
    pack_u64(buf, 0); /* of a trainer, fault tolerant, scaling */
    pack_u64(buf, 0);
    pack_u64(buf, 0);
    pack_i64(buf, 1); /* created, started, completed */
    pack_i64(buf, 2);
    pack_i64(buf, 0);
    pack_u64(buf, 2);
    put_old_part(buf, "PSERVER", 1, false, (uint32_t[]){0, 0, 1, 0, 0, 0});
    put_old_part(buf, "TRAINER", 2, true, (uint32_t[]){0, 0, 1, 1, 0, 0});
    pack_u64(buf, 2); /* its pods, their components and states */
    for (uint32_t i = 0; i < 2; i++) {
        pack_u64(buf, table_id(i).v.hi);
        pack_u64(buf, table_id(i).v.lo);
        pack_u64(buf, i);
        pack_u64(buf, 2);
    }
}

static void an_older_checkpoint_is_read(void **state)
{
    (void)state;
    auto_ptr(jobs) before = table_create();
    auto_ptr(jobs) jobs = table_create();
    auto_strbuf buf = {0};
    struct err err;

    make(before, "a", 0, 2, 2, false);
    run(before, 0, 3);
    end_well(before, 2);
    put_old(&buf);
    jobs_encode(before, &buf);
    struct pack_reader reader = {.rest = strbuf_str(&buf)};
    named_groups_decode(jobs, NAMED_GROUPS_FORMAT_GANG - 1, &reader);
    assert_false(reader.is_bad);
    assert_int_equal(jobs_decode(jobs, reader.rest, &err), 0);
    assert_phase(jobs, "running");
    end_well(jobs, 1);
    assert_phase(jobs, "succeeded");
    assert_kept(jobs);
}

enum { OBJECTS = 40, PAGE_MAX = 64 };

/* Objects whose names come in another order than they are made in. */
static struct jobs *many(void)
{
    struct jobs *jobs = table_create();

    for (uint32_t i = 0; i < OBJECTS; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "n%02u", i * 7 % OBJECTS);
        set(jobs, name, "bytes");
    }
    return jobs;
}

static void pages_are_the_sorted_list_in_pieces(void **state)
{
    (void)state;
    auto_ptr(jobs) jobs = many();
    uint32_t all_count, page[PAGE_MAX];
    auto_mem uint32_t *all = named_groups_sorted(jobs, &all_count);

    for (uint32_t max = 1; max < PAGE_MAX; max++) {
        struct named_group_query query = {.count_max = max};
        struct named_group_view last;
        bool has_more = true;
        uint32_t at = 0;
        while (has_more) {
            uint32_t count = named_groups_page(jobs, &query, page, &has_more);
            assert_memory_equal(page, &all[at], count * sizeof(*page));
            at += count;
            assert_int_equal(has_more, at < all_count);
            named_group_get(jobs, page[count - 1], &last);
            query.after_queue = last.queue;
            query.after_name = last.name;
        }
        assert_int_equal(at, all_count);
    }
}

static void page_has_only_what_is_wanted(void **state)
{
    (void)state;
    auto_ptr(jobs) jobs = many();
    uint32_t page[PAGE_MAX];
    bool has_more;
    struct named_group_query named = {.name = STR("n07"), .count_max = 1};
    struct named_group_query other = {.queue = STR("r"), .count_max = 1};
    struct named_group_query behind = {
        .after_queue = STR("q"), .after_name = STR("n39"), .count_max = 1};

    assert_int_equal(named_groups_page(jobs, &named, page, &has_more), 1);
    assert_false(has_more);
    assert_int_equal(page[0], named_group_find(jobs, STR("q"), STR("n07")));
    assert_int_equal(named_groups_page(jobs, &other, page, &has_more), 0);
    assert_int_equal(named_groups_page(jobs, &behind, page, &has_more), 0);
    assert_false(has_more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tj_04_phases_go_from_none_to_creating_running_succeeded),
        TEST(a_pod_that_ends_before_it_ran_is_not_running),
        TEST(tj_05_one_failed_trainer_fails_the_job),
        TEST(tj_05_a_tolerant_job_fails_with_its_last_trainer),
        TEST(it_is_scaling_until_the_new_pods_run),
        TEST(what_was_refused_has_failed),
        TEST(what_describes_it_can_change_under_way),
        TEST(its_live_pods_come_in_order_of_their_ids),
        TEST(it_is_forgotten_in_time),
        TEST(those_over_make_room_first_ended_first),
        TEST(an_older_checkpoint_is_read),
        TEST(pages_are_the_sorted_list_in_pieces),
        TEST(page_has_only_what_is_wanted),
    };

    return RUN_TESTS(tests);
}
