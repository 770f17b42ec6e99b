#include "control/state/named.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const struct named *x = a;
    const struct named *y = b;

    return str_compare(x->name, y->name);
}

void named_sort(struct named *list, uint32_t count)
{
    qsort(list, count, sizeof(*list), compare);
}
