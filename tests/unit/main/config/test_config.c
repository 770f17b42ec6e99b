/*
 * config: the configuration of the programs, and what it refuses.
 */
#include <stdio.h>
#include <sys/stat.h>

#include "main/config/config.h"
#include "tmpdir.h"
#include "unit.h"

/* Who is not anonymous may do what is granted to them, and that is nothing
 * until somebody says so. */
static void nothing_is_granted_by_default(void **state)
{
    auto_arena arena = {0};
    const struct config_auth *auth = &config_defaults(&arena)->auth;
    const struct setting_texts *grants =
        (const struct setting_texts *)(const void *)&auth->permissions;
    size_t count = sizeof(auth->permissions) / sizeof(*grants);

    (void)state;
    assert_int_equal(auth->administrators.count, 0);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(grants[i].count, 0);
    }
}

static void defaults_pass_the_check(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct err err = {""};

    int rc = config_check(config_defaults(&arena), &err);

    assert_string_equal(err.text, "");
    assert_int_equal(rc, 0);
}

static void what_print_config_writes_is_read_back(void **state)
{
    (void)state;
    auto_arena arena = {0};
    auto_strbuf first = {0}, second = {0};
    struct err err = {""};
    struct config *config;

    settings_print(&config_settings, config_defaults(&arena),
                   SETTINGS_COMMENTED, &first);
    int rc = config_read(strbuf_str(&first), "c.yaml", &arena, &config, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(rc, 0);
    settings_print(&config_settings, config, SETTINGS_COMMENTED, &second);

    assert_string_equal(strbuf_text(&first), strbuf_text(&second));
}

static void a_pool_is_printed_with_what_its_profile_says(void **state)
{
    (void)state;
    auto_arena arena = {0};
    auto_strbuf text = {0};
    struct err err = {""};
    struct config *config;

    int rc =
        config_read(STR("scheduling: {pools: [{name: a, profile: flow}]}\n"),
                    "c.yaml", &arena, &config, &err);
    assert_int_equal(rc, 0);
    settings_print(&config_settings, config, SETTINGS_PLAIN, &text);
    assert_non_null(strstr(strbuf_text(&text), "admittedWindow: 32\n"));
    assert_non_null(strstr(strbuf_text(&text), "flowHalfTime: 20m\n"));
}

static void renamed_keys_are_read_with_a_warning(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct err err = {""};
    struct config *config;

    int rc = config_read(STR("scheduling: {truce: 2m, balancePeriod: 3s}\n"
                             "executor:\n  fake: {spread: uniform}\n"),
                         "c.yaml", &arena, &config, &err);

    assert_int_equal(rc, 0);
    assert_int_equal(config->scheduling.cooldown_ms, 120000);
    assert_int_equal(config->scheduling.balance_period_ms, 3000);
    assert_true(str_equal(config->executor.fake.distribution, STR("uniform")));
    assert_int_equal(config->warnings.count, 3);
    assert_string_equal(config->warnings.items[2].p,
                        "c.yaml:3: executor.fake.spread: this key is now "
                        "called distribution; the next release refuses the "
                        "old name");
}

/* A class is named once, where it is defined. */
static void classes_of_the_policy_may_be_named(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct err err = {""};
    struct config *config;

    int rc = config_read(STR("scheduling:\n"
                             "  defaultPriorityClassName: b\n"
                             "  priorityClasses:\n"
                             "    - {name: a, priority: 1}\n"
                             "    - {name: b, priority: 2}\n"),
                         "c.yaml", &arena, &config, &err);
    assert_int_equal(rc, 0);
    assert_int_equal(config_check(config, &err), 0);
    struct setting_texts names = config_class_names(config, &arena);
    assert_int_equal(names.count, 9); /* and what is usual */
    assert_true(str_equal(names.items[0], STR("a")));
    assert_true(str_equal(names.items[1], STR("b")));
    assert_true(str_equal(config_default_class(config), STR("b")));
}

static void usual_classes_may_be_named_once(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct setting_texts names =
        config_class_names(config_defaults(&arena), &arena);

    assert_int_equal(names.count, 7);
    assert_true(str_equal(names.items[6], STR("armada-resilient")));
}

static void submission_may_say_that_fewer_are(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct err err = {""};
    struct config *config;

    int rc = config_read(STR("submission:\n"
                             "  allowedPriorityClassNames: [normal]\n"
                             "  defaultPriorityClassName: normal\n"),
                         "c.yaml", &arena, &config, &err);
    assert_int_equal(rc, 0);
    struct setting_texts names = config_class_names(config, &arena);
    assert_int_equal(names.count, 1);
    assert_true(str_equal(names.items[0], STR("normal")));
    assert_true(str_equal(config_default_class(config), STR("normal")));
}

static void check_one(const char *yaml, const char *error)
{
    auto_arena arena = {0};
    struct err err = {""};
    struct config *config;

    int rc = config_read(str_of(yaml), "c.yaml", &arena, &config, &err);
    if (rc == 0) {
        rc = config_check(config, &err);
    }
    assert_string_equal(err.text, error);
    assert_int_equal(rc, *error ? -ERR_INVALID : 0);
}

static void all_that_is_wrong_is_told_at_once(void **state)
{
    auto_arena arena = {0};
    struct config_findings findings = {.arena = &arena};
    struct config *config = config_defaults(&arena);

    (void)state;
    config->server.grpc = STR("here");
    config->executor.id = STR("");
    config->submission.grace_period_ms_min =
        config->submission.grace_period_ms_max + 1;
    config_check_all(config, &findings);
    assert_int_equal(findings.texts.count, 4);
    assert_non_null(strstr(findings.texts.items[0].p, "server.grpc: \"here\""));
    assert_non_null(strstr(findings.texts.items[1].p, "can be reached"));
    assert_non_null(strstr(findings.texts.items[2].p, "submission."));
    assert_string_equal(findings.texts.items[3].p, "executor.id: empty");
}

/* A rule of the first category, and what is said of it. */
static void check_rule(const char *rule, const char *error)
{
    auto_strbuf yaml = {0}, text = {0};

    strbuf_addf(&yaml,
                "executor:\n  errorCategories:\n    categories:\n"
                "      - {name: user, rules: [%s]}\n",
                rule);
    strbuf_addf(&text, "%s%s",
                *error ? "executor.errorCategories.categories[0]." : "", error);
    check_one(strbuf_text(&yaml), strbuf_text(&text));
}

static void error_categories_are_checked(void **state)
{
    (void)state;
    check_rule("{onExitCodes: {operator: NotIn, values: [3, 4]}}", "");
    check_rule("{onTerminationMessage: {pattern: (?i)nccl}, subcategory: n}",
               "");
    check_rule("{onConditions: [OOMKilled, Evicted, DeadlineExceeded]}", "");
    check_rule("", "rules: needs at least one");
    check_rule("{subcategory: n}",
               "rules[0]: must have one of onExitCodes, onTerminationMessage, "
               "onPodError and onConditions, not 0");
    check_rule("{onConditions: [OOMKilled], onPodError: {pattern: x}}",
               "rules[0]: must have one of onExitCodes, onTerminationMessage, "
               "onPodError and onConditions, not 2");
    check_rule("{onConditions: [Killed]}",
               "rules[0].onConditions[0]: \"Killed\" is not OOMKilled, Evicted "
               "or DeadlineExceeded");
    check_rule("{onExitCodes: {operator: in, values: [3]}}",
               "rules[0].onExitCodes.operator: \"in\" is neither In nor NotIn");
    check_rule("{onExitCodes: {operator: In}}",
               "rules[0].onExitCodes.values: must name 1 to 256 codes");
    check_rule("{onExitCodes: {operator: In, values: [0]}}",
               "rules[0].onExitCodes.values: \"0\" is not an exit code from 1 "
               "to 255");
    check_rule("{onPodError: {pattern: a(?:b)}}",
               "rules[0].onPodError.pattern: \"(?\" is not part of a POSIX "
               "extended regular expression; [0-9] is a digit, (?i) may only "
               "stand in front");
    check_one("executor:\n  errorCategories:\n    categories:\n"
              "      - {name: \"\", rules: [{onConditions: [Evicted]}]}\n",
              "executor.errorCategories.categories[0].name: \"\" has not 1 to "
              "63 bytes");
}

static void wrong_configurations_are_refused(void **state)
{
    (void)state;
    check_one("server: {grcp: ':1'}",
              "c.yaml:1: server.grcp: unknown key; did you mean grpc?");
    check_one("server: {grpc: here}",
              "server.grpc: \"here\" is not an address such as "
              "127.0.0.1:50051 or [::1]:0");
    check_one("server: {grpc: 'localhost:65536'}",
              "server.grpc: \"localhost:65536\" is not an address such as "
              "127.0.0.1:50051 or [::1]:0");
    check_one("executor: {forceNoTls: true, tls: {ca: ca.pem}}",
              "executor.forceNoTls: true and executor.tls.ca exclude each "
              "other; remove one");
    check_one("executor: {tls: {key: k.pem}}",
              "executor.tls: certificate and key must be given together");
    check_one("auth: {anonymousAuth: false}",
              "auth: no caller could authenticate; set anonymousAuth or "
              "basicAuthUsers");
    check_one("auth: {basicAuthUsers: [{name: a, passwordHash: x}]}",
              "auth.basicAuthUsers[0].passwordHash: not a hash of a supported, "
              "strong kind; berthctl hash-password makes one");
    check_one(
        "auth: {basicAuthUsers: [{name: a, passwordHash: x, password: "
        "y}]}",
        "auth.basicAuthUsers[0]: give passwordHash or password, not both");
    check_one("server: {tls: {clientCa: /ca.pem}}",
              "server.tls.clientCa: needs certificate and key; without them "
              "there is no TLS");
    check_one("auth: {permissionGroupMapping: {submit_jobs: [a]}}",
              "c.yaml:1: auth.permissionGroupMapping.submit_jobs: unknown "
              "key; did you mean submit_any_jobs?");
    check_one("auth: {basicAuthUsers: [{name: anonymous, password: x}]}",
              "auth.basicAuthUsers[0].name: anonymous is whoever has no "
              "credentials; use another name");
    check_one("scheduling: {pools: [{name: a}, {name: a}]}",
              "scheduling.pools[1].name: \"a\" is given twice");
    check_one("scheduling: {pools: [{name: a, overShareFactor: -0.5}]}",
              "scheduling.pools[0].overShareFactor: must be from 0 to 1000, or "
              "-1 for no limit");
    check_one("scheduling: {pools: [{name: a, topology: [net/leaf, no key]}]}",
              "scheduling.pools[0].topology[1]: \"no key\" is not the key of "
              "a label");
    check_one(
        "executor: {fake: {nodes: [{resources: {cpu: 1}}, {name: b,\n"
        "    resources: {cpu: 1}}, {resources: {cpu: 2}}]}}",
        "executor.fake.nodes[2].name: \"fake\" is also the name of nodes[0]");
    check_one("executor: {fake: {nodes: [{resources: {cpu: 1},\n"
              "    labels: [disk=ssd, gpu]}]}}",
              "executor.fake.nodes[0].labels[1]: \"gpu\" is not of the form "
              "key=value");
    check_one("executor: {process: {labels: [disk=ssd, gpu]}}",
              "executor.process.labels[1]: \"gpu\" is not of the form "
              "key=value");
    check_one("executor: {process: {taints: [a=b:NoSchedule, gpu]}}",
              "executor.process.taints[1]: \"gpu\" is not of the form "
              "key=value:effect or key:effect, with the effect NoSchedule, "
              "PreferNoSchedule or NoExecute");
    check_one("executor: {process: {taints: [gpu:NoExecute, gpu:NoExecute]}}",
              "executor.process.taints[1]: \"gpu:NoExecute\" is [0] again");
    check_one("executor: {process: {labels: [a=b, c=d, a=e]}}",
              "executor.process.labels[2]: \"a=e\" gives [0] another value");
    check_one("executor: {process: {labels: [kubernetes.io/hostname=h]}}",
              "executor.process.labels[0]: kubernetes.io/hostname is the "
              "machine's own");
    check_one("executor: {runtime: docker}",
              "c.yaml:1: executor.runtime: \"docker\" is not one of: process "
              "kubernetes fake");
}

static void listening_beyond_this_machine_needs_auth_and_tls(void **state)
{
    (void)state;
    check_one("server: {grpc: '0.0.0.0:1'}",
              "server.grpc: 0.0.0.0:1 can be reached from other machines; "
              "that needs server.tls, or server.allowInsecureListen: true");
    check_one("server: {grpc: '0.0.0.0:1', tls: {certificate: c, key: k}}",
              "server.grpc: 0.0.0.0:1 can be reached from other machines; "
              "that needs auth.anonymousAuth: false, or "
              "server.allowInsecureListen: true");
    check_one("server: {grpc: '0.0.0.0:1', tls: {certificate: c, key: k}}\n"
              "auth: {anonymousAuth: false,\n"
              "       basicAuthUsers: [{name: a, password: b}]}\n",
              "");
    check_one("server: {grpc: '0.0.0.0:1', allowInsecureListen: true}", "");
    check_one("server: {grpc: '127.example.org:1'}",
              "server.grpc: 127.example.org:1 can be reached from other "
              "machines; that needs server.tls, or "
              "server.allowInsecureListen: true");
    check_one("server: {grpc: '127.8.9.10:1'}", "");
    check_one("auth: {basicAuthUsers: [{name: a, password: ''}]}",
              "auth.basicAuthUsers[0].passwordHash: empty; berthctl "
              "hash-password makes one");
    check_one("server: {http: '[::]:1'}",
              "server.http: [::]:1 can be reached from other machines and has "
              "no authentication; that needs server.allowInsecureListen: "
              "true");
}

/* A file with secrets is refused while others can read it. */
static void files_with_secrets_are_kept_from_others(void **state)
{
    static const char users[] =
        "auth: {basicAuthUsers: [{name: a, password: b}]}\n"
        "notifications: {webhooks: [{name: a, url: \"https://h/key\"}]}\n";
    auto_arena arena = {0};
    struct tmpdir directory;
    struct config *config;
    char path[TMPDIR_PATH_BYTES_MAX];
    struct err err;

    (void)state;
    tmpdir_init(&directory);
    tmpdir_path(&directory, "berth.yaml", path);
    FILE *file = fopen(path, "we");
    fputs(users, file);
    assert_int_equal(fchmod(fileno(file), 0644), 0);
    fclose(file);
    assert_int_equal(config_read_file(path, &arena, &config, &err), 0);
    assert_int_equal(config_check_secrecy(config, path, &err), -ERR_INVALID);
    assert_non_null(strstr(err.text, "others can read"));
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(config_check_secrecy(config, path, &err), 0);
    assert_int_equal(chmod(path, 0644), 0);
    config->auth.user_count = 0;
    assert_int_equal(config_check_secrecy(config, path, &err), -ERR_INVALID);
    assert_non_null(strstr(err.text, "others can read"));
    config->notifications.webhook_count = 0;
    assert_int_equal(config_check_secrecy(config, path, &err), 0);
    config->server.tls.key = str_of(path);
    assert_int_equal(config_check_secrecy(config, NULL, &err), -ERR_INVALID);
    tmpdir_fini(&directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(defaults_pass_the_check),
        TEST(nothing_is_granted_by_default),
        TEST(files_with_secrets_are_kept_from_others),
        TEST(what_print_config_writes_is_read_back),
        TEST(a_pool_is_printed_with_what_its_profile_says),
        TEST(renamed_keys_are_read_with_a_warning),
        TEST(classes_of_the_policy_may_be_named),
        TEST(usual_classes_may_be_named_once),
        TEST(submission_may_say_that_fewer_are),
        TEST(all_that_is_wrong_is_told_at_once),
        TEST(error_categories_are_checked),
        TEST(wrong_configurations_are_refused),
        TEST(listening_beyond_this_machine_needs_auth_and_tls),
    };
    return RUN_TESTS(tests);
}
