#include "job/page.h"

#include <string.h>

/* How many come before an item. */
static uint32_t place_of(const struct page *page, uint32_t item)
{
    uint32_t low = 0, high = page->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (page->compare(page->of, page->items[middle], item) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void page_offer(struct page *page, uint32_t item)
{
    uint32_t at = place_of(page, item);

    ASSERT(page->count_max > 0);
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
}
