#include "model/resource.h"

int resource_column(const struct resource_schema *schema, struct str name)
{
    for (uint32_t i = 0; i < schema->column_count; i++) {
        if (str_equal(schema->columns[i].name, name)) {
            return (int)i;
        }
    }
    return -1;
}

bool resource_is_bytes(struct str name)
{
    return str_equal(name, STR("memory")) ||
           str_equal(name, STR("ephemeral-storage"));
}

/* Index of the first item whose name is not before `name`. */
static uint32_t lower_bound(const struct resource_list *list, struct str name)
{
    uint32_t at = 0;

    while (at < list->count && str_compare(list->items[at].name, name) < 0) {
        at++;
    }
    return at;
}

int64_t resource_list_get(const struct resource_list *list, struct str name)
{
    uint32_t at = lower_bound(list, name);

    return at < list->count && str_equal(list->items[at].name, name)
               ? list->items[at].milli
               : 0;
}

int resource_list_add(struct resource_list *list, struct str name,
                      int64_t milli)
{
    uint32_t at = lower_bound(list, name);

    if (at < list->count && str_equal(list->items[at].name, name)) {
        int64_t *sum = &list->items[at].milli;
        if (__builtin_add_overflow(*sum, milli, sum)) {
            *sum = INT64_MAX;
        }
        return 0;
    }
    if (list->count == RESOURCE_LIST_MAX) {
        return -ERR_LIMIT;
    }
    memmove(&list->items[at + 1], &list->items[at],
            (list->count - at) * sizeof(*list->items));
    list->items[at] = (struct resource_amount){name, milli};
    list->count++;
    return 0;
}

static int64_t divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b > 0);
}

bool resource_request(const struct resource_schema *schema,
                      const struct resource_list *list,
                      struct resource_vec *ret_vec)
{
    bool is_known = true;

    *ret_vec = (struct resource_vec){0};
    for (uint32_t i = 0; i < list->count; i++) {
        int column = resource_column(schema, list->items[i].name);
        if (column >= 0) {
            ret_vec->v[column] = divide_up(list->items[i].milli,
                                           schema->columns[column].unit_milli);
        } else if (list->items[i].milli > 0) {
            is_known = false;
        }
    }
    return is_known;
}

struct resource_vec resource_capacity(const struct resource_schema *schema,
                                      const struct resource_list *list)
{
    struct resource_vec vec = {0};

    for (uint32_t i = 0; i < list->count; i++) {
        int column = resource_column(schema, list->items[i].name);
        if (column >= 0) {
            vec.v[column] =
                list->items[i].milli / schema->columns[column].unit_milli;
        }
    }
    return vec;
}
