/* Whether a gang could ever start: an upper bound on how many of its members
 * the nodes of one group (pool, cluster, value of its label) hold when they are
 * empty, and on how many members of a sub-group with a cap on hops they hold
 * close enough (cap_fit.h).  A gang that this refuses could never run; one that
 * it accepts may still wait for ever, because packing is hard. */
#include "base/hash.h"
#include "sched/gang/cap_fit.h"
#include "sched/state/floating.h"
#include "sched/state/nodes.h"
#include "sched/state/sub_groups.h"
#include "sched/victims/away.h"

/* Further looks than this are not worth it: a gang of so many different
 * members waits like any other. */
enum { LOOKS_MAX = 1 << 20 };

/* Members of one class. */
struct kind {
    uint32_t class_index, count;
    struct requirement *requirement;
};

struct group {
    uint32_t pool, executor, next;
    struct str value;
    struct resource_vec capacity;
    uint64_t count;         /* of members that fit */
    uint32_t *by_kind;      /* of each kind */
    struct cap_count *near; /* NULL: there are no caps */
};

struct fitting {
    struct sched *sched;                 /* of the nodes */
    const struct sched_elsewhere *there; /* NULL: they are the gang's own */
    const struct sched *home;            /* of the gang */
    const struct gang *gang;
    uint32_t pool; /* that it must be in, or NONE */
    struct arena arena;
    struct kind *kinds;
    uint32_t kind_count;
    struct map kind_map, group_map;
    VEC(struct group) groups;
    struct cap_fit caps;
    uint32_t needed;
    bool is_all_needed;
    bool has_nodes; /* in its pools */
};

static void collect_kinds(struct fitting *f)
{
    f->kinds =
        arena_alloc_array(&f->arena, f->gang->waiting.count, sizeof(*f->kinds));
    for (struct seq_cursor at = {0}; !seq_is_end(&f->gang->waiting, at);
         seq_next(&f->gang->waiting, &at)) {
        uint32_t job = seq_get(&f->gang->waiting, at);
        uint32_t list = f->home->jobs.items[job].list;
        uint32_t c = f->home->lists.items[list].class_index;
        if (f->there) {
            c = f->there->class_of(f->there->context, c);
        }
        uint32_t kind = map_find(&f->kind_map, key_of_u64(c));
        if (kind == MAP_NONE) {
            kind = f->kind_count++;
            f->kinds[kind] =
                (struct kind){c, 0, class_decode(f->sched, c, &f->arena)};
            map_put(&f->kind_map, key_of_u64(c), kind);
        }
        f->kinds[kind].count++;
        if (f->caps.count) {
            cap_fit_note(&f->caps, sub_group_of(f->home, job), kind);
        }
    }
    ASSERT(f->kind_count <= f->gang->waiting.count);
    cap_fit_prepare(&f->caps);
}

/* The group that a node belongs to, made when new. */
static struct group *group_of(struct fitting *f, const struct node *node,
                              struct str value)
{
    struct key128 key = {
        (uint64_t)node->pool << 32 | node->executor,
        hash_bytes(value.p, value.byte_count, 0),
    };
    uint32_t first = map_find(&f->group_map, key);

    for (uint32_t at = first; at != MAP_NONE; at = f->groups.items[at].next) {
        if (str_equal(f->groups.items[at].value, value)) {
            return &f->groups.items[at];
        }
    }
    struct group fresh = {
        .pool = node->pool,
        .executor = node->executor,
        .next = first,
        .value = value,
        .by_kind =
            arena_alloc_array(&f->arena, f->kind_count, sizeof(*fresh.by_kind)),
    };
    if (f->caps.count) {
        fresh.near = arena_alloc_array(&f->arena, 1, sizeof(*fresh.near));
    }
    map_put(&f->group_map, key, (uint32_t)f->groups.count);
    VEC_PUSH(&f->groups, fresh);
    return &f->groups.items[f->groups.count - 1];
}

/* How many of a class an empty node holds. */
static uint32_t count_on(const struct class *class, const struct node *node)
{
    return class->is_impossible
               ? 0
               : amounts_times(&class->request, &node->capacity);
}

static bool allows(const struct fitting *f, const struct kind *kind,
                   uint32_t node)
{
    return away_match(f->sched, kind->requirement, kind->class_index, node) ==
           SCHED_EXCLUSIONS;
}

static void count_node(struct fitting *f, struct group *group, uint32_t index)
{
    const struct node *node = &f->sched->nodes.items[index];

    amounts_add(&group->capacity, &node->capacity);
    for (uint32_t k = 0; k < f->kind_count; k++) {
        const struct kind *kind = &f->kinds[k];
        const struct class *class = &f->sched->classes.items[kind->class_index];
        ASSERT(group->by_kind[k] <= kind->count); /* none counts twice */
        uint32_t missing = kind->count - group->by_kind[k];
        uint32_t here = count_on(class, node);
        uint32_t taken = here < missing ? here : missing;
        bool is_capped = here > 0 && cap_fit_asks(&f->caps, k);
        if ((taken > 0 || is_capped) && allows(f, kind, index)) {
            group->by_kind[k] += taken;
            group->count += taken;
            if (is_capped) {
                cap_fit_add(&f->caps, group->near,
                            (uint32_t)(group - f->groups.items), index, k,
                            here);
            }
        }
    }
}

/* Whether a group has room for all, wherever in it. */
static bool is_large_enough(const struct fitting *f, const struct group *group)
{
    return group->count >= f->needed &&
           (!f->is_all_needed ||
            (amounts_fit(&f->gang->waiting_sum, &group->capacity) &&
             floating_may_fit(f->sched, group->pool, &f->gang->waiting_sum)));
}

static bool is_enough(const struct fitting *f, const struct group *group)
{
    return is_large_enough(f, group) &&
           (!group->near || group->near->met_count == f->caps.count);
}

/* Look at nodes until a group has room for enough. */
static bool find_group(struct fitting *f, uint32_t *ret_looks)
{
    struct str key = str_of(f->gang->uniformity);

    for (uint32_t i = 0; i < f->sched->nodes.count; i++) {
        const struct node *node = &f->sched->nodes.items[i];
        const struct label none = {{0}, {0}};
        const struct label *label = &none;
        if (!node->record || !pool_is_for(f->sched, node->pool, f->pool)) {
            continue;
        }
        f->has_nodes = true;
        *ret_looks += f->kind_count;
        if (key.byte_count) {
            label = label_find(node->record->labels, node->record->label_count,
                               key);
        }
        if (label) {
            struct group *group = group_of(f, node, label->value);
            count_node(f, group, i);
            if (is_enough(f, group)) {
                return true;
            }
        }
    }
    return false;
}

/* The group that is large enough, or else holds most; equals by name. */
static const struct group *best_of(const struct fitting *f)
{
    const struct group *best = NULL;

    /* Before the first node of the pools was seen there is no group. */
    ASSERT(f->has_nodes || f->groups.count == 0);
    for (size_t i = 0; i < f->groups.count; i++) {
        const struct group *group = &f->groups.items[i];
        int c =
            !best ? -1
                  : str_compare(f->sched->executors.items[group->executor].name,
                                f->sched->executors.items[best->executor].name);
        c = c == 0 ? str_compare(group->value, best->value) : c;
        bool is_large = is_large_enough(f, group);
        bool was_large = best && is_large_enough(f, best);
        if (!best || is_large > was_large ||
            (is_large == was_large &&
             (group->count > best->count ||
              (group->count == best->count && c < 0)))) {
            best = group;
        }
    }
    return best;
}

static void fill_miss(const struct fitting *f, struct sched_gang_miss *ret_miss)
{
    const struct group *best = best_of(f);

    /* A gang is told what it misses only where no group holds it. */
    ASSERT(!best || !is_enough(f, best));
    *ret_miss = (struct sched_gang_miss){
        .needed = f->needed,
        .resource = -1,
        .label = str_of(f->gang->uniformity),
    };
    if (!best) {
        return;
    }
    ret_miss->count = (uint32_t)best->count;
    ret_miss->executor = f->sched->executors.items[best->executor].name;
    ret_miss->pool = intern_get(f->sched->pool_names, best->pool);
    ret_miss->value = best->value; /* of the node's record */
    if (best->near && is_large_enough(f, best) &&
        cap_fit_miss(&f->caps, best->near, (uint32_t)(best - f->groups.items),
                     best->pool, ret_miss)) {
        return;
    }
    for (int r = 0; best->count >= f->needed && r < RESOURCE_COLUMNS_MAX; r++) {
        int64_t has = f->sched->policy->is_floating[r]
                          ? f->sched->pools.items[best->pool].total.v[r]
                          : best->capacity.v[r];
        if (f->gang->waiting_sum.v[r] > has) {
            ret_miss->resource = r;
            ret_miss->asked = f->gang->waiting_sum.v[r];
            ret_miss->has = has;
        }
    }
}

/* Whether nothing of a gang has run, and all of it is there. */
static bool is_to_start(const struct gang *gang)
{
    return gang->leased.count == 0 && gang->started_count == 0 &&
           gang_is_ready(gang);
}

/* Whether the gang, which is to start, fits on the nodes; if not, why. */
static bool may_fit(struct fitting *f, const struct gang *gang,
                    uint32_t *ret_looks, struct sched_gang_miss *ret_miss)
{
    bool fits = true;

    cap_fit_init(&f->caps, f->sched, gang);
    collect_kinds(f);
    f->needed = gang_needed(gang);
    f->is_all_needed = f->needed >= gang->waiting.count;
    ASSERT(f->needed > 0 && f->needed <= gang->waiting.count);
    if ((uint64_t)f->kind_count * f->sched->nodes.count <= LOOKS_MAX) {
        fits = find_group(f, ret_looks) || (!f->has_nodes && !f->there);
    }
    if (!fits && ret_miss) {
        fill_miss(f, ret_miss);
    }
    map_fini(&f->kind_map);
    map_fini(&f->group_map);
    cap_fit_fini(&f->caps);
    VEC_FREE(&f->groups);
    arena_fini(&f->arena);
    return fits;
}

/* The same, and what is found out is kept for `fit_no`. */
static bool find_out(struct fitting *f, struct gang *gang, uint32_t fit_no,
                     uint32_t *ret_looks, struct sched_gang_miss *ret_miss)
{
    bool fits = may_fit(f, gang, ret_looks, ret_miss);

    gang->fitted_no = fits && f->has_nodes ? fit_no : 0;
    return fits;
}

/* The gang of a job, if it is to be asked about. */
static struct gang *gang_asked(const struct sched *sched, uint32_t job,
                               uint32_t fit_no)
{
    uint32_t at = sched->jobs.items[job].gang;
    struct gang *gang = at == NONE ? NULL : &sched->gangs.items[at];
    bool is_known = gang && gang->fitted_no && gang->fitted_no == fit_no;

    return gang && !is_known && is_to_start(gang) ? gang : NULL;
}

bool sched_gang_may_fit(struct sched *sched, uint32_t job, uint32_t fit_no,
                        uint32_t *ret_looks, struct sched_gang_miss *ret_miss)
{
    struct gang *gang = gang_asked(sched, job, fit_no);

    if (!gang) {
        return true;
    }
    struct fitting f = {
        .sched = sched,
        .home = sched,
        .gang = gang,
        .pool = sched->lists.items[gang->list].pool,
    };
    return find_out(&f, gang, fit_no, ret_looks, ret_miss);
}

bool gang_could_start(struct sched *sched, struct gang *gang,
                      uint32_t *ret_looks)
{
    struct fitting f = {
        .sched = sched,
        .home = sched,
        .gang = gang,
        .pool = sched->lists.items[gang->list].pool,
    };

    return !is_to_start(gang) || may_fit(&f, gang, ret_looks, NULL);
}

bool sched_gang_may_fit_at(struct sched *sched, uint32_t job,
                           const struct sched_elsewhere *there,
                           uint32_t *ret_looks)
{
    struct gang *gang = gang_asked(sched, job, there->fit_no);

    if (!gang) {
        return true;
    }
    struct fitting f = {
        .sched = there->sched,
        .there = there,
        .home = sched,
        .gang = gang,
        .pool = NONE,
    };
    if (there->pool.byte_count) {
        f.pool = intern_find(there->sched->pool_names, there->pool);
        if (f.pool == INTERN_NONE) {
            return false; /* no node is in it */
        }
    }
    return find_out(&f, gang, there->fit_no, ret_looks, NULL);
}

static void add_all(const struct seq *seq, uint32_t *jobs, uint32_t *count)
{
    for (struct seq_cursor at = {0}; !seq_is_end(seq, at); seq_next(seq, &at)) {
        jobs[(*count)++] = seq_get(seq, at);
    }
}

uint32_t *sched_gang_waiting(const struct sched *sched, uint32_t job,
                             struct arena *arena, uint32_t *ret_count)
{
    uint32_t at = sched->jobs.items[job].gang;

    *ret_count = 0;
    if (at == NONE) {
        return NULL;
    }
    const struct gang *gang = &sched->gangs.items[at];
    const struct sub_groups *subs = gang->subs;
    uint32_t count = gang->waiting.count + sub_groups_spare(gang);
    uint32_t *jobs = arena_alloc_array(arena, count, sizeof(*jobs));
    add_all(&gang->waiting, jobs, ret_count);
    for (uint32_t i = 0; subs && i < subs->terms.sub_group_count; i++) {
        add_all(&subs->items[i].spare, jobs, ret_count);
    }
    ASSERT(*ret_count == count); /* each spare member is of a sub-group */
    return jobs;
}

uint32_t sched_gang_asked(const struct sched *sched, uint32_t job)
{
    uint32_t at = sched->jobs.items[job].gang;

    return at == NONE ? 0 : sched->gangs.items[at].waiting.count;
}
