/* Sentences of job/table/gang_list.h. */
#include "job/table/gang_list.h"
#include "table.h"
#include "unit.h"

enum { GANGS = 12, PAGE_MAX = 16 };

static void submit_of(struct jobs *jobs, uint32_t n, const char *queue,
                      const char *gang, uint32_t cardinality, struct str terms)
{
    struct table_submission submission = {
        .scope = {str_of(queue), STR("set"), STR("anna")},
        .digest = {.gang_id = str_of(gang),
                   .gang_cardinality = cardinality,
                   .gang_minimum = 2,
                   .gang_terms = terms},
    };

    table_submit(jobs, n, &submission);
}

static void submit(struct jobs *jobs, uint32_t n, const char *queue,
                   const char *gang, struct str terms)
{
    submit_of(jobs, n, queue, gang, 3, terms);
}

static void pages_are_in_order_and_leave_none_out(void **state)
{
    (void)state;
    struct jobs *jobs = table_create();

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
    struct jobs *jobs = table_create();

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
                    struct job_id due = table_id(2 * (10 + count + i - 1));
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
    struct jobs *jobs = table_create();
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
    assert_int_equal(key128_compare(members[0].v, table_id(0).v), 0);
    assert_int_equal(key128_compare(members[1].v, table_id(1).v), 0);
    jobs_destroy(jobs);
}

static void gang_with_terms_is_told_by_sub_group(void **state)
{
    (void)state;
    struct jobs *jobs = table_create();
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
