#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "main/sim/sim_main.h"
#include "sim/swf/swf.h"

enum {
    OPTION_PROCESSORS = 1,
    OPTION_POLICY,
    OPTION_CONVENTION,
    OPTION_EXACT,
    OPTION_LIMIT,
    OPTION_STARTS,
    OPTION_JSON,
    OPTION_QUIET,
};

static const struct usage_option usage_options[] = {
    [OPTION_PROCESSORS - 1] = {"processors", "N",
                               "number of processors of the machine"},
    [OPTION_POLICY -
        1] = {"policy", "P",
              "scheduling policy: fcfs, easy (the default) or sjbf"},
    [OPTION_CONVENTION - 1] =
        {"convention", "C",
         "order of events within one second: instant (the default) or sc15"},
    [OPTION_EXACT - 1] = {"exact-estimates", NULL,
                          "use the real run times as estimates"},
    [OPTION_LIMIT - 1] = {"limit", "N", "simulate only the first N jobs"},
    [OPTION_STARTS -
        1] = {"starts", "FILE",
              "write a line job,start for each job, in order of arrival"},
    [OPTION_JSON - 1] = {"json", NULL, "write the figures as JSON"},
    [OPTION_QUIET - 1] = {"quiet", NULL, "show no progress"},
};

struct options {
    struct swf_options swf;
    const char *path, *starts_path;
    bool is_json, is_quiet;
};

static bool take_policy(const char *text, struct swf_options *options)
{
    static const char *const names[] = {
        [SWF_FCFS] = "fcfs", [SWF_EASY] = "easy", [SWF_SJBF] = "sjbf"};

    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        if (strcmp(text, names[i]) == 0) {
            options->policy = (enum swf_policy)i;
            return true;
        }
    }
    return false;
}

static bool take_convention(const char *text, struct swf_options *options)
{
    bool is_sc15 = strcmp(text, "sc15") == 0;

    options->convention = is_sc15 ? SWF_SC15 : SWF_INSTANT;
    return is_sc15 || strcmp(text, "instant") == 0;
}

/* Say what is allowed; always false. */
static bool refuse_processors(const char *text)
{
    auto_strbuf must = {0};

    strbuf_addf(&must, "a whole number from 1 to %d", (int)SWF_PROCESSORS_MAX);
    return sim_bad_value("processors", text, strbuf_text(&must));
}

/* Take one option; false if it is wrong. */
static bool take(int code, struct options *options)
{
    int64_t number;

    switch (code) {
    case OPTION_PROCESSORS:
        if (!sim_read_number(optarg, 1, SWF_PROCESSORS_MAX, &number)) {
            return refuse_processors(optarg);
        }
        options->swf.processors = (uint32_t)number;
        return true;
    case OPTION_POLICY:
        return take_policy(optarg, &options->swf) ||
               sim_bad_value("policy", optarg, "fcfs, easy or sjbf");
    case OPTION_CONVENTION:
        return take_convention(optarg, &options->swf) ||
               sim_bad_value("convention", optarg, "instant or sc15");
    case OPTION_EXACT:
        options->swf.is_exact = true;
        return true;
    case OPTION_LIMIT:
        if (!sim_read_number(optarg, 1, INT64_MAX, &number)) {
            return sim_bad_value("limit", optarg, "a whole number from 1");
        }
        options->swf.job_limit = (uint64_t)number;
        return true;
    case OPTION_STARTS:
        options->starts_path = optarg;
        return true;
    case OPTION_JSON:
        options->is_json = true;
        return true;
    case OPTION_QUIET:
        options->is_quiet = true;
        return true;
    default:
        return false;
    }
}

static int take_option(int code, void *options)
{
    return take(code, options) ? 0 : -1;
}

static bool is_complete(const void *of)
{
    const struct options *options = of;

    return options->swf.processors > 0;
}

const struct sim_syntax sim_swf_syntax = {
    .usage =
        {
            .program = "berth-sim",
            .command = "swf",
            .arguments = "FILE --processors N [OPTIONS]",
            .about = "simulate a log in the Standard Workload Format, plain or "
                     "gzipped",
            .options = usage_options,
            .option_count = ARRAY_COUNT(usage_options),
        },
    .wants = "a log and --processors",
    .take = take_option,
    .is_complete = is_complete,
};

static void print_json(const struct swf_result *result)
{
    printf("{\"jobs\": %" PRIu64 ", \"sum_wait_s\": %" PRId64
           ", \"mean_bounded_slowdown\": %.10f, \"utilisation\": %.10f, "
           "\"makespan_s\": %" PRId64 ", \"started_at_once\": %" PRIu64
           ", \"digest\": \"%s\"}\n",
           result->job_count, result->sum_wait_s, result->mean_bounded_slowdown,
           result->utilisation, result->makespan_s,
           result->started_at_once_count, result->digest);
}

static void print_text(const struct swf_log *log,
                       const struct swf_result *result, double took_s)
{
    printf("jobs                   %" PRIu64 " (%" PRIu64
           " rows left out), in %.2f s\n"
           "sum of waits           %" PRId64 " s\n"
           "mean bounded slowdown  %.4f\n"
           "utilisation            %.5f\n"
           "makespan               %" PRId64 " s\n"
           "started at once        %" PRIu64 "\n"
           "digest                 %s\n",
           result->job_count, log->skipped_count, took_s, result->sum_wait_s,
           result->mean_bounded_slowdown, result->utilisation,
           result->makespan_s, result->started_at_once_count, result->digest);
}

static int write_starts(const char *path, const struct swf_log *log,
                        struct err *err)
{
    auto_strbuf text = {0};

    for (size_t i = 0; i < log->jobs.count; i++) {
        strbuf_addf(&text, "%" PRId64 ",%" PRId64 "\n",
                    log->jobs.items[i].number, log->jobs.items[i].start_s);
    }
    return sim_write_file(path, strbuf_str(&text), err);
}

static int play(struct options *options, struct swf_log *log, struct err *err)
{
    struct swf_result result;
    double began_s = sim_real_s();

    int rc = swf_play(log, &options->swf, err);
    if (!options->is_quiet && sim_has_watcher()) {
        sim_show_progress("");
    }
    if (rc < 0) {
        return rc;
    }
    swf_sum(log, &options->swf, &result);
    if (options->is_json) {
        print_json(&result);
    } else {
        print_text(log, &result, sim_real_s() - began_s);
    }
    return options->starts_path ? write_starts(options->starts_path, log, err)
                                : 0;
}

static void on_progress(void *ctx, uint64_t started_count)
{
    auto_strbuf text = {0};

    strbuf_addf(&text, "%" PRIu64 " of %" PRIu64 " jobs started", started_count,
                *(const uint64_t *)ctx);
    sim_show_progress(strbuf_text(&text));
}

int sim_swf_main(int argument_count, char **arguments)
{
    struct options options = {.swf.policy = SWF_EASY};
    struct swf_log log;
    struct err err;

    int rc = sim_parse(&sim_swf_syntax, argument_count, arguments, &options,
                       &options.path);
    if (rc != 0) {
        return rc - 1;
    }
    if (swf_read(options.path, &options.swf, &log, &err) < 0) {
        fprintf(stderr, "berth-sim: %s\n", err.text);
        return SIM_EXIT_USAGE;
    }
    uint64_t job_count = log.jobs.count;
    if (!options.is_quiet && sim_has_watcher()) {
        options.swf.progress = on_progress;
        options.swf.ctx = &job_count;
    }
    rc = play(&options, &log, &err);
    if (rc < 0) {
        fprintf(stderr, "berth-sim: %s\n", err.text);
    }
    swf_log_fini(&log);
    return rc < 0 ? SIM_EXIT_FAILURE : 0;
}
