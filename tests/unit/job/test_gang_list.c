/* Sentences of job/gang_list.h. */
#include "job/gang_list.h"
#include "unit.h"

enum { GANGS = 12, PAGE_MAX = 16 };

static struct policy policy;

static struct job_id id_of(uint32_t n)
{
    uint8_t random[10] = {0};

    return job_id_make(1000 + n, random);
}

static void submit_of(struct jobs *jobs, uint32_t n, const char *queue,
                      const char *gang, uint32_t cardinality, struct str terms)
{
    auto_strbuf key = {0}, packed = {0};
    struct requirement requirement = {.lifetime_ms = LIFETIME_BY_CLASS};
    struct event_scope scope = {str_of(queue), STR("set"), STR("anna")};
    struct jobs_change change;
    struct event event;

    requirement_pack(&key, &requirement);
    struct job_digest digest = {
        .class_key = strbuf_str(&key),
        .gang_id = str_of(gang),
        .gang_cardinality = cardinality,
        .gang_minimum = 2,
        .gang_terms = terms,
    };
    digest_pack(&packed, &digest);
    memset(&event, 0, sizeof(event));
    event.type = EVENT_SUBMIT;
    event.job = id_of(n);
    event.submit.digest = strbuf_str(&packed);
    assert_int_equal(jobs_apply(jobs, &scope, &event, &change), JOBS_APPLIED);
}

static void submit(struct jobs *jobs, uint32_t n, const char *queue,
                   const char *gang, struct str terms)
{
    submit_of(jobs, n, queue, gang, 3, terms);
}

static struct jobs *table(void)
{
    struct jobs *jobs = jobs_create();

    policy_defaults(&policy);
    jobs_set_policy(jobs, &policy);
    return jobs;
}

static void pages_are_in_order_and_leave_none_out(void **state)
{
    (void)state;
    struct jobs *jobs = table();

    for (uint32_t i = 0; i < GANGS; i++) {
        char gang[2] = {(char)('a' + i * 5 % GANGS), '\0'};
        submit(jobs, i, i % 2 ? "q" : "p", gang, (struct str){0});
    }
    for (uint32_t max = 1; max < PAGE_MAX; max++) {
        struct gang_query query = {.count_max = max};
        uint32_t page[PAGE_MAX], count = 0;
        char last[4] = "";
        bool has_more = true;
        while (has_more) {
            uint32_t got = gang_list_page(jobs, &query, page, &has_more);
            for (uint32_t i = 0; i < got; i++) {
                struct gang_entry entry;
                gang_list_get(jobs, page[i], &entry);
                char name[4] = {*entry.queue.p, *entry.group.gang_id.p, 0, 0};
                assert_true(strcmp(last, name) < 0);
                memcpy(last, name, sizeof(last));
                query.after_queue = entry.queue;
                query.after_gang_id = entry.group.gang_id;
            }
            count += got;
        }
        assert_int_equal(count, GANGS);
    }
    struct gang_query one = {
        .queue = STR("q"), .gang_id = STR("f"), .count_max = 1};
    uint32_t index;
    bool has_more;
    assert_int_equal(gang_list_page(jobs, &one, &index, &has_more), 1);
    assert_false(has_more);
    one.queue = STR("p");
    assert_int_equal(gang_list_page(jobs, &one, &index, &has_more), 0);
    jobs_destroy(jobs);
}

static void pages_have_each_of_those_whose_terms_differ(void **state)
{
    (void)state;
    struct jobs *jobs = table();

    submit(jobs, 0, "q", "a", (struct str){0});
    submit(jobs, 1, "q", "z", (struct str){0});
    for (uint32_t i = 0; i < GANGS; i++) {
        /* The oldest of a gang is not the first that came. */
        uint32_t n = 10 + i * 5 % GANGS;
        submit_of(jobs, 2 * n + 1, "q", "g", 2 + n, (struct str){0});
        submit_of(jobs, 2 * n, "q", "g", 2 + n, (struct str){0});
    }
    for (uint32_t max = 1; max < PAGE_MAX; max++) {
        struct gang_query query = {.count_max = max};
        uint32_t page[PAGE_MAX], count = 0;
        bool has_more = true;
        while (has_more) {
            uint32_t got = gang_list_page(jobs, &query, page, &has_more);
            for (uint32_t i = 0; i < got; i++) {
                struct gang_entry entry;
                gang_list_get(jobs, page[i], &entry);
                struct job_id oldest = gang_list_oldest(jobs, page[i]);
                if (str_equal(entry.group.gang_id, STR("g"))) {
                    struct job_id due = id_of(2 * (10 + count + i - 1));
                    assert_int_equal(key128_compare(oldest.v, due.v), 0);
                }
                query.after_queue = entry.queue;
                query.after_gang_id = entry.group.gang_id;
                query.after_job = oldest;
            }
            count += got;
        }
        assert_int_equal(count, GANGS + 2);
    }
    jobs_destroy(jobs);
}

static void plain_gang_is_one_part_of_what_has_not_ended(void **state)
{
    (void)state;
    struct jobs *jobs = table();
    auto_arena arena = {0};
    struct gang_query query = {.count_max = 1};
    struct gang_entry entry;
    struct job_id *members;
    uint32_t index;
    bool has_more;

    submit(jobs, 1, "q", "g", (struct str){0});
    submit(jobs, 0, "q", "g", (struct str){0});
    assert_int_equal(gang_list_page(jobs, &query, &index, &has_more), 1);
    gang_list_get(jobs, index, &entry);
    assert_false(entry.has_terms);
    assert_true(str_equal(entry.job_set, STR("set")));
    assert_int_equal(entry.group.terms.sub_group_count, 1);
    assert_int_equal(entry.group.terms.sub_groups[0].min_count, 2);
    assert_int_equal(entry.group.terms.sub_groups[0].max_count, 3);
    assert_int_equal(entry.group.counts[0].waiting, 2);
    assert_int_equal(entry.group.counts[0].running, 0);
    assert_int_equal(gang_list_members(jobs, index, &arena, &members), 2);
    assert_int_equal(key128_compare(members[0].v, id_of(0).v), 0);
    assert_int_equal(key128_compare(members[1].v, id_of(1).v), 0);
    jobs_destroy(jobs);
}

static void gang_with_terms_is_told_by_sub_group(void **state)
{
    (void)state;
    struct jobs *jobs = table();
    struct gang_terms terms = {
        .replace_timeout_ms = 1000,
        .sub_group_count = 1,
        .sub_groups = {{STR("worker"), 2, 3, HOPS_ANY, 0, false}},
    };
    auto_strbuf packed = {0};
    struct gang_query query = {.count_max = 1};
    struct gang_entry entry;
    uint32_t index;
    bool has_more;

    gang_terms_pack(&packed, &terms);
    submit(jobs, 0, "q", "g", strbuf_str(&packed));
    assert_int_equal(gang_list_page(jobs, &query, &index, &has_more), 1);
    gang_list_get(jobs, index, &entry);
    assert_true(entry.has_terms);
    assert_true(str_equal(entry.group.terms.sub_groups[0].name, STR("worker")));
    assert_int_equal(entry.group.counts[0].waiting, 1);
    jobs_destroy(jobs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(pages_are_in_order_and_leave_none_out),
        TEST(pages_have_each_of_those_whose_terms_differ),
        TEST(plain_gang_is_one_part_of_what_has_not_ended),
        TEST(gang_with_terms_is_told_by_sub_group),
    };

    return RUN_TESTS(tests);
}
