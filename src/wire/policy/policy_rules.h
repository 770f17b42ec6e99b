/*
 * policy_rules - the parts of a policy's form that are rules of their own
 * (model.md 6.10b).  Internal to the policy codec.
 */
#pragma once

#include "wire/policy/policy_codec.h"

enum {
    POLICY_PROFILE_WORDS = 3, /* how many words each of the next has */
    POLICY_COST_WORDS = 2,
    POLICY_SWITCH_WORDS = 2,
    POLICY_BACKFILL_WORDS = 4,
    POLICY_GPU_WORDS = 3,
};

/* The words of enum pool_profile and so on, in the order of the enums. */
extern const char *const policy_profile_words[POLICY_PROFILE_WORDS];
extern const char *const policy_cost_words[POLICY_COST_WORDS];
extern const char *const policy_switch_words[POLICY_SWITCH_WORDS];
extern const char *const policy_backfill_words[POLICY_BACKFILL_WORDS];
extern const char *const policy_gpu_words[POLICY_GPU_WORDS];

/* A number that was not written in a form. */
#define POLICY_UNWRITTEN INT64_MIN

/* The keys of nodeQuarantine. */
extern const struct settings policy_quarantine_table;
/* The keys of a struct policy_elastic_form. */
extern const struct settings policy_elastic_table;

/* Those of wellKnownNodeTypes[] and of priorityClasses[].awayNodeTypes[]. */
extern const struct settings policy_node_type_table, policy_away_table;

/* Write node types, and which classes may go to them, into a form that has
 * the classes. */
void policy_types_to_form(const struct policy *policy,
                          struct policy_form *form);
/* Read them into a policy that has the classes.  -ERR_INVALID. */
int policy_types_from_form(const struct policy_form *form,
                           struct policy *policy, struct err *err) must_check;

/* The keys of floatingResources[]. */
extern const struct settings policy_floating_table;

/* Write the floating resources of a policy into a form. */
void policy_floating_to_form(const struct policy *policy,
                             struct policy_form *form);
/* Add their columns to a schema that has the others.  -ERR_INVALID. */
int policy_floating_columns(const struct policy_form *form,
                            struct policy *policy, struct err *err) must_check;
/* Read what pools have into a policy that has the pools.  -ERR_INVALID. */
int policy_floating_from_form(const struct policy_form *form,
                              struct policy *policy,
                              struct err *err) must_check;

/* Write what a profile sets of a pool. */
void policy_knobs_to_form(const struct pool_policy *pool,
                          struct policy_pool_form *form);

/* Read the levels of pool number `index`.  -ERR_INVALID: too many, or a label
 * that is empty, too long or given twice. */
int policy_topology_from_form(const struct policy_pool_form *form,
                              uint32_t index, struct pool_policy *pool,
                              struct err *err) must_check;

/* Write the rule as a form. */
void policy_quarantine_to_form(const struct quarantine_policy *rule,
                               struct policy_quarantine_form *ret_form);
/* Read it from one. */
struct quarantine_policy
policy_quarantine_from_form(const struct policy_quarantine_form *form);
/* Write the rule as a form, but for its weights. */
void policy_elastic_to_form(const struct elastic_policy *rule,
                            struct policy_elastic_form *ret_form);
/* Read it from one, likewise. */
void policy_elastic_from_form(const struct policy_elastic_form *form,
                              struct elastic_policy *rule);
