/* What explain says of other pools, as people and programs read it. */
#include <string.h>

#include "leader_stage.h"
#include "unit.h"
#include "wire/kube/pool_codec.h"
#include "wire/message/message.h"

static int setup(void **state)
{
    *state = stage_begin(1);
    return 0;
}

static int teardown(void **state)
{
    stage_end(*state);
    return 0;
}

static void put(struct stage *s, const struct pool_record *record)
{
    auto_arena arena = {0};
    struct event event = stage_event_make(EVENT_POOL_SET);

    event.pool.encoded =
        wire_encode_arena(&pool_message_of(record, &arena)->base, &arena);
    stage_do(s, stage_event_command("", "", "anna", &event));
}

static void assert_has(struct str text, const char *part)
{
    if (!memmem(text.p, text.byte_count, part, strlen(part))) {
        fail_msg("no \"%s\" in: %.*s", part, STR_ARG(text));
    }
}

static void assert_lacks(struct str text, const char *part)
{
    assert_null(memmem(text.p, text.byte_count, part, strlen(part)));
}

static void other_pools_are_told_in_both_forms(void **state)
{
    struct stage *s = *state;

    put(s, &(struct pool_record){.name = STR("home")});
    put(s, &(struct pool_record){.name = STR("shut"), .is_sharing_off = true});
    (void)stage_leased(s, (struct stage_job){.cpu_milli = 8000});
    struct job_id job =
        stage_leased(s, (struct stage_job){.cpu_milli = 5000, .pool = "home"});
    (void)stage_explain(s, job);
    assert_has(
        s->answer->explain.text,
        "  default: has no room for it: 1 of 1 node does not have enough "
        "free; node n0 comes nearest, with 2 cpu");
    assert_has(s->answer->explain.text,
               "  shut: lends to nobody (disableSharing)\n");
    assert_has(s->answer->explain.json,
               "\"borrowing\":\"may\",\"lenders\":[{\"reason\":\"noRoom\","
               "\"pool\":\"default\",\"waiting\":0,\"nodesTotal\":1,"
               "\"nodesFit\":0,\"nodesExcluded\":{\"full\":1},"
               "\"nearest\":\"n0\",\"available\":{\"cpu\":\"2\"");
    assert_has(s->answer->explain.json,
               "{\"reason\":\"sharingOff\",\"pool\":\"shut\",\"waiting\":0}]");
}

static void where_nothing_may_be_borrowed_that_is_said(void **state)
{
    struct stage *s = *state;

    (void)stage_leased(s, (struct stage_job){.cpu_milli = 8000});
    put(s,
        &(struct pool_record){.name = STR("home"), .is_borrowing_off = true});
    struct job_id job =
        stage_leased(s, (struct stage_job){.cpu_milli = 5000, .pool = "home"});
    (void)stage_explain(s, job);
    assert_has(s->answer->explain.text,
               "It may not borrow from other pools: its own pool forbids it "
               "(disableBorrowing).\n");
    assert_has(s->answer->explain.json, "\"borrowing\":\"off\",\"lenders\":[]");
}

static void without_pools_nothing_is_said_of_them(void **state)
{
    struct stage *s = *state;

    (void)stage_leased(s, (struct stage_job){.cpu_milli = 8000});
    struct job_id job = stage_leased(s, (struct stage_job){.cpu_milli = 5000});
    (void)stage_explain(s, job);
    assert_lacks(s->answer->explain.text, "ther pool");
    assert_lacks(s->answer->explain.json, "borrowing");
}

#define STAGED(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGED(other_pools_are_told_in_both_forms),
        STAGED(where_nothing_may_be_borrowed_that_is_said),
        STAGED(without_pools_nothing_is_said_of_them),
    };

    return RUN_TESTS(tests);
}
