#include "main/berthd/jump_watch.h"

#include "main/common/say.h"

enum { NS_PER_MS = 1000000, MS_PER_HOUR = 3600 * 1000 };

static int keep_time(void *ctx, const struct elog_record *record)
{
    *(int64_t *)ctx = record->time_ms;
    return 0;
}

/* When a record was made; INT64_MIN if it cannot be read. */
static int64_t time_of(struct elog_reader *reader, uint64_t seq)
{
    struct elog_range one = {.from_seq = seq, .record_count_max = 1};
    int64_t time_ms = INT64_MIN;

    return elog_read(reader, &one, keep_time, &time_ms, NULL) == 1 ? time_ms
                                                                   : INT64_MIN;
}

int64_t jump_watch_last_ms(struct elog_reader *reader)
{
    struct elog_bounds bounds;

    if (elog_bounds(reader, &bounds, NULL) < 0 ||
        bounds.first_seq > bounds.head_seq) {
        return 0;
    }
    int64_t last_ms = time_of(reader, bounds.head_seq);
    uint64_t low = bounds.first_seq, high = bounds.head_seq;
    while (low < high) { /* the first record of the last JUMP_HOLD_MS */
        uint64_t middle = low + (high - low) / 2;
        if (time_of(reader, middle) < last_ms - JUMP_HOLD_MS) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    int64_t before_ms =
        low > bounds.first_seq ? time_of(reader, low - 1) : INT64_MIN;
    if (before_ms > 0 && time_of(reader, low) - before_ms > JUMP_MS_MAX) {
        return before_ms;
    }
    return last_ms > 0 ? last_ms : 0;
}

void jump_watch_init(struct jump_watch *watch, const struct clock *clock,
                     int64_t last_ms)
{
    *watch = (struct jump_watch){
        .clock = clock,
        .trusted_ms = last_ms > 0 ? last_ms : clock->wall_ms(clock),
        .trusted_ns = clock->mono_ns(clock),
    };
    (void)pthread_mutex_init(&watch->lock, NULL);
}

void jump_watch_fini(struct jump_watch *watch)
{
    (void)pthread_mutex_destroy(&watch->lock);
}

static void trust(struct jump_watch *watch, int64_t wall_ms, uint64_t now_ns)
{
    watch->trusted_ms = wall_ms;
    watch->trusted_ns = now_ns;
    watch->hold_until_ns = 0;
}

/* The clock is ahead of what it should be: whether it is believed by now. */
static bool is_believed(struct jump_watch *watch, int64_t ahead_ms,
                        uint64_t now_ns)
{
    if (watch->hold_until_ns == 0) {
        watch->hold_until_ns = now_ns + (uint64_t)JUMP_HOLD_MS * NS_PER_MS;
        say(SAY_WARN, "clock.jumped",
            say_int("ahead_hours", ahead_ms / MS_PER_HOUR),
            say_int("held_hours", JUMP_HOLD_MS / MS_PER_HOUR),
            say_text("advice",
                     "no history is pruned meanwhile; if the clock is wrong, "
                     "set it before that is over"));
    }
    return now_ns >= watch->hold_until_ns;
}

/* Under the lock. */
static bool look(struct jump_watch *watch)
{
    uint64_t now_ns = watch->clock->mono_ns(watch->clock);
    int64_t wall_ms = watch->clock->wall_ms(watch->clock);
    int64_t passed_ms = (int64_t)((now_ns - watch->trusted_ns) / NS_PER_MS);
    int64_t ahead_ms = wall_ms - watch->trusted_ms - passed_ms;
    bool was_held = watch->hold_until_ns > 0;

    if (ahead_ms > JUMP_MS_MAX && !is_believed(watch, ahead_ms, now_ns)) {
        return false;
    }
    trust(watch, wall_ms, now_ns);
    if (was_held) {
        say(SAY_INFO, "clock.believed",
            say_int("ahead_hours", ahead_ms / MS_PER_HOUR));
    }
    return true;
}

bool jump_watch_may_prune(struct jump_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    bool may = look(watch);
    pthread_mutex_unlock(&watch->lock);
    return may;
}
