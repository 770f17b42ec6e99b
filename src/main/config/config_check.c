#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "main/config/config.h"
#include "wire/kube/entries.h"
#include "wire/kube/kube_name.h"
#include "wire/text/host.h"
#include "wire/text/password.h"

static void add(struct config_findings *out, const char *format, ...)
    printf_like(2, 3);

static void add(struct config_findings *out, const char *format, ...)
{
    struct err err;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(err.text, sizeof(err.text), format, args);
    va_end(args);
    setting_texts_add(&out->texts, SETTING_ERRORS_MAX, out->arena,
                      str_of(err.text));
}

static void check_address(const char *key, struct str address,
                          struct config_findings *out)
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
        add(out,
            "%s: \"%.*s\" is not an address such as "
            "127.0.0.1:50051 or [::1]:0",
            key, STR_ARG(address));
    }
}

static void check_listen(const struct config *config,
                         struct config_findings *out)
{
    const struct config_server *server = &config->server;
    const char *missing = NULL;

    if (server->is_insecure_listen_allowed) {
        return;
    }
    if (!wire_is_loopback(server->grpc)) {
        missing = server->tls.certificate.byte_count == 0 ? "server.tls"
                  : config->auth.is_anonymous ? "auth.anonymousAuth: false"
                                              : NULL;
    }
    if (missing) {
        add(out,
            "server.grpc: %.*s can be reached from other machines; "
            "that needs %s, or server.allowInsecureListen: true",
            STR_ARG(server->grpc), missing);
    }
    if (!wire_is_loopback(server->http)) {
        add(out,
            "server.http: %.*s can be reached from other machines "
            "and has no authentication; that needs "
            "server.allowInsecureListen: true",
            STR_ARG(server->http));
    }
}

static void check_password(const struct config_user *user, uint32_t i,
                           struct config_findings *out)
{
    bool has_hash = user->password_hash.byte_count > 0;

    if (has_hash == (user->password.byte_count > 0)) {
        add(out,
            has_hash ? "auth.basicAuthUsers[%u]: give passwordHash or "
                       "password, not both"
                     : "auth.basicAuthUsers[%u].passwordHash: "
                       "empty; berthctl hash-password makes one",
            i);
    }
    if (has_hash && !password_is_hash(user->password_hash)) {
        add(out,
            "auth.basicAuthUsers[%u].passwordHash: not a hash of a supported, "
            "strong kind; berthctl hash-password makes one",
            i);
    }
}

static void check_user(const struct config_auth *auth, uint32_t i,
                       struct config_findings *out)
{
    struct str name = auth->users[i].name;

    if (name.byte_count == 0) {
        add(out, "auth.basicAuthUsers[%u].name: empty", i);
    } else if (str_equal(name, STR("anonymous"))) {
        add(out,
            "auth.basicAuthUsers[%u].name: anonymous is whoever has no "
            "credentials; use another name",
            i);
    }
    for (uint32_t j = 0; j < i; j++) {
        if (str_equal(name, auth->users[j].name)) {
            add(out, "auth.basicAuthUsers[%u].name: \"%.*s\" is given twice", i,
                STR_ARG(name));
            break;
        }
    }
    check_password(&auth->users[i], i, out);
}

static void check_auth(const struct config_auth *auth,
                       struct config_findings *out)
{
    if (!auth->is_anonymous && auth->user_count == 0) {
        add(out, "auth: no caller could authenticate; set anonymousAuth or "
                 "basicAuthUsers");
    }
    for (uint32_t i = 0; i < auth->user_count; i++) {
        check_user(auth, i, out);
    }
}

/* Each is key=value; a node has one value for a key. */
static void check_labels(const struct setting_texts *labels, const char *where,
                         struct config_findings *out)
{
    for (uint32_t i = 0; i < labels->count; i++) {
        struct str text = labels->items[i];
        const char *equals = memchr(text.p, '=', text.byte_count);
        if (!equals || equals == text.p) {
            add(out, "%s[%u]: \"%.*s\" is not of the form key=value", where, i,
                STR_ARG(text));
            continue;
        }
        struct str key = str_make(text.p, (size_t)(equals - text.p) + 1);
        for (uint32_t j = 0; j < i; j++) {
            if (str_starts_with(labels->items[j], key)) {
                add(out, "%s[%u]: \"%.*s\" gives [%u] another value", where, i,
                    STR_ARG(text), j);
            }
        }
    }
}

/* Each is as kubectl writes it; none stands twice. */
static void check_taints(const struct setting_texts *taints, const char *where,
                         struct config_findings *out)
{
    for (uint32_t i = 0; i < taints->count; i++) {
        struct taint taint;
        if (taint_from_text(taints->items[i], &taint) < 0) {
            add(out,
                "%s[%u]: \"%.*s\" is not of the form key=value:effect or "
                "key:effect, with the effect NoSchedule, PreferNoSchedule or "
                "NoExecute",
                where, i, STR_ARG(taints->items[i]));
        }
        for (uint32_t j = 0; j < i; j++) {
            if (str_equal(taints->items[i], taints->items[j])) {
                add(out, "%s[%u]: \"%.*s\" is [%u] again", where, i,
                    STR_ARG(taints->items[i]), j);
            }
        }
    }
}

static void check_process(const struct config_process *process,
                          struct config_findings *out)
{
    static const char where[] = "executor.process.labels";

    for (uint32_t i = 0; i < process->labels.count; i++) {
        if (str_starts_with(process->labels.items[i],
                            STR("kubernetes.io/hostname="))) {
            add(out,
                "%s[%u]: kubernetes.io/hostname is the machine's "
                "own",
                where, i);
        }
    }
    check_labels(&process->labels, where, out);
    check_taints(&process->taints, "executor.process.taints", out);
}

/* Nodes are named after their group, and go by their labels. */
static void check_fake_nodes(const struct config_fake *fake,
                             struct config_findings *out)
{
    for (uint32_t i = 0; i < fake->group_count; i++) {
        const struct config_fake_group *group = &fake->groups[i];
        for (uint32_t j = 0; j < i; j++) {
            if (str_equal(group->name, fake->groups[j].name)) {
                add(out,
                    "executor.fake.nodes[%u].name: \"%.*s\" is also "
                    "the name of nodes[%u]",
                    i, STR_ARG(group->name), j);
            }
        }
        char where[64];
        snprintf(where, sizeof(where), "executor.fake.nodes[%u].labels", i);
        check_labels(&group->labels, where, out);
        snprintf(where, sizeof(where), "executor.fake.nodes[%u].taints", i);
        check_taints(&group->taints, where, out);
    }
}

/* Here, and not where policies are read: a log may tell of such a one. */
static void check_topology(const struct policy_form *form,
                           struct config_findings *out)
{
    for (uint32_t p = 0; p < form->pool_count; p++) {
        const struct setting_texts *levels = &form->pools[p].topology;
        for (uint32_t i = 0; i < levels->count; i++) {
            if (!kube_is_label_key(levels->items[i])) {
                add(out,
                    "scheduling.pools[%u].topology[%u]: \"%.*s\" "
                    "is not the key of a label",
                    p, i, STR_ARG(levels->items[i]));
            }
        }
    }
}

static void check_server_tls(const struct config_tls *tls,
                             struct config_findings *out)
{
    if ((tls->certificate.byte_count > 0) != (tls->key.byte_count > 0)) {
        add(out, "server.tls: certificate and key must be given together");
    }
    if (tls->client_ca.byte_count > 0 && tls->certificate.byte_count == 0) {
        add(out, "server.tls.clientCa: needs certificate and key; without them "
                 "there is no TLS");
    }
}

static void check_failures(const struct config_executor *executor,
                           struct config_findings *out)
{
    struct failure_rules rules;
    struct err why;

    if (config_failure_rules(&executor->failures, out->arena, &rules, &why) <
        0) {
        add(out, "executor.errorCategories.%s", why.text);
    }
}

/* Who names a CA expects TLS, and must never get plain text instead. */
static void check_executor(const struct config_executor *executor,
                           struct config_findings *out)
{
    const struct config_tls *tls = &executor->tls;

    if (executor->id.byte_count == 0) {
        add(out, "executor.id: empty");
    }
    if (executor->is_plain && tls->client_ca.byte_count > 0) {
        add(out, "executor.forceNoTls: true and executor.tls.ca exclude each "
                 "other; remove one");
    }
    if ((tls->certificate.byte_count > 0) != (tls->key.byte_count > 0)) {
        add(out, "executor.tls: certificate and key must be given together");
    }
    if (executor->fake.run_a_ms > executor->fake.run_b_ms &&
        str_equal(executor->fake.distribution, STR("uniform"))) {
        add(out, "executor.fake.runTime is more than maxRunTime");
    }
    check_fake_nodes(&executor->fake, out);
    check_process(&executor->process, out);
    check_failures(executor, out);
}

static void check_policy(const struct policy_form *form,
                         struct config_findings *out)
{
    auto_mem struct policy *policy = mem_alloc(sizeof(*policy));
    struct err why;

    if (form->executor_timeout_ms > form->executor_lost_timeout_ms) {
        add(out, "scheduling.executorTimeout is more than "
                 "executorLostTimeout");
    }
    if (policy_from_form(form, policy, &why) < 0) {
        add(out, "scheduling.%s", why.text);
    }
    check_topology(form, out);
}

void config_check_all(const struct config *config, struct config_findings *out)
{
    const struct config_submission *submission = &config->submission;

    check_address("server.grpc", config->server.grpc, out);
    check_address("server.http", config->server.http, out);
    check_listen(config, out);
    check_auth(&config->auth, out);
    check_server_tls(&config->server.tls, out);
    if (submission->grace_period_ms_min > submission->grace_period_ms_max) {
        add(out, "submission.minTerminationGracePeriod is more than "
                 "maxTerminationGracePeriod");
    }
    check_executor(&config->executor, out);
    check_policy(&config->scheduling, out);
}

int config_check(const struct config *config, struct err *err)
{
    auto_arena arena = {0};
    struct config_findings out = {.arena = &arena};

    config_check_all(config, &out);
    return config_findings_first(&out, err);
}

int config_findings_first(const struct config_findings *findings,
                          struct err *err)
{
    return findings->texts.count == 0
               ? 0
               : err_set(err, -ERR_INVALID, "%.*s",
                         STR_ARG(findings->texts.items[0]));
}
