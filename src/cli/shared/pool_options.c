#include "cli/shared/pool_options.h"

static void add_expression(struct cli *cli, Berth__Api__LabelSelector *selector,
                           char *key, const char *op, char *value)
{
    Berth__Api__LabelExpression *expression =
        wire_new(&berth__api__label_expression__descriptor, &cli->arena);

    expression->key = key;
    expression->operator_ = cli_format(cli, "%s", op);
    if (value) {
        expression->values =
            arena_alloc(&cli->arena, sizeof(*expression->values));
        expression->values[expression->n_values++] = value;
    }
    selector->match_expressions[selector->n_match_expressions++] = expression;
}

static void add_label(struct cli *cli, Berth__Api__LabelSelector *selector,
                      char *key, char *value)
{
    Berth__Api__LabelSelector__MatchLabelsEntry *entry =
        wire_new(&berth__api__label_selector__match_labels_entry__descriptor,
                 &cli->arena);

    entry->key = key;
    entry->value = value;
    selector->match_labels[selector->n_match_labels++] = entry;
}

/* One term of --selector: K=V, K!=V, K or !K. */
static void add_term(struct cli *cli, Berth__Api__LabelSelector *selector,
                     char *term)
{
    char *equals = strchr(term, '=');

    if (!equals && *term == '!') {
        add_expression(cli, selector, term + 1, "DoesNotExist", NULL);
    } else if (!equals) {
        add_expression(cli, selector, term, "Exists", NULL);
    } else if (equals > term && equals[-1] == '!') {
        equals[-1] = '\0';
        add_expression(cli, selector, term, "NotIn", equals + 1);
    } else {
        *equals = '\0';
        add_label(cli, selector, term, equals + 1);
    }
}

/* Of the labels of a selector that are to have two values, or NULL. */
static const char *twice(const Berth__Api__LabelSelector *selector)
{
    for (size_t i = 1; i < selector->n_match_labels; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(selector->match_labels[i]->key,
                       selector->match_labels[j]->key) == 0) {
                return selector->match_labels[i]->key;
            }
        }
    }
    return NULL;
}

static enum cli_exit take_selector(struct cli *cli, Berth__Api__Pool *pool)
{
    struct cli_names terms = cli_list(cli, "selector");
    Berth__Api__LabelSelector *selector =
        wire_new(&berth__api__label_selector__descriptor, &cli->arena);

    selector->match_labels = arena_alloc_array(&cli->arena, terms.count,
                                               sizeof(*selector->match_labels));
    selector->match_expressions = arena_alloc_array(
        &cli->arena, terms.count, sizeof(*selector->match_expressions));
    for (size_t i = 0; i < terms.count; i++) {
        add_term(cli, selector, terms.items[i]);
    }
    pool->node_selector = selector;
    const char *key = twice(selector);
    return key ? cli_fail(cli, CLI_USAGE, "--selector names %s twice", key)
               : CLI_OK;
}

enum cli_exit pool_options_apply(struct cli *cli, Berth__Api__Pool *pool)
{
    enum cli_exit rc =
        cli_switch(cli, "disable-preemption", &pool->disable_preemption);

    if (rc == CLI_OK) {
        rc = cli_switch(cli, "disable-borrowing", &pool->disable_borrowing);
    }
    if (rc == CLI_OK) {
        rc = cli_switch(cli, "disable-sharing", &pool->disable_sharing);
    }
    if (rc == CLI_OK && cli_is_given(cli, "selector")) {
        rc = take_selector(cli, pool);
    }
    if (rc == CLI_OK && cli_is_given(cli, "borrowing-pools")) {
        struct cli_names lenders = cli_list(cli, "borrowing-pools");
        pool->borrowing_pools = lenders.items;
        pool->n_borrowing_pools = lenders.count;
    }
    if (rc == CLI_OK && cli_has(cli, "preemption-order")) {
        pool->preemption_order =
            cli_format(cli, "%s", cli_text(cli, "preemption-order", ""));
    }
    return rc;
}

bool pool_options_given(const struct cli *cli)
{
    static const char *const names[] = {
        "selector",        "disable-preemption", "disable-borrowing",
        "disable-sharing", "borrowing-pools",    "preemption-order"};

    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        if (cli_is_given(cli, names[i])) {
            return true;
        }
    }
    return false;
}
