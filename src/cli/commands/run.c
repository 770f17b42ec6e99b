/* run: submits a command or a script as a job. */
#include <stdlib.h>

#include "cli/commands/commands.h"
#include "cli/shared/array.h"
#include "cli/shared/check.h"
#include "cli/shared/job_file.h"
#include "cli/shared/periodic_file.h"
#include "cli/shared/selection.h"
#include "model/quantity.h"
#include "wire/settings/settings.h"
#include "wire/text/input_files.h"
#include "wire/text/rfc3339.h"

enum {
    /* A script travels as one word of a command line, which Linux limits to
     * 128 KiB. */
    SCRIPT_BYTES_MAX = 120 << 10,
    INTERPRETER_WORDS_MAX = 2, /* after #!, as Linux reads it */
};

/* Keeps the script in a file while its interpreter runs: the words are
 * interpreter..., "--", the script, and its arguments. */
static const char script_runner[] =
    "file=$(mktemp) || exit 1\n"
    "interpreter=\n"
    "while [ \"$1\" != -- ]; do interpreter=\"$interpreter $1\"; shift; done\n"
    "printf '%s' \"$2\" > \"$file\" || exit 1\n"
    "shift 2\n"
    "trap 'rm -f \"$file\"' EXIT\n"
    "$interpreter \"$file\" \"$@\"\n";

static void add_words(json_t *words, char *const *items, int count)
{
    for (int i = 0; i < count; i++) {
        (void)json_array_append_new(words, json_string(items[i]));
    }
}

/* The words after #!, else the shell. */
static void add_interpreter(struct cli *cli, json_t *words, struct str script)
{
    const char *at = script.p;
    size_t length = 0;

    if (script.byte_count < 2 || memcmp(script.p, "#!", 2) != 0) {
        (void)json_array_append_new(words, json_string("/bin/sh"));
        return;
    }
    char *line =
        arena_strdup(&cli->arena, str_make(at + 2, strcspn(at + 2, "\n")));
    for (int i = 0; i < INTERPRETER_WORDS_MAX; i++) {
        line += strspn(line, " \t\r");
        length = i + 1 < INTERPRETER_WORDS_MAX ? strcspn(line, " \t\r")
                                               : strcspn(line, "\r");
        if (length > 0) {
            (void)json_array_append_new(words, json_stringn(line, length));
        }
        line += length;
    }
}

/* The command that runs a script, without its arguments. */
static enum cli_exit add_script(struct cli *cli, json_t *words)
{
    const char *path = cli_text(cli, "script", "");
    struct str script;

    enum cli_exit rc = cli_read_file(cli, path, &script);
    if (rc != CLI_OK) {
        return rc;
    }
    if (script.byte_count > SCRIPT_BYTES_MAX ||
        strlen(script.p) != script.byte_count) {
        return cli_fail(cli, CLI_INVALID,
                        "%s: a script is a text of at most %d KiB; a larger "
                        "program must be in the image or on the node",
                        path, SCRIPT_BYTES_MAX >> 10);
    }
    const char *const shell[] = {"/bin/sh", "-c", script_runner, path};
    for (size_t i = 0; i < ARRAY_COUNT(shell); i++) {
        (void)json_array_append_new(words, json_string(shell[i]));
    }
    add_interpreter(cli, words, script);
    (void)json_array_append_new(words, json_string("--"));
    json_t *body = json_stringn(script.p, script.byte_count);
    if (!body) {
        return cli_fail(cli, CLI_INVALID, "%s: it is not UTF-8", path);
    }
    (void)json_array_append_new(words, body);
    return CLI_OK;
}

/* The items K=V of a list option, given to `add`. */
static enum cli_exit each_pair(struct cli *cli, const char *option,
                               void (*add)(json_t *to, const char *key,
                                           const char *value),
                               json_t *to)
{
    struct cli_names pairs = cli_list(cli, option);

    for (size_t i = 0; i < pairs.count; i++) {
        char *value = strchr(pairs.items[i], '=');
        if (!value || value == pairs.items[i]) {
            return cli_fail(cli, CLI_USAGE, "--%s takes KEY=VALUE, not \"%s\"",
                            option, pairs.items[i]);
        }
        *value = '\0';
        add(to, pairs.items[i], value + 1);
    }
    return CLI_OK;
}

static void add_label(json_t *labels, const char *key, const char *value)
{
    (void)json_object_set_new(labels, key, json_string(value));
}

static void add_variable(json_t *env, const char *key, const char *value)
{
    (void)json_array_append_new(
        env, json_pack("{s:s, s:s}", "name", key, "value", value));
}

static json_t *make_resources(struct cli *cli)
{
    json_t *amounts =
        json_pack("{s:s, s:s, s:s}", "cpu", cli_text(cli, "cpu", "1"), "memory",
                  cli_text(cli, "memory", "1Gi"), "ephemeral-storage",
                  cli_text(cli, "storage", "1Gi"));

    if (cli_has(cli, "gpu")) {
        (void)json_object_set_new(amounts, "nvidia.com/gpu",
                                  json_string(cli_text(cli, "gpu", "0")));
    }
    return json_pack("{s:O, s:o}", "requests", amounts, "limits", amounts);
}

/* The pod, without its command. */
static json_t *make_pod(struct cli *cli, json_t *command, json_t *env)
{
    json_t *container =
        json_pack("{s:s, s:s, s:O, s:O, s:o}", "name", "main", "image",
                  cli_text(cli, "image", "none"), "command", command, "env",
                  env, "resources", make_resources(cli));
    json_t *pod = json_pack("{s:s, s:[o]}", "restartPolicy", "Never",
                            "containers", container);

    if (cli_has(cli, "priority-class")) {
        (void)json_object_set_new(
            pod, "priorityClassName",
            json_string(cli_text(cli, "priority-class", "")));
    }
    return pod;
}

/* The files of --file: LOCAL, or LOCAL=PATH in the job's folder. */
static enum cli_exit add_files(struct cli *cli, json_t *annotations)
{
    struct cli_names files = cli_list(cli, "file");
    auto_strbuf text = {0};
    struct input_file *checked;
    struct err err;

    for (size_t i = 0; i < files.count; i++) {
        char *equals = strchr(files.items[i], '=');
        const char *slash = strrchr(files.items[i], '/');
        const char *path = equals  ? equals + 1
                           : slash ? slash + 1
                                   : files.items[i];
        struct str bytes;
        if (equals) {
            *equals = '\0';
        }
        enum cli_exit rc = cli_read_file(cli, files.items[i], &bytes);
        if (rc != CLI_OK) {
            return rc;
        }
        input_files_add(&text, str_of(path), bytes);
    }
    if (input_files_read(strbuf_str(&text), &cli->arena, &checked, &err) < 0) {
        return cli_fail(cli, CLI_INVALID, "--file: %s", err.text);
    }
    if (files.count > 0) {
        add_label(annotations, "berth.dev/inputFiles", strbuf_text(&text));
    }
    return CLI_OK;
}

/* What the options ask for by annotations. */
static enum cli_exit add_annotations(struct cli *cli, json_t *annotations)
{
    const char *wait = cli_text(cli, "max-wait", NULL);
    int64_t wait_ms;

    if (cli_has(cli, "hold")) {
        add_label(annotations, "berth.dev/hold", "true");
    }
    if (cli_has(cli, "after")) {
        auto_strbuf jobs = {0};
        struct cli_names after = cli_list(cli, "after");
        for (size_t i = 0; i < after.count; i++) {
            strbuf_addf(&jobs, "%s%s", i ? "," : "", after.items[i]);
        }
        add_label(annotations, "berth.dev/dependsOn", strbuf_text(&jobs));
    }
    if (cli_has(cli, "output-path")) {
        add_label(annotations, "berth.dev/outputPath",
                  cli_text(cli, "output-path", ""));
    }
    if (cli_has(cli, "begin")) {
        add_label(annotations, "berth.dev/beginTime",
                  cli_text(cli, "begin", ""));
    }
    if (wait && setting_parse_duration(str_of(wait), &wait_ms) < 0) {
        return cli_fail(cli, CLI_USAGE,
                        "--max-wait takes a time such as 90s or 1h30m, not "
                        "\"%s\"",
                        wait);
    }
    if (wait) {
        add_label(annotations, "berth.dev/maxWaitSeconds",
                  cli_format(cli, "%.3f", (double)wait_ms / 1000));
    }
    return add_files(cli, annotations);
}

/* The job as a file of jobs would say it. */
static json_t *make_file(struct cli *cli, json_t *pod, json_t *labels,
                         json_t *annotations)
{
    const char *name = cli_text(cli, "name", "run");
    json_t *job = json_pack("{s:s, s:O, s:[O]}", "namespace",
                            cli_text(cli, "namespace", "default"), "labels",
                            labels, "podSpecs", pod);
    const char *priority = cli_text(cli, "priority", NULL);

    (void)json_object_set(job, "annotations", annotations);
    if (priority) {
        json_t *number = json_loads(priority, JSON_DECODE_ANY, NULL);
        (void)json_object_set_new(job, "priority",
                                  number ? number : json_string(priority));
    }
    return json_pack("{s:s, s:s, s:[o]}", "queue", cli_text(cli, "queue", ""),
                     "jobSetId", cli_text(cli, "job-set", name), "jobs", job);
}

/* The amounts of a job, by the options that say them. */
static enum cli_exit check_amounts(struct cli *cli)
{
    static const struct {
        const char *option, *example;
        bool is_whole;
    } amounts[] = {
        {"cpu", "2 or 500m", false},
        {"memory", "512Mi or 4Gi", false},
        {"gpu", "1", true},
        {"storage", "512Mi or 4Gi", false},
    };
    int64_t milli;

    for (size_t i = 0; i < ARRAY_COUNT(amounts); i++) {
        const char *text = cli_text(cli, amounts[i].option, "1");
        bool is_amount =
            quantity_parse(str_of(text), &milli) == 0 && milli >= 0;
        if (!is_amount || (amounts[i].is_whole && milli % 1000 != 0)) {
            return cli_fail(
                cli, CLI_INVALID, "--%s takes %s such as %s, not \"%s\"",
                amounts[i].option,
                amounts[i].is_whole ? "a whole number" : "an amount",
                amounts[i].example, text);
        }
    }
    return CLI_OK;
}

/* What the server would refuse by the names of annotations. */
static enum cli_exit check_values(struct cli *cli)
{
    const char *begin = cli_text(cli, "begin", NULL);
    const char *path = cli_text(cli, "output-path", NULL);
    const char *priority = cli_text(cli, "priority", NULL);
    int64_t seconds;
    int32_t nanos;

    if (begin && wire_rfc3339_parse(str_of(begin), &seconds, &nanos) < 0) {
        return cli_fail(cli, CLI_INVALID,
                        "--begin takes a time such as 2026-01-31T12:00:00Z, "
                        "not \"%s\"",
                        begin);
    }
    if (path && *path != '/') {
        return cli_fail(cli, CLI_INVALID,
                        "--output-path takes an absolute path such as "
                        "/results, not \"%s\"",
                        path);
    }
    if (cli_has(cli, "timestamps") && !cli_has(cli, "follow")) {
        return cli_fail(cli, CLI_USAGE, "--timestamps needs --follow");
    }
    char *end;
    double number = priority ? strtod(priority, &end) : 0;
    if (priority && (!*priority || *end || !(number >= 0) ||
                     number > UINT32_MAX || number != (uint32_t)number)) {
        return cli_fail(cli, CLI_INVALID,
                        "--priority takes a whole number from 0 to "
                        "4294967295, not \"%s\"",
                        priority);
    }
    return CLI_OK;
}

static enum cli_exit check_usage(struct cli *cli)
{
    if (!cli_has(cli, "queue")) {
        return cli_fail(cli, CLI_USAGE,
                        "--queue is required (get queues lists the queues)");
    }
    if (cli_has(cli, "array") && cli_has(cli, "follow")) {
        return cli_fail(
            cli, CLI_USAGE,
            "--follow shows one job; use wait for the jobs of an --array");
    }
    if (cli_has(cli, "schedule") &&
        (cli_has(cli, "follow") || cli_has(cli, "after") ||
         cli_has(cli, "begin"))) {
        return cli_fail(cli, CLI_USAGE,
                        "--schedule cannot be used with --follow, --after or "
                        "--begin");
    }
    if (!cli_has(cli, "schedule") &&
        (cli_has(cli, "time-zone") || cli_has(cli, "concurrency"))) {
        return cli_fail(cli, CLI_USAGE,
                        "--time-zone and --concurrency need a --schedule");
    }
    if (cli->argument_count == 0 && !cli_has(cli, "script")) {
        return cli_fail(
            cli, CLI_USAGE,
            "no command given: write it after --, or use --script FILE");
    }
    enum cli_exit rc = check_amounts(cli);
    return rc == CLI_OK ? check_values(cli) : rc;
}

/* The jobs that it is to run after exist, as far as the server says; names of
 * clients are left to it. */
static enum cli_exit check_after(struct cli *cli)
{
    struct cli_names after = cli_list(cli, "after");
    enum cli_exit rc = after.count ? cli_connect(cli) : CLI_OK;

    for (size_t i = 0; rc == CLI_OK && i < after.count; i++) {
        char *id = cli_format(cli, "%.*s", (int)strcspn(after.items[i], ":"),
                              after.items[i]);
        if (strncmp(id, "client/", strlen("client/")) != 0) {
            rc = selection_is_id(id) ? check_one_job(cli, id)
                                     : check_no_job(cli, id);
        }
    }
    return rc;
}

/* Make the job of the command line. */
static enum cli_exit make_job(struct cli *cli, struct submission *ret)
{
    auto_json_t *command = json_array(), *env = json_array(),
                *labels = json_object(), *annotations = json_object();
    enum cli_exit rc = each_pair(cli, "env", add_variable, env);

    if (rc == CLI_OK) {
        rc = each_pair(cli, "label", add_label, labels);
    }
    if (rc == CLI_OK) {
        rc = add_annotations(cli, annotations);
    }
    if (rc == CLI_OK && cli_has(cli, "script")) {
        rc = add_script(cli, command);
    }
    if (rc != CLI_OK) {
        return rc;
    }
    if (cli_has(cli, "name")) {
        add_label(labels, SELECTION_NAME_LABEL, cli_text(cli, "name", ""));
    }
    add_words(command, cli->arguments, cli->argument_count);
    auto_json_t *pod = make_pod(cli, command, env);
    auto_json_t *file = make_file(cli, pod, labels, annotations);
    auto_json_t *array = NULL;
    struct cli_names told = {0};
    if (cli_has(cli, "array")) {
        (void)json_object_set_new(
            json_array_get(json_object_get(file, "jobs"), 0), "array",
            json_string(cli_text(cli, "array", "")));
        rc = array_expand(cli, file, &array, &told);
    }
    if (rc == CLI_OK) {
        rc = submission_read(cli, array ? array : file, ret);
        ret->told = told;
    }
    return rc;
}

enum cli_exit cmd_run(struct cli *cli)
{
    struct submission submission;

    cli->is_of_options = true;
    enum cli_exit rc = check_usage(cli);
    if (rc == CLI_OK) {
        rc = make_job(cli, &submission);
    }
    if (rc != CLI_OK) {
        return rc;
    }
    rc = check_after(cli);
    if (rc != CLI_OK) {
        return rc;
    }
    if (cli_has(cli, "schedule")) {
        rc = periodic_of_options(cli, &submission, &submission.periodic);
        return rc == CLI_OK ? periodic_send(cli, false, submission.periodic)
                            : rc;
    }
    submission.is_remarked = cli_has(cli, "follow");
    rc = submit_jobs(cli, &submission);
    if (rc == CLI_INVALID && cli_has(cli, "priority-class")) {
        char *class =
            cli_format(cli, "%s", cli_text(cli, "priority-class", ""));
        (void)check_classes(cli, &class, 1); /* says which there are */
    }
    return rc == CLI_OK && submission.accepted_id && cli_has(cli, "follow")
               ? logs_follow(cli, submission.accepted_id)
               : rc;
}
