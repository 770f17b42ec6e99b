#include "sched/health/quarantine.h"

static int64_t slot_ms(const struct quarantine_policy *rules)
{
    int64_t length_ms = rules->window_ms / QUARANTINE_SLOTS;

    return length_ms > 0 ? length_ms : 1;
}

int64_t quarantine_slot(const struct quarantine_policy *rules, int64_t time_ms)
{
    return time_ms / slot_ms(rules);
}

static uint32_t place_of(int64_t slot)
{
    int64_t place = slot % QUARANTINE_SLOTS;

    return (uint32_t)(place < 0 ? place + QUARANTINE_SLOTS : place);
}

/* Whether a slot is within the window whose newest is `newest`. */
static bool is_within(int64_t slot, int64_t newest)
{
    return slot <= newest && newest - slot < QUARANTINE_SLOTS;
}

/* Forget what is too old now; time that runs back forgets nothing. */
static void advance(struct quarantine_window *window, int64_t slot)
{
    if (slot - window->slot >= QUARANTINE_SLOTS) {
        *window = (struct quarantine_window){.slot = slot};
    }
    while (window->slot < slot) {
        uint32_t place = place_of(++window->slot);
        window->ended[place] = window->failed[place] = 0;
    }
}

void quarantine_window_add(struct quarantine_window *window,
                           const struct quarantine_policy *rules,
                           int64_t time_ms, bool is_failed, int sign)
{
    int64_t slot = quarantine_slot(rules, time_ms);

    advance(window, slot);
    if (!is_within(slot, window->slot)) {
        return;
    }
    uint32_t place = place_of(slot);
    if (sign < 0) {
        window->failed[place] -= window->failed[place] > 0;
        return;
    }
    ASSERT(sign > 0 && slot <= window->slot);
    window->ended[place]++;
    window->failed[place] += is_failed;
}

struct quarantine_sums
quarantine_window_sums(const struct quarantine_window *window,
                       const struct quarantine_policy *rules, int64_t now_ms)
{
    int64_t newest = quarantine_slot(rules, now_ms);
    struct quarantine_sums sums = {0};

    newest = newest > window->slot ? newest : window->slot;
    for (int64_t i = 0; i < QUARANTINE_SLOTS; i++) {
        if (is_within(window->slot - i, newest)) {
            sums.ended += window->ended[place_of(window->slot - i)];
            sums.failed += window->failed[place_of(window->slot - i)];
        }
    }
    return sums;
}

void quarantine_window_subtract(struct quarantine_window *whole,
                                const struct quarantine_window *part)
{
    for (int64_t i = 0; i < QUARANTINE_SLOTS; i++) {
        int64_t slot = part->slot - i;
        uint32_t at = place_of(slot);
        if (!is_within(slot, whole->slot)) {
            continue;
        }
        whole->ended[at] -= part->ended[at] < whole->ended[at]
                                ? part->ended[at]
                                : whole->ended[at];
        whole->failed[at] -= part->failed[at] < whole->failed[at]
                                 ? part->failed[at]
                                 : whole->failed[at];
    }
}

void quarantine_window_merge(struct quarantine_window *whole,
                             const struct quarantine_window *part)
{
    advance(whole, part->slot);
    for (int64_t i = 0; i < QUARANTINE_SLOTS; i++) {
        int64_t slot = part->slot - i;
        if (is_within(slot, whole->slot)) {
            whole->ended[place_of(slot)] += part->ended[place_of(slot)];
            whole->failed[place_of(slot)] += part->failed[place_of(slot)];
        }
    }
}

void quarantine_window_pack(struct strbuf *buf,
                            const struct quarantine_window *window,
                            const struct quarantine_policy *rules,
                            int64_t now_ms)
{
    int64_t newest = quarantine_slot(rules, now_ms);
    uint32_t count = 0;

    newest = newest > window->slot ? newest : window->slot;
    for (int64_t i = 0; i < QUARANTINE_SLOTS; i++) {
        count += is_within(window->slot - i, newest) &&
                 window->ended[place_of(window->slot - i)] > 0;
    }
    pack_u64(buf, count);
    for (int64_t i = QUARANTINE_SLOTS - 1; i >= 0; i--) {
        uint32_t place = place_of(window->slot - i);
        if (is_within(window->slot - i, newest) && window->ended[place] > 0) {
            pack_i64(buf, window->slot - i);
            pack_u64(buf, window->ended[place]);
            pack_u64(buf, window->failed[place]);
        }
    }
}

void quarantine_window_unpack(struct pack_reader *reader,
                              struct quarantine_window *ret_window)
{
    uint32_t count = unpack_count(reader, QUARANTINE_SLOTS);

    *ret_window = (struct quarantine_window){0};
    for (uint32_t i = 0; i < count && !reader->is_bad; i++) {
        int64_t slot = unpack_i64(reader);
        uint32_t ended = unpack_count(reader, UINT32_MAX);
        uint32_t failed = unpack_count(reader, UINT32_MAX);
        advance(ret_window, slot);
        if (is_within(slot, ret_window->slot)) {
            ret_window->ended[place_of(slot)] = ended;
            ret_window->failed[place_of(slot)] = failed;
        }
    }
}
