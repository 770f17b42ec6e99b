
#include "pools/ask/lenders.h"

#include "pools/ask/ask.h"
#include "pools/jobs/jobs.h"
#include "pools/plan/plan.h"
#include "pools/tables/borrow.h"
#include "pools/tables/classes.h"
#include "pools/tables/match.h"
#include "pools/tables/node_table.h"
#include "pools/tables/pool_names.h"

/* One job's questions. */
struct asking {
    struct pools *pools;
    struct shard *home;
    uint32_t job;
    int64_t now_ms;
    struct loan loan;
    struct arena *arena;
    struct pools_lender *rows;
    uint32_t row_count;
    uint32_t passed_count;  /* lenders with room so far */
    const struct str *next; /* who is asked before all that follow */
};

static struct str name_of(const struct shard *shard)
{
    return shard->name ? str_of(shard->name) : POOL_DEFAULT_NAME;
}

static struct pools_lender *row_add(struct asking *asking,
                                    const struct shard *shard,
                                    enum pools_lending why)
{
    struct pools_lender *row = &asking->rows[asking->row_count++];

    *row = (struct pools_lender){
        .name = name_of(shard),
        .why = why,
        .waiting_count = shard->waiting_count,
        .there = {.nearest_node = NONE,
                  .resource = -1,
                  .for_job = NONE,
                  .behind = NONE},
    };
    return row;
}

/* The nodes there that the job avoids. */
static uint32_t *avoided_there(const struct asking *asking, struct shard *shard,
                               uint32_t *ret_count)
{
    uint32_t count;
    const uint32_t *own =
        sched_job_avoided(asking->home->sched,
                          asking->pools->jobs.items[asking->job].local, &count);
    uint32_t *nodes = arena_alloc_array(asking->arena, count, sizeof(*nodes));

    *ret_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = node_back(asking->home, own[i]);
        if (asking->pools->nodes.items[node].shard == shard->index) {
            nodes[(*ret_count)++] = shard_node(asking->pools, shard, node);
        }
    }
    return nodes;
}

static void explain_there(const struct asking *asking, struct shard *shard,
                          struct sched_explanation *ret_there)
{
    const struct pool_job *row = &asking->pools->jobs.items[asking->job];
    struct translation translation = {asking->pools, asking->home, shard};
    struct sched_elsewhere there = {
        .sched = shard->sched,
        .pool = pool_in(asking->pools, shard, row->name),
        .class_of = class_there,
        .context = &translation,
    };

    there.avoided = avoided_there(asking, shard, &there.avoided_count);
    sched_explain_at(asking->home->sched, row->local, &there, asking->now_ms,
                     ret_there);
    explanation_back(shard, ret_there);
}

/* Whether a shard's nodes have room, as lending sees it (plan/lend.c). */
static bool has_room(const struct asking *asking, struct shard *shard,
                     const struct lender *lender)
{
    const struct loan *loan = &asking->loan;
    bool has = borrow_has_room(lender, &loan->needed, 1);

    for (uint32_t i = 0; has && i < loan->part_count; i++) {
        const struct loan_part *part = &loan->parts[i];
        uint32_t local = shard_class(asking->pools, shard, part->class_index);
        has = sched_class_fits(shard->sched, local, part->count);
    }
    return has;
}

/* Nodes may be free and yet kept, or one group's alone. */
static bool is_about_nodes(enum sched_wait wait)
{
    return wait == SCHED_WAIT_NO_NODES || wait == SCHED_WAIT_NEVER_FITS ||
           wait == SCHED_WAIT_CAPACITY || wait == SCHED_WAIT_GANG_CAPACITY ||
           wait == SCHED_WAIT_PASSED || wait == SCHED_WAIT_CLOSED ||
           wait == SCHED_WAIT_GPUS_KEPT || wait == SCHED_WAIT_WINDOW;
}

/* What limits say where there is room, and whose turn it is. */
static enum pools_lending judge(struct asking *asking, struct shard *shard,
                                struct pools_lender *row)
{
    uint32_t try_count = asking->pools->jobs.items[asking->job].try_count;
    bool is_tried = asking->passed_count++ < try_count;
    bool has_own_waiting = !is_tried && shard->waiting_count > 0 &&
                           sched_has_own_waiting(shard->sched);
    bool is_first = !is_tried && !asking->next;

    if (is_first) {
        asking->next = &row->name;
    } else if (!is_tried) {
        row->before = *asking->next;
    }
    if (row->there.wait != SCHED_WAIT_TURN) {
        return is_about_nodes(row->there.wait) ? POOLS_LEND_NO_ROOM
                                               : POOLS_LEND_LIMIT;
    }
    if (has_own_waiting) {
        return POOLS_LEND_OWN_WORK;
    }
    return is_tried   ? POOLS_LEND_TRIED
           : is_first ? POOLS_LEND_NEXT
                      : POOLS_LEND_LATER;
}

static void ask_lender(struct asking *asking, struct shard *shard,
                       const struct lender *lender)
{
    struct pools_lender *row = row_add(asking, shard, POOLS_LEND_NO_ROOM);

    explain_there(asking, shard, &row->there);
    if (has_room(asking, shard, lender)) {
        row->why = judge(asking, shard, row);
    }
}

/* Those that may lend, in their order. */
static void ask_lenders(struct asking *asking)
{
    struct pools *pools = asking->pools;
    struct lender *lenders =
        arena_alloc_array(asking->arena, pools->shards.count, sizeof(*lenders));
    uint32_t count = 0;

    for (size_t i = 0; i < pools->shards.count; i++) {
        const struct shard *shard = pools->shards.items[i];
        if (shard && shard != asking->home && !shard->is_busy &&
            match_may_borrow(shard_record(asking->home), shard_record(shard))) {
            lender_of(pools, shard, &lenders[count++]);
        }
    }
    borrow_sort(lenders, count);
    for (uint32_t i = 0; i < count; i++) {
        ask_lender(asking, pools->shards.items[lenders[i].shard], &lenders[i]);
    }
}

/* Pools that do not lend, or are being planned: Default first, then by name. */
static void add_others(struct asking *asking)
{
    struct pools *pools = asking->pools;

    for (size_t i = 0; i <= pools->objects.count; i++) {
        const struct shard *shard =
            pools->shards
                .items[i ? pools->objects.items[i - 1] : POOLS_DEFAULT];
        if (shard == asking->home) {
            continue;
        }
        if (!match_may_borrow(shard_record(asking->home),
                              shard_record(shard))) {
            (void)row_add(asking, shard,
                          shard->name && shard->record.is_sharing_off
                              ? POOLS_LEND_SHARING_OFF
                              : POOLS_LEND_NOT_LISTED);
        } else if (shard->is_busy) {
            (void)row_add(asking, shard, POOLS_LEND_BUSY);
        }
    }
}

/* Why it may not go whatever others have, or MAY. */
static enum pools_borrowing borrowing_of(const struct asking *asking,
                                         const struct sched_explanation *home)
{
    const struct shard *shard = asking->home;
    const struct pool_job *row = &asking->pools->jobs.items[asking->job];

    if (shard->name && shard->record.is_borrowing_off) {
        return POOLS_BORROW_OFF;
    }
    if (shard->is_busy) {
        return POOLS_BORROW_UNKNOWN;
    }
    if (!sched_job_may_borrow(shard->sched, row->local)) {
        return POOLS_BORROW_CLASS;
    }
    if (home->wait == SCHED_WAIT_QUEUE_CORDONED) {
        return POOLS_BORROW_QUEUE;
    }
    return home->wait == SCHED_WAIT_GANG ? POOLS_BORROW_GANG : POOLS_BORROW_MAY;
}

enum pools_borrowing
pools_explain_lending(struct pools *pools, uint32_t job, int64_t now_ms,
                      const struct sched_explanation *home, struct arena *arena,
                      struct pools_lender **ret_lenders, uint32_t *ret_count)
{
    struct lender own;

    *ret_count = 0;
    if (!pools->is_mapped || pools->objects.count == 0 ||
        pool_job_get(pools, job)->node != NONE) {
        return POOLS_BORROW_NOWHERE;
    }
    struct asking asking = {
        .pools = pools,
        .home = shard_of(pools, job),
        .job = job,
        .now_ms = now_ms,
        .arena = arena,
        .rows =
            arena_alloc_array(arena, pools->shards.count, sizeof(*asking.rows)),
    };
    const struct pool_job *row = pool_job_get(pools, job);
    *ret_lenders = asking.rows;
    if (row->gang != NONE && pools->gangs.items[row->gang].leased_count > 0) {
        return POOLS_BORROW_RUNS;
    }
    if (row->is_borrowed) {
        (void)row_add(&asking, asking.home, POOLS_LEND_WITH);
        *ret_count = asking.row_count;
        return POOLS_BORROW_MAY;
    }
    enum pools_borrowing borrowing = borrowing_of(&asking, home);
    if (borrowing != POOLS_BORROW_MAY) {
        return borrowing;
    }
    loan_of(pools, job, arena, &asking.loan);
    lender_of(pools, asking.home, &own);
    if (has_room(&asking, asking.home, &own)) {
        return POOLS_BORROW_ROOM;
    }
    ask_lenders(&asking);
    add_others(&asking);
    *ret_count = asking.row_count;
    return POOLS_BORROW_MAY;
}
