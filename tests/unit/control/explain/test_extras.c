/*
 * A job whose host port is in use is told which; a restarted leader knows what
 * is in use, and the log is decided again.
 */
#include "leader_stage.h"
#include "unit.h"

static bool says(struct str text, const char *part)
{
    auto_mem char *copy = str_dup(text);

    return strstr(copy, part) != NULL;
}

static void assert_waits_for_port(struct stage *stage, struct job_id job)
{
    const struct command *answer = stage_explain(stage, job);

    assert_true(says(answer->explain.text,
                     "Host port TCP 8080 is in use on nodes with room.\n"));
    assert_true(says(answer->explain.json, "\"inUse\":\"port:TCP:8080\""));
    assert_true(says(answer->explain.json, "\"inUse\":1"));
}

static void the_port_in_use_is_named(void **state)
{
    struct stage *stage = stage_begin(1);

    (void)state;
    (void)stage_leased(stage, (struct stage_job){.host_port = 8080});
    struct job_id job =
        stage_submit(stage, "q", (struct stage_job){.host_port = 8080});
    stage_settle(stage);
    assert_waits_for_port(stage, job);
    stage_crash(stage);
    stage_start(stage);
    stage_exchange(stage, "e", 1, NULL, 0);
    stage_settle(stage);
    assert_waits_for_port(stage, job);
    (void)stage_leased(stage, (struct stage_job){.host_port = 8081});
    assert_true(stage_is_made_again(stage, NULL));
    stage_end(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_port_in_use_is_named),
    };

    return RUN_TESTS(tests);
}
