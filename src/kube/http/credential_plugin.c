/* Exec plugins: programs that print credentials. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vec.h"
#include "kube/http/credential_private.h"
#include "wire/json/json.h"
#include "wire/text/base64.h"
#include "wire/text/rfc3339.h"

extern char **environ;

static void watch(struct credential *credential, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};

    credential->fd = fd;
    if (fd >= 0) {
        (void)epoll_ctl(credential->epoll_fd, EPOLL_CTL_ADD, fd, &event);
    }
}

static void unwatch(struct credential *credential)
{
    if (credential->fd >= 0) {
        /* A child that was forked meanwhile may have it open still. */
        (void)epoll_ctl(credential->epoll_fd, EPOLL_CTL_DEL, credential->fd,
                        NULL);
        close(credential->fd);
    }
    credential->fd = -1;
}

/* Beside the wait statuses, which are not negative. */
enum { PLUGIN_RUNS = -1, PLUGIN_STATUS_UNKNOWN = -2 };

int plugin_end(struct credential *credential, bool is_killed)
{
    int status = 0;
    pid_t ended;

    if (is_killed) {
        (void)kill(-credential->pid, SIGKILL);
    }
    do {
        ended = waitpid(credential->pid, &status, is_killed ? 0 : WNOHANG);
    } while (ended < 0 && errno == EINTR);
    if (ended == 0) {
        return PLUGIN_RUNS;
    }
    unwatch(credential);
    credential->pid = 0;
    return ended < 0 ? PLUGIN_STATUS_UNKNOWN : status;
}

static int put_json(const char *bytes, size_t byte_count, void *ctx)
{
    strbuf_add(ctx, bytes, byte_count);
    return 0;
}

/* The variable by which a plugin is told of us and of the cluster. */
static void add_info(const struct kube_config *config, struct strbuf *variable)
{
    auto_json_t *spec = json_pack("{s:b}", "interactive", 0);

    if (config->exec.needs_cluster_info) {
        auto_strbuf ca = strbuf_make(0);
        wire_base64_encode(config->ca, &ca);
        (void)json_object_set_new(
            spec, "cluster",
            json_pack("{s:s,s:s,s:s,s:b}", "server", config->server,
                      "tls-server-name", config->tls_server_name,
                      "certificate-authority-data", strbuf_text(&ca),
                      "insecure-skip-tls-verify", config->is_insecure));
    }
    auto_json_t *info =
        json_pack("{s:s,s:s,s:O}", "apiVersion", config->exec.api_version,
                  "kind", "ExecCredential", "spec", spec);
    strbuf_add_text(variable, "KUBERNETES_EXEC_INFO=");
    (void)json_dump_callback(info, put_json, variable, JSON_COMPACT);
}

/* NULL-ended arrays of borrowed texts. */
struct texts {
    VEC(const char *) list;
};

static void add_all(struct texts *texts, const char *const *from)
{
    for (; *from; from++) {
        VEC_PUSH(&texts->list, *from);
    }
}

/* NAME=value, unless one of this name is there. */
static void add_env(struct texts *texts, const char *env)
{
    size_t name_bytes = strcspn(env, "=");

    for (size_t i = 0; i < texts->list.count; i++) {
        if (strncmp(texts->list.items[i], env, name_bytes + 1) == 0) {
            return;
        }
    }
    VEC_PUSH(&texts->list, env);
}

/* Of two variables of one name programs take either, so there is one: ours,
 * else the last of the kubeconfig, else that of our own environment. */
static void add_envs(struct texts *texts, const char *variable,
                     const char *const *configured)
{
    size_t count = 0;

    add_env(texts, variable);
    while (configured[count]) {
        count++;
    }
    while (count > 0) {
        add_env(texts, configured[--count]);
    }
    for (char **env = environ; *env; env++) {
        add_env(texts, *env);
    }
    VEC_PUSH(&texts->list, NULL);
}

/* A group of its own, so that it ends with all that it started; no signals
 * blocked or ignored as they are here. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    int rc = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP |
                                                      POSIX_SPAWN_SETSIGMASK |
                                                      POSIX_SPAWN_SETSIGDEF);
    rc = rc ? rc : posix_spawnattr_setpgroup(attributes, 0);
    rc = rc ? rc : posix_spawnattr_setsigmask(attributes, &none);
    return rc ? rc : posix_spawnattr_setsigdefault(attributes, &all);
}

static int spawn(struct credential *credential, struct texts *args,
                 struct texts *envs, int write_fd)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    const char *command = credential->config->exec.command;

    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
    int rc = set_attributes(&attributes);
    rc = rc ? rc
            : posix_spawn_file_actions_addopen(&actions, 0, "/dev/null",
                                               O_RDONLY, 0);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, write_fd, 1);
    rc = rc ? rc : posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    rc = rc ? rc
            : posix_spawnp(&credential->pid, command, &actions, &attributes,
                           (char *const *)(uintptr_t)args->list.items,
                           (char *const *)(uintptr_t)envs->list.items);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return rc;
}

int plugin_begin(struct credential *credential, struct err *err)
{
    const struct kube_exec *exec = &credential->config->exec;
    struct texts args = {{0}}, envs = {{0}};
    auto_strbuf variable = strbuf_make(0);
    int fds[2];

    if (pipe2(fds, O_CLOEXEC) < 0) {
        return credential_fail(
            credential,
            err_set(err, -ERR_IO, "exec: pipe: %s", strerror(errno)), err);
    }
    (void)fcntl(fds[0], F_SETFL, O_NONBLOCK);
    add_info(credential->config, &variable);
    VEC_PUSH(&args.list, exec->command);
    add_all(&args, exec->args);
    VEC_PUSH(&args.list, NULL);
    add_envs(&envs, strbuf_text(&variable), exec->envs);
    int rc = spawn(credential, &args, &envs, fds[1]);
    close(fds[1]);
    VEC_FREE(&args.list);
    VEC_FREE(&envs.list);
    if (rc != 0) {
        close(fds[0]);
        credential->pid = 0;
        return credential_fail(credential,
                               err_set(err, -ERR_NOT_FOUND, "exec: %s: %s%s%s",
                                       exec->command, strerror(rc),
                                       *exec->hint ? "; " : "", exec->hint),
                               err);
    }
    watch(credential, fds[0]);
    credential->deadline_ms =
        credential_mono_ms(credential) + CREDENTIAL_EXEC_MS_MAX;
    credential->is_read = false;
    strbuf_clear(&credential->printed);
    return 1;
}

static struct str text_at(const json_t *object, const char *key)
{
    return str_of(json_string_value(json_object_get(object, key)));
}

/* Take the ExecCredential that a plugin has printed. */
static int take_printed(struct credential *credential, struct err *err)
{
    auto_json_t *json = json_loadb(strbuf_text(&credential->printed),
                                   credential->printed.byte_count, 0, NULL);
    const json_t *status = json_object_get(json, "status");
    struct str expires = text_at(status, "expirationTimestamp");
    int64_t due_ms = INT64_MAX, expires_s;
    int32_t nanos;

    if (!text_at(status, "token").byte_count &&
        !text_at(status, "clientCertificateData").byte_count) {
        return err_set(err, -ERR_INVALID,
                       "exec: %s printed no ExecCredential with a token or a "
                       "certificate",
                       credential->config->exec.command);
    }
    if (expires.byte_count > 0) {
        if (wire_rfc3339_parse(expires, &expires_s, &nanos) < 0) {
            return err_set(err, -ERR_INVALID,
                           "exec: expirationTimestamp \"%.*s\" is not a time",
                           STR_ARG(expires));
        }
        due_ms = expires_s * 1000 - CREDENTIAL_EARLY_MS;
    }
    int rc = credential_check_token(text_at(status, "token"),
                                    credential->config->exec.command, err);
    if (rc < 0) {
        return rc;
    }
    credential->retry_ms = credential_mono_ms(credential) + CREDENTIAL_RETRY_MS;
    credential_take(credential, text_at(status, "token"),
                    text_at(status, "clientCertificateData"),
                    text_at(status, "clientKeyData"), due_ms);
    return 0;
}

/* From now on wait for its end, which may come much later. */
static void note_read(struct credential *credential)
{
    credential->is_read = true;
    unwatch(credential);
    watch(credential, (int)syscall(SYS_pidfd_open, credential->pid, 0));
    if (credential->fd < 0) {
        credential->deadline_ms = 0; /* nobody could tell us */
    }
}

/* Whether all has been read; -ERR_LIMIT: it prints too much. */
static int read_printed(struct credential *credential, struct err *err)
{
    char bytes[4096];
    ssize_t got;

    while ((got = read(credential->fd, bytes, sizeof(bytes))) > 0) {
        strbuf_add(&credential->printed, bytes, (size_t)got);
        if (credential->printed.is_over) {
            return err_set(err, -ERR_LIMIT, "exec: %s printed too much",
                           credential->config->exec.command);
        }
    }
    if (got == 0) {
        note_read(credential);
    }
    return got == 0;
}

/* What its end says. */
static int end_of_plugin(struct credential *credential, int status,
                         struct err *err)
{
    if (status == PLUGIN_STATUS_UNKNOWN) {
        return err_set(
            err, -ERR_UNAVAILABLE,
            "exec: nobody knows how %s ended, for its end was waited "
            "for elsewhere",
            credential->config->exec.command);
    }
    return status == 0
               ? take_printed(credential, err)
               : err_set(err, -ERR_UNAVAILABLE, "exec: %s failed: %s %d",
                         credential->config->exec.command,
                         WIFSIGNALED(status) ? "signal" : "exit code",
                         WIFSIGNALED(status) ? WTERMSIG(status)
                                             : WEXITSTATUS(status));
}

int plugin_go_on(struct credential *credential, struct err *err)
{
    int rc = credential->is_read ? 1 : read_printed(credential, err);
    int status = rc > 0 ? plugin_end(credential, false) : PLUGIN_RUNS;

    if (status != PLUGIN_RUNS) {
        rc = end_of_plugin(credential, status, err);
        return rc < 0 ? credential_fail(credential, rc, err) : 0;
    }
    if (rc >= 0 && credential_mono_ms(credential) < credential->deadline_ms) {
        return 1;
    }
    if (rc >= 0) {
        rc = err_set(err, -ERR_UNAVAILABLE, "exec: %s took longer than %d s",
                     credential->config->exec.command,
                     CREDENTIAL_EXEC_MS_MAX / 1000);
    }
    (void)plugin_end(credential, true);
    return credential_fail(credential, rc, err);
}
