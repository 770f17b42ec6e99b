#include "notify/outbox.h"

#include "base/vec.h"

/* What waits for one target. */
struct lane {
    struct outbox_item *open[OUTBOX_OPEN_MAX]; /* owned; NULL: free */
    /* Owned; never tried; from `first` on, in the order of adding. */
    VEC(struct outbox_item *) waiting;
    size_t first;
    bool is_away; /* the last attempt was in vain */
    struct outbox_counts counts;
};

struct outbox {
    struct lane *lanes; /* owned, [lane_count] */
    uint32_t lane_count;
    uint32_t item_count_max;
    int64_t keep_ms;
};

struct outbox *outbox_create(uint32_t target_count, uint32_t item_count_max,
                             int64_t keep_ms)
{
    struct outbox *outbox = mem_alloc(sizeof(*outbox));

    outbox->lanes = mem_grow_array(NULL, target_count, sizeof(*outbox->lanes));
    memset(outbox->lanes, 0, target_count * sizeof(*outbox->lanes));
    outbox->lane_count = target_count;
    outbox->item_count_max = item_count_max;
    outbox->keep_ms = keep_ms;
    return outbox;
}

static void free_item(struct outbox_item *item)
{
    if (item) {
        mem_free((void *)(uintptr_t)item->id.p);
        mem_free((void *)(uintptr_t)item->body.p);
        mem_free(item);
    }
}

static void free_lane(struct lane *lane)
{
    for (size_t i = 0; i < ARRAY_COUNT(lane->open); i++) {
        free_item(lane->open[i]);
    }
    for (size_t i = lane->first; i < lane->waiting.count; i++) {
        free_item(lane->waiting.items[i]);
    }
    VEC_FREE(&lane->waiting);
}

void outbox_destroy(struct outbox *outbox)
{
    if (!outbox) {
        return;
    }
    for (uint32_t i = 0; i < outbox->lane_count; i++) {
        free_lane(&outbox->lanes[i]);
    }
    mem_free(outbox->lanes);
    mem_free(outbox);
}

bool outbox_has_room(const struct outbox *outbox)
{
    bool has_room = true;

    for (uint32_t i = 0; i < outbox->lane_count && has_room; i++) {
        const struct lane *lane = &outbox->lanes[i];
        has_room = lane->is_away ||
                   lane->counts.waiting_count < outbox->item_count_max;
    }
    return has_room;
}

static struct str copy(struct str text)
{
    return str_make(str_dup(text), text.byte_count);
}

bool outbox_add(struct outbox *outbox, uint32_t target, uint64_t seq,
                struct str id, struct str body, int64_t now_ms)
{
    struct lane *lane = &outbox->lanes[target];

    ASSERT(target < outbox->lane_count);
    if (lane->counts.waiting_count >= outbox->item_count_max) {
        lane->counts.full_count++;
        return false;
    }
    struct outbox_item *item = mem_alloc(sizeof(*item));
    *item = (struct outbox_item){
        .target = target,
        .seq = seq,
        .id = copy(id),
        .body = copy(body),
        .added_ms = now_ms,
        .due_ms = now_ms,
    };
    VEC_PUSH(&lane->waiting, item);
    lane->counts.waiting_count++;
    return true;
}

/* The first of those never tried, taken out. */
static struct outbox_item *take_waiting(struct lane *lane)
{
    struct outbox_item *item = lane->waiting.items[lane->first++];

    if (lane->first == lane->waiting.count) {
        lane->first = lane->waiting.count = 0;
    } else if (lane->first * 2 > lane->waiting.count) {
        lane->waiting.count -= lane->first;
        memmove(lane->waiting.items, lane->waiting.items + lane->first,
                lane->waiting.count * sizeof(struct outbox_item *));
        lane->first = 0;
    }
    return item;
}

static struct outbox_item *next_of(struct lane *lane, int64_t now_ms)
{
    for (size_t i = 0; i < ARRAY_COUNT(lane->open); i++) {
        struct outbox_item *item = lane->open[i];
        if (!item && lane->first < lane->waiting.count) {
            item = lane->open[i] = take_waiting(lane);
        }
        if (item && !item->is_flying && item->due_ms <= now_ms) {
            return item;
        }
    }
    return NULL;
}

struct outbox_item *outbox_next(struct outbox *outbox, int64_t now_ms)
{
    for (uint32_t i = 0; i < outbox->lane_count; i++) {
        struct outbox_item *item = next_of(&outbox->lanes[i], now_ms);
        if (item) {
            item->is_flying = true;
            item->attempt_count++;
            return item;
        }
    }
    return NULL;
}

/* How long to wait after so many attempts. */
static int64_t pause_ms(uint32_t attempt_count)
{
    int64_t ms = OUTBOX_RETRY_MS_MIN;

    for (uint32_t i = 1; i < attempt_count && ms < OUTBOX_RETRY_MS_MAX; i++) {
        ms *= 2;
    }
    return ms < OUTBOX_RETRY_MS_MAX ? ms : OUTBOX_RETRY_MS_MAX;
}

static void drop(struct lane *lane, struct outbox_item *item)
{
    for (size_t i = 0; i < ARRAY_COUNT(lane->open); i++) {
        if (lane->open[i] == item) {
            lane->open[i] = NULL;
        }
    }
    lane->counts.waiting_count--;
    free_item(item);
}

bool outbox_end(struct outbox *outbox, struct outbox_item *item,
                enum outbox_end end, int64_t now_ms)
{
    struct lane *lane = &outbox->lanes[item->target];
    int64_t due_ms = now_ms + pause_ms(item->attempt_count);
    bool is_old = due_ms - item->added_ms > outbox->keep_ms;

    ASSERT(item->is_flying);
    lane->is_away = end == OUTBOX_LATER;
    if (end == OUTBOX_LATER && !is_old) {
        item->is_flying = false;
        item->due_ms = due_ms;
        lane->counts.retry_count++;
        return false;
    }
    lane->counts.sent_count += end == OUTBOX_SENT;
    lane->counts.refused_count += end == OUTBOX_REFUSED;
    lane->counts.expired_count += end == OUTBOX_LATER;
    drop(lane, item);
    return end != OUTBOX_SENT;
}

static int64_t due_of(const struct lane *lane)
{
    int64_t due_ms = INT64_MAX;

    for (size_t i = 0; i < ARRAY_COUNT(lane->open); i++) {
        const struct outbox_item *item = lane->open[i];
        if (!item && lane->first < lane->waiting.count) {
            return lane->waiting.items[lane->first]->due_ms;
        }
        if (item && !item->is_flying && item->due_ms < due_ms) {
            due_ms = item->due_ms;
        }
    }
    return due_ms;
}

int64_t outbox_due_ms(const struct outbox *outbox)
{
    int64_t due_ms = INT64_MAX;

    for (uint32_t i = 0; i < outbox->lane_count; i++) {
        int64_t lane_ms = due_of(&outbox->lanes[i]);
        due_ms = lane_ms < due_ms ? lane_ms : due_ms;
    }
    return due_ms;
}

static uint64_t before(const struct outbox_item *item, uint64_t seq)
{
    return item && item->seq <= seq ? item->seq - 1 : seq;
}

uint64_t outbox_position(const struct outbox *outbox, uint32_t target,
                         uint64_t read_seq)
{
    const struct lane *lane = &outbox->lanes[target];

    for (size_t i = 0; i < ARRAY_COUNT(lane->open); i++) {
        read_seq = before(lane->open[i], read_seq);
    }
    for (size_t i = lane->first; i < lane->waiting.count; i++) {
        read_seq = before(lane->waiting.items[i], read_seq);
    }
    return read_seq;
}

struct outbox_counts outbox_counts(const struct outbox *outbox, uint32_t target)
{
    return outbox->lanes[target].counts;
}
