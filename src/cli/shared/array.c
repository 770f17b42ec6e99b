#include "cli/shared/array.h"

#include <inttypes.h>

#include "base/plural.h"
#include "model/id.h"

/* One range of indexes, both ends included. */
struct range {
    long first, last;
};

bool array_is_used(const json_t *file)
{
    const json_t *jobs = json_object_get(file, "jobs");

    for (size_t i = 0; i < json_array_size(jobs); i++) {
        if (json_object_get(json_array_get(jobs, i), "array")) {
            return true;
        }
    }
    return false;
}

static void add_variables(json_t *container, const char *index)
{
    static const char *const names[] = {"BERTH_ARRAY_INDEX",
                                        "JOB_COMPLETION_INDEX"};
    json_t *env = json_object_get(container, "env");

    if (!env) {
        env = json_array();
        (void)json_object_set_new(container, "env", env);
    }
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        (void)json_array_append_new(
            env, json_pack("{s:s, s:s}", "name", names[i], "value", index));
    }
}

static void add_to_pod(json_t *pod, const char *index)
{
    static const char *const lists[] = {"initContainers", "containers"};

    for (size_t l = 0; l < ARRAY_COUNT(lists); l++) {
        json_t *containers = json_object_get(pod, lists[l]);
        for (size_t i = 0; i < json_array_size(containers); i++) {
            add_variables(json_array_get(containers, i), index);
        }
    }
}

struct array_terms array_begin(struct cli *cli)
{
    char text[ID_TEXT_BYTES_MAX];
    uint8_t random[10];

    cli->ports->rng->fill(cli->ports->rng, random, sizeof(random));
    struct job_id id =
        job_id_make(cli->ports->clock->wall_ms(cli->ports->clock), random);
    return (struct array_terms){
        .id = arena_strdup(&cli->arena, str_of(job_id_format(id, text)))};
}

/* Set a text in a map of the job. */
static void put(json_t *job, const char *map_key, const char *key,
                json_t *value)
{
    json_t *map = json_object_get(job, map_key);

    if (!map) {
        map = json_object();
        (void)json_object_set_new(job, map_key, map);
    }
    (void)json_object_set_new(map, key, value);
}

void array_join(json_t *job, const struct array_terms *terms)
{
    put(job, "labels", SELECTION_ARRAY_LABEL, json_string(terms->id));
    if (terms->limit > 0) {
        put(job, "annotations", "berth.dev/concurrencyGroup",
            json_string(terms->id));
        put(job, "annotations", "berth.dev/concurrencyLimit",
            json_sprintf("%" PRId64, terms->limit));
    }
}

json_t *array_member(const json_t *job, json_int_t index,
                     const struct array_terms *terms)
{
    json_t *member = json_deep_copy(job);
    json_t *pods = json_object_get(member, "podSpecs");
    const char *client_id =
        json_string_value(json_object_get(member, "clientId"));
    char text[24];

    (void)snprintf(text, sizeof(text), "%" PRId64, (int64_t)index);
    (void)json_object_del(member, "array");
    add_to_pod(json_object_get(member, "podSpec"), text);
    for (size_t i = 0; i < json_array_size(pods); i++) {
        add_to_pod(json_array_get(pods, i), text);
    }
    put(member, "labels", SELECTION_INDEX_LABEL, json_string(text));
    array_join(member, terms);
    if (client_id && *client_id) {
        (void)json_object_set_new(member, "clientId",
                                  json_sprintf("%s-%s", client_id, text));
    }
    return member;
}

/* Read the range that a text begins with, and move on behind it; false: it does
 * not begin with one. */
static bool take_range(const char **text, struct range *ret)
{
    char *end;

    if (**text < '0' || **text > '9') {
        return false;
    }
    ret->first = ret->last = strtol(*text, &end, 10);
    if (*end == '-' && end[1] >= '0' && end[1] <= '9') {
        ret->last = strtol(end + 1, &end, 10);
    }
    if (*end != ',' && *end != '\0') {
        return false;
    }
    *text = *end == ',' ? end + 1 : end;
    return ret->last >= ret->first && ret->last <= ARRAY_INDEX_MAX &&
           (*end != ',' || **text);
}

/* What to call the array of a job. */
static const char *name_of(struct cli *cli, size_t at)
{
    return cli->is_of_options ? "--array"
                              : cli_format(cli, "jobs[%zu].array", at);
}

static enum cli_exit fail_array(struct cli *cli, size_t at, const char *text)
{
    return cli_fail(cli, CLI_INVALID,
                    "%s: must be indexes such as 0-99 or 1,4,7-9, with %%N "
                    "behind them for at most N at once, not \"%s\"",
                    name_of(cli, at), text);
}

/* Cut the limit off the indexes; false: it is none. */
static bool take_limit(char *text, struct array_terms *terms)
{
    char *percent = strchr(text, '%');
    char *end;

    if (!percent) {
        return true;
    }
    *percent = '\0';
    terms->limit = strtol(percent + 1, &end, 10);
    return percent[1] >= '1' && percent[1] <= '9' && *end == '\0' &&
           terms->limit <= ARRAY_LIMIT_MAX;
}

/* Append the members of an array, or the job that is none. */
static enum cli_exit expand_job(struct cli *cli, const json_t *job, size_t at,
                                json_t *jobs, struct cli_names *told)
{
    const json_t *key = json_object_get(job, "array");
    const char *text = json_string_value(key);
    size_t member_count = 0;
    struct range range;
    struct array_terms terms;

    if (!key) {
        return json_array_append_new(jobs, json_deep_copy(job)) == 0
                   ? CLI_OK
                   : CLI_FAILED;
    }
    if (!text || !*text) {
        return fail_array(cli, at, text ? text : "");
    }
    char *indexes = arena_strdup(&cli->arena, str_of(text));
    terms = array_begin(cli);
    if (!take_limit(indexes, &terms) || !*indexes) {
        return fail_array(cli, at, text);
    }
    for (const char *rest = indexes; *rest;) {
        if (!take_range(&rest, &range)) {
            return fail_array(cli, at, text);
        }
        for (long index = range.first; index <= range.last; index++) {
            if (++member_count > ARRAY_MEMBERS_MAX) {
                return cli_fail(cli, CLI_INVALID, "%s: more than %d members",
                                name_of(cli, at), ARRAY_MEMBERS_MAX);
            }
            (void)json_array_append_new(jobs, array_member(job, index, &terms));
        }
    }
    told->items[told->count++] =
        cli_format(cli, "Array %s: %zu job%s", terms.id, member_count,
                   plural_s(member_count));
    return CLI_OK;
}

enum cli_exit array_expand(struct cli *cli, const json_t *file,
                           json_t **ret_file, struct cli_names *ret_told)
{
    const json_t *jobs = json_object_get(file, "jobs");
    json_t *expanded = json_array();
    size_t count = json_array_size(jobs);
    enum cli_exit rc = CLI_OK;

    *ret_told = (struct cli_names){
        arena_alloc_array(&cli->arena, count, sizeof(char *)), 0};
    for (size_t i = 0; i < count && rc == CLI_OK; i++) {
        rc = expand_job(cli, json_array_get(jobs, i), i, expanded, ret_told);
    }
    if (rc != CLI_OK) {
        json_decref(expanded);
        return rc;
    }
    *ret_file = json_copy((json_t *)(uintptr_t)file);
    (void)json_object_set_new(*ret_file, "jobs", expanded);
    return CLI_OK;
}
