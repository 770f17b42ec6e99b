/*
 * sim_main - the commands of berth-sim, each with its own options, and what
 * they have in common.
 *
 * Exit codes are API: 0, SIM_EXIT_FAILURE, SIM_EXIT_USAGE, and what a command
 * says in its help.
 *
 * Threads: berth-sim has one.
 */
#pragma once

#include "base/strbuf.h"
#include "main/common/usage.h"
#include "sim/report/report.h"

enum {
    SIM_EXIT_FAILURE = 1,
    SIM_EXIT_USAGE = 2,
    SIM_EXIT_DIFFERS = 3, /* replay: a decision is another */
    SIM_FILE_BYTES_MAX = 256 << 20,
};

/* Where results go, as the options of `run` and `fleet` say. */
struct sim_output {
    const char *csv_path, *svg_path, *jobs_path; /* or NULL */
    bool is_json;
    bool is_quiet;
};

/* The command `run`; `arguments` begins with the program's. */
int sim_run_main(int argument_count, char **arguments);
/* The command `swf`. */
int sim_swf_main(int argument_count, char **arguments);
/* The command `fleet`. */
int sim_fleet_main(int argument_count, char **arguments);
/* The command `replay`. */
int sim_replay_main(int argument_count, char **arguments);
/* The command `what-if`. */
int sim_what_if_main(int argument_count, char **arguments);

/* What the command line of a command is. */
struct sim_syntax {
    struct usage usage;
    const char *wants; /* what is said when it is not complete */
    usage_take_fn *take;
    /* Whether what must be given was, beside the one file; NULL: it was. */
    bool (*is_complete)(const void *options);
    bool takes_no_argument; /* beside its options */
};

/* That of `run`. */
extern const struct sim_syntax sim_run_syntax;
/* That of `swf`. */
extern const struct sim_syntax sim_swf_syntax;
/* That of `fleet`. */
extern const struct sim_syntax sim_fleet_syntax;
/* That of `replay`. */
extern const struct sim_syntax sim_replay_syntax;
/* That of `what-if`. */
extern const struct sim_syntax sim_what_if_syntax;

/* Parse a command line into `options` and its one argument: 0, or the exit
 * code and one, when what there is to say was said. */
int sim_parse(const struct sim_syntax *syntax, int argument_count,
              char **arguments, void *options, const char **ret_path);

/* Read a whole number between two bounds; false when it is none. */
bool sim_read_number(const char *text, int64_t min, int64_t max,
                     int64_t *ret_number);

/* Say on standard error that an option's value is not what it `must` be;
 * always false. */
bool sim_bad_value(const char *option, const char *value, const char *must);

/* Append the path of the log of a data directory or a backup; a file is one
 * itself. */
void sim_log_path(const char *path, struct strbuf *ret_path);
/* Read a whole file.  -ERR_IO with a text. */
int sim_read_file(const char *path, struct strbuf *ret_text,
                  struct err *err) must_check;
/* Write a whole file.  -ERR_IO with a text. */
int sim_write_file(const char *path, struct str text,
                   struct err *err) must_check;
/* Whether the files of a report can be written, before much is played for
 * them; what is in them stays.  -ERR_IO with a text. */
int sim_try_outputs(const struct sim_output *output,
                    struct err *err) must_check;
/* Print a report and write its files: an exit code. */
int sim_write_report(const struct report *report,
                     const struct sim_output *output);
/* Sum up what was played since `began_s` of real time, report it as above, and
 * free tally and world: an exit code. */
int sim_finish(struct str title, struct tally *tally, struct world *world,
               double began_s, const struct sim_output *output);
/* Seconds of real time since some fixed point. */
double sim_real_s(void);
/* Whether somebody watches: standard error is a terminal. */
bool sim_has_watcher(void);
/* Overwrite the line of progress; "" clears it. */
void sim_show_progress(const char *text);

/* What sim_on_progress() remembers; zeroed but for the duration. */
struct sim_progress {
    double shown_s;
    int64_t duration_ms; /* 0: nobody knows */
};

/* Show how far a simulation is, a few times a second; `ctx` is a struct
 * sim_progress. */
void sim_on_progress(void *ctx, const struct world *world,
                     const struct tally *tally);
