/*
 * kube_config: kubeconfig files, and the account of a pod.
 */
#include <stdio.h>
#include <sys/stat.h>

#include "kube/config/kube_config.h"
#include "tmpdir.h"
#include "unit.h"

#define CLUSTER                                                       \
    "clusters:\n- name: c\n  cluster:\n    server: https://h:6443/\n" \
    "    certificate-authority-data: Q0E=\n    tls-server-name: kubernetes\n"
#define CONTEXT                                                          \
    "contexts:\n- name: x\n  context: {cluster: c, user: u, namespace: " \
    "team}\n"                                                            \
    "- name: bare\n  context: {cluster: c}\n"
#define USER(text) "users:\n- name: u\n  user: " text "\n"
#define HEAD "current-context: x\n" CLUSTER CONTEXT

static struct kube_config config;
static struct err err;

static int parse(const char *text, const char *context)
{
    return kube_config_parse(str_of(text), "/d", str_of(context), &config,
                             &err);
}

static void a_context_names_server_and_user(void **state)
{
    (void)state;
    assert_int_equal(parse(HEAD USER("{token: secret}"), ""), 0);

    assert_string_equal(config.server, "https://h:6443");
    assert_string_equal(config.tls_server_name, "kubernetes");
    assert_true(str_equal(config.ca, STR("CA")));
    assert_true(str_equal(config.token, STR("secret")));
    assert_string_equal(config.namespace_, "team");
    assert_false(config.is_insecure);
    assert_null(config.exec.command);
    kube_config_fini(&config);
    assert_int_equal(parse(HEAD USER("{token: secret}"), "bare"), 0);
    assert_int_equal(config.token.byte_count, 0);
    assert_string_equal(config.namespace_, "default");
    kube_config_fini(&config);
}

static void what_the_user_needs_is_named_when_it_is_missing(void **state)
{
    (void)state;
    assert_int_equal(parse(HEAD USER("{}"), "y"), -ERR_NOT_FOUND);
    assert_string_equal(err.text, "the kubeconfig has no context named \"y\"");
    assert_int_equal(parse(HEAD "users: []\n", ""), -ERR_NOT_FOUND);
    assert_string_equal(err.text, "the kubeconfig has no user named \"u\"");
    assert_int_equal(parse(CLUSTER CONTEXT, ""), -ERR_INVALID);
    assert_int_equal(parse("", ""), -ERR_INVALID);
    assert_int_equal(parse("a: [", ""), -ERR_INVALID);
    assert_int_equal(parse(HEAD USER("{client-certificate: none}"), ""),
                     -ERR_NOT_FOUND);
    assert_string_equal(err.text, "/d/none: No such file or directory");
    assert_int_equal(parse(HEAD USER("{client-certificate-data: Q0E=}"), ""),
                     -ERR_INVALID);
    assert_string_equal(err.text,
                        "user: client-certificate and client-key go together");
    assert_int_equal(parse(HEAD USER("{client-key-data: '*'}"), ""),
                     -ERR_INVALID);
    assert_string_equal(err.text, "client-key-data is not base64");
}

/* As another than its owner meant would be worse than not at all. */
static void what_cannot_be_honoured_is_refused_by_name(void **state)
{
    (void)state;
    static const char *const users[] = {"{username: a}", "{password: b}",
                                        "{auth-provider: {name: gcp}}",
                                        "{as: root}"};

    for (size_t i = 0; i < ARRAY_COUNT(users); i++) {
        char text[1024];
        snprintf(text, sizeof(text), "%susers:\n- name: u\n  user: %s\n", HEAD,
                 users[i]);
        assert_int_equal(parse(text, ""), -ERR_INVALID);
        assert_non_null(
            strstr(err.text, "is not supported; use a certificate"));
    }
    assert_int_equal(
        parse("current-context: x\nclusters:\n- name: c\n  cluster:\n"
              "    server: h:1\n" CONTEXT,
              ""),
        -ERR_INVALID);
    assert_string_equal(
        err.text, "server \"h:1\" does not begin with https:// or http://");
}

static int parse_server(const char *server, const char *user)
{
    char text[1024];

    snprintf(text, sizeof(text),
             "current-context: x\nclusters:\n- name: c\n  cluster: {%s}\n%s"
             "users:\n- name: u\n  user: %s\n",
             server, CONTEXT, user);
    int rc = parse(text, "");
    if (rc == 0) {
        kube_config_fini(&config);
    }
    return rc;
}

static void credentials_leave_the_machine_encrypted_alone(void **state)
{
    static const char *const users[] = {
        "{token: t}", "{tokenFile: t}",
        "{client-certificate-data: Q0E=, client-key-data: Q0E=}",
        "{exec: {apiVersion: client.authentication.k8s.io/v1, command: x}}"};
    static const char *const others[] = {
        "server: 'http://h:80'", "server: 'http://127.0.0.1:1@h/'",
        "server: 'http://127.0.0.1:1\\@h/'", "server: 'http://127.h'",
        "server: 'http://localhost', proxy-url: 'http://h'"};
    static const char *const own[] = {
        "server: 'http://127.0.0.1:80/x'", "server: 'http://[::1]:80'",
        "server: 'http://localhost'", "server: 'https://h'"};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(users); i++) {
        for (size_t j = 0; j < ARRAY_COUNT(others); j++) {
            assert_int_equal(parse_server(others[j], users[i]), -ERR_INVALID);
            assert_non_null(strstr(err.text, "unencrypted; use https://"));
        }
        for (size_t j = 0; j < ARRAY_COUNT(own); j++) {
            assert_int_equal(parse_server(own[j], users[i]), 0);
        }
    }
    assert_int_equal(parse_server(others[0], "{}"), 0);
}

static void an_exec_plugin_is_kept_with_all_it_wants(void **state)
{
    (void)state;
    assert_int_equal(
        parse(HEAD USER("{exec: {apiVersion: client.authentication.k8s.io/v1, "
                        "command: ./plug, args: [a, b], env: [{name: N, value: "
                        "v}], provideClusterInfo: true, installHint: get it}}"),
              ""),
        0);

    assert_string_equal(config.exec.command, "/d/./plug");
    assert_string_equal(config.exec.args[0], "a");
    assert_string_equal(config.exec.args[1], "b");
    assert_null(config.exec.args[2]);
    assert_string_equal(config.exec.envs[0], "N=v");
    assert_null(config.exec.envs[1]);
    assert_string_equal(config.exec.hint, "get it");
    assert_true(config.exec.needs_cluster_info);
    kube_config_fini(&config);
    assert_int_equal(
        parse(HEAD USER("{exec: {apiVersion: v0, command: x}}"), ""),
        -ERR_INVALID);
    assert_int_equal(
        parse(
            HEAD USER("{exec: {apiVersion: client.authentication.k8s.io/v1}}"),
            ""),
        -ERR_INVALID);
    assert_string_equal(err.text, "exec has no command");
}

static void put(const struct tmpdir *dir, const char *name, const char *text)
{
    char path[TMPDIR_PATH_BYTES_MAX];
    FILE *file = fopen(tmpdir_path(dir, name, path), "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fchmod(fileno(file), 0600), 0);
    assert_int_equal(fclose(file), 0);
}

static void set_mode(const struct tmpdir *dir, const char *name, mode_t mode)
{
    char path[TMPDIR_PATH_BYTES_MAX];

    assert_int_equal(chmod(tmpdir_path(dir, name, path), mode), 0);
}

static void files_are_below_the_file_that_names_them(void **state)
{
    (void)state;
    auto_tmpdir dir;
    char path[TMPDIR_PATH_BYTES_MAX];
    tmpdir_init(&dir);
    put(&dir, "cert", "CERT");
    put(&dir, "key", "KEY");
    put(&dir, "config",
        HEAD USER("{client-certificate: cert, client-key: key, tokenFile: t}"));

    assert_int_equal(kube_config_load(tmpdir_path(&dir, "config", path),
                                      STR(""), &config, &err),
                     0);

    assert_true(str_equal(config.certificate, STR("CERT")));
    assert_true(str_equal(config.key, STR("KEY")));
    assert_string_equal(config.token_file, tmpdir_path(&dir, "t", path));
    kube_config_fini(&config);
}

static int load(const struct tmpdir *dir, const char *user)
{
    char path[TMPDIR_PATH_BYTES_MAX], text[1024];

    snprintf(text, sizeof(text), "%susers:\n- name: u\n  user: %s\n", HEAD,
             user);
    put(dir, "config", text);
    set_mode(dir, "config", 0644);
    int rc = kube_config_load(tmpdir_path(dir, "config", path), STR(""),
                              &config, &err);
    if (rc == 0) {
        kube_config_fini(&config);
    }
    return rc;
}

static void what_holds_a_secret_is_kept_from_others(void **state)
{
    static const char *const secret[] = {
        "{token: t}", "{client-certificate: cert, client-key-data: Q0E=}",
        "{exec: {apiVersion: client.authentication.k8s.io/v1, command: x, "
        "env: [{name: N, value: v}]}}"};
    static const char by_file[] = "{client-certificate: cert, client-key: key}";
    auto_tmpdir dir;

    (void)state;
    tmpdir_init(&dir);
    put(&dir, "cert", "CERT");
    put(&dir, "key", "KEY");
    set_mode(&dir, "cert", 0644);
    for (size_t i = 0; i < ARRAY_COUNT(secret); i++) {
        assert_int_equal(load(&dir, secret[i]), -ERR_INVALID);
        assert_non_null(strstr(err.text, "config, which holds a secret; give "
                                         "it mode 0600"));
    }
    assert_int_equal(load(&dir, "{tokenFile: t}"), 0);
    assert_int_equal(load(&dir, by_file), 0);
    set_mode(&dir, "key", 0604);
    assert_int_equal(load(&dir, by_file), -ERR_INVALID);
    set_mode(&dir, "key", 0602);
    assert_int_equal(load(&dir, by_file), -ERR_INVALID);
    assert_non_null(strstr(err.text, "key, which holds a secret"));
    set_mode(&dir, "key", 0640);

    assert_int_equal(load(&dir, by_file), 0);
}

static void a_pod_has_an_account(void **state)
{
    (void)state;
    auto_tmpdir dir;
    tmpdir_init(&dir);
    put(&dir, "ca.crt", "CA");
    put(&dir, "namespace", "mine\n");

    assert_int_equal(
        kube_config_in_cluster(dir.path, "10.0.0.1", "443", &config, &err),
        -ERR_NOT_FOUND); /* no token yet */
    put(&dir, "token", "t\n");
    set_mode(&dir, "token", 0644); /* as the kubelet does */
    assert_int_equal(
        kube_config_in_cluster(dir.path, "fd00::1", "443", &config, &err), 0);
    assert_string_equal(config.server, "https://[fd00::1]:443");
    assert_string_equal(config.namespace_, "mine");
    assert_true(str_equal(config.ca, STR("CA")));
    assert_true(strlen(config.token_file) > 0);
    kube_config_fini(&config);
    assert_int_equal(
        kube_config_in_cluster(dir.path, NULL, "443", &config, &err),
        -ERR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_context_names_server_and_user),
        TEST(what_the_user_needs_is_named_when_it_is_missing),
        TEST(what_cannot_be_honoured_is_refused_by_name),
        TEST(credentials_leave_the_machine_encrypted_alone),
        TEST(an_exec_plugin_is_kept_with_all_it_wants),
        TEST(files_are_below_the_file_that_names_them),
        TEST(what_holds_a_secret_is_kept_from_others),
        TEST(a_pod_has_an_account),
    };
    return RUN_TESTS(tests);
}
