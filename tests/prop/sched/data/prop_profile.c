/*
 * A node's profile against adding up all releases at every moment (profile.h).
 *
 *   - the first fit is the first moment at which all that is released by then
 *     leaves room, and the walk has just that room
 *   - the steps are where a request fits more often than at any moment before
 */
#include <string.h>

#include "prop.h"
#include "sched/data/profile.h"
#include "unit.h"

enum {
    RELEASES_MAX = 12,
    COLUMNS = 2,
    NOW_MS = 10,
    END_MS = 21,
    ROUNDS = 20000
};

struct instance {
    struct resource_vec free, request;
    struct resource_vec amounts[RELEASES_MAX];
    int64_t at_ms[RELEASES_MAX];
    uint32_t count;
};

static void draw_vec(struct tape *tape, struct resource_vec *ret_vec,
                     uint64_t most)
{
    for (int c = 0; c < COLUMNS; c++) {
        ret_vec->v[c] = (int64_t)draw(tape, 0, most);
    }
}

static void draw_instance(struct tape *tape, struct instance *in)
{
    *in = (struct instance){.count = (uint32_t)draw(tape, 0, RELEASES_MAX)};
    draw_vec(tape, &in->free, 4);
    in->free.v[0] -= (int64_t)draw(tape, 0, 2); /* a node that shrank */
    draw_vec(tape, &in->request, 6);
    in->request.v[0]++;
    for (uint32_t i = 0; i < in->count; i++) {
        draw_vec(tape, &in->amounts[i], 3);
        in->at_ms[i] =
            draw(tape, 0, 6) ? (int64_t)draw(tape, 5, END_MS - 1) : INT64_MIN;
    }
}

/* What there is at a time, now or later. */
static struct resource_vec room_at(const struct instance *in, int64_t at_ms)
{
    struct resource_vec room = in->free;

    for (uint32_t i = 0; i < in->count; i++) {
        for (int c = 0; c < COLUMNS && in->at_ms[i] <= at_ms; c++) {
            room.v[c] += in->amounts[i].v[c];
        }
    }
    return room;
}

static uint32_t fits_at(const struct instance *in, int64_t at_ms)
{
    struct resource_vec room = room_at(in, at_ms);
    uint32_t count = 0;

    for (;;) {
        for (int c = 0; c < COLUMNS; c++) {
            room.v[c] -= in->request.v[c];
            if (room.v[c] < 0) {
                return count;
            }
        }
        count++;
    }
}

static struct profile begin(const struct instance *in,
                            struct release releases[RELEASES_MAX])
{
    for (uint32_t i = 0; i < in->count; i++) {
        releases[i] = (struct release){in->at_ms[i], &in->amounts[i]};
    }
    return profile_begin(&in->free, releases, in->count, NOW_MS);
}

static bool is_first_fit_right(const struct instance *in)
{
    struct release releases[RELEASES_MAX];
    struct profile profile = begin(in, releases);
    int64_t at_ms = NOW_MS;

    while (at_ms < END_MS && fits_at(in, at_ms) == 0) {
        at_ms++;
    }
    int64_t expected = at_ms == NOW_MS   ? INT64_MIN
                       : at_ms == END_MS ? INT64_MAX
                                         : at_ms;
    struct resource_vec room = room_at(in, at_ms);
    return profile_first_fit(&profile, &in->request) == expected &&
           memcmp(&profile.room, &room, sizeof(room)) == 0 &&
           profile_next_ms(&profile) > at_ms;
}

static bool are_steps_right(const struct instance *in)
{
    struct release releases[RELEASES_MAX];
    struct profile_step steps[RELEASES_MAX + 1];
    struct profile profile = begin(in, releases);
    uint32_t step_count = profile_steps(&profile, &in->request, steps);
    uint32_t step = 0, most = 0;

    for (int64_t at_ms = NOW_MS; at_ms < END_MS; at_ms++) {
        uint32_t count = fits_at(in, at_ms);
        if (count > most) {
            if (step == step_count || steps[step].count != count ||
                steps[step].at_ms != (at_ms == NOW_MS ? INT64_MIN : at_ms)) {
                return false;
            }
            step++;
            most = count;
        }
    }
    return step == step_count;
}

static bool is_room_right(const struct instance *in)
{
    struct release releases[RELEASES_MAX];

    for (uint32_t i = 0; i < in->count; i++) {
        releases[i] = (struct release){in->at_ms[i], &in->amounts[i]};
    }
    for (int64_t at_ms = NOW_MS; at_ms < END_MS; at_ms++) {
        struct resource_vec room = room_at(in, at_ms);
        struct resource_vec said =
            profile_room_at(&in->free, releases, in->count, at_ms);
        if (memcmp(&room, &said, sizeof(room)) != 0) {
            return false;
        }
    }
    return true;
}

static bool is_right(struct tape *tape)
{
    struct instance in;

    draw_instance(tape, &in);
    return is_first_fit_right(&in) && are_steps_right(&in) &&
           is_room_right(&in);
}

static void profile_is_the_sum_of_releases(void **state)
{
    (void)state;
    assert_true(prop_check("profile", is_right, ROUNDS, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(profile_is_the_sum_of_releases),
    };

    return RUN_TESTS(tests);
}
