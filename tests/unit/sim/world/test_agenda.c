/*
 * agenda: entries come out by time, kind and id, however they were put in.
 */
#include "sim/world/agenda.h"
#include "sim/world/draw.h"
#include "unit.h"

enum { ENTRIES = 1000 };

static bool is_after(const struct agenda_entry *a, const struct agenda_entry *b)
{
    if (a->time_ms != b->time_ms) {
        return a->time_ms > b->time_ms;
    }
    return a->kind != b->kind ? a->kind > b->kind : a->id > b->id;
}

static void entries_come_out_in_order(void **state)
{
    struct agenda agenda = {0};
    struct draw draw = draw_make(1, 0);
    struct agenda_entry before = {-1, 0, 0};

    (void)state;
    assert_true(agenda_time_ms(&agenda) == INT64_MAX);
    for (int i = 0; i < ENTRIES; i++) {
        agenda_add(&agenda, (int64_t)draw_below(&draw, 50),
                   (uint32_t)draw_below(&draw, 4), draw_below(&draw, 10));
    }
    for (int i = 0; i < ENTRIES; i++) {
        int64_t time_ms = agenda_time_ms(&agenda);
        struct agenda_entry entry = agenda_take(&agenda);
        assert_int_equal(entry.time_ms, time_ms);
        assert_false(is_after(&before, &entry));
        before = entry;
    }
    assert_true(agenda_time_ms(&agenda) == INT64_MAX);
    agenda_fini(&agenda);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_come_out_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
