/* The table in code and the table for people are the same. */
#include <stdio.h>
#include <string.h>

#include "job/table/job_state.h"
#include "unit.h"

static int state_of(const char *name)
{
    for (int i = 0; i < JOB_STATE_COUNT; i++) {
        if (strcmp(job_state_name((enum job_state)i), name) == 0) {
            return i;
        }
    }
    fail_msg("no state is called %s", name);
    return 0;
}

static int happening_of(const char *name)
{
    for (int i = 0; i < JOB_HAPPENING_COUNT; i++) {
        if (strcmp(job_happening_name((enum job_happening)i), name) == 0) {
            return i;
        }
    }
    fail_msg("nothing that happens is called %s", name);
    return 0;
}

static void the_document_and_the_table_agree(void **state)
{
    uint8_t documented[JOB_STATE_COUNT][JOB_HAPPENING_COUNT] = {{0}};
    char line[256], from[64], when[64], to[64];
    int row_count = 0;
    FILE *file = fopen(JOB_STATES_DOCUMENT, "r");

    (void)state;
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        if (sscanf(line, "| %63[a-z ] | %63[a-z ] | %63[a-z ] |", from, when,
                   to) != 3 ||
            strcmp(from, "state ") == 0) {
            continue;
        }
        char *cells[] = {from, when, to};
        for (int i = 0; i < 3; i++) {
            cells[i][strlen(cells[i]) - 1] = 0; /* the blank before `|` */
        }
        documented[state_of(from)][happening_of(when)] = (uint8_t)state_of(to);
        row_count++;
    }
    fclose(file);
    assert_true(row_count > 30);
    for (int s = 0; s < JOB_STATE_COUNT; s++) {
        for (int h = 0; h < JOB_HAPPENING_COUNT; h++) {
            assert_int_equal(
                job_state_next((enum job_state)s, (enum job_happening)h),
                documented[s][h]);
        }
    }
}

static void nothing_follows_an_end(void **state)
{
    (void)state;
    for (int s = JOB_SUCCEEDED; s < JOB_STATE_COUNT; s++) {
        for (int h = 0; h < JOB_HAPPENING_COUNT; h++) {
            assert_int_equal(
                job_state_next((enum job_state)s, (enum job_happening)h),
                JOB_NONE);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_document_and_the_table_agree),
        TEST(nothing_follows_an_end),
    };
    return RUN_TESTS(tests);
}
