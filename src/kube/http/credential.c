#include "kube/http/credential.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <spawn.h>
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
    int64_t retry_ms;   /* not before that, after a failure */
    struct err failure; /* the last one; "" if it is over */
    int failure_rc;
    /* The plugin that runs. */
    pid_t pid;    /* 0: none */
    int fd;       /* its standard output, then itself; -1 */
    bool is_read; /* all that it prints */
    int64_t deadline_ms;
    struct strbuf printed;
};

struct credential *credential_create(const struct kube_config *config,
                                     const struct clock *clock)
{
    struct credential *credential = mem_alloc(sizeof(*credential));

    credential->config = config;
    credential->clock = clock;
    credential->fd = -1;
    credential->token = credential->certificate = credential->key =
        strbuf_make(KUBE_FILE_BYTES_MAX);
    credential->printed = strbuf_make(CREDENTIAL_BYTES_MAX);
    return credential;
}

static int64_t now_of(const struct credential *credential)
{
    return credential->clock->wall_ms(credential->clock);
}

/* The plugin is done with; -1: it still runs, else its wait status. */
static int end_plugin(struct credential *credential, bool is_killed)
{
    int status = 0;

    if (is_killed) {
        (void)kill(credential->pid, SIGKILL);
    }
    pid_t ended = waitpid(credential->pid, &status, is_killed ? 0 : WNOHANG);
    if (ended == 0) {
        return -1;
    }
    if (credential->fd >= 0) {
        close(credential->fd);
    }
    credential->fd = -1;
    credential->pid = 0;
    return status;
}

void credential_destroy(struct credential *credential)
{
    if (!credential) {
        return;
    }
    if (credential->pid > 0) {
        (void)end_plugin(credential, true);
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
    credential->retry_ms = now_of(credential) + CREDENTIAL_RETRY_MS;
    return rc;
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

static int spawn(struct credential *credential, struct texts *args,
                 struct texts *envs, int write_fd)
{
    posix_spawn_file_actions_t actions;
    const char *command = credential->config->exec.command;

    posix_spawn_file_actions_init(&actions);
    int rc =
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, write_fd, 1);
    rc = rc ? rc : posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    rc = rc ? rc
            : posix_spawnp(&credential->pid, command, &actions, NULL,
                           (char *const *)(uintptr_t)args->list.items,
                           (char *const *)(uintptr_t)envs->list.items);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

static int begin_plugin(struct credential *credential, struct err *err)
{
    const struct kube_exec *exec = &credential->config->exec;
    struct texts args = {{0}}, envs = {{0}};
    auto_strbuf variable = strbuf_make(0);
    int fds[2];

    if (pipe2(fds, O_CLOEXEC) < 0) {
        return err_set(err, -ERR_IO, "exec: pipe: %s", strerror(errno));
    }
    (void)fcntl(fds[0], F_SETFL, O_NONBLOCK);
    add_info(credential->config, &variable);
    VEC_PUSH(&args.list, exec->command);
    add_all(&args, exec->args);
    /* Of two variables of one name the first counts. */
    VEC_PUSH(&envs.list, strbuf_text(&variable));
    add_all(&envs, exec->envs);
    add_all(&envs, (const char *const *)environ);
    VEC_PUSH(&args.list, NULL);
    VEC_PUSH(&envs.list, NULL);
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
    credential->fd = fds[0];
    credential->deadline_ms = now_of(credential) + CREDENTIAL_EXEC_MS_MAX;
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
    take(credential, text_at(status, "token"),
         text_at(status, "clientCertificateData"),
         text_at(status, "clientKeyData"), due_ms);
    return 0;
}

/* From now on wait for its end, which may come much later. */
static void note_read(struct credential *credential)
{
    credential->is_read = true;
    close(credential->fd);
    credential->fd = (int)syscall(SYS_pidfd_open, credential->pid, 0);
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
    int status = rc > 0 ? end_plugin(credential, false) : -1;

    if (status >= 0) {
        rc = end_of_plugin(credential, status, err);
        return rc < 0 ? fail(credential, rc, err) : 0;
    }
    if (rc >= 0 && now_of(credential) < credential->deadline_ms) {
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

    if (credential->failure_rc < 0 &&
        now_of(credential) < credential->retry_ms) {
        *err = credential->failure;
        return credential->failure_rc;
    }
    if (config->exec.command) {
        return begin_plugin(credential, err);
    }
    if (*config->token_file) {
        return read_token(credential, err);
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
    if (version == credential->version && credential->due_ms < INT64_MAX) {
        credential->due_ms = 0;
    } else if (version == credential->version &&
               credential->config->exec.command) {
        credential->is_got = false;
        credential->due_ms = 0;
    }
}

int credential_fd(const struct credential *credential)
{
    return credential->fd;
}
