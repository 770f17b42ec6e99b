/* Sentences of wire/yaml/yaml.h. */
#include <stdlib.h>

#include "unit.h"
#include "wire/json/json.h"
#include "wire/yaml/yaml.h"

static json_t *parse(const char *json)
{
    json_error_t error;
    json_t *value = json_loads(json, JSON_DECODE_ANY, &error);

    assert_non_null(value);
    return value;
}

static json_t *read_all(const char *yaml)
{
    json_t *documents = NULL;
    struct err err = {{0}};

    if (wire_yaml_read(str_of(yaml), &documents, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return documents;
}

/* `yaml` must read as the documents of `json`, a list. */
static void assert_reads(const char *yaml, const char *json)
{
    auto_json_t *documents = read_all(yaml), *wanted = parse(json);

    if (!json_equal(documents, wanted)) {
        char *dump = json_dumps(documents, 0);
        print_error("%s\n", dump);
        free(dump);
        fail();
    }
}

static void assert_refused(const char *yaml, int code, const char *text)
{
    json_t *documents = NULL;
    struct err err = {{0}};

    assert_int_equal(wire_yaml_read(str_of(yaml), &documents, &err), code);
    assert_string_equal(err.text, text);
}

static void test_scalars_mean_what_kubernetes_tools_take_them_for(void **state)
{
    (void)state;
    assert_reads("[a, '1', \"true\", null, ~, true, False]",
                 "[[\"a\",\"1\",\"true\",null,null,true,false]]");
    assert_reads("[yes, No, on, OFF, y, n]",
                 "[[true,false,true,false,\"y\",\"n\"]]");
    assert_reads("[1, -2, +3, 0, 0644, 0o17, 0x1F, 089]",
                 "[[1,-2,3,0,420,15,31,\"089\"]]");
    assert_reads("[1.5, .5, -1e3, 1., 1e400, .inf, 1_000, 12:30]",
                 "[[1.5,0.5,-1000.0,1.0,\"1e400\",\".inf\",\"1_000\","
                 "\"12:30\"]]");
    assert_reads("[500m, 1Gi, 2026-01-02, 01h2xcejqtf2nbrexx3vqjhp41]",
                 "[[\"500m\",\"1Gi\",\"2026-01-02\","
                 "\"01h2xcejqtf2nbrexx3vqjhp41\"]]");
    assert_reads("[9223372036854775807, 9223372036854775808]",
                 "[[9223372036854775807,9223372036854775808.0]]");
    assert_reads("[!!str 1, !!int \"2\"]", "[[\"1\",2]]");
}

static void test_documents_and_json_are_read(void **state)
{
    (void)state;
    assert_reads("", "[]");
    assert_reads("# nothing\n", "[]");
    assert_reads("---\n---\na: 1\n...\n---\n- b\n", "[null,{\"a\":1},[\"b\"]]");
    assert_reads("{\"a\": [1, {\"b\": null}], \"c\": \"\\u00e9\"}",
                 "[{\"a\":[1,{\"b\":null}],\"c\":\"\xc3\xa9\"}]");
    assert_reads("80: x\ntrue: y\n", "[{\"80\":\"x\",\"true\":\"y\"}]");
}

static void test_the_first_document_is_enough_when_asked_for(void **state)
{
    json_t *first;

    (void)state;
    assert_int_equal(
        wire_yaml_read_first(STR("a: 1\n---\n]broken"), &first, NULL), 0);
    assert_int_equal(json_integer_value(json_object_get(first, "a")), 1);
    json_decref(first);
    assert_int_equal(wire_yaml_read_first(STR(""), &first, NULL), 0);
    assert_true(json_is_null(first));
}

static void test_aliases_and_merges_expand(void **state)
{
    (void)state;
    assert_reads("a: &x {p: 1, q: 2}\nb: *x\nc: {<<: *x, q: 3}\n",
                 "[{\"a\":{\"p\":1,\"q\":2},\"b\":{\"p\":1,\"q\":2},"
                 "\"c\":{\"q\":3,\"p\":1}}]");
    assert_reads("- &a {p: 1}\n- &b {p: 2, q: 2}\n- <<: [*a, *b]\n",
                 "[[{\"p\":1},{\"p\":2,\"q\":2},{\"p\":1,\"q\":2}]]");
    assert_reads("\"<<\": 1", "[{\"<<\":1}]");
}

static void test_what_is_ambiguous_is_refused_with_its_line(void **state)
{
    (void)state;
    assert_refused("a: 1\nb: 2\na: 3\n", -ERR_INVALID,
                   "line 3: key \"a\" is given twice");
    assert_refused("a:\n  - *x\n", -ERR_INVALID, "line 2: an alias to nothing");
    assert_refused("&x [*x]\n", -ERR_INVALID,
                   "line 1: an alias to a value that contains it");
    assert_refused("[a]: 1\n", -ERR_INVALID, "line 1: a key must be a text");
    assert_refused("a: !!binary aGk=\n", -ERR_INVALID,
                   "line 1: an unknown tag");
    assert_refused("a: \"x\\0y\"\n", -ERR_INVALID, "line 1: a text with a NUL");
    assert_refused("<<: 1\n", -ERR_INVALID, "line 2: << can only merge maps");
}

static void test_broken_yaml_is_refused_with_its_line(void **state)
{
    json_t *documents;
    struct err err;

    (void)state;
    assert_int_equal(wire_yaml_read(STR("a: 1\n b: 2\n"), &documents, &err),
                     -ERR_INVALID);
    assert_true(str_starts_with(str_of(err.text), STR("line 2: ")));
    assert_int_equal(wire_yaml_read(STR("a: [1\n"), &documents, &err),
                     -ERR_INVALID);
    assert_int_equal(wire_yaml_read(STR("a: \xff\n"), &documents, &err),
                     -ERR_INVALID);
}

static void test_depth_is_bounded(void **state)
{
    auto_strbuf text = {0};

    (void)state;
    for (int i = 0; i < WIRE_YAML_DEPTH_MAX; i++) {
        strbuf_add_char(&text, '[');
    }
    strbuf_add_text(&text, "[");
    assert_refused(strbuf_text(&text), -ERR_LIMIT, "line 1: nested too deep");
}

static void test_the_expansion_of_aliases_is_bounded(void **state)
{
    auto_strbuf text = {0};

    (void)state;
    strbuf_add_text(&text, "- &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 12; i++) {
        strbuf_addf(&text, "- &a%d [", i);
        for (int k = 0; k < 10; k++) {
            strbuf_addf(&text, "*a%d,", i - 1);
        }
        strbuf_add_text(&text, "]\n");
    }
    assert_refused(strbuf_text(&text), -ERR_LIMIT, "line 7: too many values");
}

static void test_anchors_are_bounded(void **state)
{
    auto_strbuf text = {0};

    (void)state;
    for (int i = 0; i <= WIRE_YAML_ANCHORS_MAX; i++) {
        strbuf_addf(&text, "- &a%d x\n", i);
    }
    assert_refused(strbuf_text(&text), -ERR_LIMIT,
                   "line 1025: too many anchors");
}

static void assert_writes(const char *json, const char *yaml)
{
    auto_json_t *value = parse(json);
    auto_strbuf buf = {0};

    wire_yaml_write(value, &buf);
    assert_string_equal(strbuf_text(&buf), yaml);
}

static void test_what_is_written_is_what_people_write(void **state)
{
    (void)state;
    assert_writes("{\"queue\":\"q\",\"jobs\":[{\"name\":\"a\",\"args\":[\"x\","
                  "\"-c\"],\"m\":{\"k\":\"v\"}},[1,[2]],{}],\"none\":null,"
                  "\"e\":[],\"r\":0.1,\"t\":true}",
                  "queue: q\n"
                  "jobs:\n"
                  "- name: a\n"
                  "  args:\n"
                  "  - x\n"
                  "  - \"-c\"\n"
                  "  m:\n"
                  "    k: v\n"
                  "- - 1\n"
                  "  - - 2\n"
                  "- {}\n"
                  "none: null\n"
                  "e: []\n"
                  "r: 0.1\n"
                  "t: true\n");
    assert_writes("{\"s\":\"line 1\\nline 2\\n\",\"u\":\"a\\nb\"}",
                  "s: |\n  line 1\n  line 2\nu: |-\n  a\n  b\n");
}

static void test_no_terminal_obeys_what_is_written(void **state)
{
    (void)state;
    assert_writes("{\"a\":\"\\u001b[2J\\u009b\",\"b\":\"x\\u202ey\\n\","
                  "\"c\\u200b\":\"\\udb40\\udc01\"}",
                  "a: \"\\u001b[2J\\u009b\"\n"
                  "b: \"x\\u202ey\\n\"\n"
                  "\"c\\u200b\": \"\\U000e0001\"\n");
}

/* Written and read again, a value must be the same. */
static void assert_survives(const json_t *value)
{
    auto_strbuf buf = {0};
    json_t *copy = NULL;
    struct err err = {{0}};

    wire_yaml_write(value, &buf);
    if (wire_yaml_read_first(strbuf_str(&buf), &copy, &err) < 0) {
        fail_msg("%s in\n%s", err.text, strbuf_text(&buf));
    }
    if (!json_equal(copy, value)) {
        fail_msg("differs:\n%s", strbuf_text(&buf));
    }
    json_decref(copy);
}

static const char *const texts[] = {
    "",
    "\xe2\x80\xae",
    "a\xf3\xa0\x80\x81\nb",
    "\xc2\x9b[\xef\xbf\xbf",
    " ",
    "a ",
    " a",
    "null",
    "~",
    "true",
    "yes",
    "y",
    "1",
    "0644",
    "1e3",
    "-",
    "- a",
    "? a",
    ":",
    "a:",
    "a: b",
    "a #b",
    "#a",
    "&a",
    "*a",
    "!a",
    "|",
    ">",
    "'a'",
    "\"a\"",
    "%a",
    "@a",
    "`a",
    "[a",
    "{a",
    "a]",
    "a, b",
    "---",
    "...",
    "<<",
    "=",
    "\n",
    "a\n",
    "a\n\n",
    "\na",
    " a\nb",
    "a\n b",
    "a\n\nb",
    "a\tb",
    "\ta\nb",
    "a\rb",
    "a\r\nb",
    "\x1b[0m",
    "\x7f",
    "a\\b",
    "\xc2\x85",
    "\xc2\x80",
    "\xe2\x80\xa8",
    "\xef\xbb\xbf",
    "\xef\xbf\xbf",
    "\xf0\x9f\x90\x99",
    "2026-01-02",
    "12:30",
    ".inf",
    ".nan",
    "0x1f",
    "1_000",
    "+1",
    ".5",
    "--- a",
    "... a",
    "a\n---\nb",
    "a\n...",
    "# a\nb",
};

static void test_texts_that_look_like_something_else_survive(void **state)
{

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        auto_json_t *text = json_string(texts[i]);
        auto_json_t *map = json_pack("{s:s, s:[s, {s:s}]}", texts[i], texts[i],
                                     "list", texts[i], "k", texts[i]);
        assert_survives(text);
        assert_survives(map);
    }
    char long_key[2000];
    memset(long_key, 'k', sizeof(long_key) - 1);
    long_key[sizeof(long_key) - 1] = '\0';
    auto_json_t *map = json_pack("{s:{s:[i]}, s:i}", "a", long_key, 1, "b", 2);
    assert_survives(map);
}

static void test_numbers_survive(void **state)
{
    static const double reals[] = {0.1,    1.0,  -1.5,       1e300,
                                   1e-300, 1e15, 123456.789, 5e-324};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(reals); i++) {
        auto_json_t *real = json_real(reals[i]);
        assert_survives(real);
    }
    auto_json_t *min = json_integer(INT64_MIN), *max = json_integer(INT64_MAX);
    assert_survives(min);
    assert_survives(max);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_scalars_mean_what_kubernetes_tools_take_them_for),
        TEST(test_documents_and_json_are_read),
        TEST(test_the_first_document_is_enough_when_asked_for),
        TEST(test_aliases_and_merges_expand),
        TEST(test_what_is_ambiguous_is_refused_with_its_line),
        TEST(test_broken_yaml_is_refused_with_its_line),
        TEST(test_depth_is_bounded),
        TEST(test_the_expansion_of_aliases_is_bounded),
        TEST(test_anchors_are_bounded),
        TEST(test_what_is_written_is_what_people_write),
        TEST(test_no_terminal_obeys_what_is_written),
        TEST(test_texts_that_look_like_something_else_survive),
        TEST(test_numbers_survive),
    };
    return RUN_TESTS(tests);
}
