/* Rows are found by their ids, whoever came and went before. */
#include "base/base.h"
#include "job/table/id_index.h"
#include "unit.h"

enum { ROWS = 500, STEPS = 20000 };

struct row {
    struct key128 id;
    bool is_in;
};

static void an_empty_index_has_nothing(void **state)
{
    struct id_index index = {0};
    struct row row = {.id = {1, 2}};

    (void)state;
    assert_int_equal(id_index_find(&index, &row, sizeof(row), row.id),
                     ID_INDEX_NONE);
}

/* Ids that differ in one half only meet in the same slots now and then. */
static void rows_that_come_and_go_are_found_while_they_are_in(void **state)
{
    struct id_index index = {0};
    struct row rows[ROWS];
    uint64_t draw = 1;
    uint32_t count = 0;

    (void)state;
    for (uint32_t i = 0; i < ROWS; i++) {
        rows[i] = (struct row){.id = {i % 7, i}};
    }
    for (uint32_t step = 0; step < STEPS; step++) {
        draw = draw * 6364136223846793005u + 1442695040888963407u;
        struct row *row = &rows[(draw >> 33) % ROWS];
        uint32_t at = (uint32_t)(row - rows);
        assert_int_equal(id_index_find(&index, rows, sizeof(*row), row->id),
                         row->is_in ? at : ID_INDEX_NONE);
        if (row->is_in) {
            id_index_remove(&index, rows, sizeof(*row), row->id);
            count--;
        } else {
            id_index_add(&index, rows, sizeof(*row), at);
            count++;
        }
        row->is_in = !row->is_in;
        assert_int_equal(index.count, count);
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        assert_int_equal(id_index_find(&index, rows, sizeof(*rows), rows[i].id),
                         rows[i].is_in ? i : ID_INDEX_NONE);
    }
    mem_free(index.slots);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_empty_index_has_nothing),
        TEST(rows_that_come_and_go_are_found_while_they_are_in),
    };

    return RUN_TESTS(tests);
}
