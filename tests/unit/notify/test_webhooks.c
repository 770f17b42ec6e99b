/*
 * webhooks: what the status of an answer means.  How they are delivered is seen
 * in tests/e2e/test_notifier.py.
 */
#include "notify/webhooks.h"
#include "unit.h"

static void only_some_statuses_are_a_refusal(void **state)
{
    static const struct {
        long status;
        enum outbox_end end;
    } rows[] = {
        {200, OUTBOX_SENT},    {204, OUTBOX_SENT},    {299, OUTBOX_SENT},
        {301, OUTBOX_LATER},   {307, OUTBOX_LATER},   {400, OUTBOX_REFUSED},
        {401, OUTBOX_LATER},   {404, OUTBOX_LATER},   {405, OUTBOX_REFUSED},
        {408, OUTBOX_LATER},   {410, OUTBOX_REFUSED}, {413, OUTBOX_REFUSED},
        {415, OUTBOX_REFUSED}, {422, OUTBOX_REFUSED}, {429, OUTBOX_LATER},
        {500, OUTBOX_LATER},   {503, OUTBOX_LATER},   {0, OUTBOX_LATER},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        assert_int_equal(webhooks_end_of(rows[i].status), rows[i].end);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(only_some_statuses_are_a_refusal),
    };

    return RUN_TESTS(tests);
}
