#include "cli/shared/selection.h"

#include "base/intern.h"
#include "cli/shared/array_selection.h"
#include "cli/shared/check.h"
#include "model/id.h"

bool selection_has_ended(Api__JobState state)
{
    return state == API__JOB_STATE__SUCCEEDED ||
           state == API__JOB_STATE__FAILED ||
           state == API__JOB_STATE__CANCELLED ||
           state == API__JOB_STATE__PREEMPTED ||
           state == API__JOB_STATE__REJECTED;
}

bool selection_is_id(const char *text)
{
    struct job_id id;

    return job_id_parse(str_of(text), &id) == 0;
}

bool selection_is_given(const struct cli *cli)
{
    return cli_has(cli, "queue") || cli_has(cli, "job-set") ||
           cli_has(cli, "name") || cli_has(cli, "label") || cli_has(cli, "me");
}

static Berth__Api__ListJobsRequest__LabelsEntry *
make_pair(struct cli *cli, struct str key, struct str value)
{
    Berth__Api__ListJobsRequest__LabelsEntry *pair =
        arena_alloc(&cli->arena, sizeof(*pair));

    berth__api__list_jobs_request__labels_entry__init(pair);
    pair->key = arena_strdup(&cli->arena, key);
    pair->value = arena_strdup(&cli->arena, value);
    return pair;
}

/* The labels of --label, and the one that --name stands for. */
static enum cli_exit take_labels(struct cli *cli,
                                 Berth__Api__ListJobsRequest *request)
{
    struct cli_names given = cli_list(cli, "label");

    request->labels = arena_alloc_array(&cli->arena, given.count + 1,
                                        sizeof(*request->labels));
    for (size_t i = 0; i < given.count; i++) {
        const char *value = strchr(given.items[i], '=');
        if (!value || value == given.items[i]) {
            return cli_fail(cli, CLI_USAGE, "-l takes KEY=VALUE, not \"%s\"",
                            given.items[i]);
        }
        struct str key =
            str_make(given.items[i], (size_t)(value - given.items[i]));
        request->labels[request->n_labels++] =
            make_pair(cli, key, str_of(value + 1));
    }
    if (cli_has(cli, "name")) {
        request->labels[request->n_labels++] = make_pair(
            cli, STR(SELECTION_NAME_LABEL), str_of(cli_text(cli, "name", "")));
    }
    return CLI_OK;
}

enum cli_exit selection_filter(struct cli *cli,
                               Berth__Api__ListJobsRequest *request)
{
    request->queue = cli_format(cli, "%s", cli_text(cli, "queue", ""));
    request->job_set = cli_format(cli, "%s", cli_text(cli, "job-set", ""));
    request->mine = cli_has(cli, "me");
    return take_labels(cli, request);
}

/* A list under way. */
struct gathering {
    VEC(Berth__Api__JobSummary *) jobs;
    const char *event_id; /* of the first page; NULL: none has come */
};

static enum cli_exit get_page(struct cli *cli,
                              Berth__Api__ListJobsRequest *request,
                              struct gathering *gathering)
{
    ProtobufCMessage *reply;

    request->limit = SELECTION_PAGE_MAX;
    enum cli_exit rc =
        cli_call(cli, "/berth.api.Berth/ListJobs", &request->base,
                 &berth__api__list_jobs_response__descriptor, &reply);
    if (rc != CLI_OK) {
        return rc;
    }
    const Berth__Api__ListJobsResponse *response = (void *)reply;
    for (size_t i = 0; i < response->n_jobs; i++) {
        VEC_PUSH(&gathering->jobs, response->jobs[i]);
    }
    if (!gathering->event_id) {
        gathering->event_id = response->event_id;
    }
    request->older_than_job_id = response->next_job_id;
    return CLI_OK;
}

static enum cli_exit get_named(struct cli *cli, char **ids, size_t count,
                               struct gathering *gathering)
{
    enum cli_exit rc = CLI_OK;

    gathering->jobs.count = 0;
    for (size_t at = 0; at < count && rc == CLI_OK; at += SELECTION_PAGE_MAX) {
        Berth__Api__ListJobsRequest request =
            BERTH__API__LIST_JOBS_REQUEST__INIT;
        size_t left = count - at;
        request.job_ids = ids + at;
        request.n_job_ids =
            left < SELECTION_PAGE_MAX ? left : SELECTION_PAGE_MAX;
        rc = get_page(cli, &request, gathering);
    }
    return rc;
}

static enum cli_exit get_matching(struct cli *cli, const Api__JobState *states,
                                  size_t state_count,
                                  struct gathering *gathering)
{
    Berth__Api__ListJobsRequest request = BERTH__API__LIST_JOBS_REQUEST__INIT;

    request.states =
        arena_alloc_array(&cli->arena, state_count, sizeof(*request.states));
    for (size_t i = 0; i < state_count; i++) {
        request.states[request.n_states++] = states[i];
    }
    enum cli_exit rc = selection_filter(cli, &request);
    while (rc == CLI_OK) {
        rc = get_page(cli, &request, gathering);
        if (rc == CLI_OK && !*request.older_than_job_id) {
            break;
        }
        if (rc == CLI_OK && gathering->jobs.count >= SELECTION_JOBS_MAX) {
            rc = cli_fail(cli, CLI_USAGE,
                          "more than %d jobs match: select fewer with options",
                          SELECTION_JOBS_MAX);
        }
    }
    return rc;
}

static bool has_job(const struct gathering *gathering, const char *id)
{
    for (size_t i = 0; i < gathering->jobs.count; i++) {
        if (strcasecmp(gathering->jobs.items[i]->job_id, id) == 0) {
            return true;
        }
    }
    return false;
}

/* The first that is named and is not there; NULL: all are.  The server answers
 * in the order of the ids, and leaves out what it does not know. */
static const char *find_missing(const struct gathering *gathering, char **ids,
                                size_t count)
{
    size_t at = 0;

    for (size_t i = 0; i < count; i++) {
        if (at < gathering->jobs.count &&
            strcasecmp(gathering->jobs.items[at]->job_id, ids[i]) == 0) {
            at++;
        } else if (!has_job(gathering, ids[i])) {
            return ids[i];
        }
    }
    return NULL;
}

/* A job that was only just submitted may take a moment until it is found. */
static enum cli_exit find_named(struct cli *cli, char **ids, size_t count,
                                struct gathering *gathering)
{
    enum cli_exit rc = get_named(cli, ids, count, gathering);

    for (int waited_ms = 0; rc == CLI_OK && waited_ms < CHECK_LATE_MS &&
                            find_missing(gathering, ids, count);
         waited_ms += CHECK_PAUSE_MS) {
        if (cli->ports->pause_ms) {
            cli->ports->pause_ms(CHECK_PAUSE_MS);
        }
        rc = get_named(cli, ids, count, gathering);
    }
    const char *missing =
        rc == CLI_OK ? find_missing(gathering, ids, count) : NULL;
    return missing ? check_no_job(cli, missing) : rc;
}

/* The same where none matches. */
static enum cli_exit find_matching(struct cli *cli, const Api__JobState *states,
                                   size_t state_count,
                                   struct gathering *gathering)
{
    enum cli_exit rc = get_matching(cli, states, state_count, gathering);

    for (int waited_ms = 0; rc == CLI_OK && waited_ms < CHECK_LATE_MS &&
                            gathering->jobs.count == 0 && cli->ports->pause_ms;
         waited_ms += CHECK_PAUSE_MS) {
        cli->ports->pause_ms(CHECK_PAUSE_MS);
        rc = get_matching(cli, states, state_count, gathering);
    }
    return rc;
}

static enum cli_exit refuse_bad_id(struct cli *cli, char **ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!selection_is_id(ids[i]) && !array_may_be(ids[i], true)) {
            return cli_fail(cli, CLI_NOT_FOUND,
                            "\"%s\" is not a job's id; --name selects by name",
                            ids[i]);
        }
    }
    return CLI_OK;
}

/* Each once, though it may be named twice. */
static void hand_over(struct cli *cli, const struct gathering *gathering,
                      struct selection *ret)
{
    auto_ptr(intern) ids = intern_create();

    ret->count = 0;
    ret->event_id = gathering->event_id ? gathering->event_id : "";
    ret->jobs = arena_alloc_array(&cli->arena, gathering->jobs.count,
                                  sizeof(*ret->jobs));
    for (size_t i = 0; i < gathering->jobs.count; i++) {
        struct str id = str_of(gathering->jobs.items[i]->job_id);
        if (intern_add(ids, id) == ret->count) {
            ret->jobs[ret->count++] = gathering->jobs.items[i];
        }
    }
}

/* The ids of jobs, and of the members of arrays that are named. */
static enum cli_exit expand_arrays(struct cli *cli, char **ids, size_t count,
                                   struct gathering *gathering,
                                   struct cli_names *ret)
{
    char **all = arena_alloc_array(&cli->arena, SELECTION_JOBS_MAX + count,
                                   sizeof(*all));
    enum cli_exit rc = get_named(cli, ids, count, gathering);

    ret->count = 0;
    for (size_t i = 0; i < count && rc == CLI_OK; i++) {
        size_t before = ret->count;
        if (!has_job(gathering, ids[i])) {
            rc = array_jobs(cli, ids[i], all, &ret->count);
        }
        /* One that is not there yet may be a job that is to come. */
        if (rc == CLI_OK && ret->count == before &&
            array_may_be(ids[i], true)) {
            return cli_fail(cli, CLI_NOT_FOUND,
                            "there is no member %s of an array", ids[i]);
        }
        if (ret->count == before) {
            all[ret->count++] = ids[i];
        }
    }
    ret->items = all;
    return rc;
}

enum cli_exit selection_find(struct cli *cli, char **ids, size_t id_count,
                             const Api__JobState *states, size_t state_count,
                             struct selection *ret)
{
    struct gathering gathering = {0};
    enum cli_exit rc = refuse_bad_id(cli, ids, id_count);

    if (rc == CLI_OK && (id_count > 0) == selection_is_given(cli)) {
        rc = cli_fail(
            cli, CLI_USAGE,
            id_count > 0
                ? "give ids or options that select jobs, not both"
                : "no jobs selected: give ids, or --name, -l, --me, -q, -j");
    }
    if (rc == CLI_OK && id_count > 0) {
        struct cli_names named;
        rc = expand_arrays(cli, ids, id_count, &gathering, &named);
        rc = rc == CLI_OK
                 ? find_named(cli, named.items, named.count, &gathering)
                 : rc;
    } else if (rc == CLI_OK) {
        rc = find_matching(cli, states, state_count, &gathering);
    }
    if (rc == CLI_OK && gathering.jobs.count == 0) {
        bool has_queue = !cli_has(cli, "queue") ||
                         check_queue(cli, cli_text(cli, "queue", "")) == CLI_OK;
        rc = has_queue ? cli_fail(cli, CLI_NOT_FOUND,
                                  state_count
                                      ? "no job matches whose state allows it; "
                                        "get jobs shows the others"
                                      : "no job matches")
                       : CLI_NOT_FOUND;
    }
    hand_over(cli, &gathering, ret);
    VEC_FREE(&gathering.jobs);
    return rc;
}

enum cli_exit selection_by_ids(struct cli *cli, char **ids, size_t count,
                               struct selection *ret)
{
    struct gathering gathering = {0};
    enum cli_exit rc = find_named(cli, ids, count, &gathering);

    hand_over(cli, &gathering, ret);
    VEC_FREE(&gathering.jobs);
    return rc;
}
