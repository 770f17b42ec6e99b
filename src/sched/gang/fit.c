/* Whether a gang could ever start: an upper bound on how many of its members
 * the nodes of one group (pool, cluster, value of its label) hold when they are
 * empty, and on how many members of a sub-group with a cap on hops they hold
 * close enough (cap_fit.h).  A gang that this refuses could never run; one that
 * it accepts may still wait for ever, because packing is hard. */
#include "sched/gang/cap_fit.h"
#include "sched/gang/fit_groups.h"
#include "sched/state/sub_groups.h"

/* Further looks than this are not worth it: a gang of so many different
 * members waits like any other. */
enum { LOOKS_MAX = 1 << 20 };

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
    fit_collect_kinds(f);
    f->needed = gang_needed(gang);
    f->is_all_needed = f->needed >= gang->waiting.count;
    ASSERT(f->needed > 0 && f->needed <= gang->waiting.count);
    if ((uint64_t)f->kind_count * f->sched->nodes.count <= LOOKS_MAX) {
        fits = fit_find_group(f, ret_looks) || (!f->has_nodes && !f->there);
    }
    if (!fits && ret_miss) {
        fit_fill_miss(f, ret_miss);
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
    uint32_t count = gang->waiting.count + sub_groups_optional_count(gang);
    uint32_t *jobs = arena_alloc_array(arena, count, sizeof(*jobs));
    add_all(&gang->waiting, jobs, ret_count);
    for (uint32_t i = 0; i < sub_groups_count(gang); i++) {
        add_all(sub_group_optional(gang, i), jobs, ret_count);
    }
    ASSERT(*ret_count == count); /* each optional member is of a sub-group */
    return jobs;
}

uint32_t sched_gang_asked(const struct sched *sched, uint32_t job)
{
    uint32_t at = sched->jobs.items[job].gang;

    return at == NONE ? 0 : sched->gangs.items[at].waiting.count;
}
