/* Floating resources (not tied to a node) in a policy. */
#include "wire/policy/policy_rules.h"

/* Sums over all nodes of more than this would overflow; see floating.h. */
#define FLOATING_UNITS_MAX (INT64_C(1) << 39)

static void init_floating(void *record)
{
    ((struct policy_floating_form *)record)->resolution_milli = 1000;
}

static const struct setting floating_pool_keys[] = {
    SETTING("name", TEXT, policy_floating_pool_form, name,
            .about = "Name of a pool.", .is_required = true),
    SETTING("quantity", QUANTITY, policy_floating_pool_form, quantity_milli,
            .about = "Amount that all jobs of the pool share. Pools not listed "
                     "have none."),
};

static const struct settings floating_pool_table = {
    floating_pool_keys, ARRAY_COUNT(floating_pool_keys),
    sizeof(struct policy_floating_pool_form), NULL};

static const struct setting floating_keys[] = {
    SETTING("name", TEXT, policy_floating_form, name,
            .about = "Name of the resource, as pods request it.",
            .is_required = true),
    SETTING("resolution", QUANTITY, policy_floating_form, resolution_milli,
            .about = "As in supportedResourceTypes.", .min = 1,
            .max = INT64_C(1000000000000000)),
    SETTING("pools", RECORDS, policy_floating_form, pools,
            .about = "Amounts of the pools.", .table = &floating_pool_table,
            .count_offset = offsetof(struct policy_floating_form, pool_count),
            .count_max = POLICY_POOLS_MAX),
};

const struct settings policy_floating_table = {
    floating_keys, ARRAY_COUNT(floating_keys),
    sizeof(struct policy_floating_form), init_floating};

void policy_floating_to_form(const struct policy *policy,
                             struct policy_form *form)
{
    for (uint32_t r = 0; r < policy->schema.column_count; r++) {
        if (!policy->is_floating[r]) {
            continue;
        }
        struct policy_floating_form *to =
            &form->floating[form->floating_count++];
        to->name = policy->schema.columns[r].name;
        to->resolution_milli = policy->schema.columns[r].unit_milli;
        for (uint32_t p = 0; p < policy->pool_count; p++) {
            if (policy->pools[p].floating[r] > 0) {
                to->pools[to->pool_count++] =
                    (struct policy_floating_pool_form){
                        policy->pools[p].name,
                        policy->pools[p].floating[r] * to->resolution_milli};
            }
        }
    }
}

int policy_floating_columns(const struct policy_form *form,
                            struct policy *policy, struct err *err)
{
    for (uint32_t i = 0; i < form->floating_count; i++) {
        struct str name = form->floating[i].name;
        uint32_t column = policy->schema.column_count;
        if (name.byte_count == 0 ||
            resource_column(&policy->schema, name) >= 0) {
            return err_set(err, -ERR_INVALID,
                           "floatingResources[%u].name: \"%.*s\" is empty or "
                           "given twice",
                           i, STR_ARG(name));
        }
        if (column == RESOURCE_COLUMNS_MAX) {
            return err_set(err, -ERR_INVALID,
                           "floatingResources: with supportedResourceTypes "
                           "more than %d resources",
                           RESOURCE_COLUMNS_MAX);
        }
        policy->schema.columns[column].name = name;
        policy->schema.columns[column].unit_milli =
            form->floating[i].resolution_milli;
        policy->schema.column_count++;
        policy->is_floating[column] = policy->has_floating = true;
    }
    return 0;
}

static struct pool_policy *find_pool(struct policy *policy, struct str name)
{
    for (uint32_t p = 0; p < policy->pool_count; p++) {
        if (str_equal(policy->pools[p].name, name)) {
            return &policy->pools[p];
        }
    }
    return NULL;
}

static int floating_from_form(const struct policy_floating_form *form,
                              struct policy *policy, struct err *err)
{
    int column = resource_column(&policy->schema, form->name);

    for (uint32_t i = 0; i < form->pool_count; i++) {
        struct pool_policy *pool = find_pool(policy, form->pools[i].name);
        int64_t units = form->pools[i].quantity_milli / form->resolution_milli;
        if (!pool) {
            return err_set(err, -ERR_INVALID,
                           "floatingResources[].pools: \"%.*s\" is not one of "
                           "pools",
                           STR_ARG(form->pools[i].name));
        }
        if (units < 0 || units > FLOATING_UNITS_MAX) {
            return err_set(err, -ERR_INVALID,
                           "floatingResources[].pools[].quantity: of \"%.*s\" "
                           "out of range",
                           STR_ARG(form->name));
        }
        pool->floating[column] = units;
    }
    return 0;
}

int policy_floating_from_form(const struct policy_form *form,
                              struct policy *policy, struct err *err)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < form->floating_count; i++) {
        rc = floating_from_form(&form->floating[i], policy, err);
    }
    return rc;
}
