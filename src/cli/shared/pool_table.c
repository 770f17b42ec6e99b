#include "cli/shared/pool_table.h"

#include <inttypes.h>

#include "model/quantity.h"

enum { COLUMN_WIDTH = 20, COLUMNS = 8 };

void pool_put_flags(struct strbuf *buf, const Berth__Api__Pool *pool)
{
    strbuf_addf(buf, "(p=%s,b=%s,s=%s)", pool->disable_preemption ? "x" : "√",
                pool->disable_borrowing ? "x" : "√",
                pool->disable_sharing ? "x" : "√");
}

/* Letters of a UTF-8 text. */
static size_t width_of(struct str text)
{
    size_t width = 0;

    for (size_t i = 0; i < text.byte_count; i++) {
        width += ((unsigned char)text.p[i] & 0xc0) != 0x80;
    }
    return width;
}

/* A cell, and blanks up to the next column. */
static void put_cell(struct strbuf *buf, struct str text)
{
    strbuf_add_str(buf, text);
    for (size_t width = width_of(text); width < COLUMN_WIDTH; width++) {
        strbuf_add_char(buf, ' ');
    }
}

/* An amount in units of `unit_milli`. */
static void put_amount(struct strbuf *buf, const char *quantity,
                       int64_t unit_milli)
{
    auto_strbuf text = {0};
    int64_t milli;

    if (quantity_parse(str_of(quantity), &milli) < 0) {
        put_cell(buf, str_of(quantity));
        return;
    }
    strbuf_addf(&text, "%" PRId64, milli / unit_milli);
    put_cell(buf, strbuf_str(&text));
}

static const Berth__Api__PoolResource *
find_resource(const Berth__Api__PoolStatus *status, const char *name)
{
    static const Berth__Api__PoolResource none =
        BERTH__API__POOL_RESOURCE__INIT;

    for (size_t i = 0; i < status->n_resources; i++) {
        if (strcmp(status->resources[i]->name, name) == 0) {
            return status->resources[i];
        }
    }
    return &none;
}

/* What stands in the first column of a row. */
static void put_first(struct strbuf *buf, const Berth__Api__PoolStatus *status,
                      const char *label)
{
    auto_strbuf text = {0};

    if (strcmp(label, "mem") == 0) {
        strbuf_add_text(&text,
                        status->is_default ? "Default" : status->pool->name);
    } else if (strcmp(label, "storage") == 0) {
        pool_put_flags(&text, status->pool);
    }
    put_cell(buf, strbuf_str(&text));
}

static void put_pool(struct strbuf *buf, const Berth__Api__PoolStatus *status)
{
    static const struct {
        const char *label, *name;
        int64_t unit_milli;
    } rows[] = {
        {"cpu", "cpu", 1},        {"gpu", "gpu", 1000},
        {"mem", "memory", 1000},  {"storage", "ephemeral-storage", 1000},
        {"nodes", "nodes", 1000}, {"pods", "pods", 1000},
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const Berth__Api__PoolResource *resource =
            find_resource(status, rows[i].name);
        const char *amounts[] = {resource->capacity, resource->allocatable,
                                 resource->used,     resource->shared,
                                 resource->pending,  resource->total};
        bool is_nodes = strcmp(rows[i].label, "nodes") == 0;
        put_first(buf, status, rows[i].label);
        put_cell(buf, str_of(rows[i].label));
        for (size_t a = 0; a < ARRAY_COUNT(amounts); a++) {
            if (is_nodes && a >= 2 && a <= 4) {
                put_cell(buf, STR("-"));
            } else {
                put_amount(buf, amounts[a], rows[i].unit_milli);
            }
        }
        strbuf_add_char(buf, '\n');
    }
}

void pool_put_statistics(struct strbuf *buf,
                         const Berth__Api__ListPoolsResponse *pools)
{
    static const char *const headings[COLUMNS] = {
        "Pools", "Resource(w)", "Capacity", "Allocatable",
        "Used",  "Shared",      "Pending",  "Total"};

    for (size_t i = 0; i < ARRAY_COUNT(headings); i++) {
        put_cell(buf, str_of(headings[i]));
    }
    strbuf_add_char(buf, '\n');
    for (size_t i = 0; i < pools->n_pools; i++) {
        for (int c = 0; c < COLUMN_WIDTH * COLUMNS; c++) {
            strbuf_add_char(buf, '-');
        }
        strbuf_add_char(buf, '\n');
        put_pool(buf, pools->pools[i]);
    }
}
