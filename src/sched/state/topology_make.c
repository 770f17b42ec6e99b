#include "sched/state/topology_make.h"

#include <string.h>

#include "sched/data/merge_sort.h"
#include "sched/state/topology.h"

/* A domain in the making. */
struct maker_domain {
    struct str value;
    uint32_t parent, level;
    uint32_t own_count;   /* nodes of which it is the lowest */
    uint32_t child_first; /* or NONE; in order once they are sorted */
    uint32_t child_next;
    uint32_t first;  /* of its nodes */
    uint32_t number; /* in the topology */
};

/* The tree in the making; what it points to is in the arena. */
struct maker {
    struct sched *sched;
    uint32_t pool, level_count;
    const struct str *labels;
    struct topology *topology;
    VEC(struct maker_domain) domains;
    struct map children; /* see child_key() */
    struct map seen;     /* values of a level in a cluster */
    uint32_t *lowest;    /* by place among the pool's nodes by name */
    uint32_t *nodes;     /* the same */
    uint32_t node_count;
    uint32_t *order; /* of domains, parents before children */
};

/* What a node says of itself; absent labels are INTERN_NONE. */
struct path {
    uint32_t executor;
    uint32_t values[GANG_LEVELS_MAX];
};

static struct key128 child_key(uint32_t parent, uint32_t level, uint32_t value)
{
    return (struct key128){(uint64_t)parent << 32 | level, value};
}

/* Count values that are found under several others in one cluster. */
static void note_value(struct maker *maker, uint32_t cluster, uint32_t level,
                       uint32_t value)
{
    struct key128 key = child_key(cluster, level, value);
    uint32_t count = map_find(&maker->seen, key);

    ASSERT(level >= 1 && level <= maker->level_count);
    count = count == MAP_NONE ? 1 : count + 1;
    map_put(&maker->seen, key, count);
    maker->topology->split_count += count == 2;
}

static uint32_t child_of(struct maker *maker, uint32_t parent, uint32_t level,
                         uint32_t value, struct str name)
{
    struct key128 key = child_key(parent, level, value);
    uint32_t at = map_find(&maker->children, key);

    if (at == MAP_NONE) {
        at = (uint32_t)maker->domains.count;
        map_put(&maker->children, key, at);
        VEC_PUSH(&maker->domains, (struct maker_domain){
                                      .value = name,
                                      .parent = parent,
                                      .level = level,
                                      .child_first = NONE,
                                      .child_next = NONE,
                                  });
    }
    return at;
}

static void read_path(struct maker *maker, uint32_t index, struct path *path)
{
    const struct node *node = &maker->sched->nodes.items[index];
    bool is_bare = false;

    path->executor = node->executor;
    for (uint32_t l = 0; l < maker->level_count; l++) {
        const struct label *label = label_find(
            node->record->labels, node->record->label_count, maker->labels[l]);
        path->values[l] =
            label ? intern_add(maker->topology->values, label->value)
                  : INTERN_NONE;
        is_bare |= !label;
    }
    maker->topology->bare_count += is_bare;
}

/* The lowest domain of a path, made when new. */
static uint32_t domain_of(struct maker *maker, const struct path *path)
{
    struct str name = maker->sched->executors.items[path->executor].name;
    uint32_t cluster =
        child_of(maker, NONE, maker->level_count + 1, path->executor, name);
    uint32_t at = cluster;

    for (uint32_t l = maker->level_count; l > 0; l--) {
        uint32_t value = path->values[l - 1];
        if (value != INTERN_NONE) {
            size_t before = maker->domains.count;
            at = child_of(maker, at, l, value,
                          intern_get(maker->topology->values, value));
            if (maker->domains.count > before) {
                note_value(maker, cluster, l, value);
            }
        }
    }
    return at;
}

/* Neighbours by name are mostly neighbours in the tree. */
static void place_nodes(struct maker *maker)
{
    struct sched *sched = maker->sched;
    struct path last = {0}, path = {0};
    uint32_t at = NONE;

    for (struct seq_cursor c = {0}; !seq_is_end(&sched->nodes_by_name, c);
         seq_next(&sched->nodes_by_name, &c)) {
        uint32_t node = seq_get(&sched->nodes_by_name, c);
        if (sched->nodes.items[node].pool != maker->pool ||
            !sched->nodes.items[node].record) {
            continue;
        }
        read_path(maker, node, &path);
        if (at == NONE || memcmp(&path, &last, sizeof(path)) != 0) {
            at = domain_of(maker, &path);
            last = path;
        }
        maker->domains.items[at].own_count++;
        maker->lowest[maker->node_count] = at;
        maker->nodes[maker->node_count++] = node;
        ASSERT(maker->node_count <= sched->nodes_by_name.count);
    }
}

/* The order among the children of one domain. */
static bool goes_before(const struct maker *maker, uint32_t a, uint32_t b)
{
    const struct maker_domain *x = &maker->domains.items[a];
    const struct maker_domain *y = &maker->domains.items[b];
    int c = str_compare(x->value, y->value);

    return c != 0 ? c < 0 : x->level > y->level;
}

static uint32_t *sort_domains(struct maker *maker, uint32_t *items,
                              uint32_t *spare, uint32_t count)
{
#define GOES_BEFORE(b, a) goes_before(maker, *(b), *(a))
    return MERGE_SORT(items, spare, count, GOES_BEFORE);
#undef GOES_BEFORE
}

/* Chain the children of each domain by name; returns the first cluster. */
static uint32_t link_children(struct maker *maker, struct arena *arena)
{
    uint32_t count = (uint32_t)maker->domains.count;
    uint32_t *items = arena_alloc_array(arena, count, sizeof(*items));
    uint32_t *spare = arena_alloc_array(arena, count, sizeof(*spare));
    uint32_t cluster_first = NONE;

    for (uint32_t i = 0; i < count; i++) {
        items[i] = i;
    }
    items = sort_domains(maker, items, spare, count);
    for (uint32_t i = count; i > 0; i--) {
        struct maker_domain *domain = &maker->domains.items[items[i - 1]];
        uint32_t *head =
            domain->parent == NONE
                ? &cluster_first
                : &maker->domains.items[domain->parent].child_first;
        domain->child_next = *head;
        *head = items[i - 1];
    }
    return cluster_first;
}

/* Give the domains their nodes' places: a domain's own stand before those of
 * its children. */
static void walk(struct maker *maker, struct arena *arena)
{
    uint32_t at = link_children(maker, arena);
    uint32_t place = 0, count = 0;

    maker->order =
        arena_alloc_array(arena, maker->domains.count, sizeof(*maker->order));
    while (at != NONE) {
        struct maker_domain *domain = &maker->domains.items[at];
        maker->order[count++] = at;
        domain->first = place;
        place += domain->own_count;
        if (domain->child_first != NONE) {
            at = domain->child_first;
            continue;
        }
        while (at != NONE && maker->domains.items[at].child_next == NONE) {
            at = maker->domains.items[at].parent;
        }
        at = at == NONE ? NONE : maker->domains.items[at].child_next;
    }
    ASSERT(count == maker->domains.count && place == maker->node_count);
}

/* Number the domains, by level and then in the order of the walk. */
static void number_domains(struct maker *maker)
{
    struct topology *topology = maker->topology;
    uint32_t count = (uint32_t)maker->domains.count;
    uint32_t next = 0;

    topology->domains =
        mem_alloc_array(count ? count : 1, sizeof(*topology->domains));
    topology->domain_count = count;
    for (uint32_t level = 1; level <= maker->level_count + 1; level++) {
        topology->level_first[level] = next;
        for (uint32_t i = 0; i < count; i++) {
            struct maker_domain *domain =
                &maker->domains.items[maker->order[i]];
            if (domain->level == level) {
                domain->number = next++;
            }
        }
    }
    topology->level_first[maker->level_count + 2] = next;
    ASSERT(next == count); /* each domain is of one level */
    for (uint32_t i = 0; i < count; i++) {
        const struct maker_domain *from = &maker->domains.items[i];
        topology->domains[from->number] = (struct domain){
            .value = from->value,
            .parent = from->parent == NONE
                          ? NONE
                          : maker->domains.items[from->parent].number,
            .first = from->first,
            .count = from->own_count,
            .level = from->level,
        };
    }
    for (uint32_t i = 0; i < count; i++) { /* children before parents */
        const struct domain *domain = &topology->domains[i];
        if (domain->parent != NONE) {
            topology->domains[domain->parent].count += domain->count;
        }
    }
}

static void fill_nodes(struct maker *maker)
{
    struct topology *topology = maker->topology;
    uint32_t n = maker->node_count;

    topology->node_count = n;
    topology->nodes = mem_alloc_array(n ? n : 1, sizeof(*topology->nodes));
    topology->lowest = mem_alloc_array(n ? n : 1, sizeof(*topology->lowest));
    topology->place_count = (uint32_t)maker->sched->nodes.count;
    topology->place =
        mem_alloc_array(topology->place_count ? topology->place_count : 1,
                        sizeof(*topology->place));
    memset(topology->place, 0xff,
           topology->place_count * sizeof(*topology->place));
    for (uint32_t i = 0; i < n; i++) {
        struct maker_domain *domain = &maker->domains.items[maker->lowest[i]];
        uint32_t at = domain->first++; /* not needed any more */
        ASSERT(at < n);
        topology->nodes[at] = maker->nodes[i];
        topology->lowest[at] = domain->number;
        topology->place[maker->nodes[i]] = at;
    }
}

struct topology *topology_make(struct sched *sched, uint32_t pool)
{
    const struct pool_policy *policy =
        topology_policy(sched, &sched->pools.items[pool]);
    size_t n = sched->nodes_by_name.count;
    auto_arena arena = {0};
    struct maker maker = {
        .sched = sched,
        .pool = pool,
        .level_count = policy->level_count,
        .labels = policy->topology,
        .topology = mem_alloc(sizeof(*maker.topology)),
        .nodes = arena_alloc_array(&arena, n, sizeof(*maker.nodes)),
        .lowest = arena_alloc_array(&arena, n, sizeof(*maker.lowest)),
    };

    maker.topology->level_count = maker.level_count;
    maker.topology->values = intern_create();
    place_nodes(&maker);
    walk(&maker, &arena);
    number_domains(&maker);
    fill_nodes(&maker);
    VEC_FREE(&maker.domains);
    map_fini(&maker.children);
    map_fini(&maker.seen);
    return maker.topology;
}
