/*
 * helper_codec: what a request or an answer carries arrives whole, or not.
 */
#include "executor/helper/helper_codec.h"
#include "support.h"
#include "unit.h"

static void names_have_no_nul_and_an_end(void **state)
{
    (void)state;
    auto_strbuf good = {0};
    struct runtime_run run = {.run.v = {1, 2}};
    struct job job;
    struct err err;

    job_make(&job, 4, (const char *const[]){"true", NULL});
    helper_put_run(&good, &job.run);
    assert_int_equal(helper_take_run(strbuf_str(&good), &job.arena, &run, &err),
                     0);
    assert_true(str_equal(run.queue, job.run.queue));
    for (size_t n = 0; n < good.byte_count; n++) {
        assert_int_equal(
            helper_take_run(str_make(good.bytes, n), &job.arena, &run, &err),
            -ERR_INVALID);
    }
    /* The first name, behind its length. */
    good.bytes[sizeof(int64_t)] = '\0';
    assert_int_equal(helper_take_run(strbuf_str(&good), &job.arena, &run, &err),
                     -ERR_INVALID);
    job_free(&job);
}

static void a_status_arrives_whole(void **state)
{
    (void)state;
    auto_arena arena = {0};
    auto_strbuf buf = {0};
    struct runtime_ended ended = {.name = STR("main"),
                                  .reason = STR("Error"),
                                  .message = STR("oh"),
                                  .exit_code = 3,
                                  .cause = RUNTIME_CAUSE_ERROR};
    const struct runtime_address address = {80, STR("1.2.3.4:5")};
    struct resource_amount most = {STR("cpu"), 1500};
    struct resource_amount sum = {STR("memory"), 7};
    const struct runtime_status told = {
        .cause = RUNTIME_CAUSE_OOM,
        .message = STR("why"),
        .ended = &ended,
        .ended_count = 1,
        .created_ms = 1,
        .started_ms = 2,
        .ended_ms = 3,
        .addresses = &address,
        .address_count = 1,
        .used_max = {&most, 1},
        .used_sum = {&sum, 1},
    };
    struct runtime_status status;

    helper_put_status(&buf, &told);
    struct helper_reader reader = {.rest = strbuf_str(&buf)};
    helper_take_status(&reader, &arena, &status);

    assert_true(helper_is_whole(&reader));
    assert_int_equal(status.cause, RUNTIME_CAUSE_OOM);
    assert_true(str_equal(status.message, STR("why")));
    assert_int_equal(status.created_ms * 100 + status.started_ms * 10 +
                         status.ended_ms,
                     123);
    assert_int_equal(status.ended_count, 1);
    assert_true(str_equal(status.ended[0].message, STR("oh")));
    assert_int_equal(status.ended[0].exit_code, 3);
    assert_int_equal(status.address_count, 1);
    assert_int_equal(status.addresses[0].port, 80);
    assert_true(str_equal(status.addresses[0].address, STR("1.2.3.4:5")));
    assert_int_equal(resource_list_get(&status.used_max, STR("cpu")), 1500);
    assert_int_equal(resource_list_get(&status.used_sum, STR("memory")), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(names_have_no_nul_and_an_end),
        TEST(a_status_arrives_whole),
    };

    return RUN_TESTS(tests);
}
