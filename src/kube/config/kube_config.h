/*
 * kube_config - how to reach a Kubernetes API server, and as whom: a kubeconfig
 * file, or the account that a pod is given.
 *
 * Read are clusters, contexts and users with certificates, tokens, token files
 * and exec plugins.  What cannot be honoured (passwords, auth providers,
 * impersonation) is refused by its name, never passed over.  So is http:// to
 * another machine with a user who has credentials.
 *
 * Threads: none of it is shared.
 */
#pragma once

#include "base/arena.h"

enum {
    KUBE_CONFIG_BYTES_MAX = 4 << 20,
    KUBE_FILE_BYTES_MAX = 1 << 20, /* a certificate, key or token */
    KUBE_EXEC_ARGS_MAX = 256,      /* arguments, variables */
};

/* A program that prints credentials. */
struct kube_exec {
    const char *command;     /* NULL: there is none */
    const char *api_version; /* client.authentication.k8s.io/v1 or v1beta1 */
    const char *const *args; /* ends with NULL */
    const char *const *envs; /* NAME=value, ends with NULL */
    const char *hint;        /* how to install it; "" */
    bool needs_cluster_info;
};

/* One server and one user.  Texts are in the arena and end with a NUL. */
struct kube_config {
    struct arena arena;
    const char *server; /* https://host:port/path, no slash at its end */
    const char *tls_server_name; /* "": that of the server */
    const char *proxy;           /* "": none */
    bool is_insecure;            /* its certificate is not checked */
    struct str ca;               /* PEM; "": those of the machine */
    struct str certificate, key; /* PEM; "": none */
    struct str token;
    const char *token_file; /* read again and again; "": none */
    bool is_account;        /* a pod's, whose token all of the pod may read */
    const char *namespace_; /* "default" where none is said */
    struct kube_exec exec;
};

/* Read a kubeconfig text.  Files that it names are below `dir` unless they
 * begin with a slash.  `context`: "" is its current one.  -ERR_INVALID,
 * -ERR_LIMIT, -ERR_NOT_FOUND, -ERR_IO; on an error there is nothing to free. */
int kube_config_parse(struct str text, const char *dir, struct str context,
                      struct kube_config *ret_config,
                      struct err *err) must_check;

/* The same of a file.  -ERR_INVALID also for one that anybody may read and that
 * holds a token, a key or a plugin's variables; likewise for a client key. */
int kube_config_load(const char *path, struct str context,
                     struct kube_config *ret_config,
                     struct err *err) must_check;

/* The account of the pod that we run in: `dir` has token, ca.crt and namespace
 * (KUBE_ACCOUNT_DIR); host and port are what the kubelet put into
 * KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT. */
int kube_config_in_cluster(const char *dir, const char *host, const char *port,
                           struct kube_config *ret_config,
                           struct err *err) must_check;
#define KUBE_ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

/* Free what it owns. */
void kube_config_fini(struct kube_config *config);
