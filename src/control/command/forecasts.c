#include "control/command/forecasts.h"

#include <pthread.h>

#include "base/vec.h"

enum { HOUR_MS = 3600000 };

/* The newest forecast of a job, and the first. */
struct row {
    struct forecast newest, first;
    bool has_started;
};

/* What was counted in one hour. */
struct hour {
    int64_t number; /* since 1970 */
    struct forecast_quality quality;
};

struct forecasts {
    pthread_mutex_t lock;
    struct row *rows;              /* owned, in order of id */
    uint32_t count, waiting_count; /* the latter: have not started */
    /* New rows are being made, without the lock; who has started meanwhile. */
    bool is_putting;
    VEC(struct job_id) started;
    struct hour hours[FORECASTS_HOURS]; /* by number */
};

struct forecasts *forecasts_create(void)
{
    struct forecasts *forecasts = mem_alloc(sizeof(*forecasts));

    (void)pthread_mutex_init(&forecasts->lock, NULL);
    return forecasts;
}

void forecasts_destroy(struct forecasts *forecasts)
{
    if (forecasts) {
        (void)pthread_mutex_destroy(&forecasts->lock);
        mem_free(forecasts->rows);
        VEC_FREE(&forecasts->started);
        mem_free(forecasts);
    }
}

/* The first row that is not before `job`. */
static uint32_t lower_bound(const struct row *rows, uint32_t count,
                            struct job_id job)
{
    uint32_t low = 0;

    while (low < count) {
        uint32_t middle = low + (count - low) / 2;
        if (key128_compare(rows[middle].newest.job.v, job.v) < 0) {
            low = middle + 1;
        } else {
            count = middle;
        }
    }
    return low;
}

static struct row *find(const struct forecasts *forecasts, struct job_id job)
{
    uint32_t at = lower_bound(forecasts->rows, forecasts->count, job);

    return at < forecasts->count &&
                   key128_compare(forecasts->rows[at].newest.job.v, job.v) == 0
               ? &forecasts->rows[at]
               : NULL;
}

static void begin(struct forecasts *forecasts)
{
    pthread_mutex_lock(&forecasts->lock);
    ASSERT(!forecasts->is_putting);
    forecasts->is_putting = true;
    forecasts->started.count = 0;
    pthread_mutex_unlock(&forecasts->lock);
}

/* Rows for a list; the rows of before are only replaced by who asks for this.
 */
static struct row *make_rows(const struct forecasts *forecasts,
                             const struct forecast *list, uint32_t count)
{
    struct row *rows = mem_alloc_array((size_t)count + 1, sizeof(*rows));

    for (uint32_t i = 0; i < count; i++) {
        const struct row *before = find(forecasts, list[i].job);
        bool is_known =
            before && !__atomic_load_n(&before->has_started, __ATOMIC_RELAXED);
        ASSERT(i == 0 || key128_compare(list[i - 1].job.v, list[i].job.v) < 0);
        rows[i] = (struct row){
            .newest = list[i],
            .first = is_known ? before->first : list[i],
        };
    }
    return rows;
}

static void note_started(struct forecasts *forecasts, struct row *row)
{
    ASSERT(!row->has_started);
    forecasts->waiting_count--;
    __atomic_store_n(&row->has_started, true, __ATOMIC_RELAXED);
}

void forecasts_put(struct forecasts *forecasts, struct forecast *list,
                   uint32_t count)
{
    ASSERT(count <= FORECASTS_MAX);
    begin(forecasts);
    struct row *rows = make_rows(forecasts, list, count);
    pthread_mutex_lock(&forecasts->lock);
    struct row *old = forecasts->rows;
    forecasts->rows = rows;
    forecasts->count = forecasts->waiting_count = count;
    forecasts->is_putting = false;
    for (size_t i = 0; i < forecasts->started.count; i++) {
        struct row *row = find(forecasts, forecasts->started.items[i]);
        if (row && !row->has_started) {
            note_started(forecasts, row);
        }
    }
    pthread_mutex_unlock(&forecasts->lock);
    mem_free(old);
    mem_free(list);
}

bool forecasts_find(struct forecasts *forecasts, struct job_id job,
                    struct forecast *ret_forecast)
{
    pthread_mutex_lock(&forecasts->lock);
    const struct row *row = find(forecasts, job);
    bool is_there = row && !row->has_started;
    if (is_there) {
        *ret_forecast = row->newest;
    }
    pthread_mutex_unlock(&forecasts->lock);
    return is_there;
}

/* The count of an hour, begun anew if another hour has its place. */
static struct forecast_quality *quality_at(struct forecasts *forecasts,
                                           int64_t at_ms)
{
    int64_t number = at_ms / HOUR_MS;
    struct hour *hour = &forecasts->hours[number % FORECASTS_HOURS];

    if (hour->number != number) {
        *hour = (struct hour){.number = number};
    }
    return &hour->quality;
}

void forecast_judge(struct forecast_quality *quality,
                    const struct forecast *forecast, int64_t at_ms)
{
    int64_t off_ms = at_ms - forecast->p50_ms;

    quality->started_count++;
    quality->within_p50_count += off_ms <= 0;
    quality->p90_count += forecast->p90_ms > 0;
    quality->within_p90_count += at_ms <= forecast->p90_ms;
    quality->error_ms_sum += off_ms < 0 ? -off_ms : off_ms;
    quality->wait_ms_sum += at_ms - forecast->made_ms;
}

void forecasts_started(struct forecasts *forecasts, struct job_id job,
                       int64_t at_ms)
{
    pthread_mutex_lock(&forecasts->lock);
    struct row *row = find(forecasts, job);
    if (forecasts->is_putting && forecasts->started.count < FORECASTS_MAX) {
        VEC_PUSH(&forecasts->started, job);
    }
    /* Whose clock was set back is not judged. */
    if (row && !row->has_started && at_ms >= row->first.made_ms) {
        note_started(forecasts, row);
        forecast_judge(quality_at(forecasts, at_ms), &row->first, at_ms);
    }
    pthread_mutex_unlock(&forecasts->lock);
}

uint32_t forecasts_count(struct forecasts *forecasts)
{
    pthread_mutex_lock(&forecasts->lock);
    uint32_t count = forecasts->waiting_count;
    pthread_mutex_unlock(&forecasts->lock);
    return count;
}

void forecasts_quality(struct forecasts *forecasts, int64_t now_ms,
                       struct forecast_quality *ret_quality)
{
    struct forecast_quality sum = {0};

    pthread_mutex_lock(&forecasts->lock);
    for (uint32_t i = 0; i < FORECASTS_HOURS; i++) {
        const struct hour *hour = &forecasts->hours[i];
        if (hour->number > now_ms / HOUR_MS - FORECASTS_HOURS) {
            sum.started_count += hour->quality.started_count;
            sum.within_p50_count += hour->quality.within_p50_count;
            sum.p90_count += hour->quality.p90_count;
            sum.within_p90_count += hour->quality.within_p90_count;
            sum.error_ms_sum += hour->quality.error_ms_sum;
            sum.wait_ms_sum += hour->quality.wait_ms_sum;
        }
    }
    pthread_mutex_unlock(&forecasts->lock);
    *ret_quality = sum;
}
