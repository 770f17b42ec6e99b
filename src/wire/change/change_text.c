#include "wire/change/change_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int change_refuse_set(const char *text, struct err *err)
{
    return err_set(err, -ERR_INVALID,
                   "--set takes queue.NAME.weight=NUMBER, "
                   "class.NAME.priority=NUMBER or "
                   "class.NAME.limit.RESOURCE=FRACTION, not \"%s\"",
                   text);
}

/* Take a text off the beginning of another; false if it does not begin so, or
 * nothing is left. */
static bool take_beginning(struct str *text, struct str beginning)
{
    bool begins = text->byte_count > beginning.byte_count &&
                  memcmp(text->p, beginning.p, beginning.byte_count) == 0;

    if (begins) {
        *text = str_make(text->p + beginning.byte_count,
                         text->byte_count - beginning.byte_count);
    }
    return begins;
}

/* The same at its end, since names have dots. */
static bool take_end(struct str *text, struct str end)
{
    bool ends = text->byte_count > end.byte_count &&
                memcmp(text->p + text->byte_count - end.byte_count, end.p,
                       end.byte_count) == 0;

    text->byte_count -= ends ? end.byte_count : 0;
    return ends;
}

/* Split "NAME.limit.RESOURCE"; false if it is not of that form. */
static bool take_limit(struct str *path, struct str *ret_resource)
{
    struct str word = STR(".limit.");
    const char *at = memmem(path->p, path->byte_count, word.p, word.byte_count);

    if (!at || at == path->p) {
        return false;
    }
    *ret_resource = str_make(at, (size_t)(path->p + path->byte_count - at));
    path->byte_count = (size_t)(at - path->p);
    return take_beginning(ret_resource, word);
}

/* What a path names, and a value that this may have. */
static bool read_path(struct str path, struct change_set *set)
{
    if (take_beginning(&path, STR("queue."))) {
        set->kind = CHANGE_WEIGHT;
        set->name = path;
        return take_end(&set->name, STR(".weight"));
    }
    if (!take_beginning(&path, STR("class."))) {
        return false;
    }
    set->name = path;
    if (take_limit(&set->name, &set->resource)) {
        set->kind = CHANGE_LIMIT;
        return true;
    }
    set->kind = CHANGE_PRIORITY;
    set->name = path;
    return take_end(&set->name, STR(".priority")) && set->value >= INT32_MIN &&
           set->value <= INT32_MAX && set->value == (int32_t)set->value;
}

int change_read_set(const char *text, struct change_set *ret_set,
                    struct err *err)
{
    const char *equals = strrchr(text, '=');
    char *end;

    if (!equals || !equals[1]) {
        return change_refuse_set(text, err);
    }
    *ret_set = (struct change_set){.value = strtod(equals + 1, &end)};
    if (*end || !isfinite(ret_set->value) ||
        !read_path(str_make(text, (size_t)(equals - text)), ret_set)) {
        return change_refuse_set(text, err);
    }
    return 0;
}

int change_read_nodes(const char *text, struct change_nodes *ret_nodes,
                      struct err *err)
{
    char *end;
    unsigned long count = strtoul(text, &end, 10);

    if (end == text || (*end && *end != '=') || count == 0 ||
        count > CHANGE_NODES_MAX) {
        return err_set(err, -ERR_INVALID,
                       "--add-nodes takes COUNT or COUNT=NODE, COUNT from 1 to "
                       "%d, not \"%s\"",
                       CHANGE_NODES_MAX, text);
    }
    *ret_nodes = (struct change_nodes){(uint32_t)count, *end ? end + 1 : ""};
    return 0;
}
