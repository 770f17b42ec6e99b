#include "executor/port/node_set.h"

#include "base/intern.h"

enum { REMOVED_MAX = 1 << 16, PLACE_NONE = UINT32_MAX };

struct removed_node {
    uint32_t name; /* a reference to `names` */
    uint64_t version;
};

struct node_set {
    struct intern *names;        /* owned */
    VEC(uint32_t) places;        /* name -> index of `records`, or PLACE_NONE */
    VEC(uint64_t) gone_versions; /* name -> of its last removal */
    VEC(struct node_record) records;
    VEC(void *) blocks;               /* owned: what each record is in */
    VEC(uint64_t) versions;           /* of each record's last change */
    VEC(struct removed_node) removed; /* oldest first */
    uint64_t version;
    uint64_t forgotten_version; /* removals up to it are not known any more */
};

struct node_set *node_set_create(void)
{
    struct node_set *set = mem_alloc(sizeof(*set));

    set->names = intern_create();
    set->version = 1;
    return set;
}

void node_set_destroy(struct node_set *set)
{
    if (!set) {
        return;
    }
    for (size_t i = 0; i < set->blocks.count; i++) {
        mem_free(set->blocks.items[i]);
    }
    intern_destroy(set->names);
    VEC_FREE(&set->places);
    VEC_FREE(&set->gone_versions);
    VEC_FREE(&set->records);
    VEC_FREE(&set->blocks);
    VEC_FREE(&set->versions);
    VEC_FREE(&set->removed);
    mem_free(set);
}

static uint32_t place_of(const struct node_set *set, struct str name)
{
    uint32_t index = intern_find(set->names, name);

    return index == INTERN_NONE || index >= set->places.count
               ? PLACE_NONE
               : set->places.items[index];
}

static void set_place(struct node_set *set, uint32_t name, uint32_t place)
{
    while (set->places.count <= name) {
        VEC_PUSH(&set->places, PLACE_NONE);
        VEC_PUSH(&set->gone_versions, 0);
    }
    set->places.items[name] = place;
}

void node_set_put(struct node_set *set, const struct node_record *record)
{
    uint32_t place = place_of(set, record->name);
    struct node_record copy;

    if (place != PLACE_NONE &&
        node_record_equal(&set->records.items[place], record)) {
        return;
    }
    void *block = mem_alloc(node_record_bytes(record));
    node_record_copy(record, block, &copy);
    set->version++;
    if (place != PLACE_NONE) {
        mem_free(set->blocks.items[place]);
        set->records.items[place] = copy;
        set->blocks.items[place] = block;
        set->versions.items[place] = set->version;
        return;
    }
    set_place(set, intern_add(set->names, record->name),
              (uint32_t)set->records.count);
    VEC_PUSH(&set->records, copy);
    VEC_PUSH(&set->blocks, block);
    VEC_PUSH(&set->versions, set->version);
}

/* The older half of the removals is known no more. */
static void forget_removals(struct node_set *set)
{
    size_t gone_count = set->removed.count / 2;

    for (size_t i = 0; i < gone_count; i++) {
        intern_unref(set->names, set->removed.items[i].name);
    }
    set->forgotten_version = set->removed.items[gone_count - 1].version;
    set->removed.count -= gone_count;
    memmove(set->removed.items, set->removed.items + gone_count,
            set->removed.count * sizeof(*set->removed.items));
}

bool node_set_remove(struct node_set *set, struct str name)
{
    uint32_t place = place_of(set, name);

    if (place == PLACE_NONE) {
        return false;
    }
    uint32_t index = intern_find(set->names, name);
    uint32_t last = (uint32_t)set->records.count - 1;
    set_place(set, intern_find(set->names, set->records.items[last].name),
              place);
    set_place(set, index, PLACE_NONE);
    mem_free(set->blocks.items[place]);
    set->records.items[place] = set->records.items[last];
    set->blocks.items[place] = set->blocks.items[last];
    set->versions.items[place] = set->versions.items[last];
    set->records.count = set->blocks.count = set->versions.count = last;
    VEC_PUSH(&set->removed, (struct removed_node){index, ++set->version});
    set->gone_versions.items[index] = set->version;
    if (set->removed.count >= REMOVED_MAX) {
        forget_removals(set);
    }
    return true;
}

const struct node_record *node_set_find(const struct node_set *set,
                                        struct str name)
{
    uint32_t place = place_of(set, name);

    return place == PLACE_NONE ? NULL : &set->records.items[place];
}

const struct node_record *node_set_all(const struct node_set *set,
                                       uint32_t *ret_count)
{
    *ret_count = (uint32_t)set->records.count;
    return set->records.items;
}

uint64_t node_set_version(const struct node_set *set)
{
    return set->version;
}

static void add_changed(const struct node_set *set, uint64_t version,
                        struct arena *arena, struct node_set_delta *delta)
{
    struct node_record *changed =
        arena_alloc_array(arena, set->records.count + 1, sizeof(*changed));

    for (size_t i = 0; i < set->records.count; i++) {
        if (set->versions.items[i] > version) {
            changed[delta->changed_count++] = set->records.items[i];
        }
    }
    delta->changed = changed;
}

static void add_removed(const struct node_set *set, uint64_t version,
                        struct arena *arena, struct node_set_delta *delta)
{
    struct str *removed =
        arena_alloc_array(arena, set->removed.count + 1, sizeof(*removed));

    for (size_t i = 0; i < set->removed.count; i++) {
        uint32_t name = set->removed.items[i].name;
        uint64_t gone_version = set->removed.items[i].version;
        /* It may have come and gone several times. */
        if (gone_version > version && set->places.items[name] == PLACE_NONE &&
            set->gone_versions.items[name] == gone_version) {
            removed[delta->removed_count++] = intern_get(set->names, name);
        }
    }
    delta->removed = removed;
}

bool node_set_since(const struct node_set *set, uint64_t version,
                    struct arena *arena, struct node_set_delta *ret_delta)
{
    *ret_delta = (struct node_set_delta){.version = set->version};
    if (version < set->forgotten_version) {
        return false;
    }
    add_changed(set, version, arena, ret_delta);
    add_removed(set, version, arena, ret_delta);
    return true;
}
