/* wait: waits until jobs have ended, by the events of their job sets. */
#include "base/intern.h"
#include "base/plural.h"
#include "cli/commands/commands.h"
#include "cli/shared/event_stream.h"
#include "cli/shared/progress.h"
#include "cli/shared/selection.h"
#include "model/gang_terms.h"
#include "wire/settings/settings.h"

enum {
    WAIT_JOB_SETS_MAX = 64,
    /* While one of several streams is waited for, the others are looked at so
     * often.  All of it is in this process: the server is not asked. */
    WAIT_TURN_MS = 100,
    WAIT_RECONNECT_MS = 1000,
};

/* What ends the waiting. */
enum wait_for { WAIT_SUCCEEDED, WAIT_ENDED, WAIT_ANY };

enum wait_state { WAIT_OPEN, WAIT_GOOD, WAIT_BAD };

/* One job set that has jobs which have not ended. */
struct wait_set {
    char *queue, *job_set;
    struct rpc_stream *stream; /* NULL: to be opened */
    const char *last_id;
    uint32_t left;
};

struct waiting {
    struct cli *cli;
    const struct selection *jobs;
    struct intern *ids;    /* owned; a job's index in the selection */
    uint8_t *states;       /* [count], enum wait_state */
    const char **reasons;  /* [count], of those that failed */
    struct wait_set *sets; /* [WAIT_JOB_SETS_MAX] */
    uint32_t set_count, good_count, bad_count;
    enum wait_for what;
    int64_t end_ms; /* INT64_MAX: none */
};

/* A job has ended. */
static void note_end(struct waiting *waiting, uint32_t at, bool has_succeeded,
                     const char *reason)
{
    waiting->states[at] = has_succeeded ? WAIT_GOOD : WAIT_BAD;
    waiting->reasons[at] = cli_one_line(waiting->cli, reason);
    waiting->good_count += has_succeeded;
    waiting->bad_count += !has_succeeded;
}

/* The job set of a job; -1: there are too many. */
static int find_set(struct waiting *waiting, const Berth__Api__JobSummary *job)
{
    for (uint32_t i = 0; i < waiting->set_count; i++) {
        if (strcmp(waiting->sets[i].queue, job->queue) == 0 &&
            strcmp(waiting->sets[i].job_set, job->job_set) == 0) {
            return (int)i;
        }
    }
    if (waiting->set_count == WAIT_JOB_SETS_MAX) {
        return -1;
    }
    waiting->sets[waiting->set_count] = (struct wait_set){
        .queue = job->queue,
        .job_set = job->job_set,
        .last_id = waiting->jobs->event_id,
    };
    return (int)waiting->set_count++;
}

/* Whether it has, or was cancelled since its gang has. */
static bool has_succeeded(const Berth__Api__JobSummary *job)
{
    return job->state == API__JOB_STATE__SUCCEEDED ||
           (job->state == API__JOB_STATE__CANCELLED &&
            strcmp(job->reason, GANG_SUCCEEDED_REASON) == 0);
}

/* What has ended already, and which job sets are to be watched for the rest. */
static enum cli_exit begin(struct waiting *waiting)
{
    const struct selection *jobs = waiting->jobs;

    for (uint32_t i = 0; i < jobs->count; i++) {
        const Berth__Api__JobSummary *job = jobs->jobs[i];
        uint32_t index = intern_add(waiting->ids, str_of(job->job_id));
        ASSERT(index == i);
        if (selection_has_ended(job->state)) {
            note_end(waiting, i, has_succeeded(job), check_reason(job));
            continue;
        }
        int set = find_set(waiting, job);
        if (set < 0) {
            return cli_fail(
                waiting->cli, CLI_USAGE,
                "the jobs are in more than %d job sets; select fewer",
                WAIT_JOB_SETS_MAX);
        }
        waiting->sets[set].left++;
    }
    return CLI_OK;
}

static uint32_t open_count(const struct waiting *waiting)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < waiting->set_count; i++) {
        count += waiting->sets[i].left;
    }
    return count;
}

static bool is_over(const struct waiting *waiting)
{
    uint32_t ended = waiting->good_count + waiting->bad_count;

    return open_count(waiting) == 0 ||
           (waiting->what == WAIT_SUCCEEDED && waiting->bad_count > 0) ||
           (waiting->what == WAIT_ANY && ended > 0);
}

static void show_progress(const struct waiting *waiting)
{
    uint32_t ended = waiting->good_count + waiting->bad_count;
    uint32_t all = ended + open_count(waiting);
    char text[80];

    (void)snprintf(text, sizeof(text), "%u of %u job%s %s ended, %u failed",
                   ended, all, plural_s(all), plural_of(all, "has", "have"),
                   waiting->bad_count);
    progress_show(waiting->cli->ports, ended, all, text);
}

static void take_message(struct waiting *waiting, struct wait_set *set,
                         struct str bytes)
{
    auto_arena arena = {0};
    const Api__EventStreamMessage *message =
        event_stream_decode(waiting->cli, bytes, &arena);

    if (!message || !message->message) {
        return;
    }
    set->last_id = cli_format(waiting->cli, "%s", message->id);
    struct event_end end = event_stream_end(message->message);
    uint32_t at = end.job_id ? intern_find(waiting->ids, str_of(end.job_id))
                             : INTERN_NONE;
    if (at == INTERN_NONE || waiting->states[at] != WAIT_OPEN) {
        return;
    }
    note_end(waiting, at, end.has_succeeded, end.reason);
    set->left--;
    show_progress(waiting);
}

/* How long one may still wait, at most `most_ms` (<0: for ever). */
static int64_t time_left(const struct waiting *waiting, int64_t most_ms)
{
    const struct clock *clock = waiting->cli->ports->clock;

    if (waiting->end_ms == INT64_MAX) {
        return most_ms;
    }
    int64_t left = waiting->end_ms - clock->wall_ms(clock);
    left = left > 0 ? left : 0;
    return most_ms < 0 || left < most_ms ? left : most_ms;
}

/* A stream broke off: it is opened again unless that is of no use. */
static enum cli_exit on_broken(struct waiting *waiting, struct wait_set *set)
{
    const struct rpc_status *status = rpc_stream_status(set->stream);
    struct cli *cli = waiting->cli;
    enum cli_exit rc = CLI_OK;

    if (status->code != RPC_OK &&
        (event_stream_is_final(status->code) || !cli->ports->pause_ms)) {
        rc = cli_fail_call(cli, status);
    } else if (status->code != RPC_OK) {
        cli_remark(cli, "%s: %s; retrying", rpc_code_name(status->code),
                   status->message);
        cli->ports->pause_ms(time_left(waiting, WAIT_RECONNECT_MS));
    }
    rpc_stream_close(set->stream);
    set->stream = NULL;
    return rc;
}

/* Take what has come for a job set; wait for it if nothing has. */
static enum cli_exit follow_set(struct waiting *waiting, struct wait_set *set,
                                int64_t timeout_ms)
{
    auto_strbuf bytes = {0};

    if (!set->stream) {
        set->stream = event_stream_open(waiting->cli, set->queue, set->job_set,
                                        set->last_id, true);
    }
    while (set->left > 0 && !is_over(waiting)) {
        switch (rpc_stream_next(set->stream, timeout_ms, &bytes)) {
        case RPC_WAIT_READY:
            take_message(waiting, set, strbuf_str(&bytes));
            break;
        case RPC_WAIT_TIMEOUT:
            return CLI_OK;
        case RPC_WAIT_ENDED:
            return on_broken(waiting, set);
        }
        timeout_ms = 0;
    }
    return CLI_OK;
}

/* Look at each job set; the first that has jobs left is waited for. */
static enum cli_exit follow_all(struct waiting *waiting)
{
    uint32_t busy_count = 0;
    enum cli_exit rc = CLI_OK;

    for (uint32_t i = 0; i < waiting->set_count; i++) {
        busy_count += waiting->sets[i].left > 0;
    }
    int64_t turn_ms = time_left(waiting, busy_count > 1 ? WAIT_TURN_MS : -1);
    for (uint32_t i = 0; i < waiting->set_count && rc == CLI_OK; i++) {
        if (waiting->sets[i].left > 0) {
            rc = follow_set(waiting, &waiting->sets[i], turn_ms);
            turn_ms = 0;
        }
    }
    return rc;
}

/* With -o: the ids by what became of them. */
static void print_object(const struct waiting *waiting)
{
    json_t *lists[] = {json_array(), json_array(), json_array()};

    for (uint32_t i = 0; i < waiting->jobs->count; i++) {
        (void)json_array_append_new(
            lists[waiting->states[i]],
            json_string(waiting->jobs->jobs[i]->job_id));
    }
    cli_print_json(waiting->cli,
                   json_pack("{s:o, s:o, s:o}", "succeeded", lists[WAIT_GOOD],
                             "failed", lists[WAIT_BAD], "waiting",
                             lists[WAIT_OPEN]));
}

/* Say how it went. */
static enum cli_exit report(const struct waiting *waiting)
{
    struct cli *cli = waiting->cli;

    progress_end(cli->ports);
    for (uint32_t i = 0; i < waiting->jobs->count; i++) {
        if (waiting->states[i] == WAIT_BAD) {
            const char *reason = waiting->reasons[i];
            cli_remark(cli, "job %s did not succeed%s%s",
                       waiting->jobs->jobs[i]->job_id, *reason ? ": " : "",
                       reason);
        }
    }
    if (cli->output == CLI_OUTPUT_TEXT) {
        cli_say(cli, "%u succeeded, %u failed, %u %s not ended",
                waiting->good_count, waiting->bad_count, open_count(waiting),
                plural_of(open_count(waiting), "has", "have"));
    } else {
        print_object(waiting);
    }
    if (waiting->bad_count > 0) {
        return CLI_JOB_FAILED;
    }
    return is_over(waiting)
               ? CLI_OK
               : cli_fail(cli, CLI_TIMEOUT,
                          "the time given with --timeout has passed");
}

static enum cli_exit wait_to_end(struct waiting *waiting)
{
    enum cli_exit rc = begin(waiting);

    show_progress(waiting);
    while (rc == CLI_OK && !is_over(waiting) && time_left(waiting, -1) != 0) {
        rc = follow_all(waiting);
    }
    for (uint32_t i = 0; i < waiting->set_count; i++) {
        rpc_stream_close(waiting->sets[i].stream);
    }
    return rc == CLI_OK ? report(waiting) : rc;
}

static enum cli_exit take_options(struct waiting *waiting)
{
    static const char *const names[] = {"succeeded", "ended", "any"};
    struct cli *cli = waiting->cli;
    const char *what = cli_text(cli, "for", names[WAIT_ENDED]);
    const char *timeout = cli_text(cli, "timeout", NULL);
    int64_t timeout_ms;
    uint32_t at = 0;

    while (at < ARRAY_COUNT(names) && strcmp(names[at], what) != 0) {
        at++;
    }
    if (at == ARRAY_COUNT(names)) {
        return cli_fail(cli, CLI_USAGE,
                        "--for takes succeeded, ended or any, not \"%s\"",
                        what);
    }
    waiting->what = (enum wait_for)at;
    waiting->end_ms = INT64_MAX;
    if (timeout && setting_parse_duration(str_of(timeout), &timeout_ms) < 0) {
        return cli_fail(cli, CLI_USAGE,
                        "--timeout takes a time such as 90s or 1h30m, not "
                        "\"%s\"",
                        timeout);
    }
    if (timeout) {
        waiting->end_ms =
            cli->ports->clock->wall_ms(cli->ports->clock) + timeout_ms;
    }
    return CLI_OK;
}

enum cli_exit cmd_wait(struct cli *cli)
{
    struct waiting waiting = {.cli = cli};
    struct selection jobs;

    enum cli_exit rc = take_options(&waiting);
    if (rc == CLI_OK) {
        rc = selection_find(cli, cli->arguments, (size_t)cli->argument_count,
                            NULL, 0, &jobs);
    }
    if (rc != CLI_OK) {
        return rc;
    }
    waiting.jobs = &jobs;
    waiting.ids = intern_create();
    waiting.states = arena_alloc_array(&cli->arena, jobs.count, 1);
    waiting.reasons =
        arena_alloc_array(&cli->arena, jobs.count, sizeof(*waiting.reasons));
    waiting.sets = arena_alloc_array(&cli->arena, WAIT_JOB_SETS_MAX,
                                     sizeof(*waiting.sets));
    rc = wait_to_end(&waiting);
    intern_destroy(waiting.ids);
    return rc;
}
