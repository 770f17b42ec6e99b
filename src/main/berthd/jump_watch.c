#include "main/berthd/jump_watch.h"

#include "main/common/say.h"

enum { MS_PER_HOUR = 3600 * 1000 };

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
    *watch = (struct jump_watch){.clock = clock};
    jump_init(&watch->jump, clock, last_ms);
    (void)pthread_mutex_init(&watch->lock, NULL);
}

void jump_watch_fini(struct jump_watch *watch)
{
    (void)pthread_mutex_destroy(&watch->lock);
}

static void say_jump(int64_t ahead_ms)
{
    say(SAY_WARN, "clock.jumped",
        say_int("ahead_hours", ahead_ms / MS_PER_HOUR),
        say_int("held_hours", JUMP_HOLD_MS / MS_PER_HOUR),
        say_text("advice", "no history is pruned meanwhile; if the clock is "
                           "wrong, set it before that is over"));
}

/* Under the lock. */
static bool look(struct jump_watch *watch)
{
    bool was_held = watch->jump.hold_until_ns > 0;
    int64_t ahead_ms;
    bool is_believed = jump_is_believed(&watch->jump, watch->clock, &ahead_ms);

    if (!is_believed && !was_held) {
        say_jump(ahead_ms);
    } else if (is_believed && was_held) {
        say(SAY_INFO, "clock.believed",
            say_int("ahead_hours", ahead_ms / MS_PER_HOUR));
    }
    return is_believed;
}

bool jump_watch_may_prune(struct jump_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    bool may = look(watch);
    pthread_mutex_unlock(&watch->lock);
    return may;
}
