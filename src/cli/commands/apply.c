/* apply: creates or updates the objects of a file. */
#include "cli/commands/commands.h"
#include "cli/shared/check.h"
#include "cli/shared/pool_table.h"
#include "cli/shared/queues.h"

/* A kind of thing with a name that the server gets, makes and changes. */
struct applied_kind {
    const char *kind; /* in a document */
    const char *what; /* in a sentence */
    const char *get, *create, *update;
    const ProtobufCMessageDescriptor *descriptor;
};

static const struct applied_kind queue_kind = {
    "Queue",
    "queue",
    "/api.Submit/GetQueue",
    "/api.Submit/CreateQueue",
    "/api.Submit/UpdateQueue",
    &api__queue__descriptor,
};

static const struct applied_kind retry_policy_kind = {
    "RetryPolicy",
    "retry policy",
    "/api.RetryPolicyService/GetRetryPolicy",
    "/api.RetryPolicyService/CreateRetryPolicy",
    "/api.RetryPolicyService/UpdateRetryPolicy",
    &api__retry_policy__descriptor,
};

static enum cli_exit read_message(struct cli *cli,
                                  const struct applied_kind *kind,
                                  const json_t *json,
                                  ProtobufCMessage **ret_message)
{
    struct err err;

    return wire_json_read(kind->descriptor, json, WIRE_JSON_STRICT, &cli->arena,
                          ret_message, &err) == 0
               ? CLI_OK
               : cli_fail(cli, CLI_INVALID, "%s", err.text);
}

/* What the document says of the thing itself, in the keys that messages are
 * written with; the caller lets it go. */
static json_t *said_by(const struct applied_kind *kind, const json_t *document)
{
    json_t *said = json_copy((json_t *)(uintptr_t)document);

    (void)json_object_del(said, "apiVersion");
    (void)json_object_del(said, "kind");
    for (unsigned i = 0; i < kind->descriptor->n_fields; i++) {
        const char *own = kind->descriptor->fields[i].name;
        char key[64] = "";
        size_t count = 0;
        for (const char *at = own; *at && count < sizeof(key) - 1; at++) {
            bool is_start = at > own && at[-1] == '_';
            if (*at != '_') {
                key[count++] =
                    (char)(is_start && *at >= 'a' && *at <= 'z' ? *at - 32
                                                                : *at);
            }
        }
        json_t *value = json_object_get(said, own);
        if (value && strcmp(own, key) != 0) {
            (void)json_object_set(said, key, value);
            (void)json_object_del(said, own);
        }
    }
    return said;
}

/* Each key that is said takes the place of the one that is there; of
 * `scheduling`, each of its own. */
static void merge(json_t *is, const json_t *said)
{
    json_t *was = json_incref(json_object_get(is, "scheduling"));
    json_t *scheduling = json_object_get(said, "scheduling");

    (void)json_object_update(is, (json_t *)(uintptr_t)said);
    if (json_is_object(was) && json_is_object(scheduling)) {
        (void)json_object_update(was, scheduling);
        (void)json_object_set(is, "scheduling", was);
    }
    json_decref(was);
}

/* A queue that says nothing of its factor has 1, and not 0. */
static void set_defaults(const struct applied_kind *kind, json_t *json)
{
    const json_t *factor = json_object_get(json, "priorityFactor");

    if (kind == &queue_kind && (!factor || json_is_null(factor))) {
        (void)json_object_set_new(json, "priorityFactor", json_integer(1));
    }
}

/* The thing of that name as it is, or NULL if there is none. */
static enum cli_exit get_one(struct cli *cli, const struct applied_kind *kind,
                             char *name, ProtobufCMessage **ret_message)
{
    auto_mem struct rpc_status *status = mem_alloc(sizeof(*status));
    /* All requests for one are its name at number 1. */
    Api__QueueGetRequest request = API__QUEUE_GET_REQUEST__INIT;

    *ret_message = NULL;
    enum cli_exit rc = cli_connect(cli);
    if (rc != CLI_OK) {
        return rc;
    }
    request.name = name;
    enum rpc_code code = cli_try(cli, kind->get, &request.base,
                                 kind->descriptor, ret_message, status);
    if (code == RPC_NOT_FOUND) {
        *ret_message = NULL;
        return CLI_OK;
    }
    return code == RPC_OK ? CLI_OK : cli_fail_call(cli, status);
}

/* Send it, unless it is only tried, and say what was done. */
static enum cli_exit send(struct cli *cli, const struct applied_kind *kind,
                          const char *method, const char *done,
                          const ProtobufCMessage *message, const char *name)
{
    bool is_tried = cli_has(cli, "dry-run");
    enum cli_exit rc = is_tried ? CLI_OK : cli_call_empty(cli, method, message);

    if (rc == CLI_OK) {
        cli_note(cli, "%s %s %s%s", done, kind->what, name,
                 is_tried ? " (not done: --dry-run)" : "");
    }
    return rc;
}

static bool is_of_owners_given(const json_t *said)
{
    return json_object_get(said, "userOwners") ||
           json_object_get(said, "groupOwners");
}

/* Change what is there, unless it is so already. */
static enum cli_exit change(struct cli *cli, const struct applied_kind *kind,
                            ProtobufCMessage *was, const json_t *said,
                            const char *name)
{
    ProtobufCMessage *message;

    if (kind == &queue_kind && is_of_owners_given(said)) {
        queues_restore_owners(cli, (void *)was);
    }
    auto_json_t *before = wire_json_write(was, 0);
    auto_json_t *merged = json_deep_copy(before);
    merge(merged, said);
    set_defaults(kind, merged);
    enum cli_exit rc = read_message(cli, kind, merged, &message);
    if (rc != CLI_OK) {
        return rc;
    }
    auto_json_t *after = wire_json_write(message, 0);
    if (json_equal(before, after)) {
        cli_note(cli, "Unchanged %s %s", kind->what, name);
        return CLI_OK;
    }
    return send(cli, kind, kind->update, "Updated", message, name);
}

/* The server makes whoever creates a queue its owner unless an owner is named.
 * A document that names its permissions and no owner means no others, and
 * would else be changed to them by being applied again. */
static bool has_permissions_alone(const struct applied_kind *kind,
                                  const json_t *said)
{
    return kind == &queue_kind && json_object_get(said, "permissions") &&
           !json_object_get(said, "userOwners");
}

static enum cli_exit make(struct cli *cli, const struct applied_kind *kind,
                          json_t *said, const char *name)
{
    ProtobufCMessage *message;

    set_defaults(kind, said);
    enum cli_exit rc = read_message(cli, kind, said, &message);
    if (rc == CLI_OK) {
        rc = send(cli, kind, kind->create, "Created", message, name);
    }
    if (rc == CLI_OK && has_permissions_alone(kind, said) &&
        !cli_has(cli, "dry-run")) {
        rc = cli_call_empty(cli, kind->update, message);
    }
    return rc;
}

/* Homes that are none are taken, and told of. */
static void check_home(struct cli *cli, const json_t *said)
{
    const char *pool = json_string_value(
        json_object_get(json_object_get(said, "scheduling"), "defaultPool"));

    if (pool && *pool) {
        char *name = cli_format(cli, "%s", pool);
        check_pools(cli, &name, 1, "its jobs are at home in the default pool");
    }
}

static enum cli_exit apply_one(struct cli *cli, const struct applied_kind *kind,
                               const json_t *document)
{
    auto_json_t *said = said_by(kind, document);
    const char *text = json_string_value(json_object_get(said, "name"));
    ProtobufCMessage *was, *alone;

    /* What is wrong with the document is told before the server is asked. */
    enum cli_exit rc = read_message(cli, kind, said, &alone);
    if (rc == CLI_OK && (!text || !*text)) {
        rc = cli_fail(cli, CLI_INVALID, "name must be given");
    }
    if (rc != CLI_OK) {
        return rc;
    }
    char *name = cli_format(cli, "%s", text);
    rc = get_one(cli, kind, name, &was);
    if (rc == CLI_OK && !was && kind == &queue_kind) {
        rc = queue_check_name(cli, name);
    }
    if (rc == CLI_OK) {
        rc = was ? change(cli, kind, was, said, name)
                 : make(cli, kind, said, name);
    }
    if (rc == CLI_OK && kind == &queue_kind) {
        check_home(cli, said);
    }
    return rc;
}

/* Whether it is a queue as `get queues -o yaml` prints it, without a kind. */
static bool is_printed_queue(const json_t *document)
{
    return !json_object_get(document, "kind") &&
           !json_object_get(document, "apiVersion") &&
           json_object_get(document, "name") &&
           json_object_get(document, "priorityFactor");
}

static enum cli_exit apply_document(struct cli *cli, const json_t *document)
{
    const char *kind = json_string_value(json_object_get(document, "kind"));

    if (is_printed_queue(document)) {
        return apply_one(cli, &queue_kind, document);
    }

    if (kind && strcmp(kind, "Pool") == 0) {
        return pool_apply_of(cli, document, cli_has(cli, "dry-run"));
    }
    enum cli_exit rc = check_version(cli, document);
    if (rc != CLI_OK) {
        return rc;
    }
    if (kind && strcmp(kind, queue_kind.kind) == 0) {
        return apply_one(cli, &queue_kind, document);
    }
    if (kind && strcmp(kind, retry_policy_kind.kind) == 0) {
        return apply_one(cli, &retry_policy_kind, document);
    }
    return cli_fail(
        cli, CLI_INVALID, "kind must be Queue, RetryPolicy or Pool%s",
        kind && strcmp(kind, "Job") == 0 ? "; submit takes jobs" : "");
}

/* A document, or several as a list. */
static enum cli_exit apply_all(struct cli *cli, const json_t *document)
{
    enum cli_exit rc = CLI_OK;

    if (!json_is_array(document)) {
        return apply_document(cli, document);
    }
    for (size_t i = 0; i < json_array_size(document) && rc == CLI_OK; i++) {
        rc = apply_document(cli, json_array_get(document, i));
    }
    return rc;
}

enum cli_exit cmd_apply(struct cli *cli)
{
    return cli_has(cli, "file")
               ? cli_each_document(cli, cli_text(cli, "file", NULL), apply_all)
               : cli_fail(cli, CLI_USAGE, "apply needs -f FILE");
}
