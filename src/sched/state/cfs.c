#include "sched/state/cfs.h"

/* Sums of a million scores stay below 2^127. */
#define WORK_MAX ((u128)1 << 90)

enum { FIXED_BITS = 16, MILLI = 1000 };

/* A second of a core, in work. */
static const double WORK_PER_CORE_SECOND = 1e9;

static const int64_t BYTES_PER_GIB = INT64_C(1) << 30;

void cfs_key_set_work(struct cfs_key *key, u128 work)
{
    ASSERT(key->weight > 0);
    key->work = work < WORK_MAX ? work : WORK_MAX;
    key->approx = exact_to_double(key->work) / (double)key->weight;
}

double cfs_score(const struct cfs_key *key)
{
    return key->approx / WORK_PER_CORE_SECOND;
}

u128 cfs_score_fixed(const struct cfs_key *key)
{
    return (key->work << FIXED_BITS) / key->weight;
}

static int compare_amounts(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_scores(const struct cfs_key *a, const struct cfs_key *b)
{
    double gap = a->approx - b->approx;
    double near = (a->approx + b->approx) * 1e-14;

    if (gap > near) {
        return 1;
    }
    if (gap < -near) {
        return -1;
    }
    return exact_compare_products(a->work, b->weight, b->work, a->weight);
}

/* Digits but the first: how many tens a weight is above 1. */
static int64_t level_of_weight(uint32_t weight)
{
    int64_t level = 0;

    for (; weight >= 10; weight /= 10) {
        level++;
    }
    return level;
}

static int64_t bucket_of(const struct cfs_key *key, int64_t aging_ms)
{
    int64_t bucket = key->submitted_ms / aging_ms;

    bucket -= key->submitted_ms % aging_ms < 0;
    return bucket - level_of_weight(key->weight);
}

/* Those of equal scores: who waits first, and of these the oldest, as far as
 * weights allow. */
static int compare_ages(const struct cfs_key *a, const struct cfs_key *b,
                        int64_t aging_ms)
{
    if (a->is_running != b->is_running) {
        return a->is_running ? 1 : -1;
    }
    return a->is_running ? 0
                         : compare_amounts(bucket_of(a, aging_ms),
                                           bucket_of(b, aging_ms));
}

/* The dearer pod goes first. */
static int compare_pods(const struct cfs_pod *a, const struct cfs_pod *b)
{
    int c = compare_amounts(b->gpus, a->gpus);

    c = c ? c : compare_amounts(b->cpu, a->cpu);
    return c ? c : compare_amounts(b->memory, a->memory);
}

int cfs_compare(const struct cfs_key *a, const struct cfs_key *b,
                int64_t aging_ms)
{
    int c = compare_amounts(b->level, a->level);

    ASSERT(aging_ms > 0);
    c = c ? c : compare_scores(a, b);
    c = c ? c : compare_ages(a, b, aging_ms);
    c = c ? c : compare_amounts(b->weight, a->weight);
    c = c ? c : compare_pods(&a->pod, &b->pod);
    c = c ? c : compare_amounts(a->submitted_ms, b->submitted_ms);
    c = c ? c : key128_compare(a->id.v, b->id.v);
    return c ? c : compare_amounts(a->part, b->part);
}

static bool ends_with(struct str name, struct str end)
{
    return name.byte_count >= end.byte_count &&
           str_equal(str_make(name.p + name.byte_count - end.byte_count,
                              end.byte_count),
                     end);
}

static bool is_gpu(struct str name)
{
    return str_equal(name, STR("gpu")) || ends_with(name, STR("/gpu")) ||
           ends_with(name, STR("-gpu"));
}

uint32_t cfs_gpu_columns(const struct policy *policy)
{
    uint32_t columns = 0;

    for (uint32_t r = 0; r < policy->schema.column_count; r++) {
        columns |= (uint32_t)is_gpu(policy->schema.columns[r].name) << r;
    }
    return columns;
}

/* What a unit of a column counts when the policy says nothing of any. */
static int64_t plain_weight_ppm(struct str name)
{
    if (is_gpu(name)) {
        return 100 * (int64_t)FRACTION_ONE_PPM;
    }
    if (str_equal(name, STR("cpu"))) {
        return FRACTION_ONE_PPM;
    }
    return str_equal(name, STR("memory")) ? FRACTION_ONE_PPM / 10 : 0;
}

static bool has_weights(const struct policy *policy)
{
    for (uint32_t r = 0; r < policy->schema.column_count; r++) {
        if (policy->elastic.score_weights_ppm[r] > 0) {
            return true;
        }
    }
    return false;
}

uint64_t cfs_worth(const struct policy *policy,
                   const struct resource_vec *request)
{
    bool is_weighted = has_weights(policy);
    u128 worth = 0;

    for (uint32_t r = 0; r < policy->schema.column_count; r++) {
        struct str name = policy->schema.columns[r].name;
        int64_t weight_ppm = is_weighted ? policy->elastic.score_weights_ppm[r]
                                         : plain_weight_ppm(name);
        if (weight_ppm <= 0 || request->v[r] <= 0) {
            continue;
        }
        /* The unit of what is counted in bytes is a GiB. */
        u128 whole =
            (u128)MILLI * (u128)(resource_is_bytes(name) ? BYTES_PER_GIB : 1);
        u128 milli =
            (u128)request->v[r] * (u128)policy->schema.columns[r].unit_milli;
        worth += milli > WORK_MAX >> FIXED_BITS
                     ? WORK_MAX
                     : milli * (u128)weight_ppm / whole;
    }
    if (worth > (u128)1 << 48) {
        return UINT64_C(1) << 48;
    }
    return worth > 0 ? (uint64_t)worth : 1;
}

void cfs_sync(struct sched *sched)
{
    const struct policy *policy = sched->policy;

    sched->gpu_columns = cfs_gpu_columns(policy);
    sched->cpu_column = resource_column(&policy->schema, STR("cpu"));
    sched->memory_column = resource_column(&policy->schema, STR("memory"));
    sched->aging_ms = policy->elastic.aging_per_level_ms;
    if (sched->aging_ms <= 0) {
        sched->aging_ms = 1;
    }
}

static struct cfs_pod pod_of(const struct sched *sched,
                             const struct resource_vec *request)
{
    struct cfs_pod pod = {0};

    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        pod.gpus += sched->gpu_columns >> r & 1 ? request->v[r] : 0;
    }
    pod.cpu = sched->cpu_column < 0 ? 0 : request->v[sched->cpu_column];
    pod.memory =
        sched->memory_column < 0 ? 0 : request->v[sched->memory_column];
    return pod;
}

struct cfs_key cfs_key_of(const struct sched *sched, uint32_t index)
{
    const struct job *job = &sched->jobs.items[index];
    const struct list *list = &sched->lists.items[job->list];
    const struct class *class = &sched->classes.items[list->class_index];
    uint32_t weight = sched->policy->classes[class->priority_class].cfs_weight;

    return (struct cfs_key){
        .level = class->level,
        .weight = weight ? weight : POLICY_CFS_WEIGHT,
        .submitted_ms = job->submitted_ms,
        .pod = pod_of(sched, &class->request),
        .id = job->id,
    };
}

bool cfs_less(const struct sched *sched, uint32_t a, uint32_t b)
{
    struct cfs_key left = cfs_key_of(sched, a), right = cfs_key_of(sched, b);

    return cfs_compare(&left, &right, sched->aging_ms) < 0;
}
