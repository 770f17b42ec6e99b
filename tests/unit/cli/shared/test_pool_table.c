/*
 * pool_table: the statistics as model.md 5.8 has them.
 */
#include "cli/shared/pool_table.h"
#include "field.h"
#include "unit.h"
#include "wire/message/message.h"

static Berth__Api__PoolResource *resource(struct arena *arena, const char *name,
                                          const char *all, const char *total)
{
    Berth__Api__PoolResource *made =
        wire_new(&berth__api__pool_resource__descriptor, arena);

    made->name = field(name);
    made->capacity = made->allocatable = field(all);
    made->used = made->shared = made->pending = field("0");
    made->total = field(total);
    return made;
}

static Berth__Api__PoolStatus *pool(struct arena *arena, const char *name,
                                    const char *cpu, const char *memory)
{
    Berth__Api__PoolStatus *status =
        wire_new(&berth__api__pool_status__descriptor, arena);
    const char *const names[] = {"cpu",   "gpu", "memory", "ephemeral-storage",
                                 "nodes", "pods"};

    status->pool = wire_new(&berth__api__pool__descriptor, arena);
    status->pool->name = field(name);
    status->resources = arena_alloc_array(arena, 6, sizeof(*status->resources));
    for (int i = 0; i < 6; i++) {
        const char *all = i == 0 ? cpu : i == 2 ? memory : "0";
        const char *total = i == 0 ? "938" : i == 2 ? "4932324954112" : "0";
        status->resources[status->n_resources++] =
            resource(arena, names[i], all, total);
    }
    return status;
}

/* The line `index` of a text. */
static struct str line_of(struct str text, int index)
{
    const char *end = text.p + text.byte_count;
    const char *p = text.p;

    while (index-- > 0) {
        p = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
    }
    return str_make(
        p, (size_t)((const char *)memchr(p, '\n', (size_t)(end - p)) - p));
}

/* The cell in a column of a line without wide letters. */
static void assert_cell(struct str line, int column, const char *expected)
{
    char cell[21] = {0};
    size_t width = 20;

    assert_true(line.byte_count >= (size_t)(column + 1) * 20);
    memcpy(cell, line.p + column * 20, 20);
    while (width > 0 && cell[width - 1] == ' ') {
        cell[--width] = '\0';
    }
    assert_string_equal(cell, expected);
}

static void po_18_the_statistics_are_six_rows_a_pool(void **state)
{
    auto_arena arena = {0};
    auto_strbuf text = {0};
    Berth__Api__PoolStatus *pools[] = {
        pool(&arena, "default", "0", "0"),
        pool(&arena, "cpu", "294", "868703195136"),
        pool(&arena, "gpu", "518", "3691320389632"),
        pool(&arena, "masters", "126", "372301369344"),
    };
    Berth__Api__ListPoolsResponse list = BERTH__API__LIST_POOLS_RESPONSE__INIT;
    (void)state;

    pools[0]->is_default = true;
    pools[1]->resources[0]->used = field("289634m");
    pools[1]->resources[0]->shared = field("162634m");
    pools[1]->resources[0]->pending = field("9620");
    pools[1]->pool->disable_borrowing = true;
    list.pools = pools;
    list.n_pools = ARRAY_COUNT(pools);
    pool_put_statistics(&text, &list);
    struct str all = strbuf_str(&text);
    assert_cell(line_of(all, 0), 0, "Pools");
    assert_cell(line_of(all, 0), 1, "Resource(w)");
    assert_cell(line_of(all, 0), 7, "Total");
    for (int block = 0; block < 4; block++) {
        struct str rule = line_of(all, 1 + block * 7);
        assert_int_equal(rule.byte_count, 160);
        assert_int_equal(rule.p[0], '-');
        assert_cell(line_of(all, 2 + block * 7), 7, "938000");
        assert_cell(line_of(all, 4 + block * 7), 7, "4932324954112");
    }
    assert_cell(line_of(all, 4), 0, "Default");
    struct str cpu = line_of(all, 9);
    assert_cell(cpu, 0, "");
    assert_cell(cpu, 1, "cpu");
    assert_cell(cpu, 2, "294000");
    assert_cell(cpu, 3, "294000");
    assert_cell(cpu, 4, "289634");
    assert_cell(cpu, 5, "162634");
    assert_cell(cpu, 6, "9620000");
    assert_cell(line_of(all, 11), 0, "cpu");
    assert_cell(line_of(all, 11), 1, "mem");
    assert_cell(line_of(all, 11), 2, "868703195136");
    assert_true(str_starts_with(line_of(all, 12), STR("(p=√,b=x,s=√)       "
                                                      "storage")));
    struct str nodes = line_of(all, 13);
    assert_cell(nodes, 1, "nodes");
    assert_cell(nodes, 3, "0");
    assert_cell(nodes, 4, "-");
    assert_cell(nodes, 5, "-");
    assert_cell(nodes, 6, "-");
    assert_cell(nodes, 7, "0");
    assert_cell(line_of(all, 14), 1, "pods");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(po_18_the_statistics_are_six_rows_a_pool),
    };

    return RUN_TESTS(tests);
}
