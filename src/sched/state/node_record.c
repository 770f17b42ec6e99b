#include "sched/state/node_record.h"

struct node_record *node_record_keep(const struct node_record *record)
{
    struct node_record plain = *record;

    plain.pool = plain.node_type = str_make(NULL, 0);
    struct node_record *kept =
        mem_alloc(sizeof(*kept) + node_record_bytes(&plain));
    node_record_copy(&plain, kept + 1, kept);
    return kept;
}
