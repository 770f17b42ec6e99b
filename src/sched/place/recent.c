#include "sched/place/recent.h"

#include "sched/data/packed.h"

/* What moved further back than this is not moved up within the lists. */
enum { NEAR = 32, DEAD_MIN = 64, STRIDE = 4 };

#define NOWHERE UINT32_MAX

void recent_fini(struct recent *recent)
{
    VEC_FREE(&recent->nodes);
    VEC_FREE(&recent->serials);
    VEC_FREE(&recent->keys);
    VEC_FREE(&recent->words);
}

static void copy(struct recent *recent, size_t to, size_t from)
{
    uint32_t node = recent->nodes.items[from];

    recent->nodes.items[to] = node;
    recent->serials.items[to] = recent->serials.items[from];
    recent->keys.items[to] = recent->keys.items[from];
    recent->words.items[to] = recent->words.items[from];
    if (node != NOWHERE) {
        recent->places[node] = (uint32_t)to;
    }
}

static void cut(struct recent *recent, size_t count)
{
    recent->nodes.count = recent->serials.count = count;
    recent->keys.count = recent->words.count = count;
}

static void drop_dead(struct recent *recent)
{
    size_t kept = 0;

    for (size_t i = 0; i < recent->nodes.count; i++) {
        if (recent->nodes.items[i] != NOWHERE) {
            copy(recent, kept++, i);
        }
    }
    cut(recent, kept);
    recent->dead_count = 0;
}

/* Take a node out of where it was. */
static void leave(struct recent *recent, uint32_t node)
{
    size_t at = recent->places[node], last = recent->nodes.count - 1;

    ASSERT(recent->nodes.items[at] == node);
    if (last - at > NEAR) {
        recent->nodes.items[at] = NOWHERE;
        recent->words.items[at] = 0;
        recent->dead_count++;
        return;
    }
    for (; at < last; at++) {
        copy(recent, at, at + 1);
    }
    cut(recent, last);
}

void recent_note(struct recent *recent, uint32_t node, uint32_t serial,
                 uint64_t key, uint64_t word)
{
    if (recent->places[node] != NOWHERE) {
        leave(recent, node);
    }
    if (recent->dead_count > DEAD_MIN &&
        recent->dead_count > recent->nodes.count / 2) {
        drop_dead(recent);
    }
    /* Serials only go up, so that they can be searched. */
    ASSERT(recent->serials.count == 0 ||
           recent->serials.items[recent->serials.count - 1] < serial);
    recent->places[node] = (uint32_t)recent->nodes.count;
    VEC_PUSH(&recent->nodes, node);
    VEC_PUSH(&recent->serials, serial);
    VEC_PUSH(&recent->keys, key);
    VEC_PUSH(&recent->words, word);
}

size_t recent_since(const struct recent *recent, uint32_t serial)
{
    size_t high = recent->nodes.count, step = 1;

    /* Mostly near the end. */
    while (step <= high && recent->serials.items[high - step] >= serial) {
        high -= step;
        step *= 2;
    }
    size_t low = step <= high ? high - step + 1 : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (recent->serials.items[middle] < serial) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

size_t recent_next(const struct recent *recent, size_t at, uint64_t word,
                   uint64_t key)
{
    size_t count = recent->nodes.count;

    /* So many at once, without a branch for each, for most do not. */
    for (; at + STRIDE <= count; at += STRIDE) {
        const uint64_t *words = &recent->words.items[at];
        const uint64_t *keys = &recent->keys.items[at];
        unsigned any = 0;
        for (uint32_t i = 0; i < STRIDE; i++) {
            any |= (unsigned)packed_fits(word, words[i]) & (keys[i] <= key);
        }
        if (any) {
            break;
        }
    }
    while (at < count && (!packed_fits(word, recent->words.items[at]) ||
                          recent->keys.items[at] > key)) {
        at++;
    }
    return at;
}
