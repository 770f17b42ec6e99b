#include <stdio.h>
#include <string.h>

#include "main/config/config.h"
#include "wire/kube/kube_name.h"
#include "wire/text/host.h"
#include "wire/text/password.h"

static int check_address(const char *key, struct str address, struct err *err)
{
    size_t colon = address.byte_count;

    while (colon > 0 && address.p[colon - 1] != ':') {
        colon--;
    }
    uint32_t port = 0;
    bool has_port = colon > 1 && colon < address.byte_count;
    for (size_t i = colon; has_port && i < address.byte_count; i++) {
        has_port = address.p[i] >= '0' && address.p[i] <= '9';
        port = port * 10 + (uint32_t)(address.p[i] - '0');
        has_port = has_port && port <= 65535;
    }
    if (!has_port) {
        return err_set(err, -ERR_INVALID,
                       "%s: \"%.*s\" is not an address such as "
                       "127.0.0.1:50051 or [::1]:0",
                       key, STR_ARG(address));
    }
    return 0;
}

static int check_listen(const struct config *config, struct err *err)
{
    const struct config_server *server = &config->server;
    const char *missing = NULL;

    if (server->is_insecure_listen_allowed) {
        return 0;
    }
    if (!wire_is_loopback(server->grpc)) {
        missing = server->tls.certificate.byte_count == 0 ? "server.tls"
                  : config->auth.is_anonymous ? "auth.anonymousAuth: false"
                                              : NULL;
    }
    if (missing) {
        return err_set(err, -ERR_INVALID,
                       "server.grpc: %.*s can be reached from other machines; "
                       "that needs %s, or server.allowInsecureListen: true",
                       STR_ARG(server->grpc), missing);
    }
    if (!wire_is_loopback(server->http)) {
        return err_set(err, -ERR_INVALID,
                       "server.http: %.*s can be reached from other machines "
                       "and has no authentication; that needs "
                       "server.allowInsecureListen: true",
                       STR_ARG(server->http));
    }
    return 0;
}

static int check_password(const struct config_user *user, uint32_t i,
                          struct err *err)
{
    bool has_hash = user->password_hash.byte_count > 0;

    if (has_hash == (user->password.byte_count > 0)) {
        return err_set(err, -ERR_INVALID,
                       has_hash ? "auth.basicAuthUsers[%u]: passwordHash and "
                                  "password exclude each other"
                                : "auth.basicAuthUsers[%u].passwordHash: "
                                  "empty; berthctl hash-password makes one",
                       i);
    }
    if (has_hash && !password_is_hash(user->password_hash)) {
        return err_set(err, -ERR_INVALID,
                       "auth.basicAuthUsers[%u].passwordHash: not a hash that "
                       "is strong enough; berthctl hash-password makes one",
                       i);
    }
    return 0;
}

static int check_auth(const struct config_auth *auth, struct err *err)
{
    if (!auth->is_anonymous && auth->user_count == 0) {
        return err_set(err, -ERR_INVALID,
                       "auth: no caller could authenticate; set anonymousAuth "
                       "or basicAuthUsers");
    }
    for (uint32_t i = 0; i < auth->user_count; i++) {
        if (auth->users[i].name.byte_count == 0) {
            return err_set(err, -ERR_INVALID,
                           "auth.basicAuthUsers[%u].name: empty", i);
        }
        int rc = check_password(&auth->users[i], i, err);
        if (rc < 0) {
            return rc;
        }
        for (uint32_t j = 0; j < i; j++) {
            if (str_equal(auth->users[i].name, auth->users[j].name)) {
                return err_set(err, -ERR_INVALID,
                               "auth.basicAuthUsers[%u].name: \"%.*s\" is "
                               "given twice",
                               i, STR_ARG(auth->users[i].name));
            }
        }
    }
    return 0;
}

/* Each is key=value; a node has one value for a key. */
static int check_labels(const struct setting_texts *labels, const char *where,
                        struct err *err)
{
    for (uint32_t i = 0; i < labels->count; i++) {
        struct str text = labels->items[i];
        const char *equals = memchr(text.p, '=', text.byte_count);
        if (!equals || equals == text.p) {
            return err_set(err, -ERR_INVALID,
                           "%s[%u]: \"%.*s\" is not of the form key=value",
                           where, i, STR_ARG(text));
        }
        struct str key = str_make(text.p, (size_t)(equals - text.p) + 1);
        for (uint32_t j = 0; j < i; j++) {
            if (str_starts_with(labels->items[j], key)) {
                return err_set(err, -ERR_INVALID,
                               "%s[%u]: \"%.*s\" gives [%u] another value",
                               where, i, STR_ARG(text), j);
            }
        }
    }
    return 0;
}

static int check_process(const struct config_process *process, struct err *err)
{
    static const char where[] = "executor.process.labels";

    for (uint32_t i = 0; i < process->labels.count; i++) {
        if (str_starts_with(process->labels.items[i],
                            STR("kubernetes.io/hostname="))) {
            return err_set(err, -ERR_INVALID,
                           "%s[%u]: kubernetes.io/hostname is the machine's "
                           "own",
                           where, i);
        }
    }
    return check_labels(&process->labels, where, err);
}

/* Nodes are named after their group, and go by their labels. */
static int check_fake_nodes(const struct config_fake *fake, struct err *err)
{
    for (uint32_t i = 0; i < fake->group_count; i++) {
        const struct config_fake_group *group = &fake->groups[i];
        for (uint32_t j = 0; j < i; j++) {
            if (str_equal(group->name, fake->groups[j].name)) {
                return err_set(err, -ERR_INVALID,
                               "executor.fake.nodes[%u].name: \"%.*s\" is also "
                               "the name of nodes[%u]",
                               i, STR_ARG(group->name), j);
            }
        }
        char where[64];
        snprintf(where, sizeof(where), "executor.fake.nodes[%u].labels", i);
        int rc = check_labels(&group->labels, where, err);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

/* Here, and not where policies are read: a log may tell of such a one. */
static int check_topology(const struct policy_form *form, struct err *err)
{
    for (uint32_t p = 0; p < form->pool_count; p++) {
        const struct setting_texts *levels = &form->pools[p].topology;
        for (uint32_t i = 0; i < levels->count; i++) {
            if (!kube_is_label_key(levels->items[i])) {
                return err_set(err, -ERR_INVALID,
                               "scheduling.pools[%u].topology[%u]: \"%.*s\" "
                               "is not the key of a label",
                               p, i, STR_ARG(levels->items[i]));
            }
        }
    }
    return 0;
}

static int check_pairs(const struct config *config, struct err *err)
{
    const struct config_tls *tls = &config->server.tls;
    const struct config_submission *submission = &config->submission;
    const struct policy_form *scheduling = &config->scheduling;

    if ((tls->certificate.byte_count > 0) != (tls->key.byte_count > 0)) {
        return err_set(err, -ERR_INVALID,
                       "server.tls: certificate and key go together");
    }
    if (tls->client_ca.byte_count > 0 && tls->certificate.byte_count == 0) {
        return err_set(err, -ERR_INVALID,
                       "server.tls.clientCa: without certificate and key "
                       "there is no TLS, and nobody shows a certificate");
    }
    if (submission->grace_period_ms_min > submission->grace_period_ms_max) {
        return err_set(err, -ERR_INVALID,
                       "submission.minTerminationGracePeriod is more than "
                       "maxTerminationGracePeriod");
    }
    if (scheduling->executor_timeout_ms >
        scheduling->executor_lost_timeout_ms) {
        return err_set(err, -ERR_INVALID,
                       "scheduling.executorTimeout is more than "
                       "executorLostTimeout");
    }
    if (config->executor.fake.run_a_ms > config->executor.fake.run_b_ms &&
        str_equal(config->executor.fake.distribution, STR("uniform"))) {
        return err_set(err, -ERR_INVALID,
                       "executor.fake.runTime is more than maxRunTime");
    }
    if (config->executor.id.byte_count == 0) {
        return err_set(err, -ERR_INVALID, "executor.id: empty");
    }
    return 0;
}

int config_check(const struct config *config, struct err *err)
{
    auto_mem struct policy *policy = mem_alloc(sizeof(*policy));
    struct err why;

    int rc = check_address("server.grpc", config->server.grpc, err);
    if (rc == 0) {
        rc = check_address("server.http", config->server.http, err);
    }
    if (rc == 0) {
        rc = check_listen(config, err);
    }
    if (rc == 0) {
        rc = check_auth(&config->auth, err);
    }
    if (rc == 0) {
        rc = check_pairs(config, err);
    }
    if (rc == 0) {
        rc = check_fake_nodes(&config->executor.fake, err);
    }
    if (rc == 0) {
        rc = check_process(&config->executor.process, err);
    }
    if (rc == 0 && policy_from_form(&config->scheduling, policy, &why) < 0) {
        return err_set(err, -ERR_INVALID, "scheduling.%s", why.text);
    }
    return rc < 0 ? rc : check_topology(&config->scheduling, err);
}
