/*
 * credential: tokens in files, and what plugins print.
 */
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>

#include "kube/http/credential.h"
#include "patience.h"
#include "tmpdir.h"
#include "unit.h"

/* A clock that stands still until it is moved, beside the machine's time that
 * plugins take. */
static int64_t now_ms;

static int64_t wall_ms(const struct clock *clock)
{
    (void)clock;
    return now_ms;
}

static const struct clock test_clock = {.wall_ms = wall_ms};

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
    for (int i = 0; credential_fd(f->credential) >= 0; i++) {
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
    now_ms += CREDENTIAL_EXEC_MS_MAX;
    assert_int_equal(get(f), -ERR_UNAVAILABLE);
    assert_int_equal(credential_fd(f->credential), -1);
}

#define CREDENTIAL_TEST(name) \
    cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CREDENTIAL_TEST(a_token_stays),
        CREDENTIAL_TEST(a_token_file_is_read_again),
        CREDENTIAL_TEST(without_a_token_file_there_is_none),
        CREDENTIAL_TEST(a_plugin_is_run_and_run_again_before_it_expires),
        CREDENTIAL_TEST(what_a_plugin_does_wrong_is_said),
        CREDENTIAL_TEST(a_plugin_has_its_time),
    };
    return RUN_TESTS(tests);
}
