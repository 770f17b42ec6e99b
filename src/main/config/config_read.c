#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/secret.h"
#include "main/config/config.h"

struct config *config_defaults(struct arena *arena)
{
    struct config *config = arena_alloc(arena, sizeof(*config));

    config_settings.init(config);
    return config;
}

/* `errors` is NULL where the first is enough. */
static int read_text(struct str text, const char *name, struct arena *arena,
                     struct setting_texts *errors, struct config **ret_config,
                     struct err *err)
{
    struct config *config = config_defaults(arena);
    struct settings_reader reader = {name, arena, &config->warnings, errors};

    int rc = settings_read(&config_settings, text, &reader, config, err);
    if (rc == 0 || errors) {
        policy_form_complete(&config->scheduling);
        *ret_config = config;
    }
    return rc;
}

int config_read(struct str text, const char *name, struct arena *arena,
                struct config **ret_config, struct err *err)
{
    return read_text(text, name, arena, NULL, ret_config, err);
}

static int read_file(const char *path, struct strbuf *text, struct err *err)
{
    char piece[16384];
    size_t count;
    FILE *file = fopen(path, "re");

    if (!file) {
        return err_set(err, -ERR_IO, "cannot open %s: %s", path,
                       strerror(errno));
    }
    while ((count = fread(piece, 1, sizeof(piece), file)) > 0) {
        strbuf_add(text, piece, count);
    }
    bool is_read = !ferror(file);
    (void)fclose(file);
    if (!is_read || text->is_over) {
        return err_set(err, -ERR_IO, "cannot read %s: %s", path,
                       text->is_over ? "longer than 16 MiB" : "read error");
    }
    return 0;
}

int config_read_file(const char *path, struct arena *arena,
                     struct config **ret_config, struct err *err)
{
    auto_strbuf text = strbuf_make(CONFIG_BYTES_MAX);

    int rc = read_file(path, &text, err);
    return rc < 0
               ? rc
               : config_read(strbuf_str(&text), path, arena, ret_config, err);
}

static void add_error(struct config_findings *out, int rc,
                      const struct err *err)
{
    if (rc < 0) {
        setting_texts_add(&out->texts, SETTING_ERRORS_MAX, out->arena,
                          str_of(err->text));
    }
}

struct config *config_read_all(const char *path, struct config_findings *out)
{
    auto_strbuf text = strbuf_make(CONFIG_BYTES_MAX);
    struct config *config = config_defaults(out->arena);
    struct setting_texts errors = {0};
    struct err err;

    int rc = read_file(path, &text, &err);
    if (rc < 0) {
        add_error(out, rc, &err);
        return config;
    }
    (void)read_text(strbuf_str(&text), path, out->arena, &errors, &config,
                    &err);
    for (uint32_t i = 0; i < errors.count; i++) {
        setting_texts_add(&out->texts, SETTING_ERRORS_MAX, out->arena,
                          errors.items[i]);
    }
    add_error(out, config_check_secrecy(config, path, &err), &err);
    return config;
}

/* A file that keeps a secret, named by what says where it is. */
static int check_mode(const char *what, const char *path, struct err *err)
{
    struct err why;

    return secret_check(path, &why) < 0
               ? err_set(err, -ERR_INVALID, "%s: %s", what, why.text)
               : 0;
}

int config_check_secrecy(const struct config *config, const char *path,
                         struct err *err)
{
    /* Who knows the URL of a webhook can mostly post to it. */
    bool has_secret = config->executor.password.byte_count > 0 ||
                      config->auth.user_count > 0 ||
                      config->notifications.webhook_count > 0;
    int rc = has_secret && path ? check_mode("configuration", path, err) : 0;
    if (rc == 0 && config->server.tls.key.byte_count > 0) {
        rc = check_mode("server.tls.key", config->server.tls.key.p, err);
    }
    if (rc == 0 && config->executor.tls.key.byte_count > 0) {
        rc = check_mode("executor.tls.key", config->executor.tls.key.p, err);
    }
    return rc;
}

static bool has_text(const struct setting_texts *texts, struct str text)
{
    for (uint32_t i = 0; i < texts->count; i++) {
        if (str_equal(texts->items[i], text)) {
            return true;
        }
    }
    return false;
}

struct setting_texts config_class_names(const struct config *config,
                                        struct arena *arena)
{
    /* Clients of Armada and TrainingJobs name these, whatever there is. */
    static const struct str usual[] = {
        {"armada-default", 14},   {"armada-preemptible", 18},
        {"armada-resilient", 16}, {"experiment", 10},
        {"offline", 7},           {"normal", 6},
        {"production", 10}};
    const struct policy_form *form = &config->scheduling;

    if (config->submission.classes.count > 0) {
        return config->submission.classes;
    }
    struct str *names = arena_alloc_array(
        arena, (size_t)form->class_count + ARRAY_COUNT(usual), sizeof(*names));
    struct setting_texts texts = {names, form->class_count};
    for (uint32_t i = 0; i < form->class_count; i++) {
        names[i] = form->classes[i].name;
    }
    for (size_t i = 0; i < ARRAY_COUNT(usual); i++) {
        if (!has_text(&texts, usual[i])) {
            names[texts.count++] = usual[i];
        }
    }
    return texts;
}

struct str config_default_class(const struct config *config)
{
    return config->submission.default_class.byte_count > 0
               ? config->submission.default_class
               : config->scheduling.default_class;
}

int config_policy(const struct config *config, struct arena *arena,
                  struct policy **ret_policy, struct err *err)
{
    struct policy *policy = arena_alloc(arena, sizeof(*policy));

    int rc = policy_from_form(&config->scheduling, policy, err);
    if (rc == 0) {
        *ret_policy = policy;
    }
    return rc;
}
