#include "model/class_change.h"

static int set_limit(struct priority_class *class,
                     const struct class_change *change, struct err *err)
{
    uint32_t at = 0;

    while (at < class->queue_limit_count &&
           !str_equal(class->queue_limits[at].resource, change->resource)) {
        at++;
    }
    if (at == POLICY_FRACTIONS_MAX) {
        return err_set(err, -ERR_INVALID,
                       "class \"%.*s\" has limits of %d resources already",
                       STR_ARG(class->name), POLICY_FRACTIONS_MAX);
    }
    class->queue_limits[at] =
        (struct resource_fraction){change->resource, change->fraction_ppm};
    class->queue_limit_count += at == class->queue_limit_count;
    return 0;
}

int policy_change_class(struct policy *policy,
                        const struct class_change *change, struct err *err)
{
    for (uint32_t i = 0; i < policy->class_count; i++) {
        struct priority_class *class = &policy->classes[i];
        if (str_equal(class->name, change->name)) {
            class->priority =
                change->has_priority ? change->priority : class->priority;
            return change->resource.byte_count ? set_limit(class, change, err)
                                               : 0;
        }
    }
    return err_set(err, -ERR_NOT_FOUND, "there is no priority class \"%.*s\"",
                   STR_ARG(change->name));
}
