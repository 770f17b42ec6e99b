#include "cli/shared/nearest.h"

#include "wire/settings/settings.h"

struct nearest nearest_to(const char *wanted)
{
    struct str name = str_of(wanted);

    /* Half of the letters may be others, but not more than a typing error or
     * two. */
    uint32_t far = (uint32_t)name.byte_count / 2 + 1;
    return (struct nearest){.wanted = name, .distance = far < 3 ? far : 3};
}

void nearest_try(struct nearest *nearest, struct str name)
{
    uint32_t distance = settings_distance(nearest->wanted, name);

    if (distance < nearest->distance) {
        nearest->distance = distance;
        nearest->name = name;
    }
}
