#include "kube/http/credential.h"

#include <sys/epoll.h>
#include <unistd.h>

#include "base/secret.h"
#include "kube/http/credential_private.h"

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

int64_t credential_now_ms(const struct credential *credential)
{
    return credential->clock->wall_ms(credential->clock);
}

int64_t credential_mono_ms(const struct credential *credential)
{
    return (int64_t)(credential->clock->mono_ns(credential->clock) / 1000000);
}

void credential_destroy(struct credential *credential)
{
    if (!credential) {
        return;
    }
    if (credential->pid > 0) {
        (void)plugin_end(credential, true);
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

int credential_fail(struct credential *credential, int rc,
                    const struct err *err)
{
    credential->failure = *err;
    credential->failure_rc = rc;
    credential->retry_ms = credential_mono_ms(credential) + CREDENTIAL_RETRY_MS;
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

int credential_check_token(struct str token, const char *where, struct err *err)
{
    return is_token(token)
               ? 0
               : err_set(err, -ERR_INVALID,
                         "%s: the token has a byte that is neither a letter, a "
                         "digit nor a sign of ASCII",
                         where);
}

void credential_take(struct credential *credential, struct str token,
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
    const char *path = credential->config->token_file;
    bool is_public;
    int rc = credential->config->is_account
                 ? secret_look(path, &text, &is_public, err)
                 : secret_read(path, &text, err);

    struct str token = strbuf_str(&text);
    while (rc == 0 && token.byte_count > 0 &&
           (unsigned char)token.p[token.byte_count - 1] <= ' ') {
        token.byte_count--;
    }
    if (rc == 0 && token.byte_count == 0) {
        rc = err_set(err, -ERR_INVALID, "%s: empty", path);
    }
    rc = rc ? rc : credential_check_token(token, path, err);
    if (rc < 0) {
        return credential_fail(credential, rc, err);
    }
    int64_t due_ms = credential_now_ms(credential) + CREDENTIAL_FILE_MS;
    if (credential->is_got &&
        str_equal(token, strbuf_str(&credential->token))) {
        credential->due_ms = due_ms;
    } else {
        credential_take(credential, token, credential->config->certificate,
                        credential->config->key, due_ms);
    }
    return 0;
}

static int fetch(struct credential *credential, struct err *err)
{
    const struct kube_config *config = credential->config;
    bool is_soon = credential_mono_ms(credential) < credential->retry_ms;

    if (credential->failure_rc < 0 && is_soon) {
        *err = credential->failure;
        return credential->failure_rc;
    }
    if (config->exec.command) {
        /* What it has printed has expired already: it serves all the same. */
        return is_soon ? 0 : plugin_begin(credential, err);
    }
    if (*config->token_file) {
        return read_token(credential, err);
    }
    int rc = credential_check_token(config->token, "user", err);
    if (rc < 0) {
        return credential_fail(credential, rc, err);
    }
    credential_take(credential, config->token, config->certificate, config->key,
                    INT64_MAX);
    return 0;
}

int credential_get(struct credential *credential,
                   struct credential_now *ret_now, struct err *err)
{
    int rc = 0;

    if (credential->pid > 0) {
        rc = plugin_go_on(credential, err);
    } else if (!credential->is_got ||
               credential_now_ms(credential) >= credential->due_ms) {
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
    } else if (credential_mono_ms(credential) >= credential->retry_ms) {
        credential->is_got = false;
    }
}

void credential_drive(struct credential *credential)
{
    struct err err;

    if (credential->pid > 0) {
        /* A failure is kept, and told to who asks. */
        (void)!plugin_go_on(credential, &err);
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
