#include "cli/shared/template.h"

#include <ctype.h>

#include "wire/yaml/yaml.h"

/* A document that is filled in. */
struct filling {
    struct cli *cli;
    json_t *values; /* owned; by name */
    json_t *texts;  /* of --set, as they were typed; borrowed */
    enum cli_exit rc;
};

static const json_t *parameters_of(const json_t *document)
{
    return json_object_get(document, "parameters");
}

/* A parameter that a text begins with; "" if it does with none. */
static struct str name_at(const char *text, const char **ret_end)
{
    const char *first = text + 2 + strspn(text + 2, " ");
    const char *last = first;

    if (!isalpha((unsigned char)*first)) {
        return (struct str){0};
    }
    while (isalnum((unsigned char)*last) || *last == '_' || *last == '-') {
        last++;
    }
    *ret_end = last + strspn(last, " ");
    if (strncmp(*ret_end, "}}", 2) != 0) {
        return (struct str){0};
    }
    *ret_end += 2;
    return str_make(first, (size_t)(last - first));
}

/* The value of a parameter, or NULL, having said that there is none. */
static const json_t *value_of(struct filling *filling, const char *name)
{
    const json_t *value = json_object_get(filling->values, name);

    if (filling->rc == CLI_OK && !value) {
        filling->rc =
            cli_fail(filling->cli, CLI_INVALID,
                     "{{ %s }}: the file's `parameters` do not name it", name);
    } else if (filling->rc == CLI_OK && json_is_null(value)) {
        filling->rc = cli_fail(filling->cli, CLI_INVALID,
                               "parameter %s has no value: --set %s=VALUE "
                               "gives it one",
                               name, name);
    }
    return filling->rc == CLI_OK ? value : NULL;
}

/* Append a value as it stands within a text. */
static void put_value(struct filling *filling, const char *name,
                      const json_t *value, struct strbuf *buf)
{
    const char *typed =
        json_string_value(json_object_get(filling->texts, name));

    if (json_is_object(value) || json_is_array(value)) {
        filling->rc = cli_fail(filling->cli, CLI_INVALID,
                               "parameter %s is a list or a mapping, which "
                               "cannot stand within a text",
                               name);
    } else if (typed || json_is_string(value)) {
        strbuf_add_text(buf, typed ? typed : json_string_value(value));
    } else {
        auto_strbuf yaml = {0};
        wire_yaml_write(value, &yaml);
        const char *text = strbuf_text(&yaml);
        strbuf_add_str(buf, str_make(text, strcspn(text, "\n")));
    }
}

/* What a text becomes; a new reference, NULL for none. */
static json_t *fill_text(struct filling *filling, const char *text)
{
    auto_strbuf filled = {0};
    const char *end;

    for (const char *at = text; *at && filling->rc == CLI_OK;) {
        struct str name =
            strncmp(at, "{{", 2) == 0 ? name_at(at, &end) : (struct str){0};
        if (name.byte_count == 0) {
            strbuf_add_char(&filled, *at++);
            continue;
        }
        auto_mem char *key = str_dup(name);
        const json_t *value = value_of(filling, key);
        if (value && at == text && !*end) {
            return json_deep_copy(value);
        }
        if (value) {
            put_value(filling, key, value, &filled);
        }
        at = end;
    }
    return json_string(strbuf_text(&filled));
}

/* Fill in what is below a value; what comes in its place, a new reference. */
static json_t *fill(struct filling *filling, const json_t *value)
{
    json_t *filled, *item;
    const char *key;
    size_t i;

    if (json_is_string(value)) {
        return fill_text(filling, json_string_value(value));
    }
    if (json_is_object(value)) {
        filled = json_object();
        json_object_foreach((json_t *)(uintptr_t)value, key, item)
        {
            (void)json_object_set_new(filled, key, fill(filling, item));
        }
        return filled;
    }
    if (json_is_array(value)) {
        filled = json_array();
        json_array_foreach(value, i, item)
        {
            (void)json_array_append_new(filled, fill(filling, item));
        }
        return filled;
    }
    return json_deep_copy(value);
}

/* One document, with the values of one instance over its own. */
static enum cli_exit fill_document(struct cli *cli, const json_t *document,
                                   const json_t *given, json_t *texts,
                                   json_t **ret_document)
{
    auto_json_t *copy = json_copy((json_t *)(uintptr_t)document);
    struct filling filling = {
        .cli = cli,
        .values = json_deep_copy(parameters_of(document)),
        .texts = texts,
    };

    (void)json_object_update_existing(filling.values,
                                      (json_t *)(uintptr_t)given);
    (void)json_object_del(copy, "parameters");
    *ret_document = fill(&filling, copy);
    json_decref(filling.values);
    if (filling.rc != CLI_OK) {
        json_decref(*ret_document);
        *ret_document = NULL;
    }
    return filling.rc;
}

/* Put what --set says into values; `texts` keeps how it was typed. */
static enum cli_exit read_set(struct cli *cli, json_t *values, json_t *texts)
{
    struct cli_names items = cli_list(cli, "set");
    struct err err;

    for (size_t i = 0; i < items.count; i++) {
        const char *equals = strchr(items.items[i], '=');
        json_t *value;
        if (!equals || equals == items.items[i]) {
            return cli_fail(cli, CLI_USAGE,
                            "--set takes NAME=VALUE,..., not \"%s\"",
                            items.items[i]);
        }
        auto_mem char *name = str_dup(
            str_make(items.items[i], (size_t)(equals - items.items[i])));
        if (wire_yaml_read_first(str_of(equals + 1), &value, &err) < 0 ||
            json_is_null(value)) {
            value = json_string(equals + 1);
        }
        (void)json_object_set_new(values, name, value);
        (void)json_object_set_new(texts, name, json_string(equals + 1));
    }
    return CLI_OK;
}

/* The mappings of --values as a list; without it one that is empty. */
static enum cli_exit read_values(struct cli *cli, json_t **ret_list)
{
    const char *path = cli_text(cli, "values", NULL);
    auto_json_t *document = json_object();
    const json_t *item;
    size_t i;

    if (path) {
        json_decref(document);
        document = NULL;
        enum cli_exit rc = cli_read_document(cli, path, &document);
        if (rc != CLI_OK) {
            return rc;
        }
    }
    auto_json_t *list = json_is_array(document) ? json_incref(document)
                                                : json_pack("[O]", document);
    json_array_foreach(list, i, item)
    {
        if (!json_is_object(item)) {
            return cli_fail(cli, CLI_INVALID,
                            "%s: must be a mapping of parameters to values, or "
                            "a list of such",
                            path);
        }
    }
    if (json_array_size(list) > TEMPLATE_INSTANCES_MAX) {
        return cli_fail(cli, CLI_INVALID, "%s: more than %d mappings", path,
                        TEMPLATE_INSTANCES_MAX);
    }
    *ret_list = json_incref(list);
    return CLI_OK;
}

/* Whether some document has each parameter that is given a value. */
static enum cli_exit check_names(struct cli *cli, const json_t *documents,
                                 const json_t *given)
{
    const json_t *document;
    const char *name;
    json_t *value;
    size_t i;

    json_object_foreach((json_t *)(uintptr_t)given, name, value)
    {
        bool is_declared = false;
        json_array_foreach(documents, i, document)
        {
            is_declared |=
                json_object_get(parameters_of(document), name) != NULL;
        }
        if (!is_declared) {
            return cli_fail(cli, CLI_INVALID,
                            "the file has no parameter %s under `parameters`",
                            name);
        }
    }
    return CLI_OK;
}

/* Jobs of one client id are one job to the server. */
static enum cli_exit check_client_ids(struct cli *cli, const json_t *first,
                                      const json_t *other)
{
    const json_t *jobs = json_object_get(first, "jobs"), *job;
    size_t i;

    json_array_foreach(jobs, i, job)
    {
        const json_t *id = json_object_get(job, "clientId");
        if (id && json_equal(
                      id, json_object_get(
                              json_array_get(json_object_get(other, "jobs"), i),
                              "clientId"))) {
            return cli_fail(cli, CLI_INVALID,
                            "jobs[%zu].clientId: is the same for each mapping "
                            "of --values; let it have a parameter",
                            i);
        }
    }
    return CLI_OK;
}

/* All documents once, with the values of one instance. */
static enum cli_exit add_instance(struct cli *cli, const json_t *documents,
                                  const json_t *given, json_t *texts,
                                  json_t *list)
{
    size_t count = json_array_size(documents);
    enum cli_exit rc = check_names(cli, documents, given);

    for (size_t i = 0; i < count && rc == CLI_OK; i++) {
        const json_t *document = json_array_get(documents, i);
        auto_json_t *filled = NULL;
        if (!parameters_of(document)) {
            filled = json_incref((json_t *)(uintptr_t)document);
        } else {
            rc = fill_document(cli, document, given, texts, &filled);
        }
        if (rc == CLI_OK && json_array_size(list) >= count) {
            rc = check_client_ids(cli, json_array_get(list, i), filled);
        }
        if (rc == CLI_OK) {
            (void)json_array_append(list, filled);
        }
    }
    return rc;
}

/* Whether every key `parameters` is a mapping, and any is there if it has to
 * be. */
static enum cli_exit check_parameters(struct cli *cli, const json_t *documents)
{
    bool has_any = false;
    const json_t *document;
    size_t i;

    json_array_foreach(documents, i, document)
    {
        const json_t *parameters = parameters_of(document);
        has_any |= parameters != NULL;
        if (parameters && !json_is_object(parameters)) {
            return cli_fail(cli, CLI_INVALID,
                            "parameters: must be a mapping of names to values, "
                            "or to null");
        }
    }
    return has_any || (!cli_has(cli, "set") && !cli_has(cli, "values"))
               ? CLI_OK
               : cli_fail(cli, CLI_INVALID,
                          "--set and --values are for files with the key "
                          "`parameters`");
}

enum cli_exit template_expand(struct cli *cli, const json_t *documents,
                              json_t **ret_documents)
{
    auto_json_t *set = json_object(), *texts = json_object();
    auto_json_t *instances = NULL, *list = json_array();
    json_t *given;
    size_t i;

    enum cli_exit rc = check_parameters(cli, documents);
    rc = rc == CLI_OK ? read_set(cli, set, texts) : rc;
    rc = rc == CLI_OK ? read_values(cli, &instances) : rc;
    json_array_foreach(instances, i, given)
    {
        (void)json_object_update(given, set);
        rc = rc == CLI_OK ? add_instance(cli, documents, given, texts, list)
                          : rc;
    }
    if (rc == CLI_OK) {
        *ret_documents = json_incref(list);
    }
    return rc;
}
