#include "kube/http/credential.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "base/vec.h"
#include "kube/config/kube_file.h"
#include "wire/json/json.h"
#include "wire/text/base64.h"
#include "wire/text/rfc3339.h"

extern char **environ;

struct credential {
    const struct kube_config *config;
    const struct clock *clock;
    struct strbuf token, certificate, key;
    uint64_t version;
    bool is_got;        /* there is one */
    int64_t due_ms;     /* wall clock: when to get it again */
    int64_t retry_ms;   /* monotonic: a plugin not before that; 0: at once */
    struct err failure; /* the last one; "" if it is over */
    int failure_rc;
    /* The plugin that runs. */
    pid_t pid;           /* 0: none */
    int epoll_fd;        /* has `fd` */
    int fd;              /* its standard output, then itself; -1 */
    bool is_read;        /* all that it prints */
    int64_t deadline_ms; /* monotonic */
    struct strbuf printed;
};

struct credential *credential_create(const struct kube_config *config,
                                     const struct clock *clock)
{
    struct credential *credential = mem_alloc(sizeof(*credential));

    credential->config = config;
    credential->clock = clock;
    credential->fd = -1;
    credential->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    credential->token = credential->certificate = credential->key =
        strbuf_make(KUBE_FILE_BYTES_MAX);
    credential->printed = strbuf_make(CREDENTIAL_BYTES_MAX);
    return credential;
}

static int64_t now_of(const struct credential *credential)
{
    return credential->clock->wall_ms(credential->clock);
}

/* A clock that nobody sets. */
static int64_t mono_of(const struct credential *credential)
{
    return (int64_t)(credential->clock->mono_ns(credential->clock) / 1000000);
}

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

/* The plugin is done with, if it has ended or is killed. */
static int end_plugin(struct credential *credential, bool is_killed)
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

void credential_destroy(struct credential *credential)
{
    if (!credential) {
        return;
    }
    if (credential->pid > 0) {
        (void)end_plugin(credential, true);
    }
    if (credential->epoll_fd >= 0) {
        close(credential->epoll_fd);
    }
    strbuf_fini(&credential->token);
    strbuf_fini(&credential->certificate);
    strbuf_fini(&credential->key);
    strbuf_fini(&credential->printed);
    mem_free(credential);
}

/* Keep a failure for a while, and what there was before if it still is good. */
static int fail(struct credential *credential, int rc, const struct err *err)
{
    credential->failure = *err;
    credential->failure_rc = rc;
    credential->retry_ms = mono_of(credential) + CREDENTIAL_RETRY_MS;
    return rc;
}

/* Whether a header takes it: it must not end the line, and begin another. */
static bool is_token(struct str token)
{
    for (size_t i = 0; i < token.byte_count; i++) {
        if (token.p[i] <= ' ' || token.p[i] > '~') {
            return false;
        }
    }
    return true;
}

static int check_token(struct str token, const char *where, struct err *err)
{
    return is_token(token)
               ? 0
               : err_set(err, -ERR_INVALID,
                         "%s: the token has a byte that is neither a letter, a "
                         "digit nor a sign of ASCII",
                         where);
}

static void take(struct credential *credential, struct str token,
                 struct str certificate, struct str key, int64_t due_ms)
{
    strbuf_clear(&credential->token);
    strbuf_clear(&credential->certificate);
    strbuf_clear(&credential->key);
    strbuf_add_str(&credential->token, token);
    strbuf_add_str(&credential->certificate, certificate);
    strbuf_add_str(&credential->key, key);
    credential->version++;
    credential->is_got = true;
    credential->due_ms = due_ms;
    credential->failure_rc = 0;
}

/* Token files. */

static int read_token(struct credential *credential, struct err *err)
{
    auto_strbuf text = strbuf_make(KUBE_FILE_BYTES_MAX);
    int rc = kube_file_read(credential->config->token_file, &text, err);

    struct str token = strbuf_str(&text);
    while (rc == 0 && token.byte_count > 0 &&
           (unsigned char)token.p[token.byte_count - 1] <= ' ') {
        token.byte_count--;
    }
    if (rc == 0 && token.byte_count == 0) {
        rc = err_set(err, -ERR_INVALID, "%s: empty",
                     credential->config->token_file);
    }
    rc = rc ? rc : check_token(token, credential->config->token_file, err);
    if (rc < 0) {
        return fail(credential, rc, err);
    }
    int64_t due_ms = now_of(credential) + CREDENTIAL_FILE_MS;
    if (credential->is_got &&
        str_equal(token, strbuf_str(&credential->token))) {
        credential->due_ms = due_ms;
    } else {
        take(credential, token, credential->config->certificate,
             credential->config->key, due_ms);
    }
    return 0;
}

/* Plugins. */

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

static int begin_plugin(struct credential *credential, struct err *err)
{
    const struct kube_exec *exec = &credential->config->exec;
    struct texts args = {{0}}, envs = {{0}};
    auto_strbuf variable = strbuf_make(0);
    int fds[2];

    if (pipe2(fds, O_CLOEXEC) < 0) {
        return fail(credential,
                    err_set(err, -ERR_IO, "exec: pipe: %s", strerror(errno)),
                    err);
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
        return fail(credential,
                    err_set(err, -ERR_NOT_FOUND, "exec: %s: %s%s%s",
                            exec->command, strerror(rc),
                            *exec->hint ? "; " : "", exec->hint),
                    err);
    }
    watch(credential, fds[0]);
    credential->deadline_ms = mono_of(credential) + CREDENTIAL_EXEC_MS_MAX;
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
    int rc = check_token(text_at(status, "token"),
                         credential->config->exec.command, err);
    if (rc < 0) {
        return rc;
    }
    credential->retry_ms = mono_of(credential) + CREDENTIAL_RETRY_MS;
    take(credential, text_at(status, "token"),
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

static int go_on_with_plugin(struct credential *credential, struct err *err)
{
    int rc = credential->is_read ? 1 : read_printed(credential, err);
    int status = rc > 0 ? end_plugin(credential, false) : PLUGIN_RUNS;

    if (status != PLUGIN_RUNS) {
        rc = end_of_plugin(credential, status, err);
        return rc < 0 ? fail(credential, rc, err) : 0;
    }
    if (rc >= 0 && mono_of(credential) < credential->deadline_ms) {
        return 1;
    }
    if (rc >= 0) {
        rc = err_set(err, -ERR_UNAVAILABLE, "exec: %s took longer than %d s",
                     credential->config->exec.command,
                     CREDENTIAL_EXEC_MS_MAX / 1000);
    }
    (void)end_plugin(credential, true);
    return fail(credential, rc, err);
}

static int fetch(struct credential *credential, struct err *err)
{
    const struct kube_config *config = credential->config;
    bool is_soon = mono_of(credential) < credential->retry_ms;

    if (credential->failure_rc < 0 && is_soon) {
        *err = credential->failure;
        return credential->failure_rc;
    }
    if (config->exec.command) {
        /* What it has printed has expired already: it serves all the same. */
        return is_soon ? 0 : begin_plugin(credential, err);
    }
    if (*config->token_file) {
        return read_token(credential, err);
    }
    int rc = check_token(config->token, "user", err);
    if (rc < 0) {
        return fail(credential, rc, err);
    }
    take(credential, config->token, config->certificate, config->key,
         INT64_MAX);
    return 0;
}

int credential_get(struct credential *credential,
                   struct credential_now *ret_now, struct err *err)
{
    int rc = 0;

    if (credential->pid > 0) {
        rc = go_on_with_plugin(credential, err);
    } else if (!credential->is_got ||
               now_of(credential) >= credential->due_ms) {
        rc = fetch(credential, err);
    }
    /* What was got before serves until its time, or its successor is there. */
    if (rc != 0 && !credential->is_got) {
        return rc;
    }
    *ret_now = (struct credential_now){
        strbuf_str(&credential->token), strbuf_str(&credential->certificate),
        strbuf_str(&credential->key), credential->version};
    return 0;
}

void credential_reject(struct credential *credential, uint64_t version)
{
    if (version != credential->version) {
        return; /* there is another one already */
    }
    if (!credential->config->exec.command) {
        credential->due_ms =
            *credential->config->token_file ? 0 : credential->due_ms;
    } else if (mono_of(credential) >= credential->retry_ms) {
        credential->is_got = false;
    }
}

void credential_drive(struct credential *credential)
{
    struct err err;

    if (credential->pid > 0) {
        /* A failure is kept, and told to who asks. */
        (void)!go_on_with_plugin(credential, &err);
    }
}

bool credential_is_fetching(const struct credential *credential)
{
    return credential->pid > 0;
}

int credential_fd(const struct credential *credential)
{
    return credential->epoll_fd;
}
