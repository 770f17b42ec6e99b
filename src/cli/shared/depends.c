#include "cli/shared/depends.h"

#include "base/intern.h"
#include "cli/shared/selection.h"

#define ANNOTATION "berth.dev/dependsOn"

/* The jobs of a file on their way into order. */
struct ordering {
    struct cli *cli;
    const json_t *jobs;
    struct intern *names; /* client ids to indexes of `by_name` */
    VEC(size_t) by_name;  /* the job of that client id */
    uint8_t *marks;       /* [count], enum mark */
    VEC(size_t) path;     /* jobs that are being visited, the last first */
    json_t *ordered;      /* owned until it is handed over */
};

enum mark { MARK_NEW, MARK_OPEN, MARK_DONE };

bool depends_is_used(const json_t *file)
{
    const json_t *jobs = json_object_get(file, "jobs");

    for (size_t i = 0; i < json_array_size(jobs); i++) {
        if (json_object_get(json_array_get(jobs, i), "dependsOn")) {
            return true;
        }
    }
    return false;
}

/* What one entry waits for, without what is to become of it. */
static struct str target_of(const char *entry)
{
    return str_make(entry, strcspn(entry, ":"));
}

/* The job of this file that an entry names; SIZE_MAX: it is none of them. */
static size_t find_job(const struct ordering *o, const char *entry)
{
    uint32_t name = intern_find(o->names, target_of(entry));

    return name == INTERN_NONE ? SIZE_MAX : o->by_name.items[name];
}

static enum cli_exit fail_circle(struct ordering *o, size_t at)
{
    auto_strbuf text = {0};
    size_t from = 0;

    while (o->path.items[from] != at) {
        from++;
    }
    for (; from < o->path.count; from++) {
        const json_t *job = json_array_get(o->jobs, o->path.items[from]);
        strbuf_addf(&text, "%s -> ",
                    json_string_value(json_object_get(job, "clientId")));
    }
    const json_t *job = json_array_get(o->jobs, at);
    return cli_fail(o->cli, CLI_INVALID,
                    "jobs depend on one another in a cycle: %s%s",
                    strbuf_text(&text),
                    json_string_value(json_object_get(job, "clientId")));
}

/* A job's annotation: ids as they are, names of this file as client ids. */
static enum cli_exit put_annotation(struct ordering *o, size_t at)
{
    json_t *job = json_deep_copy(json_array_get(o->jobs, at));
    const json_t *entries = json_object_get(job, "dependsOn");
    auto_strbuf text = {0};

    for (size_t i = 0; i < json_array_size(entries); i++) {
        const char *entry = json_string_value(json_array_get(entries, i));
        auto_mem char *target = str_dup(target_of(entry));
        bool is_id = selection_is_id(target) ||
                     strncmp(target, "client/", strlen("client/")) == 0;
        strbuf_addf(&text, "%s%s%s", i ? "," : "", is_id ? "" : "client/",
                    entry);
    }
    if (entries) {
        json_t *annotations = json_object_get(job, "annotations");
        if (!annotations) {
            annotations = json_object();
            (void)json_object_set_new(job, "annotations", annotations);
        }
        (void)json_object_set_new(annotations, ANNOTATION,
                                  json_string(strbuf_text(&text)));
        (void)json_object_del(job, "dependsOn");
    }
    (void)json_array_append_new(o->ordered, job);
    return CLI_OK;
}

/* The first job that is to come before `at` and has not; SIZE_MAX: none. */
static size_t next_before(const struct ordering *o, size_t at)
{
    const json_t *entries =
        json_object_get(json_array_get(o->jobs, at), "dependsOn");

    for (size_t i = 0; i < json_array_size(entries); i++) {
        const char *entry = json_string_value(json_array_get(entries, i));
        size_t before = find_job(o, entry);
        if (before != SIZE_MAX && o->marks[before] != MARK_DONE) {
            return before;
        }
    }
    return SIZE_MAX;
}

/* Put a job into order, after all that it waits for. */
static enum cli_exit visit(struct ordering *o, size_t at)
{
    VEC_PUSH(&o->path, at);
    while (o->path.count > 0) {
        size_t top = o->path.items[o->path.count - 1];
        size_t before =
            o->marks[top] == MARK_DONE ? SIZE_MAX : next_before(o, top);
        if (before == SIZE_MAX) {
            o->path.count--;
            if (o->marks[top] != MARK_DONE) {
                o->marks[top] = MARK_DONE;
                (void)put_annotation(o, top);
            }
            continue;
        }
        o->marks[top] = MARK_OPEN;
        if (o->marks[before] == MARK_OPEN) {
            return fail_circle(o, before);
        }
        VEC_PUSH(&o->path, before);
    }
    return CLI_OK;
}

static enum cli_exit check_key(struct ordering *o, size_t at)
{
    const json_t *key =
        json_object_get(json_array_get(o->jobs, at), "dependsOn");

    for (size_t i = 0; i < json_array_size(key); i++) {
        const char *entry = json_string_value(json_array_get(key, i));
        if (!entry || !*entry || strchr(entry, ',')) {
            return cli_fail(o->cli, CLI_INVALID,
                            "jobs[%zu].dependsOn[%zu]: must be a job's id or "
                            "clientId, and may end in :succeeded, :ended or "
                            ":failed",
                            at, i);
        }
    }
    if (key && !json_is_array(key)) {
        return cli_fail(o->cli, CLI_INVALID,
                        "jobs[%zu].dependsOn: must be a list", at);
    }
    return CLI_OK;
}

/* Learn the names of this file's jobs. */
static enum cli_exit read_names(struct ordering *o)
{
    enum cli_exit rc = CLI_OK;

    for (size_t i = 0; i < json_array_size(o->jobs) && rc == CLI_OK; i++) {
        const char *name = json_string_value(
            json_object_get(json_array_get(o->jobs, i), "clientId"));
        if (name && *name &&
            intern_add(o->names, str_of(name)) == o->by_name.count) {
            VEC_PUSH(&o->by_name, i);
        }
        rc = check_key(o, i);
    }
    return rc;
}

enum cli_exit depends_convert(struct cli *cli, const json_t *file,
                              json_t **ret_file)
{
    struct ordering o = {
        .cli = cli,
        .jobs = json_object_get(file, "jobs"),
        .names = intern_create(),
        .ordered = json_array(),
    };
    size_t count = json_array_size(o.jobs);

    o.marks = arena_alloc_array(&cli->arena, count, 1);
    enum cli_exit rc = read_names(&o);
    for (size_t i = 0; i < count && rc == CLI_OK; i++) {
        rc = visit(&o, i);
    }
    intern_destroy(o.names);
    VEC_FREE(&o.by_name);
    VEC_FREE(&o.path);
    if (rc != CLI_OK) {
        json_decref(o.ordered);
        return rc;
    }
    *ret_file = json_copy((json_t *)(uintptr_t)file);
    (void)json_object_set_new(*ret_file, "jobs", o.ordered);
    return CLI_OK;
}
