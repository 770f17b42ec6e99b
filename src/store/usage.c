#include "store/usage.h"

#include "model/digest.h"
#include "model/requirement.h"

enum { DAY_MS = 24 * 3600 * 1000, SPAN_DAYS_MAX = 4000 };

/* More than any cluster has in a day; sums of it fit. */
static const int64_t HELD_MAX = INT64_C(1) << 54;

const char usage_upsert_sql[] =
    "INSERT INTO usage (day, queue, owner, " USAGE_COLUMNS ")"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,"
    " ?15, ?16, ?17, ?18, ?19) ON CONFLICT DO UPDATE SET"
    " submitted = submitted + ?4, succeeded = succeeded + ?5,"
    " failed = failed + ?6, cancelled = cancelled + ?7,"
    " preempted = preempted + ?8, runs = runs + ?9,"
    " waited_ms = waited_ms + ?10, ran_ms = ran_ms + ?11,"
    " core_used = core_used + ?12, core_wasted = core_wasted + ?13,"
    " core_cancelled = core_cancelled + ?14,"
    " core_preempted = core_preempted + ?15,"
    " gpu_used = gpu_used + ?16, gpu_wasted = gpu_wasted + ?17,"
    " gpu_cancelled = gpu_cancelled + ?18,"
    " gpu_preempted = gpu_preempted + ?19";

void usage_changes_fini(struct usage_changes *changes)
{
    intern_destroy(changes->names);
    strbuf_fini(&changes->scratch);
    VEC_FREE(&changes->items);
}

static struct usage_change *change_of(struct usage_changes *changes,
                                      int64_t day,
                                      const struct usage_note *note)
{
    struct strbuf *name = &changes->scratch;

    if (!changes->names) {
        changes->names = intern_create();
    }
    strbuf_clear(name);
    strbuf_add(name, &day, sizeof(day));
    strbuf_add_str(name, note->queue);
    strbuf_add_char(name, '\0');
    strbuf_add_str(name, note->owner);
    uint32_t index = intern_add(changes->names, strbuf_str(name));
    if (index == changes->items.count) {
        struct usage_change change = {
            .day = day, .queue = note->queue, .owner = note->owner};
        VEC_PUSH(&changes->items, change);
    }
    return &changes->items.items[index];
}

static int64_t day_of(int64_t ms)
{
    return ms > 0 ? ms / DAY_MS : 0;
}

static void add(struct usage_change *change, enum stored_usage_amount amount,
                int64_t value)
{
    int64_t *sum = &change->amounts[amount];

    if (__builtin_add_overflow(*sum, value, sum)) {
        *sum = INT64_MAX;
    }
}

/* How much of a resource was held for at most a day, in thousandths x ms. */
static int64_t held(int64_t milli, int64_t ms)
{
    int64_t product;

    return __builtin_mul_overflow(milli, ms, &product) || product > HELD_MAX
               ? HELD_MAX
               : product;
}

/* Which part of what a run held ended so; NONE: it was of use. */
static int part_of(enum stored_run_state state)
{
    enum { USED_WASTED = 1, USED_CANCELLED = 2, USED_PREEMPTED = 3 };

    if (state == STORED_RUN_SUCCEEDED) {
        return 0;
    }
    if (state == STORED_RUN_CANCELLED || state == STORED_RUN_TERMINATED) {
        return USED_CANCELLED;
    }
    return state == STORED_RUN_PREEMPTED ? USED_PREEMPTED : USED_WASTED;
}

/* What a span of time adds to a day of it. */
static void add_part(struct usage_change *change, const struct usage_note *note,
                     int64_t ms)
{
    if (note->kind == USAGE_WAITED) {
        add(change, STORED_USAGE_WAITED_MS, ms);
        return;
    }
    int part = part_of(note->run_state);
    int64_t cores = held(note->request.core_milli, ms);
    int64_t gpus = held(note->request.gpu_milli, ms);
    add(change, STORED_USAGE_RAN_MS, ms);
    add(change, STORED_USAGE_CORE_USED, cores);
    add(change, STORED_USAGE_GPU_USED, gpus);
    if (part) {
        add(change, (enum stored_usage_amount)(STORED_USAGE_CORE_USED + part),
            cores);
        add(change, (enum stored_usage_amount)(STORED_USAGE_GPU_USED + part),
            gpus);
    }
}

/* A span day by day; one that is absurdly long goes to its last day. */
static void add_span(struct usage_changes *changes,
                     const struct usage_note *note)
{
    int64_t at = note->from_ms > 0 ? note->from_ms : 0;
    bool is_absurd = day_of(note->to_ms) - day_of(at) > SPAN_DAYS_MAX;

    while (at < note->to_ms) {
        int64_t day = day_of(is_absurd ? note->to_ms : at);
        int64_t end = (day + 1) * DAY_MS;
        end = end < note->to_ms ? end : note->to_ms;
        add_part(change_of(changes, day, note), note, end - at);
        at = end;
    }
}

/* Under which amount a job that ended so is counted. */
static enum stored_usage_amount ended_as(enum stored_job_state state)
{
    switch (state) {
    case STORED_JOB_SUCCEEDED:
        return STORED_USAGE_SUCCEEDED;
    case STORED_JOB_CANCELLED:
        return STORED_USAGE_CANCELLED;
    case STORED_JOB_PREEMPTED:
        return STORED_USAGE_PREEMPTED;
    case STORED_JOB_QUEUED:
    case STORED_JOB_PENDING:
    case STORED_JOB_RUNNING:
    case STORED_JOB_FAILED:
    case STORED_JOB_LEASED:
    case STORED_JOB_REJECTED:
        break;
    }
    return STORED_USAGE_FAILED;
}

/* Count one on the day of its end. */
static void add_one(struct usage_changes *changes,
                    const struct usage_note *note,
                    enum stored_usage_amount amount)
{
    add(change_of(changes, day_of(note->to_ms), note), amount, 1);
}

void usage_changes_add(struct usage_changes *changes,
                       const struct usage_note *note)
{
    switch (note->kind) {
    case USAGE_SUBMITTED:
        add_one(changes, note, STORED_USAGE_SUBMITTED);
        break;
    case USAGE_ENDED:
        add_one(changes, note, ended_as(note->job_state));
        break;
    case USAGE_RAN:
        add_one(changes, note, STORED_USAGE_RUNS);
        add_span(changes, note);
        break;
    case USAGE_WAITED:
        add_span(changes, note);
        break;
    }
}

int usage_changes_write(const struct usage_changes *changes,
                        sqlite3_stmt *upsert, struct err *err)
{
    enum { FIRST_AMOUNT = 4 };
    int rc = 0;

    for (size_t i = 0; i < changes->items.count && rc == 0; i++) {
        const struct usage_change *change = &changes->items.items[i];

        sq_bind_int(upsert, 1, change->day);
        sq_bind_text(upsert, 2, change->queue);
        sq_bind_text(upsert, 3, change->owner);
        for (int a = 0; a < STORED_USAGE_AMOUNTS; a++) {
            sq_bind_int(upsert, FIRST_AMOUNT + a, change->amounts[a]);
        }
        rc = sq_run(upsert, err);
    }
    return rc;
}

/* nvidia.com/gpu, amd.com/gpu, nvidia.com/mig-1g.5gb, ... */
static bool is_gpu(struct str name)
{
    static const struct str end = {"/gpu", 4};

    return (name.byte_count >= end.byte_count &&
            memcmp(name.p + name.byte_count - end.byte_count, end.p,
                   end.byte_count) == 0) ||
           memmem(name.p, name.byte_count, "/mig-", strlen("/mig-")) != NULL;
}

/* What a class asks for, by its packed requirement. */
static struct usage_request request_of_class(struct str class_key)
{
    auto_arena arena = {0};
    struct usage_request request = {0};
    struct requirement requirement;

    if (requirement_unpack(class_key, &arena, &requirement) < 0) {
        return request;
    }
    for (uint32_t i = 0; i < requirement.requests.count; i++) {
        const struct resource_amount *item = &requirement.requests.items[i];
        int64_t *sum = str_equal(item->name, STR("cpu")) ? &request.core_milli
                       : is_gpu(item->name)              ? &request.gpu_milli
                                                         : NULL;
        if (sum && __builtin_add_overflow(*sum, item->milli, sum)) {
            *sum = INT64_MAX;
        }
    }
    return request;
}

struct usage_request usage_request_of(struct usage_class *last,
                                      struct str digest)
{
    struct job_digest job;

    if (digest.byte_count == 0 || digest_unpack(digest, &job) < 0) {
        return (struct usage_request){0};
    }
    if (!str_equal(strbuf_str(&last->key), job.class_key)) {
        strbuf_clear(&last->key);
        strbuf_add_str(&last->key, job.class_key);
        last->request = request_of_class(job.class_key);
    }
    return last->request;
}

void usage_class_fini(struct usage_class *last)
{
    strbuf_fini(&last->key);
}
