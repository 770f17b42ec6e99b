#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/plural.h"
#include "main/common/machine.h"
#include "main/sim/sim_main.h"

enum { CHUNK_BYTES = 1 << 16 };

bool sim_read_number(const char *text, int64_t min, int64_t max,
                     int64_t *ret_number)
{
    char *end;

    errno = 0;
    *ret_number = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && *ret_number >= min &&
           *ret_number <= max;
}

bool sim_bad_value(const char *option, const char *value, const char *must)
{
    fprintf(stderr, "berth-sim: --%s \"%s\": must be %s\n", option, value,
            must);
    return false;
}

int sim_read_file(const char *path, struct strbuf *ret_text, struct err *err)
{
    FILE *file = fopen(path, "rb");
    size_t count;

    *ret_text = strbuf_make(SIM_FILE_BYTES_MAX);
    if (!file) {
        return err_set(err, -ERR_IO, "%s: %s", path, strerror(errno));
    }
    do {
        char bytes[CHUNK_BYTES];
        count = fread(bytes, 1, sizeof(bytes), file);
        strbuf_add(ret_text, bytes, count);
    } while (count > 0);
    bool has_failed = ferror(file);
    fclose(file);
    if (has_failed || ret_text->is_over) {
        strbuf_fini(ret_text);
        return err_set(err, -ERR_IO, "%s: %s", path,
                       has_failed ? "cannot be read" : "is too large");
    }
    return 0;
}

int sim_write_file(const char *path, struct str text, struct err *err)
{
    FILE *file = fopen(path, "wb");

    if (!file) {
        return err_set(err, -ERR_IO, "%s: %s", path, strerror(errno));
    }
    bool is_written =
        fwrite(text.p, 1, text.byte_count, file) == text.byte_count;
    if (fclose(file) != 0 || !is_written) {
        return err_set(err, -ERR_IO, "%s: cannot be written", path);
    }
    return 0;
}

int sim_try_outputs(const struct sim_output *output, struct err *err)
{
    const char *const paths[] = {output->csv_path, output->svg_path,
                                 output->jobs_path};
    struct stat info;

    for (size_t i = 0; i < ARRAY_COUNT(paths); i++) {
        /* The reader of a pipe would take this for its end. */
        if (!paths[i] ||
            (stat(paths[i], &info) == 0 && S_ISFIFO(info.st_mode))) {
            continue;
        }
        FILE *file = fopen(paths[i], "ab");
        if (!file || fclose(file) != 0) {
            return err_set(err, -ERR_IO, "%s: %s", paths[i], strerror(errno));
        }
    }
    return 0;
}

static int write_with(const char *path, const struct report *report,
                      void (*write)(const struct report *, struct strbuf *))
{
    auto_strbuf text = {0};
    struct err err;

    if (!path) {
        return 0;
    }
    write(report, &text);
    int rc = sim_write_file(path, strbuf_str(&text), &err);
    if (rc < 0) {
        fprintf(stderr, "berth-sim: %s\n", err.text);
    }
    return rc;
}

int sim_write_report(const struct report *report,
                     const struct sim_output *output)
{
    auto_strbuf text = {0};

    if (output->is_json) {
        report_json(report, &text);
    } else {
        report_text(report, &text);
    }
    fputs(strbuf_text(&text), stdout);
    if (fflush(stdout) != 0 ||
        write_with(output->csv_path, report, report_csv) < 0 ||
        write_with(output->svg_path, report, report_svg) < 0 ||
        write_with(output->jobs_path, report, report_jobs) < 0) {
        return SIM_EXIT_FAILURE;
    }
    return 0;
}

int sim_finish(struct str title, struct tally *tally, struct world *world,
               double began_s, const struct sim_output *output)
{
    struct report report = {
        .title = title,
        .tally = tally,
        .took_s = sim_real_s() - began_s,
    };
    struct err err;
    int code = SIM_EXIT_FAILURE;

    tally_finish(tally, &report.result);
    if (world_digest(world, &report.digest, &err) < 0) {
        fprintf(stderr, "berth-sim: the log: %s\n", err.text);
    } else {
        code = sim_write_report(&report, output);
    }
    tally_fini(tally);
    world_destroy(world);
    return code;
}

double sim_real_s(void)
{
    return (double)machine_clock.mono_ns(&machine_clock) / 1e9;
}

bool sim_has_watcher(void)
{
    return isatty(STDERR_FILENO);
}

void sim_show_progress(const char *text)
{
    fprintf(stderr, "\r\033[K%s", text);
    fflush(stderr);
}

void sim_on_progress(void *ctx, const struct world *world,
                     const struct tally *tally)
{
    struct sim_progress *progress = ctx;
    auto_strbuf text = {0};
    double now_s = sim_real_s();

    if (now_s - progress->shown_s < 0.2) {
        return;
    }
    progress->shown_s = now_s;
    strbuf_addf(&text, "%.2f h", (double)world->now_ms / 3.6e6);
    if (progress->duration_ms) {
        strbuf_addf(&text, " of %.2f h", (double)progress->duration_ms / 3.6e6);
    }
    strbuf_addf(&text, ", %zu job%s submitted, %u running", world->jobs.count,
                plural_s(world->jobs.count), tally->running_count);
    sim_show_progress(strbuf_text(&text));
}

int sim_parse(const struct sim_syntax *syntax, int argument_count,
              char **arguments, void *options, const char **ret_path)
{
    int rc = usage_parse(&syntax->usage, argument_count, arguments,
                         syntax->take, options);

    if (rc != 0) {
        return rc < 0 ? SIM_EXIT_USAGE + 1 : 1;
    }
    if (optind + !syntax->takes_no_argument != argument_count ||
        (syntax->is_complete && !syntax->is_complete(options))) {
        fprintf(stderr, "berth-sim: %s must be given\n", syntax->wants);
        usage_hint(&syntax->usage);
        return SIM_EXIT_USAGE + 1;
    }
    *ret_path = syntax->takes_no_argument ? NULL : arguments[optind];
    return 0;
}
