/*
 * options: what command lines mean, without a server.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/command_table.h"
#include "run.h"
#include "unit.h"

static void check(struct run_result result, enum cli_exit code,
                  const char *out_part, const char *err_part)
{
    assert_int_equal(result.code, code);
    assert_non_null(strstr(result.out, out_part));
    assert_non_null(strstr(result.err, err_part));
    free(result.out);
    free(result.err);
}

static void
nothing_at_all_is_a_usage_error_that_lists_the_commands(void **state)
{
    (void)state;
    check(run_words((const char *const[]){"berthctl", NULL}, ""), CLI_USAGE, "",
          "usage: berthctl COMMAND");
}

static void help_is_asked_for_and_succeeds(void **state)
{
    (void)state;
    check(RUN("", "--help"), CLI_OK, "usage: berthctl COMMAND", "");
    check(RUN("", "help"), CLI_OK, "usage: berthctl COMMAND", "");
    check(RUN("", "--version"), CLI_OK, "berthctl " BERTH_VERSION "\n", "");
}

static void every_command_has_help(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < command_count; i++) {
        char path[64];
        const char *words[8] = {"berthctl"};
        int count = 1;
        (void)snprintf(path, sizeof(path), "%s", command_table[i].path);
        for (char *rest = path, *word; (word = strsep(&rest, " "));) {
            words[count++] = word;
        }
        words[count] = "--help";
        check(run_words(words, ""), CLI_OK, command_table[i].about, "");
    }
}

static void unknown_words_are_usage_errors(void **state)
{
    (void)state;
    check(RUN("", "sumbit", "f"), CLI_USAGE, "", "no such command: sumbit");
    check(RUN("", "watch", "q"), CLI_USAGE, "", "watch takes: QUEUE JOBSET\n");
    check(RUN("", "watch", "q", "s", "--rwa"), CLI_USAGE, "",
          "no such option: --rwa");
    check(RUN("", "get", "jobs", "-q"), CLI_USAGE, "", "-q needs a value");
    check(RUN("", "version", "-o", "xml"), CLI_USAGE, "",
          "-o takes text, wide, csv, json, yaml, name, custom-columns=... or "
          "jsonpath=..., not xml");
    check(RUN("", "cancel", "node", "n", "-a"), CLI_USAGE, "",
          "cancel node needs -e EXECUTOR");
    check(RUN("", "cancel", "queues", "q", "-s", "resting", "-a"), CLI_USAGE,
          "", "\"resting\" is not a job state; these are: queued, leased, ");
    check(RUN("", "create", "queue", "q", "--over-share-factor", "1e99"),
          CLI_USAGE, "",
          "--over-share-factor must be a decimal number such as 0.5, not "
          "\"1e99\"");
    check(RUN("", "create", "queue", "q", "--max-running-apps", "4294967296"),
          CLI_USAGE, "",
          "--max-running-apps must be a whole number from 0 to 4294967295, not "
          "\"4294967296\"");
    check(RUN("", "preempt", "queues", "q"), CLI_USAGE, "",
          "preempt queues needs -p CLASS, or -a for all classes");
}

static void help_takes_a_command(void **state)
{
    (void)state;
    check(RUN("", "help", "get", "jobs"), CLI_OK, "usage: berthctl get jobs ",
          "");
    check(RUN("", "help", "run"), CLI_OK,
          "usage: berthctl run -q QUEUE [OPTIONS] [-- COMMAND...]\n", "");
    check(RUN("", "help", "cancel"), CLI_OK, "  cancel job-set ", "");
    check(RUN("", "help", "nonsense"), CLI_USAGE, "", "no such command");
}

static void typing_errors_are_answered_with_what_was_meant(void **state)
{
    (void)state;
    check(RUN("", "sumbit", "f"), CLI_USAGE, "",
          "no such command: sumbit; did you mean submit?\n");
    check(RUN("", "xyzzy"), CLI_USAGE, "", "no such command: xyzzy\n");
    check(RUN("", "get", "jobs", "--qeue=q"), CLI_USAGE, "",
          "no such option: --qeue=q; did you mean --queue?\n");
    check(RUN("", "get", "jobs", "--xyzzy"), CLI_USAGE, "",
          "no such option: --xyzzy\n");
    check(RUN("", "get", "jobs", "-Z"), CLI_USAGE, "", "no such option: -Z\n");
}

static void first_word_of_commands_leads_to_them(void **state)
{
    (void)state;
    check(RUN("", "get"), CLI_USAGE, "",
          "get needs another word:\n  get jobs ");
    check(RUN("", "get", "jbos"), CLI_USAGE, "",
          "no such command: get jbos; did you mean get jobs? there are:\n"
          "  get jobs ");
    check(RUN("", "cancel", "--help"), CLI_OK, "  cancel job-set ", "");
    check(RUN("", "cance", "--help"), CLI_USAGE, "", "no such command: cance");
}

static void common_options_stand_before_or_after_the_command(void **state)
{
    (void)state;
    check(RUN("", "--armadaUrl", "localhost:1", "version"), CLI_OK, "berthctl ",
          "");
    check(RUN("", "version", "--armadaUrl", "localhost:1"), CLI_OK, "berthctl ",
          "");
}

static void file_that_is_missing_or_wrong_is_refused(void **state)
{
    (void)state;
    check(RUN("", "submit", "/nowhere/jobs.yaml"), CLI_INVALID, "",
          "cannot open /nowhere/jobs.yaml: No such file");
    check(RUN("queue: q\n", "submit", "-"), CLI_INVALID, "",
          "the file has no jobs");
    check(RUN("queue: q\njobs: [{podSpecs: 3}]\n", "submit", "-"), CLI_INVALID,
          "", "jobs[0].podSpecs: must be a list");
    check(RUN("queue: q\njobs: [3]\n", "submit", "-"), CLI_INVALID, "",
          "jobs[0]: must be a map");
    check(RUN("kind: Queue\n", "create", "-f", "-"), CLI_INVALID, "",
          "apiVersion must be armadaproject.io/v1beta1");
}

static void dry_run_reads_the_file_and_sends_nothing(void **state)
{
    (void)state;
    check(RUN("queue: q\njobSetId: s\njobs: [{podSpec: {}}]\n", "submit", "-",
              "--dry-run", "--berthUrl", "localhost:1"),
          CLI_OK, "Read 1 job; nothing was submitted\n", "");
}

static void amounts_of_a_run_are_checked_by_their_options(void **state)
{
    (void)state;
    check(RUN("", "run", "-q", "q", "--cpu", "lots", "--", "true"), CLI_INVALID,
          "", "--cpu takes an amount such as 2 or 500m, not \"lots\"");
    check(RUN("", "run", "-q", "q", "--memory", "1GB", "--", "true"),
          CLI_INVALID, "",
          "--memory takes an amount such as 512Mi or 4Gi, not \"1GB\"");
    check(RUN("", "run", "-q", "q", "--gpu", "1.5", "--", "true"), CLI_INVALID,
          "", "--gpu takes a whole number such as 1, not \"1.5\"");
    check(RUN("", "run", "-q", "q", "--cpu", "-1", "--", "true"), CLI_INVALID,
          "", "--cpu takes an amount such as 2 or 500m, not \"-1\"");
}

/* Errors about values name the option, no field of a message or a file. */
/* Each command has a column of its own in the list of all. */
static void the_list_of_commands_is_a_table(void **state)
{
    struct run_result result = RUN("", "help");
    const char *line = strstr(result.out, "create maintenance-window");

    (void)state;
    assert_non_null(line);
    size_t column = strstr(line, "start no jobs") - line;
    assert_memory_equal(strstr(result.out, "  submit ") + 2 + column,
                        "submit the", strlen("submit the"));
    free(result.out);
    free(result.err);
}

static void values_are_refused_by_their_options(void **state)
{
    (void)state;
    check(RUN("", "run", "-q", "q", "--begin", "soon", "--", "true"),
          CLI_INVALID, "", "--begin takes a time such as 2026-01-31T12:00:00Z");
    check(RUN("", "run", "-q", "q", "--output-path", "out", "--", "true"),
          CLI_INVALID, "", "--output-path takes an absolute path");
    check(RUN("", "run", "-q", "q", "--priority", "-1", "--", "true"),
          CLI_INVALID, "", "--priority takes a whole number from 0 to");
    check(RUN("", "run", "-q", "q", "--array", "5-2", "--", "true"),
          CLI_INVALID, "", "--array: must be indexes such as 0-99");
    check(RUN("", "run", "-q", "q", "--timestamps", "--", "true"), CLI_USAGE,
          "", "--timestamps needs --follow");
    check(RUN("", "submit", "f", "--dry-run", "--check"), CLI_USAGE, "",
          "--dry-run asks no server, --check and --when do");
    check(RUN("", "logs", "x", "--since", "yesterday"), CLI_INVALID, "",
          "--since takes a time such as 2026-01-31T12:00:00Z");
    check(RUN("", "report", "usage", "--by", "shoe"), CLI_INVALID, "",
          "--by takes queue, user and day, not \"shoe\"");
    check(RUN("", "report", "usage", "--from", "May"), CLI_INVALID, "",
          "--from takes a day such as 2026-01-31, not \"May\"");
    check(
        RUN("", "report", "jobs", "--from", "2026-12-01", "--to", "2026-11-01"),
        CLI_USAGE, "", "--from 2026-12-01 is later than --to 2026-11-01");
    check(RUN("", "what-if", "--for", "2000h"), CLI_USAGE, "",
          "--for takes a time from 1s to 168h");
    check(RUN("", "what-if", "--limit", "0"), CLI_USAGE, "",
          "--limit takes a whole number from 1 to 10000, not \"0\"");
    check(RUN("", "get", "jobs", "-n", "-1"), CLI_USAGE, "",
          "--limit (-n) takes a whole number, 0 for all jobs, not \"-1\"");
    check(RUN("", "update", "queue", "q", "--priority-factor", "0.5"),
          CLI_USAGE, "", "--priority-factor takes a number from 1 on");
}

static void a_mistyped_resource_is_remarked_on(void **state)
{
    (void)state;
    check(
        RUN("queue: q\njobSetId: s\njobs: [{podSpec: {containers: [{resources:"
            " {requests: {cpuu: 1, a.b/c: 1}}}]}}]\n",
            "submit", "-", "--dry-run"),
        CLI_OK, "Read 1 job; nothing was submitted\n",
        "jobs[0].podSpec.containers[0].resources.requests.cpuu: no resource "
        "of Kubernetes; did you mean cpu?\n");
}

static void server_that_is_away_is_its_own_exit_code(void **state)
{
    (void)state;
    check(RUN("", "get", "queue", "q", "--berthUrl", "localhost:1"),
          CLI_UNAVAILABLE, "", "UNAVAILABLE");
    check(RUN("", "get", "jobs", "--berthUrl", "127.0.0.1:1"), CLI_UNAVAILABLE,
          "", "is there a server at 127.0.0.1:1?");
    check(RUN("", "get", "jobs", "--berthUrl", "http://127.0.0.1:1"), CLI_USAGE,
          "", "http://127.0.0.1:1: a server address is HOST:PORT");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_at_all_is_a_usage_error_that_lists_the_commands),
        TEST(help_is_asked_for_and_succeeds),
        TEST(every_command_has_help),
        TEST(unknown_words_are_usage_errors),
        TEST(first_word_of_commands_leads_to_them),
        TEST(help_takes_a_command),
        TEST(typing_errors_are_answered_with_what_was_meant),
        TEST(common_options_stand_before_or_after_the_command),
        TEST(file_that_is_missing_or_wrong_is_refused),
        TEST(dry_run_reads_the_file_and_sends_nothing),
        TEST(amounts_of_a_run_are_checked_by_their_options),
        TEST(the_list_of_commands_is_a_table),
        TEST(values_are_refused_by_their_options),
        TEST(a_mistyped_resource_is_remarked_on),
        TEST(server_that_is_away_is_its_own_exit_code),
    };
    return RUN_TESTS(tests);
}
