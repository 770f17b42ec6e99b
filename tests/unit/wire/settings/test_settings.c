/*
 * settings: what a table of keys reads, refuses and prints.
 */
#include "unit.h"
#include "wire/settings/settings.h"

struct user {
    struct str name;
    struct setting_texts groups;
};

struct inner {
    int64_t depth, height;
};

struct sample {
    bool is_on;
    int64_t count, wait_ms, bytes, share_ppm;
    struct str mode;
    struct resource_list amounts;
    struct setting_fractions fractions;
    struct user users[2];
    uint32_t user_count;
    struct inner inner;
};

static const struct setting user_keys[] = {
    SETTING("name", TEXT, user, name, .about = "Who.", .is_required = true),
    SETTING("groups", TEXTS, user, groups, .about = "Member of."),
};
static const struct settings user_table = {user_keys, ARRAY_COUNT(user_keys),
                                           sizeof(struct user), NULL};
static const struct setting inner_keys[] = {
    SETTING("depth", INT, inner, depth, .about = "How deep.", .min = 1,
            .max = 9),
    SETTING("height", INT, inner, height, .about = "How high.",
            .old_key = "tallness"),
};
static const struct settings inner_table = {inner_keys, ARRAY_COUNT(inner_keys),
                                            sizeof(struct inner), NULL};

static void init(void *record)
{
    struct sample *sample = record;

    *sample = (struct sample){
        .count = 7, .mode = STR("fast"), .inner.depth = 3, .wait_ms = 90000};
}

static const struct setting keys[] = {
    SETTING("isOn", BOOL, sample, is_on, .about = "Whether it is on."),
    SETTING("count", INT, sample, count, .about = "How many.", .min = -5,
            .max = 100),
    SETTING("wait", DURATION, sample, wait_ms, .about = "How long."),
    SETTING("bytes", BYTES, sample, bytes, .about = "How large."),
    SETTING("share", PPM, sample, share_ppm, .about = "What part.",
            .max = 1000000),
    SETTING("mode", TEXT, sample, mode, .about = "How.",
            .choices = "fast slow"),
    SETTING("amounts", AMOUNTS, sample, amounts, .about = "What."),
    SETTING("fractions", FRACTIONS, sample, fractions, .about = "What parts."),
    SETTING("users", RECORDS, sample, users, .about = "Who may.",
            .table = &user_table,
            .count_offset = offsetof(struct sample, user_count),
            .count_max = 2),
    SETTING("inner", RECORD, sample, inner, .about = "Inside.",
            .table = &inner_table),
};
static const struct settings table = {keys, ARRAY_COUNT(keys),
                                      sizeof(struct sample), init};

static int read_sample(const char *yaml, struct arena *arena,
                       struct sample *ret_sample, struct err *err)
{
    struct settings_reader reader = {"f.yaml", arena, NULL, NULL};

    init(ret_sample);
    return settings_read(&table, str_of(yaml), &reader, ret_sample, err);
}

static void empty_text_leaves_the_defaults(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct sample sample;
    struct err err;

    assert_int_equal(read_sample("# nothing\n", &arena, &sample, &err), 0);

    assert_int_equal(sample.count, 7);
    assert_int_equal(sample.inner.depth, 3);
}

static void each_type_is_read(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct sample sample;
    struct err err = {""};

    int rc = read_sample("isOn: true\ncount: -5\nwait: 1h30m\nbytes: 4Mi\n"
                         "share: 0.25\nmode: slow\n"
                         "amounts: {memory: 1Gi, cpu: 500m}\n"
                         "fractions: {memory: 1, cpu: 0.5}\n"
                         "users: [{name: anna, groups: [a, b]}, {name: bo}]\n"
                         "inner: {depth: 9}\n",
                         &arena, &sample, &err);

    assert_string_equal(err.text, "");
    assert_int_equal(rc, 0);
    assert_true(sample.is_on);
    assert_int_equal(sample.count, -5);
    assert_int_equal(sample.wait_ms, 5400000);
    assert_int_equal(sample.bytes, 4 << 20);
    assert_int_equal(sample.share_ppm, 250000);
    assert_true(str_equal(sample.mode, STR("slow")));
    assert_int_equal(resource_list_get(&sample.amounts, STR("cpu")), 500);
    assert_true(str_equal(sample.fractions.items[0].resource, STR("cpu")));
    assert_int_equal(sample.fractions.items[0].fraction_ppm, 500000);
    assert_int_equal(sample.user_count, 2);
    assert_true(str_equal(sample.users[0].groups.items[1], STR("b")));
    assert_int_equal(sample.inner.depth, 9);
}

static void what_is_wrong_is_said_with_file_line_and_key(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *error;
    } cases[] = {
        {"\ncuont: 1\n", "f.yaml:2: cuont: unknown key; did you mean count?"},
        {"inner:\n  dept: 1\n",
         "f.yaml:2: inner.dept: unknown key; did you mean depth?"},
        {"count: 101\n",
         "f.yaml:1: count: \"101\" is not a whole number from -5 to 100"},
        {"count: 1.5\n",
         "f.yaml:1: count: \"1.5\" is not a whole number from -5 to 100"},
        {"isOn: maybe\n", "f.yaml:1: isOn: \"maybe\" is not true or false"},
        {"wait: fast\n", "f.yaml:1: wait: \"fast\" is not a duration such as "
                         "90s, 5m or 1h30m"},
        {"mode: medium\n",
         "f.yaml:1: mode: \"medium\" is not one of: fast slow"},
        {"share: 1.000001\n",
         "f.yaml:1: share: \"1.000001\" is not a decimal number from 0 to 1"},
        {"users: [{groups: [a]}]\n", "f.yaml:1: users[0].name: must be given"},
        {"users: [{name: a}, {name: b}, {name: c}]\n",
         "f.yaml:1: users: more than 2 items"},
        {"amounts: {cpu: lots}\n", "f.yaml:1: amounts.cpu: \"lots\" is not a "
                                   "quantity such as 500m or 4Gi"},
        {"count: 1\ncount: 2\n", "f.yaml:2: count: given twice"},
        {"inner:\n  height: 1\n  tallness: 2\n",
         "f.yaml:3: inner.tallness: given twice: tallness is the old name of "
         "height; keep height"},
        {"inner:\n  tallness: 1\n  height: 2\n",
         "f.yaml:3: inner.height: given twice: tallness is the old name of "
         "height; keep height"},
        {"inner: {tallnes: 1}\n",
         "f.yaml:1: inner.tallnes: unknown key; did you mean height?"},
        {"inner: 3\n", "f.yaml:1: inner: must be a map of keys to values"},
        {"count: [1]\n", "f.yaml:1: count: must be a single value"},
        {"- a\n", "f.yaml:1: must be a map of keys to values"},
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        auto_arena arena = {0};
        struct sample sample;
        struct err err = {""};
        assert_int_equal(read_sample(cases[i].yaml, &arena, &sample, &err),
                         -ERR_INVALID);
        assert_string_equal(err.text, cases[i].error);
    }
}

static void broken_yaml_names_its_line(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct sample sample;
    struct err err = {""};

    assert_int_equal(read_sample("a: [1\nb: }", &arena, &sample, &err),
                     -ERR_INVALID);

    assert_int_equal(strncmp(err.text, "f.yaml:", 7), 0);
}

static void what_is_printed_reads_back(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct sample first, second;
    struct err err = {""};
    auto_strbuf text = {0}, again = {0};

    assert_int_equal(
        read_sample("amounts: {cpu: 1500m, memory: 3Gi}\nshare: 0.125\n"
                    "users: [{name: \"a: b\", groups: [\"yes\", x]}]\n",
                    &arena, &first, &err),
        0);
    settings_print(&table, &first, SETTINGS_COMMENTED, &text);
    assert_int_equal(read_sample(strbuf_text(&text), &arena, &second, &err), 0);
    settings_print(&table, &second, SETTINGS_COMMENTED, &again);

    assert_string_equal(strbuf_text(&text), strbuf_text(&again));
    assert_non_null(strstr(strbuf_text(&text), "# Whether it is on.\n"));
    assert_non_null(strstr(strbuf_text(&text), "wait: 1m30s\n"));
}

static void an_old_name_is_read_with_a_warning(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct setting_texts warnings = {0};
    struct settings_reader reader = {"f.yaml", &arena, &warnings, NULL};
    struct sample sample;
    struct err err = {""};

    init(&sample);
    int rc = settings_read(&table, STR("inner:\n  depth: 2\n  tallness: 5\n"),
                           &reader, &sample, &err);

    assert_string_equal(err.text, "");
    assert_int_equal(rc, 0);
    assert_int_equal(sample.inner.height, 5);
    assert_int_equal(warnings.count, 1);
    assert_string_equal(warnings.items[0].p,
                        "f.yaml:3: inner.tallness: this key is now called "
                        "height; the next release refuses the old name");
}

static void all_that_is_wrong_is_told_if_asked_for(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct setting_texts errors = {0};
    struct settings_reader reader = {"f.yaml", &arena, NULL, &errors};
    struct sample sample;
    struct err err = {""};

    init(&sample);
    int rc = settings_read(&table,
                           STR("wait: soon\ninner:\n  dpth: 1\n  height: x\n"
                               "users: [{groups: a}, 5]\nshare: 0.5\n"),
                           &reader, &sample, &err);

    assert_int_equal(rc, -ERR_INVALID);
    assert_int_equal(errors.count, 6);
    assert_string_equal(err.text, errors.items[0].p);
    assert_non_null(strstr(errors.items[0].p, "f.yaml:1: wait: "));
    assert_string_equal(errors.items[1].p,
                        "f.yaml:3: inner.dpth: unknown key; did you mean "
                        "depth?");
    assert_non_null(strstr(errors.items[2].p, "f.yaml:4: inner.height: "));
    assert_non_null(strstr(errors.items[3].p, "f.yaml:5: users[0].groups: "));
    assert_non_null(strstr(errors.items[4].p, "f.yaml:5: users[0].name: "));
    assert_non_null(strstr(errors.items[5].p, "f.yaml:5: users[1]: "));
    /* What is right is taken all the same. */
    assert_int_equal(sample.share_ppm, 500000);
}

static void records_are_compared_key_by_key(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct setting_texts paths;
    struct sample a, b;
    struct err err = {""};

    assert_int_equal(read_sample("wait: 5s\n", &arena, &a, &err), 0);
    assert_int_equal(
        read_sample("wait: 5000ms\ninner: {depth: 2}\nusers: [{name: x}]\n",
                    &arena, &b, &err),
        0);
    settings_compare(&table, &a, &b, &arena, &paths);
    assert_int_equal(paths.count, 2);
    assert_string_equal(paths.items[0].p, "users");
    assert_string_equal(paths.items[1].p, "inner.depth");
    settings_compare(&table, &a, &a, &arena, &paths);
    assert_int_equal(paths.count, 0);
}

static void warnings_are_bounded(void **state)
{
    (void)state;
    enum { COUNT = SETTING_WARNINGS_MAX + 1 };
    struct many {
        struct inner items[COUNT];
        uint32_t count;
    } many = {0};
    static const struct setting many_keys[] = {
        SETTING("many", RECORDS, many, items, .about = "All.",
                .table = &inner_table,
                .count_offset = offsetof(struct many, count),
                .count_max = COUNT),
    };
    const struct settings many_table = {many_keys, 1, sizeof(many), NULL};
    auto_arena arena = {0};
    auto_strbuf text = {0};
    struct setting_texts warnings = {0};
    struct settings_reader reader = {"f.yaml", &arena, &warnings, NULL};
    struct err err = {""};

    strbuf_add_text(&text, "many:\n");
    for (int i = 0; i < COUNT; i++) {
        strbuf_add_text(&text, "- tallness: 1\n");
    }
    int rc =
        settings_read(&many_table, strbuf_str(&text), &reader, &many, &err);

    assert_int_equal(rc, 0);
    assert_int_equal(many.items[COUNT - 1].height, 1);
    assert_int_equal(warnings.count, SETTING_WARNINGS_MAX);
}

static void only_logs_get_the_old_name(void **state)
{
    (void)state;
    auto_strbuf people = {0}, log = {0};
    struct sample sample;

    init(&sample);
    settings_print(&table, &sample, SETTINGS_PLAIN, &people);
    settings_print(&table, &sample, SETTINGS_LOGGED, &log);

    assert_non_null(strstr(strbuf_text(&people), "  height: 0\n"));
    assert_null(strstr(strbuf_text(&people), "tallness"));
    assert_non_null(strstr(strbuf_text(&log), "  tallness: 0\n"));
    assert_null(strstr(strbuf_text(&log), "height"));
}

static void manual_lists_every_key(void **state)
{
    (void)state;
    auto_strbuf text = {0};

    settings_print_manual(&table, &text);

    assert_non_null(strstr(strbuf_text(&text),
                           "| `inner.depth` | number | `3` | How deep. |"));
    assert_non_null(
        strstr(strbuf_text(&text), "| `users[].name` | text |  | Who. |"));
    assert_non_null(strstr(strbuf_text(&text),
                           "| `inner.height` | number | `0` | How high. Its "
                           "old name is `tallness`. |"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(empty_text_leaves_the_defaults),
        TEST(each_type_is_read),
        TEST(what_is_wrong_is_said_with_file_line_and_key),
        TEST(broken_yaml_names_its_line),
        TEST(what_is_printed_reads_back),
        TEST(an_old_name_is_read_with_a_warning),
        TEST(all_that_is_wrong_is_told_if_asked_for),
        TEST(records_are_compared_key_by_key),
        TEST(warnings_are_bounded),
        TEST(only_logs_get_the_old_name),
        TEST(manual_lists_every_key),
    };
    return RUN_TESTS(tests);
}
