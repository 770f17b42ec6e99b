#include "model/window.h"

#include "base/time_add.h"

static bool is_named(const struct str *names, uint32_t count, struct str name)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int c = str_compare(names[middle], name);
        if (c == 0) {
            return true;
        }
        if (c < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return count == 0;
}

bool window_record_covers(const struct window_record *window,
                   const struct window_node *node)
{
    for (uint32_t i = 0; i < window->label_count; i++) {
        const struct label *has =
            label_find(node->labels, node->label_count, window->labels[i].key);
        if (!has || !str_equal(has->value, window->labels[i].value)) {
            return false;
        }
    }
    return is_named(window->executors, window->executor_count,
                    node->executor) &&
           is_named(window->nodes, window->node_count, node->name) &&
           is_named(window->pools, window->pool_count, node->pool);
}

bool window_record_bars(const struct window_record *window, int64_t now_ms,
                 int64_t limit_ms)
{
    return limit_ms == INT64_MAX
               ? now_ms >= window->begin_ms - window->lead_ms
               : time_add_saturating(now_ms, limit_ms) > window->begin_ms;
}
