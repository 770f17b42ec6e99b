#include "sched/data/profile.h"

#include "base/heap.h"

#define ENDS_BEFORE(context, a, b) ((void)(context), (a)->at_ms < (b)->at_ms)
DEFINE_HEAP(releases, struct release, 2, const void *, ENDS_BEFORE, HEAP_PLAIN);

struct profile profile_begin(const struct resource_vec *free,
                             struct release *releases, size_t count,
                             int64_t now_ms)
{
    struct profile profile = {
        .room = *free,
        .at_ms = INT64_MIN,
        .items = releases,
    };

    for (size_t i = 0; i < count; i++) {
        ASSERT(releases[i].at_ms != INT64_MAX); /* what never ends is none */
        if (releases[i].at_ms <= now_ms) {
            amounts_add(&profile.room, releases[i].amounts);
        } else {
            releases[profile.count++] = releases[i];
        }
    }
    releases_build(NULL, profile.items, profile.count);
    return profile;
}

bool profile_next(struct profile *profile)
{
    if (profile->count == 0) {
        return false;
    }
    ASSERT(profile->items[0].at_ms > profile->at_ms);
    profile->at_ms = profile->items[0].at_ms;
    while (profile_next_ms(profile) == profile->at_ms) {
        amounts_add(&profile->room, profile->items[0].amounts);
        releases_remove(NULL, profile->items, --profile->count, 0);
    }
    return true;
}

int64_t profile_first_fit(struct profile *profile,
                          const struct resource_vec *request)
{
    while (!amounts_fit(request, &profile->room)) {
        if (!profile_next(profile)) {
            return INT64_MAX;
        }
    }
    return profile->at_ms;
}

uint32_t profile_steps(struct profile *profile,
                       const struct resource_vec *request,
                       struct profile_step *steps)
{
    uint32_t fits = 0, count = 0;

    do {
        uint32_t more = amounts_times(request, &profile->room);
        ASSERT(more >= fits); /* room only grows with time */
        if (more > fits) {
            steps[count++] = (struct profile_step){profile->at_ms, more};
        }
        fits = more;
    } while (profile_next(profile));
    return count;
}

struct resource_vec profile_room_at(const struct resource_vec *free,
                                    const struct release *releases,
                                    size_t count, int64_t at_ms)
{
    struct resource_vec room = *free;

    for (size_t i = 0; i < count; i++) {
        if (releases[i].at_ms <= at_ms) {
            amounts_add(&room, releases[i].amounts);
        }
    }
    return room;
}
