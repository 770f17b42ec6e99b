#include "base/intern.h"

#include "base/hash.h"

enum { BUCKETS_MIN = 16 };

struct intern *intern_create(void)
{
    return mem_alloc(sizeof(struct intern));
}

void intern_destroy(struct intern *intern)
{
    if (intern) {
        intern_fini(intern);
        mem_free(intern);
    }
}

void intern_fini(struct intern *intern)
{
    for (size_t i = 0; i < intern->strings.count; i++) {
        mem_free(intern->strings.items[i].bytes);
    }
    SLOTS_FREE(&intern->strings);
    mem_free(intern->buckets);
    *intern = (struct intern){0};
}

static uint32_t home_of(const struct intern *intern, struct str s)
{
    return (uint32_t)hash_bytes(s.p, s.byte_count, 0) &
           (intern->bucket_count - 1);
}

static struct str string_at(const struct intern *intern, uint32_t index)
{
    return str_make(intern->strings.items[index].bytes,
                    intern->strings.items[index].byte_count);
}

bool intern_is_live(const struct intern *intern, uint32_t index)
{
    return index < intern->strings.count && intern->strings.items[index].bytes;
}

/* The bucket of `s`, or the free one where it belongs. */
static uint32_t find_bucket(const struct intern *intern, struct str s)
{
    uint32_t at = home_of(intern, s);

    while (intern->buckets[at] != INTERN_NONE &&
           !str_equal(string_at(intern, intern->buckets[at]), s)) {
        at = (at + 1) & (intern->bucket_count - 1);
    }
    return at;
}

static void grow(struct intern *intern)
{
    uint32_t count =
        intern->bucket_count ? intern->bucket_count * 2 : BUCKETS_MIN;

    mem_free(intern->buckets);
    intern->bucket_count = count;
    intern->buckets = mem_alloc_array(count, sizeof(*intern->buckets));
    memset(intern->buckets, 0xff, count * sizeof(*intern->buckets));
    for (uint32_t i = 0; i < intern->strings.count; i++) {
        if (intern_is_live(intern, i)) {
            intern->buckets[find_bucket(intern, string_at(intern, i))] = i;
        }
    }
}

uint32_t intern_add(struct intern *intern, struct str s)
{
    if (intern_is_live(intern, intern->last) &&
        str_equal(string_at(intern, intern->last), s)) {
        return intern_ref(intern, intern->last); /* the name of the one pool */
    }
    ASSERT(s.byte_count <= UINT32_MAX);
    if ((SLOTS_LIVE(&intern->strings) + 1) * 4 >
        (size_t)intern->bucket_count * 3) {
        grow(intern);
    }
    uint32_t at = find_bucket(intern, s);
    if (intern->buckets[at] != INTERN_NONE) {
        intern->last = intern->buckets[at];
        return intern_ref(intern, intern->last);
    }
    uint32_t index = SLOTS_TAKE(&intern->strings);
    ASSERT(index < INTERN_COUNT_MAX);
    intern->strings.items[index] = (struct interned){
        .bytes = str_dup(s),
        .byte_count = (uint32_t)s.byte_count,
        .ref_count = 1,
    };
    intern->buckets[at] = index;
    intern->last = index;
    return index;
}

uint32_t intern_ref(struct intern *intern, uint32_t index)
{
    ASSERT(intern_is_live(intern, index));
    intern->strings.items[index].ref_count++;
    return index;
}

/* Close the hole at `hole` by shifting back what follows. */
static void free_bucket(struct intern *intern, uint32_t hole)
{
    uint32_t mask = intern->bucket_count - 1;

    for (uint32_t at = (hole + 1) & mask; intern->buckets[at] != INTERN_NONE;
         at = (at + 1) & mask) {
        uint32_t home = home_of(intern, string_at(intern, intern->buckets[at]));
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            intern->buckets[hole] = intern->buckets[at];
            hole = at;
        }
    }
    intern->buckets[hole] = INTERN_NONE;
}

void intern_unref(struct intern *intern, uint32_t index)
{
    if (index == INTERN_NONE) {
        return;
    }
    ASSERT(intern_is_live(intern, index));
    struct interned *string = &intern->strings.items[index];
    if (--string->ref_count > 0) {
        return;
    }
    if (index < intern->watched_count) {
        intern->watched[index] = 0;
    }
    free_bucket(intern, find_bucket(intern, string_at(intern, index)));
    mem_free(string->bytes);
    *string = (struct interned){0};
    SLOTS_GIVE(&intern->strings, index);
}

uint32_t intern_find(const struct intern *intern, struct str s)
{
    return intern->bucket_count ? intern->buckets[find_bucket(intern, s)]
                                : (uint32_t)INTERN_NONE;
}

struct str intern_get(const struct intern *intern, uint32_t index)
{
    if (index == INTERN_NONE) {
        return (struct str){0};
    }
    ASSERT(intern_is_live(intern, index));
    return string_at(intern, index);
}

uint32_t intern_count(const struct intern *intern)
{
    return (uint32_t)intern->strings.count;
}

uint32_t intern_live_count(const struct intern *intern)
{
    return (uint32_t)SLOTS_LIVE(&intern->strings);
}
