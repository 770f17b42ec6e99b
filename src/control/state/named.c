#include "control/state/named.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const struct named *x = a;
    const struct named *y = b;

    return str_compare(x->name, y->name);
}

static bool names_differ(const struct named *list, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        if (str_equal(list[i - 1].name, list[i].name)) {
            return false;
        }
    }
    return true;
}

void named_sort(struct named *list, uint32_t count)
{
    qsort(list, count, sizeof(*list), compare);
    /* Else the order would be another for every leader. */
    ASSERT_SLOW(names_differ(list, count));
}
