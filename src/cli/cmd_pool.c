/*
 * create, edit and delete of pools.
 */
#include "cli/check.h"
#include "cli/pool_table.h"
#include "wire/pool_codec.h"

/* Options. */

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

/* Change of a pool what options name, and nothing else. */
static enum cli_exit apply_options(struct cli *cli, Berth__Api__Pool *pool)
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

static bool has_options(const struct cli *cli)
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

/* A file, or else a name and options. */
static enum cli_exit check_arguments(const struct cli *cli)
{
    bool has_file = cli_has(cli, "file");

    if (has_file && (cli->argument_count > 0 || has_options(cli))) {
        return cli_fail(cli, CLI_USAGE, "%s takes -f FILE, or NAME and options",
                        cli->command->path);
    }
    return has_file || cli->argument_count == 1
               ? CLI_OK
               : cli_fail(cli, CLI_USAGE, "%s wants NAME or -f FILE",
                          cli->command->path);
}

/* Without a selector it is a pool all the same (model.md 5.1), but of no
 * nodes. */
static void remark_on_selector(struct cli *cli, const Berth__Api__Pool *pool)
{
    const Berth__Api__LabelSelector *selector = pool->node_selector;

    if (!selector) {
        (void)cli_fail(cli, CLI_OK,
                       "pool %s has no nodeSelector, and so no nodes: edit "
                       "pool %s --selector K=V gives it some",
                       pool->name, pool->name);
    } else if (selector->n_match_labels + selector->n_match_expressions == 0) {
        (void)cli_fail(cli, CLI_OK,
                       "the nodeSelector of pool %s is empty, and so it "
                       "selects every node",
                       pool->name);
    }
}

/* Calls. */

static enum cli_exit put_pool(struct cli *cli, const char *method,
                              const char *done, const Berth__Api__Pool *pool)
{
    struct err err;

    if (pool_check(pool, &err) < 0) {
        return cli_fail(cli, CLI_INVALID, "%s", err.text);
    }
    enum cli_exit rc = cli_call_empty(cli, method, &pool->base);
    if (rc == CLI_OK) {
        cli_note(cli, "%s pool %s", done, pool->name);
        remark_on_selector(cli, pool);
        check_pools(cli, pool->borrowing_pools, pool->n_borrowing_pools,
                    "nothing is borrowed from it");
    }
    return rc;
}

static enum cli_exit create_pool(struct cli *cli, const Berth__Api__Pool *pool)
{
    return put_pool(cli, "/berth.api.Berth/CreatePool", "Created", pool);
}

static bool is_same_pool(const Berth__Api__Pool *a, const Berth__Api__Pool *b)
{
    auto_strbuf before = {0}, after = {0};

    wire_encode(&a->base, &before);
    wire_encode(&b->base, &after);
    return str_equal(strbuf_str(&before), strbuf_str(&after));
}

/* Replace `was` by `pool`, unless they are the same. */
static enum cli_exit update_pool(struct cli *cli, const Berth__Api__Pool *was,
                                 const Berth__Api__Pool *pool)
{
    if (is_same_pool(was, pool)) {
        cli_note(cli, "Unchanged pool %s", pool->name);
        return CLI_OK;
    }
    return put_pool(cli, "/berth.api.Berth/UpdatePool", "Edited", pool);
}

/* The one of that name, which must be an object; NULL if there is none. */
static enum cli_exit look_for_pool(struct cli *cli, const char *name,
                                   const Berth__Api__PoolStatus **ret_status)
{
    Berth__Api__ListPoolsResponse *response;

    *ret_status = NULL;
    if (!*name) {
        return cli_fail(cli, CLI_INVALID, "metadata.name: it is missing");
    }
    if (strcmp(cli_pool_name(name), "default") == 0) {
        return cli_fail(cli, CLI_INVALID,
                        "the default pool cannot be created, edited or "
                        "deleted");
    }
    enum cli_exit rc = cli_list_pools(cli, name, &response);
    if (rc == CLI_OK && response->n_pools > 0) {
        *ret_status = response->pools[0];
    }
    return rc;
}

/* The same, but it must be there. */
static enum cli_exit find_pool(struct cli *cli, const char *name,
                               const Berth__Api__PoolStatus **ret_status)
{
    enum cli_exit rc = look_for_pool(cli, name, ret_status);

    return rc == CLI_OK && !*ret_status ? cli_no_such_pool(cli, name) : rc;
}

/* Files. */

static enum cli_exit read_pool(struct cli *cli, const json_t *document,
                               Berth__Api__Pool **ret_pool)
{
    struct err err;

    return pool_resource_read(document, &cli->arena, ret_pool, &err) == 0
               ? CLI_OK
               : cli_fail(cli, CLI_INVALID, "%s", err.text);
}

static enum cli_exit create_document(struct cli *cli, const json_t *document)
{
    Berth__Api__Pool *pool;

    enum cli_exit rc = read_pool(cli, document, &pool);
    return rc == CLI_OK ? create_pool(cli, pool) : rc;
}

/* With --dry-run. */
static enum cli_exit check_document(struct cli *cli, const json_t *document)
{
    Berth__Api__Pool *pool;
    struct err err;

    enum cli_exit rc = read_pool(cli, document, &pool);
    if (rc == CLI_OK && pool_check(pool, &err) < 0) {
        rc = cli_fail(cli, CLI_INVALID, "%s", err.text);
    }
    if (rc == CLI_OK) {
        cli_note(cli, "Created pool %s", pool->name);
        remark_on_selector(cli, pool);
    }
    return rc;
}

enum cli_exit pool_create_of(struct cli *cli, const json_t *document,
                             bool is_dry_run)
{
    return is_dry_run ? check_document(cli, document)
                      : create_document(cli, document);
}

/* What a document names of a pool replaces what the pool has. */
static enum cli_exit merge_pool(struct cli *cli, const json_t *document,
                                const Berth__Api__Pool *was,
                                Berth__Api__Pool **ret_pool)
{
    auto_json_t *merged = pool_resource_write(was);
    json_t *given = json_object_get(document, "spec");

    if (json_is_object(given)) {
        (void)json_object_update(json_object_get(merged, "spec"), given);
    }
    return read_pool(cli, merged, ret_pool);
}

static enum cli_exit edit_document(struct cli *cli, const json_t *document)
{
    const Berth__Api__PoolStatus *status = NULL;
    Berth__Api__Pool *pool;

    enum cli_exit rc = read_pool(cli, document, &pool);
    if (rc == CLI_OK) {
        rc = find_pool(cli, pool->name, &status);
    }
    if (rc == CLI_OK) {
        rc = merge_pool(cli, document, status->pool, &pool);
    }
    return rc == CLI_OK ? update_pool(cli, status->pool, pool) : rc;
}

/* Say what would be done, once the server has been asked what there is. */
static enum cli_exit try_apply(struct cli *cli, const Berth__Api__Pool *was,
                               const Berth__Api__Pool *pool)
{
    struct err err;

    if (pool_check(pool, &err) < 0) {
        return cli_fail(cli, CLI_INVALID, "%s", err.text);
    }
    if (was && is_same_pool(was, pool)) {
        cli_note(cli, "Unchanged pool %s", pool->name);
    } else {
        cli_note(cli, "%s pool %s (not done: --dry-run)",
                 was ? "Edited" : "Created", pool->name);
        remark_on_selector(cli, pool);
    }
    return CLI_OK;
}

enum cli_exit pool_apply_of(struct cli *cli, const json_t *document,
                            bool is_dry_run)
{
    const Berth__Api__PoolStatus *status = NULL;
    Berth__Api__Pool *pool;

    enum cli_exit rc = read_pool(cli, document, &pool);
    if (rc == CLI_OK) {
        rc = look_for_pool(cli, pool->name, &status);
    }
    if (rc == CLI_OK && status) {
        rc = merge_pool(cli, document, status->pool, &pool);
    }
    if (rc != CLI_OK || is_dry_run) {
        return rc != CLI_OK
                   ? rc
                   : try_apply(cli, status ? status->pool : NULL, pool);
    }
    return status ? update_pool(cli, status->pool, pool)
                  : create_pool(cli, pool);
}

/* Commands. */

enum cli_exit cmd_create_pool(struct cli *cli)
{
    Berth__Api__Pool pool = BERTH__API__POOL__INIT;

    enum cli_exit rc = check_arguments(cli);
    if (rc == CLI_OK && cli_has(cli, "file")) {
        return cli_each_document(cli, cli_text(cli, "file", NULL),
                                 create_document);
    }
    if (rc == CLI_OK) {
        pool.name = cli_argument(cli, 0);
        rc = apply_options(cli, &pool);
    }
    return rc == CLI_OK ? create_pool(cli, &pool) : rc;
}

enum cli_exit cmd_edit_pool(struct cli *cli)
{
    Berth__Api__Pool scratch = BERTH__API__POOL__INIT, pool;
    const Berth__Api__PoolStatus *status = NULL;

    enum cli_exit rc = check_arguments(cli);
    if (rc == CLI_OK && cli_has(cli, "file")) {
        return cli_each_document(cli, cli_text(cli, "file", NULL),
                                 edit_document);
    }
    if (rc == CLI_OK && !has_options(cli)) {
        return cli_fail(cli, CLI_USAGE,
                        "edit pool %s wants options that say what to change",
                        cli_argument(cli, 0));
    }
    /* Options that make no sense are told before the server is asked. */
    if (rc == CLI_OK) {
        rc = apply_options(cli, &scratch);
    }
    if (rc == CLI_OK) {
        rc = find_pool(cli, cli_argument(cli, 0), &status);
    }
    if (rc == CLI_OK) {
        pool = *status->pool;
        rc = apply_options(cli, &pool);
    }
    return rc == CLI_OK ? update_pool(cli, status->pool, &pool) : rc;
}

/* What becomes of that which a deleted pool had. */
static void say_what_goes(struct cli *cli, const Berth__Api__PoolStatus *status)
{
    uint32_t job_count =
        status->running_own_count + status->running_foreign_count;
    uint32_t node_count = status->node_count;
    uint32_t queued_count = status->queued_own_count;

    if (node_count > 0) {
        cli_note(
            cli,
            "  %u node%s to the pool%s that match%s now, or to the default "
            "pool; %u job%s on there",
            node_count, node_count == 1 ? " goes" : "s go",
            node_count == 1 ? "" : "s", node_count == 1 ? "es it" : " them",
            job_count, job_count == 1 ? " goes" : "s go");
    }
    if (queued_count > 0) {
        cli_note(cli, "  %u waiting job%s to the default pool", queued_count,
                 queued_count == 1 ? " goes" : "s go");
    }
}

static enum cli_exit delete_pool(struct cli *cli, char *name)
{
    Berth__Api__DeletePoolRequest request =
        BERTH__API__DELETE_POOL_REQUEST__INIT;
    const Berth__Api__PoolStatus *status = NULL;

    enum cli_exit rc = find_pool(cli, name, &status);
    if (rc == CLI_OK) {
        request.name = name;
        rc = cli_call_empty(cli, "/berth.api.Berth/DeletePool", &request.base);
    }
    if (rc == CLI_OK) {
        cli_note(cli, "Deleted pool %s", name);
    }
    if (rc == CLI_OK) {
        say_what_goes(cli, status);
    }
    return rc;
}

enum cli_exit cmd_delete_pool(struct cli *cli)
{
    enum cli_exit rc = CLI_OK;

    for (int i = 0; rc == CLI_OK && i < cli->argument_count; i++) {
        rc = delete_pool(cli, cli_argument(cli, i));
    }
    return rc;
}
