#include <string.h>

#include "sched/fairness/admitted.h"
#include "sched/fairness/usage_ledger.h"

/* Flows and charges in checkpoints. */

static void pack_flow(struct strbuf *buf, const struct flow *flow)
{
    uint64_t bits;

    memcpy(&bits, &flow->excess, sizeof(bits));
    pack_u64(buf, bits);
    /* Without an excess the time says nothing; states that differ in it are
     * equal. */
    pack_i64(buf, flow->excess > 0 ? flow->at_ms : 0);
}

static struct flow unpack_flow(struct pack_reader *reader)
{
    uint64_t bits = unpack_u64(reader);
    struct flow flow;

    memcpy(&flow.excess, &bits, sizeof(bits));
    flow.at_ms = unpack_i64(reader);
    if (!(flow.excess >= 0 && flow.excess < 1e18)) {
        reader->is_bad = true;
    }
    return flow;
}

static bool is_worth_keeping(const struct usage_ledger *usage_ledger)
{
    return usage_ledger->flow.excess > 0 ||
           usage_ledger->infinite_flow.excess > 0;
}

static struct str queue_name(const struct sched *sched, uint32_t index)
{
    const struct queue *queue = &sched->queues.items[index];

    return str_make(queue->name, queue->name_bytes);
}

static bool usage_ledger_less(const void *context, uint32_t a, uint32_t b)
{
    const struct sched *sched = context;
    const struct usage_ledger *x = &sched->usage_ledgers.items[a];
    const struct usage_ledger *y = &sched->usage_ledgers.items[b];
    int c =
        str_compare(queue_name(sched, x->queue), queue_name(sched, y->queue));

    if (c == 0) {
        c = str_compare(intern_get(sched->pool_names, x->pool),
                        intern_get(sched->pool_names, y->pool));
    }
    return c < 0;
}

static void pack_flows(const struct sched *sched, struct strbuf *buf)
{
    struct seq kept = {0};

    for (uint32_t i = 0; i < sched->usage_ledgers.count; i++) {
        const struct usage_ledger *usage_ledger =
            &sched->usage_ledgers.items[i];
        if (usage_ledger->queue != NONE && is_worth_keeping(usage_ledger)) {
            seq_insert(&kept, i, usage_ledger_less, sched);
        }
    }
    pack_u64(buf, kept.count);
    for (struct seq_cursor at = {0}; !seq_is_end(&kept, at);
         seq_next(&kept, &at)) {
        const struct usage_ledger *usage_ledger =
            &sched->usage_ledgers.items[seq_get(&kept, at)];
        pack_str(buf, queue_name(sched, usage_ledger->queue));
        pack_str(buf, intern_get(sched->pool_names, usage_ledger->pool));
        pack_flow(buf, &usage_ledger->flow);
        pack_flow(buf, &usage_ledger->infinite_flow);
    }
    seq_fini(&kept);
}

static bool id_less(const void *context, uint32_t a, uint32_t b)
{
    const struct sched *sched = context;

    return key128_compare(sched->jobs.items[a].id.v,
                          sched->jobs.items[b].id.v) < 0;
}

/* What a job was charged with its lease, or an entry with its admission. */
static struct charge charge_here(const struct sched *sched, uint32_t job)
{
    struct charge charge = {0};

    if (sched->job_flags.items[job] & JOB_CHARGED) {
        return sched->charges
            .items[map_find(&sched->charge_map, key_of_u64(job))];
    }
    charge.amount = admitted_anywhere(sched, job, &charge.pool)->charge;
    return charge;
}

static void pack_charges(const struct sched *sched, struct strbuf *buf)
{
    struct seq jobs = {0};

    for (uint32_t i = 0; i < sched->job_flags.count; i++) {
        if (sched->job_flags.items[i] & JOB_CHARGED) {
            seq_insert(&jobs, i, id_less, sched);
        }
    }
    for (size_t p = 0; p < sched->pools.count; p++) {
        const struct pool *pool = &sched->pools.items[p];
        for (size_t i = 0; i < pool->admitted.count; i++) {
            if (pool->admitted.items[i].charge) {
                seq_insert(&jobs, admitted_job(sched, &pool->admitted.items[i]),
                           id_less, sched);
            }
        }
    }
    pack_u64(buf, jobs.count);
    for (struct seq_cursor at = {0}; !seq_is_end(&jobs, at);
         seq_next(&jobs, &at)) {
        uint32_t job = seq_get(&jobs, at);
        struct charge charge = charge_here(sched, job);
        pack_key128(buf, sched->jobs.items[job].id.v);
        pack_str(buf, intern_get(sched->pool_names, charge.pool));
        pack_i64(buf, charge.amount);
    }
    seq_fini(&jobs);
}

static bool has_admission_charges(const struct sched *sched)
{
    for (size_t p = 0; p < sched->pools.count; p++) {
        const struct pool *pool = &sched->pools.items[p];
        for (size_t i = 0; i < pool->admitted.count; i++) {
            if (pool->admitted.items[i].charge) {
                return true;
            }
        }
    }
    return false;
}

static bool has_something(const struct sched *sched)
{
    for (size_t i = 0; i < sched->usage_ledgers.count; i++) {
        const struct usage_ledger *usage_ledger =
            &sched->usage_ledgers.items[i];
        if (usage_ledger->queue != NONE && is_worth_keeping(usage_ledger)) {
            return true;
        }
    }
    return sched->charge_map.count > 0 || has_admission_charges(sched);
}

void usage_ledgers_pack(const struct sched *sched, struct strbuf *buf)
{
    if (has_something(sched)) {
        pack_flows(sched, buf);
        pack_charges(sched, buf);
    }
}

static void unpack_usage_ledger(struct sched *sched, struct pack_reader *reader)
{
    uint32_t queue = queue_by_name(sched, unpack_str(reader));
    struct str pool = unpack_str(reader);
    struct flow flow = unpack_flow(reader);
    struct flow infinite_flow = unpack_flow(reader);

    if (!reader->is_bad && queue != NONE) {
        usage_ledger_set_flows(sched, queue, pool_get(sched, pool), flow,
                               infinite_flow);
    }
}

static void unpack_charge(struct sched *sched, struct history_reader *reader)
{
    uint32_t job = history_read_job(sched, reader);
    struct str pool = unpack_str(&reader->pack);
    int64_t amount = unpack_i64(&reader->pack);

    job = reader->pack.is_bad ? NONE : job;
    if (job != NONE && sched->jobs.items[job].run == NONE) {
        admitted_charge(sched, job, amount);
    } else if (job != NONE) {
        sched_job_charge(sched, job, pool, amount);
    }
}

void usage_ledgers_unpack(struct sched *sched, struct history_reader *reader)
{
    for (uint32_t n = unpack_count(&reader->pack, UINT32_MAX);
         n > 0 && !reader->pack.is_bad; n--) {
        unpack_usage_ledger(sched, &reader->pack);
    }
    for (uint32_t n = unpack_count(&reader->pack, SCHED_JOBS_MAX);
         n > 0 && !reader->pack.is_bad; n--) {
        unpack_charge(sched, reader);
    }
}
