#include "main/executor/kubernetes_setup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "executor/kubernetes/kubernetes.h"
#include "kube/config/kube_config.h"
#include "main/common/machine.h"
#include "main/common/say.h"
#include "wire/kube/kube_name.h"

enum { DATA_DIR_MODE = 0711 /* as data_dir.h */ };

static bool is_chosen(const struct config_executor *config)
{
    return str_equal(config->runtime, STR("kubernetes"));
}

/* The account of our pod: the kubelet tells it by variables alone. */
static int read_account(struct kube_config *kube, struct err *err)
{
    const char *host = getenv("KUBERNETES_SERVICE_HOST");
    const char *port = getenv("KUBERNETES_SERVICE_PORT");

    if (!host || !port) {
        return err_set(err, -ERR_INVALID,
                       "empty, and this program does not run in a pod; name "
                       "a kubeconfig file");
    }
    return kube_config_in_cluster(KUBE_ACCOUNT_DIR, host, port, kube, err);
}

int kubernetes_setup_read(const struct config_executor *config,
                          struct kube_config **ret_kube, struct err *err)
{
    const struct config_kubernetes *from = &config->kubernetes;
    struct err why = {""};

    *ret_kube = NULL;
    if (!is_chosen(config)) {
        return 0;
    }
    struct kube_config *kube = mem_alloc(sizeof(*kube));
    int rc =
        from->kubeconfig.byte_count > 0
            ? kube_config_load(from->kubeconfig.p, from->context, kube, &why)
            : read_account(kube, &why);
    if (rc < 0) {
        mem_free(kube);
        return err_set(err, rc, "executor.kubernetes.kubeconfig: %s", why.text);
    }
    *ret_kube = kube;
    return 0;
}

void kubernetes_setup_free(struct kube_config *kube)
{
    if (kube) {
        kube_config_fini(kube);
        mem_free(kube);
    }
}

struct str kubernetes_setup_token_file(const struct kube_config *kube)
{
    return kube ? str_of(kube->token_file) : STR("");
}

int kubernetes_setup_attempts(const struct config_executor *config,
                              const char *data_dir)
{
    auto_strbuf path = {0};

    if (!is_chosen(config)) {
        return -1;
    }
    strbuf_addf(&path, "%s/attempts", data_dir);
    bool is_there = (mkdir(data_dir, DATA_DIR_MODE) == 0 || errno == EEXIST) &&
                    (mkdir(strbuf_text(&path), 0700) == 0 || errno == EEXIST);
    int fd = is_there ? open(strbuf_text(&path),
                             O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                      : -1;
    if (fd < 0) {
        say(SAY_WARN, "runtime.attempts",
            say_text("folder", strbuf_text(&path)),
            say_text("error", strerror(errno)),
            say_text("info", "a job that crashes the executor is tried again "
                             "at each start"));
    }
    return fd;
}

static void note(struct config_findings *findings, const struct strbuf *text)
{
    setting_texts_add(&findings->texts, SETTING_ERRORS_MAX, findings->arena,
                      strbuf_str(text));
}

void kubernetes_setup_check(const struct config *config,
                            struct config_findings *findings)
{
    const struct config_executor *executor = &config->executor;
    struct kube_config *kube = NULL;
    auto_strbuf text = strbuf_make(0);
    struct err err;

    if (!is_chosen(executor)) {
        return;
    }
    if (!kube_is_label_value(executor->id)) {
        strbuf_addf(&text,
                    "executor.id: \"%.*s\" cannot be the value of a label, "
                    "which marks pods in a cluster: at most %d letters, "
                    "digits, '-', '_' and '.'",
                    STR_ARG(executor->id), KUBE_LABEL_BYTES_MAX);
        note(findings, &text);
        strbuf_clear(&text);
    }
    if (kubernetes_setup_read(executor, &kube, &err) < 0) {
        strbuf_add_text(&text, err.text);
        note(findings, &text);
        return;
    }
    if (kube->exec.command && config->hardening.has_filter) {
        strbuf_addf(&text,
                    "executor.kubernetes.kubeconfig: its user runs the program "
                    "%.200s, which the filter of system calls denies; use a "
                    "token file or a certificate, or set "
                    "hardening.systemCallFilter: false",
                    kube->exec.command);
        note(findings, &text);
    }
    kubernetes_setup_free(kube);
}

static void warn_of_namespaces(const struct config_kubernetes *config)
{
    if (config->namespaces.count == 0) {
        say(SAY_WARN, "runtime.namespaces",
            say_text("reason", "executor.kubernetes.namespaces is empty: jobs "
                               "get pods in every namespace in which the "
                               "executor's account may create them"));
    }
}

int kubernetes_setup_open(const struct executor_thread_options *options,
                          struct runtime **ret_runtime, struct err *err)
{
    const struct config_executor *config = options->config;
    const struct config_kubernetes *from = &config->kubernetes;
    struct kubernetes_options kubernetes;

    ASSERT(options->kube);
    kubernetes_options_default(&kubernetes);
    kubernetes.executor_id = config->id;
    kubernetes.pool_label = from->pool_label;
    kubernetes.node_type_label = from->node_type_label;
    kubernetes.priority_class = from->priority_class;
    kubernetes.hostname_suffix = from->hostname_suffix;
    kubernetes.certificate_suffix = from->certificate_suffix;
    kubernetes.retention_ms = from->retention_ms;
    kubernetes.attempts_fd = options->attempts_fd;
    kubernetes.namespaces = from->namespaces.items;
    kubernetes.namespace_count = from->namespaces.count;
    kubernetes.allowed = (struct kube_allowed){
        from->ingress_annotations.items, from->ingress_annotations.count,
        from->object_kinds.items, from->object_kinds.count};
    int rc = kubernetes_connect(&kubernetes, options->kube, options->clock,
                                &machine_rng, ret_runtime, err);
    if (rc == 0) {
        say(SAY_INFO, "runtime.kubernetes",
            say_text("server", options->kube->server));
        warn_of_namespaces(from);
    }
    return rc;
}
