#include "log_fixture.h"

struct job_id log_job(void)
{
    struct job_id id = {{0, 0}};

    assert_int_equal(job_id_parse(STR(JOB_TEXT), &id), 0);
    return id;
}

int log_remember(const struct log_item *item, void *ctx)
{
    struct seen *seen = ctx;

    assert_true(seen->count < SEEN_MAX);
    seen->items[seen->count++] = *item;
    return 0;
}
