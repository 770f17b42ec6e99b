#include "kube/config/kube_config.h"

#include <jansson.h>
#include <libgen.h>
#include <stdio.h>

#include "base/secret.h"
#include "wire/json/json.h"
#include "wire/text/base64.h"
#include "wire/text/host.h"
#include "wire/yaml/yaml.h"

#define PLAIN "http://"

/* What the reading of a kubeconfig has at hand. */
struct reading {
    struct kube_config *config;
    const char *dir;
    struct err *err;
    bool has_secret; /* the text itself */
};

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

static const char *keep(struct reading *reading, const char *text)
{
    return arena_strdup(&reading->config->arena, str_of(text));
}

/* A path of the file, as seen from here. */
static const char *keep_path(struct reading *reading, const char *path)
{
    auto_strbuf full = strbuf_make(0);

    if (*path != '/') {
        strbuf_addf(&full, "%s/", reading->dir);
    }
    strbuf_add_text(&full, path);
    return keep(reading, strbuf_text(&full));
}

static int read_file(struct reading *reading, const char *path, bool is_secret,
                     struct str *ret_bytes)
{
    auto_strbuf buf = strbuf_make(KUBE_FILE_BYTES_MAX);
    bool is_public;
    int rc = is_secret ? secret_read(path, &buf, reading->err)
                       : secret_look(path, &buf, &is_public, reading->err);

    if (rc == 0) {
        *ret_bytes = arena_str(&reading->config->arena, strbuf_str(&buf));
    }
    return rc;
}

/* What stands in `key`-data in base64, or in the file that `key` names. */
static int read_pem(struct reading *reading, const json_t *from,
                    const char *key, bool is_secret, struct str *ret_pem)
{
    auto_strbuf name = strbuf_make(0), pem = strbuf_make(KUBE_FILE_BYTES_MAX);

    strbuf_addf(&name, "%s-data", key);
    const char *data = text_at(from, strbuf_text(&name));
    if (*data) {
        reading->has_secret |= is_secret;
        if (wire_base64_decode(str_of(data), &pem) < 0 || pem.is_over) {
            return err_set(reading->err, -ERR_INVALID, "%s is not base64",
                           strbuf_text(&name));
        }
        *ret_pem = arena_str(&reading->config->arena, strbuf_str(&pem));
        return 0;
    }
    const char *path = text_at(from, key);
    return *path ? read_file(reading, keep_path(reading, path), is_secret,
                             ret_pem)
                 : 0;
}

/* The value of the list's entry of this name. */
static int find(struct reading *reading, const json_t *all, const char *list,
                const char *what, const char *name, const json_t **ret_value)
{
    const json_t *entry;
    size_t i;

    json_array_foreach(json_object_get(all, list), i, entry)
    {
        if (strcmp(text_at(entry, "name"), name) == 0) {
            *ret_value = json_object_get(entry, what);
            return 0;
        }
    }
    return err_set(reading->err, -ERR_NOT_FOUND,
                   "the kubeconfig has no %s named \"%s\"", what, name);
}

static const char *server_of(struct reading *reading, const char *server)
{
    struct str kept = str_of(server);

    while (kept.byte_count > 0 && kept.p[kept.byte_count - 1] == '/') {
        kept.byte_count--;
    }
    return arena_strdup(&reading->config->arena, kept);
}

static int read_cluster(struct reading *reading, const json_t *cluster)
{
    struct kube_config *config = reading->config;
    const char *server = text_at(cluster, "server");

    if (strncmp(server, "https://", 8) != 0 &&
        strncmp(server, PLAIN, strlen(PLAIN)) != 0) {
        return err_set(reading->err, -ERR_INVALID,
                       "server \"%s\" does not begin with https:// or http://",
                       server);
    }
    config->server = server_of(reading, server);
    config->tls_server_name =
        keep(reading, text_at(cluster, "tls-server-name"));
    config->proxy = keep(reading, text_at(cluster, "proxy-url"));
    config->is_insecure =
        json_is_true(json_object_get(cluster, "insecure-skip-tls-verify"));
    return read_pem(reading, cluster, "certificate-authority", false,
                    &config->ca);
}

/* Texts of a list into an array that ends with NULL; pairs of name and value
 * as NAME=value. */
static int read_texts(struct reading *reading, const json_t *list,
                      bool are_pairs, const char *const **ret_texts)
{
    size_t count = json_array_size(list);
    const json_t *item;
    size_t i;

    if (count > KUBE_EXEC_ARGS_MAX) {
        return err_set(reading->err, -ERR_LIMIT,
                       "exec has more than %d arguments or variables",
                       KUBE_EXEC_ARGS_MAX);
    }
    const char **texts =
        arena_alloc_array(&reading->config->arena, count + 1, sizeof(*texts));
    json_array_foreach(list, i, item)
    {
        auto_strbuf pair = strbuf_make(0);
        if (are_pairs) {
            strbuf_addf(&pair, "%s=%s", text_at(item, "name"),
                        text_at(item, "value"));
        } else if (json_is_string(item)) {
            strbuf_add_text(&pair, json_string_value(item));
        }
        texts[i] = keep(reading, strbuf_text(&pair));
    }
    *ret_texts = texts;
    return 0;
}

static int read_exec(struct reading *reading, const json_t *from)
{
    struct kube_exec *exec = &reading->config->exec;
    const char *version = text_at(from, "apiVersion");
    const char *command = text_at(from, "command");

    if (!*command) {
        return err_set(reading->err, -ERR_INVALID, "exec has no command");
    }
    if (strcmp(version, "client.authentication.k8s.io/v1") != 0 &&
        strcmp(version, "client.authentication.k8s.io/v1beta1") != 0) {
        return err_set(reading->err, -ERR_INVALID,
                       "exec: apiVersion \"%s\" is not one of: "
                       "client.authentication.k8s.io/v1 "
                       "client.authentication.k8s.io/v1beta1",
                       version);
    }
    if (strcmp(text_at(from, "interactiveMode"), "Always") == 0) {
        return err_set(reading->err, -ERR_INVALID,
                       "exec: interactiveMode Always needs a terminal; use a "
                       "plugin that asks nobody");
    }
    /* A path is below the file; a name is looked for in PATH. */
    exec->command = strchr(command, '/') ? keep_path(reading, command)
                                         : keep(reading, command);
    exec->api_version = keep(reading, version);
    exec->hint = keep(reading, text_at(from, "installHint"));
    exec->needs_cluster_info =
        json_is_true(json_object_get(from, "provideClusterInfo"));
    int rc =
        read_texts(reading, json_object_get(from, "args"), false, &exec->args);
    rc = rc ? rc
            : read_texts(reading, json_object_get(from, "env"), true,
                         &exec->envs);
    reading->has_secret |= exec->envs[0] != NULL;
    return rc;
}

static int check_user(struct reading *reading, const json_t *user)
{
    static const char *const refused[] = {
        "username",  "password", "auth-provider", "as",
        "as-groups", "as-uid",   "as-user-extra",
    };

    for (size_t i = 0; i < ARRAY_COUNT(refused); i++) {
        if (json_object_get(user, refused[i])) {
            return err_set(reading->err, -ERR_INVALID,
                           "user: %s is not supported; use a certificate, a "
                           "token, a token file or an exec plugin",
                           refused[i]);
        }
    }
    return 0;
}

static int read_user(struct reading *reading, const json_t *user)
{
    struct kube_config *config = reading->config;
    const char *token_file = text_at(user, "tokenFile");
    const json_t *exec = json_object_get(user, "exec");

    int rc = check_user(reading, user);
    rc = rc ? rc
            : read_pem(reading, user, "client-certificate", false,
                       &config->certificate);
    rc = rc ? rc : read_pem(reading, user, "client-key", true, &config->key);
    if (rc < 0) {
        return rc;
    }
    if (!config->certificate.byte_count != !config->key.byte_count) {
        return err_set(reading->err, -ERR_INVALID,
                       "user: client-certificate and client-key go together");
    }
    config->token = arena_str(&config->arena, str_of(text_at(user, "token")));
    reading->has_secret |= config->token.byte_count > 0;
    config->token_file = *token_file ? keep_path(reading, token_file) : "";
    return exec ? read_exec(reading, exec) : 0;
}

static int read_context(struct reading *reading, const json_t *all,
                        struct str name)
{
    const json_t *context, *cluster, *user;
    const char *current = name.byte_count > 0
                              ? arena_strdup(&reading->config->arena, name)
                              : text_at(all, "current-context");

    if (!*current) {
        return err_set(reading->err, -ERR_INVALID,
                       "the kubeconfig has no current-context; name one");
    }
    int rc = find(reading, all, "contexts", "context", current, &context);
    rc = rc ? rc
            : find(reading, all, "clusters", "cluster",
                   text_at(context, "cluster"), &cluster);
    rc = rc ? rc : read_cluster(reading, cluster);
    if (rc == 0 && *text_at(context, "user")) {
        rc = find(reading, all, "users", "user", text_at(context, "user"),
                  &user);
        rc = rc ? rc : read_user(reading, user);
    }
    if (rc == 0 && *text_at(context, "namespace")) {
        reading->config->namespace_ =
            keep(reading, text_at(context, "namespace"));
    }
    return rc;
}

/* Whether requests stay on this machine, by a host that reads in one way. */
static bool is_local(const struct kube_config *config, const char *host)
{
    size_t byte_count = strcspn(host, "/?#");

    return !*config->proxy && strcspn(host, "@\\") >= byte_count &&
           wire_is_loopback(str_make(host, byte_count));
}

/* Who listens on the way must not learn who we are. */
static int check_plain(struct reading *reading)
{
    const struct kube_config *config = reading->config;
    bool has_secret = config->token.byte_count > 0 || *config->token_file ||
                      config->exec.command || config->key.byte_count > 0;
    bool is_plain = strncmp(config->server, PLAIN, strlen(PLAIN)) == 0;

    if (!is_plain || !has_secret ||
        is_local(config, config->server + strlen(PLAIN))) {
        return 0;
    }
    return err_set(reading->err, -ERR_INVALID,
                   "server \"%s\" would be sent the user's credentials "
                   "unencrypted; use https://, or http:// to a server on this "
                   "machine without proxy-url",
                   config->server);
}

static void begin(struct kube_config *config)
{
    static const char *const none[] = {NULL};

    *config = (struct kube_config){
        .server = "",
        .tls_server_name = "",
        .proxy = "",
        .token_file = "",
        .namespace_ = "default",
        .exec = {.args = none, .envs = none, .hint = ""},
    };
}

/* `path`: of a file that anybody may read; NULL: there is none. */
static int parse(struct str text, const char *dir, const char *path,
                 struct str context, struct kube_config *ret_config,
                 struct err *err)
{
    struct reading reading = {ret_config, dir, err, false};
    auto_json_t *all = NULL;

    begin(ret_config);
    int rc = wire_yaml_read_first(text, &all, err);
    if (rc == 0) {
        rc = read_context(&reading, all, context);
        rc = rc ? rc : check_plain(&reading);
    }
    if (rc == 0 && path && reading.has_secret) {
        rc = secret_refuse(path, err);
    }
    if (rc < 0) {
        kube_config_fini(ret_config);
    }
    return rc;
}

int kube_config_parse(struct str text, const char *dir, struct str context,
                      struct kube_config *ret_config, struct err *err)
{
    return parse(text, dir, NULL, context, ret_config, err);
}

int kube_config_load(const char *path, struct str context,
                     struct kube_config *ret_config, struct err *err)
{
    auto_strbuf text = strbuf_make(KUBE_CONFIG_BYTES_MAX);
    auto_arena arena = {0};
    bool is_public;
    int rc = secret_look(path, &text, &is_public, err);

    return rc ? rc
              : parse(strbuf_str(&text),
                      dirname(arena_strdup(&arena, str_of(path))),
                      is_public ? path : NULL, context, ret_config, err);
}

/* A text file of the account, without white space at its end. */
static int read_line(struct reading *reading, const char *name,
                     struct str *ret_text)
{
    int rc = read_file(reading, keep_path(reading, name), false, ret_text);

    while (rc == 0 && ret_text->byte_count > 0 &&
           (unsigned char)ret_text->p[ret_text->byte_count - 1] <= ' ') {
        ret_text->byte_count--;
    }
    return rc;
}

static int read_account(struct reading *reading)
{
    struct kube_config *config = reading->config;
    struct str name;

    int rc =
        read_file(reading, keep_path(reading, "ca.crt"), false, &config->ca);
    rc = rc ? rc : read_line(reading, "namespace", &name);
    if (rc == 0) {
        config->namespace_ = arena_strdup(&config->arena, name);
        config->token_file = keep_path(reading, "token");
        config->is_account = true;
        rc = read_line(reading, "token", &name); /* that it is there */
    }
    return rc;
}

int kube_config_in_cluster(const char *dir, const char *host, const char *port,
                           struct kube_config *ret_config, struct err *err)
{
    struct reading reading = {ret_config, dir, err, false};
    auto_strbuf server = strbuf_make(0);

    if (!host || !*host || !port || !*port) {
        return err_set(err, -ERR_NOT_FOUND,
                       "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT "
                       "are not set: this is no pod");
    }
    begin(ret_config);
    strbuf_addf(&server,
                strchr(host, ':') ? "https://[%s]:%s" : "https://%s:%s", host,
                port);
    ret_config->server = keep(&reading, strbuf_text(&server));
    int rc = read_account(&reading);
    if (rc < 0) {
        kube_config_fini(ret_config);
    }
    return rc;
}

void kube_config_fini(struct kube_config *config)
{
    arena_fini(&config->arena);
}
