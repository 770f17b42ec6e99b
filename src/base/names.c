#include "base/names.h"

#include "base/hash.h"

static struct key128 key_of(uint32_t owner, struct str name)
{
    return (struct key128){owner, hash_bytes(name.p, name.byte_count, owner)};
}

void names_fini(struct names *names)
{
    map_fini(&names->rows);
    VEC_FREE(&names->nexts);
}

uint32_t names_first(const struct names *names, uint32_t owner, struct str name)
{
    return map_find(&names->rows, key_of(owner, name));
}

void names_put(struct names *names, uint32_t owner, struct str name,
               uint32_t row)
{
    while (names->nexts.count <= row) {
        VEC_PUSH(&names->nexts, NAMES_NONE);
    }
    names->nexts.items[row] = map_put(&names->rows, key_of(owner, name), row);
}

void names_remove(struct names *names, uint32_t owner, struct str name,
                  uint32_t row)
{
    struct key128 key = key_of(owner, name);
    uint32_t at = map_find(&names->rows, key);
    uint32_t next = names->nexts.items[row];

    if (at != row) {
        while (names->nexts.items[at] != row) {
            at = names->nexts.items[at];
        }
        names->nexts.items[at] = next;
    } else if (next != NAMES_NONE) {
        map_put(&names->rows, key, next);
    } else {
        map_remove(&names->rows, key);
    }
}
