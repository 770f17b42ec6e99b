/*
 * template: files of jobs with parameters, and what becomes of them.
 */
#include <unistd.h>

#include "script.h"
#include "tmpdir.h"
#include "wire/json/json.h"

#define FILE_HEAD "parameters: {lr: 0.01, seed: null, cpu: 1, list: [a, b]}\n"

/* What submit makes of a file, as JSON on a line. */
static void becomes(const char *file, const char *const *words,
                    const char *expected)
{
    const char *line[RUN_ARGUMENTS_MAX] = {"berthctl",  "submit", "-",
                                           "--dry-run", "-o",     "json"};
    size_t count = 6;

    for (; *words; words++) {
        line[count++] = *words;
    }
    struct run_result result = run_words(line, file);
    auto_json_t *got = json_loads(result.out, 0, NULL);
    auto_json_t *want = json_loads(expected, 0, NULL);
    assert_non_null(want);
    if (!json_equal(got, want)) {
        fail_msg("%s%s", result.out, result.err);
    }
    assert_int_equal(result.code, CLI_OK);
    free(result.out);
    free(result.err);
}

#define BECOMES(file, expected, ...) \
    becomes(file, (const char *const[]){__VA_ARGS__, NULL}, expected)

static void parameters_are_values_and_parts_of_texts(void **state)
{
    (void)state;
    BECOMES(FILE_HEAD "queue: q\njobSetId: 's-{{ seed }}'\njobs:\n"
                      "- {labels: {lr: 'x{{lr}}y{{ seed }}', n: '{{ .ID }}'},"
                      " x: '{{cpu}}', y: '{{ list }}', z: '{{ seed }}'}\n",
            "[{\"queue\": \"q\", \"jobSetId\": \"s-3\", \"jobs\": [{"
            "\"labels\": {\"lr\": \"x1e-4y3\", \"n\": \"{{ .ID }}\"},"
            "\"x\": 1, \"y\": [\"a\", \"b\"], \"z\": 3}]}]",
            "--set", "lr=1e-4,seed=3");
    /* Without parameters nothing is one. */
    BECOMES("queue: q\njobSetId: 's{{ x }}'\njobs: [{}]\n",
            "[{\"queue\": \"q\", \"jobSetId\": \"s{{ x }}\", \"jobs\": [{}]}]",
            "-q", "q");
}

static void each_mapping_of_values_is_an_instance(void **state)
{
    struct tmpdir dir;
    char path[TMPDIR_PATH_BYTES_MAX];

    (void)state;
    tmpdir_init(&dir);
    tmpdir_path(&dir, "values.yaml", path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("- {seed: 1, lr: 0.1}\n- {seed: 2}\n", file);
    (void)fclose(file);
    BECOMES(FILE_HEAD "queue: q\njobSetId: s\njobs:\n"
                      "- {clientId: 'c{{ seed }}', labels: {l: 'l{{ lr }}'}}\n",
            "[{\"queue\": \"q\", \"jobSetId\": \"s\", \"jobs\": [{"
            "\"clientId\": \"c1\", \"labels\": {\"l\": \"l0.1\"}}]},"
            "{\"queue\": \"q\", \"jobSetId\": \"s\", \"jobs\": [{"
            "\"clientId\": \"c2\", \"labels\": {\"l\": \"l0.01\"}}]}]",
            "--values", path);
    check(RUN(FILE_HEAD "queue: q\njobSetId: s\njobs: [{clientId: c}]\n",
              "submit", "-", "--dry-run", "--values", path),
          CLI_INVALID, "",
          "berthctl: jobs[0].clientId: is the same for each mapping of "
          "--values; let it have a parameter\n");
    tmpdir_fini(&dir);
}

static void what_makes_no_sense_is_refused(void **state)
{
    static const struct {
        const char *file, *set, *error;
        enum cli_exit code;
    } cases[] = {
        {"queue: '{{ seed }}'\n", "lr=1",
         "parameter seed has no value: --set seed=VALUE gives it one",
         CLI_INVALID},
        {"queue: '{{ sed }}'\n", "lr=1",
         "{{ sed }}: the file's `parameters` do not name it", CLI_INVALID},
        {"queue: q\n", "rl=1",
         "the file has no parameter rl under `parameters`", CLI_INVALID},
        {"queue: 'q{{ list }}'\n", "lr=1",
         "parameter list is a list or a mapping, which cannot stand within a "
         "text",
         CLI_INVALID},
        {"queue: q\n", "=1", "--set takes NAME=VALUE,..., not \"=1\"",
         CLI_USAGE},
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        auto_strbuf file = {0}, error = {0};
        strbuf_addf(&file, "%s%s", FILE_HEAD, cases[i].file);
        strbuf_addf(&error, "berthctl: %s\n", cases[i].error);
        check(RUN(strbuf_text(&file), "submit", "-", "--set", cases[i].set),
              cases[i].code, "", strbuf_text(&error));
    }
    check(RUN("queue: q\n", "submit", "-", "--set", "lr=1"), CLI_INVALID, "",
          "berthctl: --set and --values are for files with the key "
          "`parameters`\n");
    check(RUN("parameters: [lr]\n", "submit", "-"), CLI_INVALID, "",
          "berthctl: parameters: must be a mapping of names to values, or to "
          "null\n");
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(parameters_are_values_and_parts_of_texts),
        TEST(each_mapping_of_values_is_an_instance),
        TEST(what_makes_no_sense_is_refused),
    };

    return RUN_TESTS(tests);
}
