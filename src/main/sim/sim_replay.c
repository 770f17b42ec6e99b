#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "control/audit/audit.h"
#include "elog/elog_sqlite.h"
#include "elog/sq.h"
#include "main/sim/sim_main.h"
#include "wire/text/printable.h"

enum { RECORDS_PER_READ = 256 };

enum { OPTION_JSON = 1, OPTION_QUIET };

static const struct usage_option usage_options[] = {
    [OPTION_JSON - 1] = {"json", NULL, "write the result as JSON"},
    [OPTION_QUIET - 1] = {"quiet", NULL, "show no progress"},
};

struct options {
    const char *path;
    bool is_json, is_quiet;
};

static int take(int code, void *of)
{
    struct options *options = of;

    switch (code) {
    case OPTION_JSON:
        options->is_json = true;
        return 0;
    case OPTION_QUIET:
        options->is_quiet = true;
        return 0;
    default:
        return -1;
    }
}

const struct sim_syntax sim_replay_syntax = {
    .usage =
        {
            .program = "berth-sim",
            .command = "replay",
            .arguments = "DATA_DIR [OPTIONS]",
            .about = "repeat the decisions of a berthd's log and compare them",
            .options = usage_options,
            .option_count = ARRAY_COUNT(usage_options),
            .notes = "DATA_DIR is the data directory of a berthd, which may be "
                     "running, or a log file.\n\n"
                     "Exit codes: 0 all decisions are the same, 1 the "
                     "log cannot\nbe read, 2 the command line is wrong, 3 a "
                     "decision differs.\n",
        },
    .wants = "a data directory",
    .take = take,
};

void sim_log_path(const char *path, struct strbuf *ret_path)
{
    struct stat about;
    bool is_folder = stat(path, &about) == 0 && S_ISDIR(about.st_mode);

    strbuf_addf(ret_path, is_folder ? "%s/log.db" : "%s", path);
}

static int read_all(struct control_audit *audit, struct elog_reader *reader,
                    bool is_watched, struct control_difference *difference,
                    struct err *err)
{
    int count;

    while ((count = control_audit_read(audit, reader, RECORDS_PER_READ,
                                       difference, err)) > 0) {
        auto_strbuf text = {0};
        if (is_watched) {
            strbuf_addf(&text, "record %" PRIu64,
                        control_audit_counts(audit).last_seq);
            sim_show_progress(strbuf_text(&text));
        }
    }
    if (is_watched) {
        sim_show_progress("");
    }
    return count;
}

static void print_json(const struct control_audit_counts *counts,
                       const struct control_difference *difference)
{
    auto_strbuf text = {0};

    strbuf_addf(&text,
                "{\"records\": %" PRIu64 ", \"first_record\": %" PRIu64
                ", \"last_record\": %" PRIu64 ", \"events\": %" PRIu64
                ", \"decisions\": %" PRIu64 ", \"rounds\": %" PRIu64
                ", \"unseen_rounds\": %" PRIu64 ", \"is_same\": %s",
                counts->record_count, counts->first_seq, counts->last_seq,
                counts->event_count, counts->decision_count,
                counts->round_count, counts->unseen_round_count,
                difference ? "false" : "true");
    if (difference) {
        strbuf_addf(&text, ", \"record\": %" PRIu64 ", \"event\": %u, ",
                    difference->seq, difference->index);
        strbuf_add_text(&text, "\"expected\": ");
        report_json_text(&text, str_of(difference->expected));
        strbuf_add_text(&text, ", \"got\": ");
        report_json_text(&text, str_of(difference->got));
    }
    strbuf_add_text(&text, "}\n");
    auto_strbuf shown = {0};
    wire_printable(strbuf_str(&text), PRINTABLE_JSON, &shown);
    fputs(strbuf_text(&shown), stdout);
}

/* What users named is part of a log's events. */
static void print_event(const char *name, const char *text)
{
    auto_strbuf shown = {0};

    wire_printable(str_of(text), PRINTABLE_LINE, &shown);
    printf("%-9s %s\n", name, strbuf_text(&shown));
}

static void print_text(const struct control_audit_counts *counts,
                       const struct control_difference *difference)
{
    printf("records   %" PRIu64 " (%" PRIu64 " to %" PRIu64 ")\n"
           "events    %" PRIu64 "\n"
           "decisions %" PRIu64 " made again, in %" PRIu64 " rounds\n",
           counts->record_count, counts->first_seq, counts->last_seq,
           counts->event_count, counts->decision_count, counts->round_count);
    if (counts->unseen_round_count) {
        printf("not again %" PRIu64 " rounds of pools that were planned beside "
               "the leader\n",
               counts->unseen_round_count);
    }
    if (difference) {
        printf("record %" PRIu64 " differs at event %u\n", difference->seq,
               difference->index);
        print_event("expected", difference->expected);
        print_event("got", difference->got);
    } else {
        printf("all decisions are the same, byte for byte\n");
    }
}

static int replay(const struct options *options, struct err *err)
{
    auto_strbuf path = {0};
    auto_ptr(elog_reader) reader = NULL;
    auto_ptr(control_audit) audit = control_audit_create();
    struct control_difference difference = {0};

    sim_log_path(options->path, &path);
    int rc = elog_sqlite_reader_open(strbuf_text(&path), &reader, err);
    if (rc == 0) {
        rc = control_audit_begin(audit, reader, err);
    }
    if (rc >= 0) {
        rc = read_all(audit, reader, !options->is_quiet && sim_has_watcher(),
                      &difference, err);
    }
    if (rc < 0 && rc != -ERR_CONFLICT) {
        return rc;
    }
    struct control_audit_counts counts = control_audit_counts(audit);
    (options->is_json ? print_json : print_text)(
        &counts, rc == -ERR_CONFLICT ? &difference : NULL);
    return rc;
}

int sim_replay_main(int argument_count, char **arguments)
{
    struct options options = {0};
    struct err err;

    int rc = sim_parse(&sim_replay_syntax, argument_count, arguments, &options,
                       &options.path);
    if (rc != 0) {
        return rc - 1;
    }
    sq_start();
    rc = replay(&options, &err);
    if (rc == -ERR_CONFLICT) {
        return SIM_EXIT_DIFFERS;
    }
    if (rc < 0) {
        fprintf(stderr, "berth-sim: %s\n", err.text);
        return SIM_EXIT_FAILURE;
    }
    return 0;
}
