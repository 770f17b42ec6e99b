#include "drawn.h"

const char *drawn_class(struct tape *tape, int odds)
{
    static const char *const names[] = {"mid", "low", "high", "fixed"};

    return once_in(tape, odds) ? names[draw(tape, 0, 3)] : names[0];
}

void drawn_terms(struct tape *tape, const struct drawn_terms *how,
                 struct gang_terms *ret_terms)
{
    ret_terms->sub_group_count =
        (uint32_t)pick(tape, 1, how->sub_group_count_max);
    ret_terms->is_whole_node = once_in(tape, 4);
    ret_terms->freezing_window_ms = once_in(tape, 4) ? 60000 : 0;
    for (uint32_t i = 0; i < ret_terms->sub_group_count; i++) {
        struct sub_group *sub = &ret_terms->sub_groups[i];
        sub->name = STR("s");
        sub->max_count = (uint32_t)draw(tape, 1, 4);
        sub->min_count = (uint32_t)draw(tape, i == 0, sub->max_count);
        sub->hops_max = once_in(tape, how->capped_in)
                            ? (uint32_t)draw(tape, 0, 5)
                            : HOPS_ANY;
        sub->hops_wait_ms =
            how->may_wait_out && sub->hops_max != HOPS_ANY && once_in(tape, 4)
                ? 30000
                : 0;
    }
}
