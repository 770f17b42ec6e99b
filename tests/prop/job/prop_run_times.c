/*
 * Predicted run times against a search through all that was noted.
 *
 *   - a prediction is what the documented rules give, looked up anew in a list
 *     of everything that was noted
 *   - p50 is at most p90, both are within the limit, and longer than what has
 *     been run, unless that is the limit
 *   - packed and read back in the middle, nothing is different
 */
#include "job/run_times/run_times.h"
#include "prop.h"
#include "unit.h"

enum { NOTES_MAX = 120, LEVELS = 3 };

static const char *const words[] = {"", "a", "b"};

struct told {
    int queue, user, class_index, gang;
    int64_t ms;
};

struct world {
    struct told notes[NOTES_MAX];
    int count;
    struct run_times *times;
};

static struct run_times_of of(const struct told *told)
{
    return (struct run_times_of){str_of(words[told->queue]),
                                 str_of(words[told->user]),
                                 str_of(words[told->class_index])};
}

static struct told draw_told(struct tape *tape)
{
    return (struct told){
        .queue = pick(tape, 0, 1),
        .user = pick(tape, 0, 2),
        .class_index = pick(tape, 0, 2),
        .gang = once_in(tape, 3) ? pick(tape, 1, 2) : 0,
        .ms = pick(tape, 1, 100) * (once_in(tape, 5) ? 1000 : 1),
    };
}

static bool is_of(const struct told *note, const struct told *asked, int level)
{
    return note->queue == asked->queue &&
           (level < 1 || note->user == asked->user) &&
           (level < 2 || note->class_index == asked->class_index);
}

/* The run times of a level, oldest first, gangs as one; their number. */
static int list_of(const struct world *world, const struct told *asked,
                   int level, int64_t ret_ms[NOTES_MAX])
{
    int count = 0;
    int gang = 0;

    for (int i = 0; i < world->count; i++) {
        const struct told *note = &world->notes[i];
        if (!is_of(note, asked, level)) {
            continue;
        }
        if (count && gang && note->gang == gang) {
            ret_ms[count - 1] =
                note->ms > ret_ms[count - 1] ? note->ms : ret_ms[count - 1];
        } else {
            ret_ms[count++] = note->ms;
        }
        gang = note->gang;
    }
    int first = count > RUN_TIMES_KEPT ? count - RUN_TIMES_KEPT : 0;
    for (int i = first; i < count; i++) {
        ret_ms[i - first] = ret_ms[i];
    }
    return count - first;
}

static int64_t p50_of(const struct world *world, const struct told *asked,
                      int64_t age_ms)
{
    for (int level = LEVELS - 1; level >= 0; level--) {
        int64_t ms[NOTES_MAX];
        int64_t longer[NOTES_MAX];
        int count = list_of(world, asked, level, ms);
        int longer_count = 0;
        for (int i = 0; i < count; i++) {
            if (ms[i] > age_ms) {
                longer[longer_count++] = ms[i];
            }
        }
        if (longer_count == 1) {
            return longer[0];
        }
        if (longer_count > 1) {
            return (longer[longer_count - 1] + longer[longer_count - 2]) / 2;
        }
    }
    return 2 * age_ms;
}

static int64_t p90_of(const struct world *world, const struct told *asked,
                      int64_t limit_ms, int64_t age_ms)
{
    int64_t ms[NOTES_MAX];
    bool is_sure = list_of(world, asked, 0, ms) >= RUN_TIMES_MANY;

    if (!is_sure && limit_ms) {
        return limit_ms;
    }
    for (int level = LEVELS - 1; level >= 0; level--) {
        int count = list_of(world, asked, level, ms);
        int64_t longest = 0;
        for (int i = 0; i < count; i++) {
            longest = ms[i] > longest ? ms[i] : longest;
        }
        if ((count >= RUN_TIMES_MANY || !is_sure) && longest > age_ms) {
            return longest;
        }
    }
    return 10 * age_ms;
}

static int64_t within(int64_t ms, int64_t limit_ms)
{
    return limit_ms && ms > limit_ms ? limit_ms : ms;
}

static bool is_right(const struct world *world, const struct told *asked,
                     int64_t limit_ms, int64_t age_ms)
{
    struct run_times_of whose = of(asked);
    struct run_time time;
    int64_t ms[NOTES_MAX];
    bool is_known =
        run_times_predict(world->times, &whose, limit_ms, age_ms, &time);
    bool has_history = list_of(world, asked, 0, ms) > 0;

    if (!is_known) {
        return !has_history && !limit_ms;
    }
    int64_t p50_ms = has_history ? p50_of(world, asked, age_ms) : limit_ms;
    int64_t p90_ms =
        has_history ? p90_of(world, asked, limit_ms, age_ms) : limit_ms;
    p90_ms = p90_ms > p50_ms ? p90_ms : p50_ms;
    bool is_bounded =
        time.p50_ms <= time.p90_ms && (!limit_ms || time.p90_ms <= limit_ms) &&
        (time.p50_ms > age_ms || (limit_ms && time.p50_ms == limit_ms));
    return is_bounded && time.p50_ms == within(p50_ms, limit_ms) &&
           time.p90_ms == within(p90_ms, limit_ms);
}

/* As after a restart. */
static bool pass_on(struct world *world)
{
    auto_strbuf bytes = {0};

    run_times_pack(world->times, &bytes);
    run_times_destroy(world->times);
    world->times = run_times_create(3);
    struct pack_reader reader = {.rest = strbuf_str(&bytes)};
    run_times_unpack(world->times, &reader);
    return !reader.is_bad && reader.rest.byte_count == 0;
}

static bool predictions_are_those_of_the_list(struct tape *tape)
{
    struct world world = {.times = run_times_create(1)};
    int count = pick(tape, 0, NOTES_MAX);
    bool is_good = true;

    for (int i = 0; i < count && is_good; i++) {
        struct told told = draw_told(tape);
        struct run_times_of whose = of(&told);
        world.notes[world.count++] = told;
        run_times_note(world.times, &whose, (uint64_t)told.gang, told.ms);
        is_good = !once_in(tape, 20) || pass_on(&world);
        struct told asked = draw_told(tape);
        int64_t limit_ms = once_in(tape, 2) ? pick(tape, 1, 3000) : 0;
        int64_t age_ms = once_in(tape, 2) ? pick(tape, 1, 1000) : 0;
        is_good &= is_right(&world, &asked, limit_ms, age_ms);
    }
    run_times_destroy(world.times);
    return is_good;
}

static void run_times(void **state)
{
    (void)state;
    assert_true(prop_check("predictions_are_those_of_the_list",
                           predictions_are_those_of_the_list, 2000, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(run_times)};

    return RUN_TESTS(tests);
}
