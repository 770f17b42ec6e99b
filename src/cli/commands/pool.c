/* Creates, edits and deletes pools. */
#include "base/plural.h"
#include "cli/commands/commands.h"
#include "cli/shared/check.h"
#include "cli/shared/pool_options.h"
#include "cli/shared/pool_table.h"
#include "wire/kube/pool_codec.h"

/* A file, or else a name and options. */
static enum cli_exit check_arguments(const struct cli *cli)
{
    bool has_file = cli_has(cli, "file");

    if (has_file && (cli->argument_count > 0 || pool_options_given(cli))) {
        return cli_fail(cli, CLI_USAGE, "%s takes -f FILE, or NAME and options",
                        cli->command->path);
    }
    return has_file || cli->argument_count == 1
               ? CLI_OK
               : cli_fail(cli, CLI_USAGE, "%s needs NAME or -f FILE",
                          cli->command->path);
}

/* Without a selector it is a pool all the same (model.md 5.1), but of no
 * nodes. */
static void remark_on_selector(struct cli *cli, const Berth__Api__Pool *pool)
{
    const Berth__Api__LabelSelector *selector = pool->node_selector;

    if (!selector) {
        (void)cli_fail(cli, CLI_OK,
                       "pool %s has no nodes, because it has no nodeSelector; "
                       "set one with: edit pool %s --selector K=V",
                       pool->name, pool->name);
    } else if (selector->n_match_labels + selector->n_match_expressions == 0) {
        (void)cli_fail(
            cli, CLI_OK,
            "pool %s selects every node, because its nodeSelector is empty",
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
        return cli_fail(cli, CLI_INVALID, "metadata.name: must be given");
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
        rc = pool_options_apply(cli, &pool);
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
    if (rc == CLI_OK && !pool_options_given(cli)) {
        return cli_fail(cli, CLI_USAGE,
                        "edit pool %s needs options for the settings to change",
                        cli_argument(cli, 0));
    }
    /* Options that make no sense are told before the server is asked. */
    if (rc == CLI_OK) {
        rc = pool_options_apply(cli, &scratch);
    }
    if (rc == CLI_OK) {
        rc = find_pool(cli, cli_argument(cli, 0), &status);
    }
    if (rc == CLI_OK) {
        pool = *status->pool;
        rc = pool_options_apply(cli, &pool);
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
        cli_note(cli,
                 "  %u node%s to the pool%s that %s now, or to the default "
                 "pool; %u job%s on there",
                 node_count, plural_of(node_count, " goes", "s go"),
                 plural_s(node_count),
                 plural_of(node_count, "matches it", "match them"), job_count,
                 plural_of(job_count, " goes", "s go"));
    }
    if (queued_count > 0) {
        cli_note(cli, "  %u waiting job%s to the default pool", queued_count,
                 plural_of(queued_count, " goes", "s go"));
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
