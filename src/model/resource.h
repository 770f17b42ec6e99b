/*
 * resource - amounts of named resources, and the columns they are counted in.
 *
 * Outside the scheduler an amount has a name and is whole milli units (see
 * quantity.h).  Inside, a schema gives each resource a column and a unit, and
 * a vector is one int64 per column, in that unit (cpu: 1 milli, memory: 1000
 * milli = one byte).  Pure.
 */
#pragma once

#include "base/arena.h"

enum {
    RESOURCE_COLUMNS_MAX = 8,
    RESOURCE_LIST_MAX = 64, /* names in one list */
};

/* So much of one resource. */
struct resource_amount {
    struct str name;
    int64_t milli;
};

/* Sorted by name, each name once. */
struct resource_list {
    struct resource_amount *items; /* borrowed or in an arena */
    uint32_t count;
};

/* The columns, in the order that the policy lists them. */
struct resource_schema {
    struct {
        struct str name;
        int64_t unit_milli; /* >= 1 */
    } columns[RESOURCE_COLUMNS_MAX];
    uint32_t column_count;
};

struct resource_vec {
    int64_t v[RESOURCE_COLUMNS_MAX]; /* columns beyond the schema's are 0 */
};

/* The column of `name`, or -1. */
int resource_column(const struct resource_schema *schema, struct str name);

/* Whether amounts of a resource are bytes, as people read them. */
bool resource_is_bytes(struct str name);

/* The amount of `name` in the list, or 0. */
int64_t resource_list_get(const struct resource_list *list, struct str name);

/* Add `milli` of `name` to a list under construction that has room for
 * RESOURCE_LIST_MAX items, keeping it sorted; saturates at INT64_MAX.
 * -ERR_LIMIT when it is full. */
int resource_list_add(struct resource_list *list, struct str name,
                      int64_t milli) must_check;

/* A request in columns, each rounded up.  Answers false when the list asks
 * (> 0) for a resource that the schema does not have; the vector is then
 * still filled with the others. */
bool resource_request(const struct resource_schema *schema,
                      const struct resource_list *list,
                      struct resource_vec *ret_vec) must_check;

/* A capacity in columns, each rounded down, unknown resources left out. */
struct resource_vec resource_capacity(const struct resource_schema *schema,
                                      const struct resource_list *list);

/* Whether a[r] <= b[r] in every column. */
static inline bool resource_fits(const struct resource_vec *a,
                                 const struct resource_vec *b)
{
    bool fits = true;

    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        fits &= a->v[r] <= b->v[r];
    }
    return fits;
}

/* a += b * times, column by column. */
static inline void resource_add(struct resource_vec *a,
                                const struct resource_vec *b, int64_t times)
{
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        a->v[r] += b->v[r] * times;
    }
}
