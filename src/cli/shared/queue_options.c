#include "cli/shared/queue_options.h"

#include <inttypes.h>

#include "cli/shared/queues.h"
#include "wire/settings/settings.h"

enum { PPM = 1000000 };

/* The labels of --labels, each key=value, in place of those it had. */
static enum cli_exit take_labels(struct cli *cli, Api__Queue *queue)
{
    struct cli_names labels = cli_list(cli, "labels");

    queue->n_labels = 0;
    queue->labels =
        arena_alloc_array(&cli->arena, labels.count, sizeof(*queue->labels));
    for (size_t i = 0; i < labels.count; i++) {
        Api__Queue__LabelsEntry *entry =
            arena_alloc(&cli->arena, sizeof(*entry));
        char *equals = strchr(labels.items[i], '=');
        if (!equals) {
            return cli_fail(cli, CLI_USAGE,
                            "--labels takes KEY=VALUE,..., not \"%s\"",
                            labels.items[i]);
        }
        *equals = '\0';
        api__queue__labels_entry__init(entry);
        entry->key = labels.items[i];
        entry->value = equals + 1;
        queue->labels[queue->n_labels++] = entry;
    }
    return CLI_OK;
}

/* A limit of an option, NULL without it. */
static enum cli_exit take_limit(struct cli *cli, const char *option,
                                Google__Protobuf__DoubleValue **ret_limit)
{
    const char *text = cli_text(cli, option, "");
    int64_t ppm;

    *ret_limit = NULL;
    if (!*text) {
        return CLI_OK;
    }
    if (setting_parse_ppm(str_of(text), &ppm) < 0) {
        return cli_fail(cli, CLI_USAGE,
                        "--%s must be a decimal number such as 0.5, not \"%s\"",
                        option, text);
    }
    *ret_limit = arena_alloc(&cli->arena, sizeof(**ret_limit));
    google__protobuf__double_value__init(*ret_limit);
    (*ret_limit)->value = (double)ppm / 1e6;
    return CLI_OK;
}

/* The limits that options name; those not named stay. */
static enum cli_exit take_limits(struct cli *cli, Api__QueueScheduling *ret)
{
    enum cli_exit rc = CLI_OK;

    if (cli_has(cli, "over-share-factor")) {
        rc = take_limit(cli, "over-share-factor", &ret->over_share_factor);
    }
    if (rc == CLI_OK && cli_has(cli, "excess-budget")) {
        rc = take_limit(cli, "excess-budget", &ret->excess_budget);
    }
    return rc;
}

/* The quota of --quota, each resource=amount, in place of what there was. */
static enum cli_exit take_quota(struct cli *cli, Api__QueueScheduling *ret)
{
    struct cli_names items = cli_list(cli, "quota");

    ret->n_quota = 0;
    ret->quota =
        arena_alloc_array(&cli->arena, items.count, sizeof(*ret->quota));
    for (size_t i = 0; i < items.count; i++) {
        Api__QueueScheduling__QuotaEntry *entry =
            arena_alloc(&cli->arena, sizeof(*entry));
        char *equals = strchr(items.items[i], '=');
        if (!equals) {
            return cli_fail(cli, CLI_USAGE,
                            "--quota takes RESOURCE=AMOUNT,..., not \"%s\"",
                            items.items[i]);
        }
        *equals = '\0';
        for (size_t j = 0; j < ret->n_quota; j++) {
            if (strcmp(ret->quota[j]->key, items.items[i]) == 0) {
                return cli_fail(cli, CLI_USAGE, "--quota names %s twice",
                                items.items[i]);
            }
        }
        api__queue_scheduling__quota_entry__init(entry);
        entry->key = items.items[i];
        entry->value = equals + 1;
        ret->quota[ret->n_quota++] = entry;
    }
    return CLI_OK;
}

static bool is_default(const Api__QueueScheduling *scheduling)
{
    return !*scheduling->ordering && !*scheduling->default_pool &&
           !scheduling->class_priority_ignored &&
           !scheduling->allow_stateaware_disable &&
           scheduling->max_running_apps == 0 &&
           !scheduling->over_share_factor && !scheduling->excess_budget &&
           scheduling->n_quota == 0;
}

static enum cli_exit take_scheduling(struct cli *cli, Api__Queue *queue)
{
    Api__QueueScheduling *scheduling = queue->scheduling;
    const char *apps = cli_text(cli, "max-running-apps", "0");
    char *end;

    if (!scheduling) {
        scheduling = arena_alloc(&cli->arena, sizeof(*scheduling));
        api__queue_scheduling__init(scheduling);
    }
    unsigned long apps_max = strtoul(apps, &end, 10);
    if (*apps < '0' || *apps > '9' || *end || apps_max > UINT32_MAX) {
        return cli_fail(cli, CLI_USAGE,
                        "--max-running-apps must be a whole number from 0 to "
                        "%" PRIu32 ", not \"%s\"",
                        UINT32_MAX, apps);
    }
    if (cli_has(cli, "max-running-apps")) {
        scheduling->max_running_apps = (uint32_t)apps_max;
    }
    if (cli_is_given(cli, "default-pool")) {
        scheduling->default_pool =
            cli_format(cli, "%s", cli_text(cli, "default-pool", ""));
    }
    if (cli_has(cli, "ordering")) {
        scheduling->ordering =
            cli_format(cli, "%s", cli_text(cli, "ordering", ""));
    }
    enum cli_exit rc = cli_switch(cli, "ignore-class-priority",
                                  &scheduling->class_priority_ignored);
    if (rc == CLI_OK) {
        rc = cli_switch(cli, "allow-stateaware-disable",
                        &scheduling->allow_stateaware_disable);
    }
    if (rc == CLI_OK) {
        rc = take_limits(cli, scheduling);
    }
    if (rc == CLI_OK && cli_is_given(cli, "quota")) {
        rc = take_quota(cli, scheduling);
    }
    queue->scheduling = is_default(scheduling) ? NULL : scheduling;
    return rc;
}

static void take_owners(struct cli *cli, Api__Queue *queue)
{
    if (!cli_is_given(cli, "owners") && !cli_is_given(cli, "group-owners")) {
        return;
    }
    queues_restore_owners(cli, queue);
    if (cli_is_given(cli, "owners")) {
        struct cli_names owners = cli_list(cli, "owners");
        queue->user_owners = owners.items;
        queue->n_user_owners = owners.count;
    }
    if (cli_is_given(cli, "group-owners")) {
        struct cli_names groups = cli_list(cli, "group-owners");
        queue->group_owners = groups.items;
        queue->n_group_owners = groups.count;
    }
}

enum cli_exit queue_options_apply(struct cli *cli, Api__Queue *queue)
{
    const char *factor = cli_text(cli, "priority-factor", "1");
    int64_t ppm;

    if (setting_parse_ppm(str_of(factor), &ppm) < 0 || ppm < PPM) {
        return cli_fail(cli, CLI_USAGE,
                        "--priority-factor takes a number from 1 on, such as "
                        "2.5 (the queue's weight is its inverse), not \"%s\"",
                        factor);
    }
    if (cli_has(cli, "priority-factor")) {
        queue->priority_factor = (double)ppm / 1e6;
    }
    take_owners(cli, queue);
    if (cli_is_given(cli, "retry-policies")) {
        struct cli_names policies = cli_list(cli, "retry-policies");
        queue->retry_policies = policies.items;
        queue->n_retry_policies = policies.count;
    }
    enum cli_exit rc = cli_switch(cli, "cordon", &queue->cordoned);
    if (rc == CLI_OK && cli_is_given(cli, "labels")) {
        rc = take_labels(cli, queue);
    }
    return rc == CLI_OK ? take_scheduling(cli, queue) : rc;
}

enum cli_exit queue_options_read(struct cli *cli, Api__Queue *ret_queue)
{
    api__queue__init(ret_queue);
    ret_queue->name = cli_argument(cli, 0);
    ret_queue->priority_factor = 1;
    return queue_options_apply(cli, ret_queue);
}
