/*
 * credential: tokens in files, and what plugins print.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kube/http/credential.h"
#include "patience.h"
#include "tmpdir.h"
#include "unit.h"

/* A clock that stands still until it is moved, beside the machine's time that
 * plugins take. */
static int64_t now_ms;
static int64_t mono_ahead_ms; /* of now_ms: the wall clock may be set */

static int64_t wall_ms(const struct clock *clock)
{
    (void)clock;
    return now_ms;
}

static uint64_t mono_ns(const struct clock *clock)
{
    (void)clock;
    return (uint64_t)(now_ms + mono_ahead_ms) * 1000000;
}

static const struct clock test_clock = {mono_ns, wall_ms};

struct fixture {
    struct tmpdir dir;
    char path[TMPDIR_PATH_BYTES_MAX];
    struct kube_config config;
    struct credential *credential;
    struct credential_now now;
    struct err err;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    static const char *const none[] = {NULL};

    fixture = (struct fixture){0};
    tmpdir_init(&fixture.dir);
    tmpdir_path(&fixture.dir, "file", fixture.path);
    fixture.config.token_file = "";
    fixture.config.server = "https://h";
    fixture.config.tls_server_name = "";
    fixture.config.exec =
        (struct kube_exec){.args = none,
                           .envs = none,
                           .hint = "",
                           .api_version = "client.authentication.k8s.io/v1"};
    now_ms = 1700000000000;
    mono_ahead_ms = 0;
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    credential_destroy(f->credential);
    tmpdir_fini(&f->dir);
    return 0;
}

static void write_file(const struct fixture *f, const char *text, mode_t mode)
{
    FILE *file = fopen(f->path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fchmod(fileno(file), mode), 0);
    assert_int_equal(fclose(file), 0);
}

static int get(struct fixture *f)
{
    return credential_get(f->credential, &f->now, &f->err);
}

/* Get it, and wait for a plugin. */
static int get_in_time(struct fixture *f)
{
    for (int i = 0;; i++) {
        int rc = get(f);
        if (rc != 1) {
            return rc;
        }
        assert_true(i < 1000);
        struct pollfd fd = {credential_fd(f->credential), POLLIN, 0};
        (void)poll(&fd, 1, (int)patient_ms(1000));
    }
}

static void use_plugin(struct fixture *f, const char *script)
{
    write_file(f, script, 0755);
    f->config.exec.command = f->path;
    f->credential = credential_create(&f->config, &test_clock);
}

static void a_token_stays(void **state)
{
    struct fixture *f = *state;
    f->config.token = STR("t");
    f->config.certificate = STR("c");
    f->credential = credential_create(&f->config, &test_clock);

    assert_int_equal(get(f), 0);
    assert_true(str_equal(f->now.token, STR("t")));
    assert_true(str_equal(f->now.certificate, STR("c")));
    uint64_t version = f->now.version;
    credential_reject(f->credential, version);
    assert_int_equal(get(f), 0);
    assert_true(f->now.version == version);
}

static void only_a_pods_token_may_be_read_by_others(void **state)
{
    struct fixture *f = *state;
    f->config.token_file = f->path;
    write_file(f, "one\n", 0644);
    f->credential = credential_create(&f->config, &test_clock);

    assert_int_equal(get(f), -ERR_INVALID);
    assert_non_null(strstr(f->err.text, "which holds a secret"));
    f->config.is_account = true;
    now_ms += CREDENTIAL_RETRY_MS;

    assert_int_equal(get(f), 0);
    assert_true(str_equal(f->now.token, STR("one")));
}

static void a_token_file_is_read_again(void **state)
{
    struct fixture *f = *state;
    write_file(f, "one\n", 0600);
    f->config.token_file = f->path;
    f->credential = credential_create(&f->config, &test_clock);

    assert_int_equal(get(f), 0);
    assert_true(str_equal(f->now.token, STR("one")));
    write_file(f, "two", 0600);
    assert_int_equal(get(f), 0);
    assert_true(str_equal(f->now.token, STR("one")));
    now_ms += CREDENTIAL_FILE_MS;
    assert_int_equal(get(f), 0);
    assert_true(str_equal(f->now.token, STR("two")));
    /* At once when the server does not take it. */
    write_file(f, "three", 0600);
    credential_reject(f->credential, f->now.version);
    assert_int_equal(get(f), 0);
    assert_true(str_equal(f->now.token, STR("three")));
    /* While there is none, the last one serves. */
    assert_int_equal(remove(f->path), 0);
    now_ms += CREDENTIAL_FILE_MS;
    assert_int_equal(get(f), 0);
    assert_true(str_equal(f->now.token, STR("three")));
}

static void without_a_token_file_there_is_none(void **state)
{
    struct fixture *f = *state;
    f->config.token_file = f->path;
    f->credential = credential_create(&f->config, &test_clock);

    assert_int_equal(get(f), -ERR_NOT_FOUND);
    write_file(f, "late", 0600);
    assert_int_equal(get(f), -ERR_NOT_FOUND); /* not tried again yet */
    now_ms += CREDENTIAL_RETRY_MS;
    assert_int_equal(get(f), 0);
}

static void a_plugin_is_run_and_run_again_before_it_expires(void **state)
{
    struct fixture *f = *state;
    f->config.exec.needs_cluster_info = true;
    use_plugin(f, "#!/bin/sh\n"
                  "case $KUBERNETES_EXEC_INFO in\n"
                  "*'\"server\":\"https://h\"'*) ;;\n"
                  "*) exit 9 ;;\n"
                  "esac\n"
                  "echo x >> \"$0.count\"\n"
                  "echo '{\"status\":{\"token\":\"'$(wc -l < \"$0.count\")'\","
                  "\"expirationTimestamp\":\"2023-11-14T23:13:20Z\"}}'\n");

    assert_int_equal(get(f), 1);
    assert_int_equal(get_in_time(f), 0);
    assert_true(str_equal(f->now.token, STR("1")));
    now_ms += 3600000 - CREDENTIAL_EARLY_MS - 1;
    assert_int_equal(get_in_time(f), 0);
    assert_true(str_equal(f->now.token, STR("1")));
    now_ms += 1;
    assert_int_equal(get(f), 0); /* the old one, while the plugin runs */
    for (int i = 0; credential_is_fetching(f->credential); i++) {
        struct pollfd fd = {credential_fd(f->credential), POLLIN, 0};
        assert_true(i < 1000);
        (void)poll(&fd, 1, (int)patient_ms(1000));
        assert_int_equal(get(f), 0);
    }
    assert_int_equal(get(f), 0);
    assert_true(str_equal(f->now.token, STR("2")));
}

static void what_a_plugin_does_wrong_is_said(void **state)
{
    struct fixture *f = *state;
    use_plugin(f, "#!/bin/sh\nexit 3\n");
    assert_int_equal(get_in_time(f), -ERR_UNAVAILABLE);
    assert_non_null(strstr(f->err.text, "failed: exit code 3"));
    assert_int_equal(get(f), -ERR_UNAVAILABLE); /* it is not run again yet */
    now_ms += CREDENTIAL_RETRY_MS;
    write_file(f, "#!/bin/sh\necho hello\n", 0755);
    assert_int_equal(get_in_time(f), -ERR_INVALID);
    assert_non_null(strstr(f->err.text, "printed no ExecCredential"));
    now_ms += CREDENTIAL_RETRY_MS;
    write_file(f, "#!/bin/sh\nexec yes\n", 0755);
    assert_int_equal(get_in_time(f), -ERR_LIMIT);
    now_ms += CREDENTIAL_RETRY_MS;
    f->config.exec.command = "/nowhere/plugin";
    f->config.exec.hint = "install it";
    assert_int_equal(get(f), -ERR_NOT_FOUND);
    assert_non_null(strstr(f->err.text, "No such file or directory; install"));
}

static void a_plugin_has_its_time(void **state)
{
    struct fixture *f = *state;
    use_plugin(f, "#!/bin/sh\nexec sleep 1000\n");

    assert_int_equal(get(f), 1);
    now_ms -= 86400000; /* somebody sets the clock */
    mono_ahead_ms = 86400000 + CREDENTIAL_EXEC_MS_MAX;
    assert_int_equal(get(f), -ERR_UNAVAILABLE);
    assert_false(credential_is_fetching(f->credential));
}

static void a_plugin_ends_with_all_that_it_started(void **state)
{
    struct fixture *f = *state;
    char fifo[TMPDIR_PATH_BYTES_MAX], got;
    tmpdir_path(&f->dir, "file.fifo", fifo);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    struct pollfd fd = {open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC), POLLIN,
                        0};
    use_plugin(f, "#!/bin/sh\n"
                  "exec 3> \"$0.fifo\"\n"
                  "sleep 1000 &\n"
                  "echo >&3\n"
                  "wait\n");

    assert_int_equal(get(f), 1);
    assert_true(poll(&fd, 1, (int)patient_ms(10000)) > 0);
    assert_int_equal(read(fd.fd, &got, 1), 1);
    now_ms += CREDENTIAL_EXEC_MS_MAX;
    assert_int_equal(get(f), -ERR_UNAVAILABLE);

    /* Nobody has the other end open any more. */
    assert_true(poll(&fd, 1, (int)patient_ms(10000)) > 0);
    assert_int_equal(read(fd.fd, &got, 1), 0);
    close(fd.fd);
}

#define COUNTING               \
    "#!/bin/sh\n"              \
    "echo x >> \"$0.count\"\n" \
    "echo '{\"status\":{\"token\":\"'$(wc -l < \"$0.count\")'\","

static void a_plugin_is_not_run_for_each_request(void **state)
{
    struct fixture *f = *state;
    use_plugin(f, COUNTING
               "\"expirationTimestamp\":\"2001-01-01T00:00:00Z\"}}'\n");

    assert_int_equal(get_in_time(f), 0);
    assert_int_equal(get(f), 0);
    assert_false(credential_is_fetching(f->credential));
    assert_true(str_equal(f->now.token, STR("1")));
    /* Nor is it for a server that refuses everything. */
    credential_reject(f->credential, f->now.version);
    assert_int_equal(get(f), 0);
    assert_false(credential_is_fetching(f->credential));

    now_ms += CREDENTIAL_RETRY_MS;
    assert_int_equal(get(f), 0);
    assert_true(credential_is_fetching(f->credential));
}

static void what_a_plugin_printed_is_not_sent_again_once_refused(void **state)
{
    struct fixture *f = *state;
    use_plugin(f, COUNTING
               "\"expirationTimestamp\":\"2040-01-01T00:00:00Z\"}}'\n");

    assert_int_equal(get_in_time(f), 0);
    now_ms += CREDENTIAL_RETRY_MS;
    credential_reject(f->credential, f->now.version);
    assert_int_equal(get(f), 1);
    assert_int_equal(get_in_time(f), 0);
    assert_true(str_equal(f->now.token, STR("2")));
}

static void the_descriptor_stays_while_a_plugin_closes_its_output(void **state)
{
    struct fixture *f = *state;
    char fifo[TMPDIR_PATH_BYTES_MAX];
    tmpdir_path(&f->dir, "file.fifo", fifo);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    int held = open(fifo, O_RDWR | O_CLOEXEC);
    use_plugin(f, "#!/bin/sh\n"
                  "echo '{\"status\":{\"token\":\"t\"}}'\n"
                  "exec >&-\n"
                  "read x < \"$0.fifo\"\n");

    assert_int_equal(get(f), 1);
    int before = credential_fd(f->credential);
    struct pollfd fd = {before, POLLIN, 0};
    /* All is read when it is silent while the plugin still lives. */
    do {
        assert_true(poll(&fd, 1, (int)patient_ms(10000)) > 0);
        assert_int_equal(get(f), 1);
    } while (poll(&fd, 1, 0) > 0);
    assert_int_equal(credential_fd(f->credential), before);
    assert_int_equal(write(held, "\n", 1), 1);
    assert_int_equal(get_in_time(f), 0);
    close(held);
}

static void variables_of_the_kubeconfig_win(void **state)
{
    static const char *const envs[] = {"KUBE_TEST=first", "KUBE_TEST=second",
                                       NULL};
    struct fixture *f = *state;
    assert_int_equal(setenv("KUBE_TEST", "outer", 1), 0);
    f->config.exec.envs = envs;
    use_plugin(f, "#!/bin/sh\n"
                  "echo '{\"status\":{\"token\":\"'$KUBE_TEST'\"}}'\n");

    assert_int_equal(get_in_time(f), 0);
    assert_true(str_equal(f->now.token, STR("second")));
}

static void a_token_that_would_end_its_header_is_refused(void **state)
{
    struct fixture *f = *state;
    f->config.token = STR("a\r\nX: y");
    f->credential = credential_create(&f->config, &test_clock);
    assert_int_equal(get(f), -ERR_INVALID);
    credential_destroy(f->credential);

    write_file(f, "secret\nX: y\n", 0600);
    f->config.token_file = f->path;
    f->credential = credential_create(&f->config, &test_clock);
    assert_int_equal(get(f), -ERR_INVALID);
    assert_null(strstr(f->err.text, "secret"));
    credential_destroy(f->credential);

    use_plugin(f, "#!/bin/sh\n"
                  "echo '{\"status\":{\"token\":\"a\\u000ab\"}}'\n");
    assert_int_equal(get_in_time(f), -ERR_INVALID);
}

static void an_end_that_is_not_known_is_no_success(void **state)
{
    struct fixture *f = *state;
    use_plugin(f, "#!/bin/sh\necho '{\"status\":{\"token\":\"t\"}}'\n");

    (void)signal(SIGCHLD, SIG_IGN); /* then nobody can wait for children */
    int rc = get_in_time(f);
    (void)signal(SIGCHLD, SIG_DFL);
    assert_int_equal(rc, -ERR_UNAVAILABLE);
    assert_non_null(strstr(f->err.text, "nobody knows"));
}

#define CREDENTIAL_TEST(name) \
    cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CREDENTIAL_TEST(a_token_stays),
        CREDENTIAL_TEST(only_a_pods_token_may_be_read_by_others),
        CREDENTIAL_TEST(a_token_file_is_read_again),
        CREDENTIAL_TEST(without_a_token_file_there_is_none),
        CREDENTIAL_TEST(a_plugin_is_run_and_run_again_before_it_expires),
        CREDENTIAL_TEST(what_a_plugin_does_wrong_is_said),
        CREDENTIAL_TEST(a_plugin_has_its_time),
        CREDENTIAL_TEST(a_plugin_ends_with_all_that_it_started),
        CREDENTIAL_TEST(a_plugin_is_not_run_for_each_request),
        CREDENTIAL_TEST(what_a_plugin_printed_is_not_sent_again_once_refused),
        CREDENTIAL_TEST(the_descriptor_stays_while_a_plugin_closes_its_output),
        CREDENTIAL_TEST(variables_of_the_kubeconfig_win),
        CREDENTIAL_TEST(a_token_that_would_end_its_header_is_refused),
        CREDENTIAL_TEST(an_end_that_is_not_known_is_no_success),
    };
    return RUN_TESTS(tests);
}
