#include "job/table/page.h"

#include <string.h>

/* What is kept so far. */
struct page {
    const struct page_source *source;
    uint32_t *items;
    uint32_t count, count_max;
    bool has_more; /* there were more than count_max */
};

/* How many come before an item. */
static uint32_t place_of(const struct page *page, uint32_t item)
{
    uint32_t low = 0, high = page->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (page->source->compare(page->source->of, page->items[middle], item) <
            0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void offer(struct page *page, uint32_t item)
{
    uint32_t at = place_of(page, item);

    if (page->count == page->count_max) {
        page->has_more = true;
        if (at == page->count) {
            return;
        }
        page->count--; /* the last one makes room */
    }
    memmove(&page->items[at + 1], &page->items[at],
            (page->count - at) * sizeof(*page->items));
    page->items[at] = item;
    page->count++;
    /* What is kept is in order, and no more than was asked for. */
    ASSERT(page->count <= page->count_max);
    ASSERT_SLOW(at == 0 ||
                page->source->compare(page->source->of, page->items[at - 1],
                                      item) <= 0);
}

uint32_t page_first(const struct page_source *source, uint32_t count_max,
                    uint32_t *ret_items, bool *ret_has_more)
{
    struct page page = {
        .source = source, .items = ret_items, .count_max = count_max};

    ASSERT(count_max > 0);
    for (uint32_t item = 0; item < source->item_count; item++) {
        if (source->wants(source->of, item)) {
            offer(&page, item);
        }
    }
    *ret_has_more = page.has_more;
    return page.count;
}
