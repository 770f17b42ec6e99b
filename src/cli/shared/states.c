#include "cli/shared/states.h"

#include <ctype.h>

static const struct {
    const char *name;
    Api__JobState state;
} names[] = {
    {"queued", API__JOB_STATE__QUEUED},
    {"leased", API__JOB_STATE__LEASED},
    {"pending", API__JOB_STATE__PENDING},
    {"running", API__JOB_STATE__RUNNING},
    {"succeeded", API__JOB_STATE__SUCCEEDED},
    {"failed", API__JOB_STATE__FAILED},
    {"cancelled", API__JOB_STATE__CANCELLED},
    {"preempted", API__JOB_STATE__PREEMPTED},
    {"rejected", API__JOB_STATE__REJECTED},
    {"submitted", API__JOB_STATE__SUBMITTED},
    {"unknown", API__JOB_STATE__UNKNOWN},
};

const char *states_name(Api__JobState state)
{
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        if (names[i].state == state) {
            return names[i].name;
        }
    }
    return "unknown";
}

static enum cli_exit fail_unknown(const struct cli *cli, const char *given)
{
    auto_strbuf known = {0};

    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        strbuf_addf(&known, "%s%s", i ? ", " : "", names[i].name);
    }
    return cli_fail(cli, CLI_USAGE, "\"%s\" is not a job state; these are: %s",
                    given, strbuf_text(&known));
}

enum cli_exit states_of_option(struct cli *cli, const char *option,
                               Api__JobState **ret_states, size_t *ret_count)
{
    struct cli_names given = cli_list(cli, option);
    Api__JobState *states =
        arena_alloc_array(&cli->arena, given.count, sizeof(*states));

    for (size_t i = 0; i < given.count; i++) {
        size_t at = 0;
        while (at < ARRAY_COUNT(names) &&
               strcasecmp(names[at].name, given.items[i]) != 0) {
            at++;
        }
        if (at == ARRAY_COUNT(names)) {
            return fail_unknown(cli, given.items[i]);
        }
        states[i] = names[at].state;
    }
    *ret_states = states;
    *ret_count = given.count;
    return CLI_OK;
}

const char *states_wait_words(struct cli *cli, const char *reason)
{
    auto_strbuf text = {0};

    if (strcmp(reason, "capacity") == 0) {
        return "resources";
    }
    for (; *reason; reason++) {
        if (isupper((unsigned char)*reason)) {
            strbuf_add_char(&text, ' ');
        }
        strbuf_add_char(&text, (char)tolower((unsigned char)*reason));
    }
    return arena_strdup(&cli->arena, strbuf_str(&text));
}

const char *states_exit_code(struct cli *cli, const Berth__Api__JobSummary *job)
{
    bool has_ended_itself =
        job->state == API__JOB_STATE__SUCCEEDED ||
        (job->state == API__JOB_STATE__FAILED && job->started);

    return job->finished && (has_ended_itself || job->exit_code != 0)
               ? cli_format(cli, "%d", job->exit_code)
               : "";
}

const char *states_waiting(struct cli *cli, const Berth__Api__JobSummary *job)
{
    if (job->state == API__JOB_STATE__LEASED ||
        job->state == API__JOB_STATE__PENDING) {
        return cli_format(cli, "starts on node %s", job->node);
    }
    if (job->state != API__JOB_STATE__QUEUED) {
        return "";
    }
    const char *why =
        *job->reason ? job->reason : states_wait_words(cli, job->wait_reason);
    return cli_format(cli, "waits%s%s", *why ? ": " : "", why);
}
