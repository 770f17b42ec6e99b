#include "main/berthd/notify_setup.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/secret.h"
#include "notify/note.h"
#include "notify/signature.h"
#include "notify/url.h"

enum { FILE_BYTES_MAX = 4096 };

/* What is wrong, and with which target. */
struct finding {
    struct config_findings *out; /* NULL: nobody wants to know */
    const struct config_notifications *from;
    uint32_t index;
};

static void add(const struct finding *at, const char *format, ...)
    printf_like(2, 3);

static void add(const struct finding *at, const char *format, ...)
{
    uint32_t webhooks = at->from->webhook_count;
    bool is_webhook = at->index < webhooks;
    auto_strbuf text = {0};
    struct err err;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(err.text, sizeof(err.text), format, args);
    va_end(args);
    strbuf_addf(&text, "notifications.%s[%u].%s",
                is_webhook ? "webhooks" : "commands",
                is_webhook ? at->index : at->index - webhooks, err.text);
    if (at->out) {
        setting_texts_add(&at->out->texts, SETTING_ERRORS_MAX, at->out->arena,
                          strbuf_str(&text));
    }
}

static void check_name(const struct finding *at)
{
    struct str name = config_notify_at(at->from, at->index)->name;

    if (!notify_is_name(name)) {
        add(at,
            "name: \"%.*s\" is not 1 to %d letters, digits, '-', '_' and "
            "'.'",
            STR_ARG(name), NOTIFY_NAME_BYTES_MAX);
    }
    for (uint32_t j = 0; j < at->index; j++) {
        if (str_equal(name, config_notify_at(at->from, j)->name)) {
            add(at, "name: \"%.*s\" is given twice", STR_ARG(name));
            break;
        }
    }
}

/* What a list of words stands for, as bits; a word that is none is noted. */

static uint32_t take_events(const struct finding *at)
{
    const struct setting_texts *words =
        &config_notify_at(at->from, at->index)->events;
    uint32_t events = words->count > 0 ? 0 : NOTIFY_JOB_SET;

    for (uint32_t k = 0; k < words->count; k++) {
        if (str_equal(words->items[k], STR("job"))) {
            events |= NOTIFY_JOB;
        } else if (str_equal(words->items[k], STR("jobSet"))) {
            events |= NOTIFY_JOB_SET;
        } else {
            add(at, "events: \"%.*s\" is neither job nor jobSet",
                STR_ARG(words->items[k]));
        }
    }
    return events;
}

static uint32_t take_states(const struct finding *at)
{
    const struct setting_texts *words =
        &config_notify_at(at->from, at->index)->states;
    uint32_t states = 0;

    for (uint32_t k = 0; k < words->count; k++) {
        enum stored_job_state state = note_state_of(words->items[k]);
        if (state) {
            states |= 1u << state;
        } else {
            add(at,
                "states: \"%.*s\" is not succeeded, failed, cancelled, "
                "preempted or rejected",
                STR_ARG(words->items[k]));
        }
    }
    return states;
}

/* A key that everybody on the machine can read signs nothing. */
static int read_key(const struct config_notify_target *target,
                    struct strbuf *key, struct err *err)
{
    auto_strbuf text = strbuf_make(FILE_BYTES_MAX);
    const char *path = target->secret_file.p;
    struct err why;

    if (target->secret_file.byte_count == 0) {
        return 0;
    }
    int rc = secret_read(path, &text, err);
    if (rc == 0 && signature_key(strbuf_str(&text), key, &why) < 0) {
        rc = err_set(err, -ERR_INVALID, "%s: %s", path, why.text);
    }
    explicit_bzero(text.bytes, text.byte_count);
    return rc;
}

static void check_webhook(const struct finding *at,
                          const struct config_notify_target *target)
{
    const char *problem = notify_url_problem(target->url);
    auto_strbuf key = {0};
    struct err err;

    if (problem) {
        add(at, "url: %s: must be https://HOST/... or http://HOST/...",
            problem);
    }
    if (target->ca_file.byte_count > 0 &&
        access(target->ca_file.p, R_OK) != 0) {
        add(at, "caFile: %s: %s", target->ca_file.p, strerror(errno));
    }
    if (read_key(target, &key, &err) < 0) {
        add(at, "secretFile: %s", err.text);
    }
}

static void check_command(const struct finding *at,
                          const struct setting_texts *command)
{
    if (command->count == 0 || command->count > NOTIFY_WORDS_MAX ||
        !str_starts_with(command->items[0], STR("/"))) {
        add(at,
            "command: must be the absolute path of a program and at most "
            "%d arguments",
            NOTIFY_WORDS_MAX - 1);
    } else if (access(command->items[0].p, X_OK) != 0) {
        add(at, "command: %s: %s", command->items[0].p, strerror(errno));
    }
}

void notify_setup_check(const struct config *config,
                        struct config_findings *findings)
{
    const struct config_notifications *from = &config->notifications;
    struct finding at = {findings, from, 0};

    for (; at.index < config_notify_count(from); at.index++) {
        const struct config_notify_target *target =
            config_notify_at(from, at.index);
        check_name(&at);
        (void)take_events(&at);
        (void)take_states(&at);
        if (at.index < from->webhook_count) {
            check_webhook(&at, target);
        } else {
            check_command(&at, &target->command);
        }
    }
    if (config_notify_count(from) > NOTIFY_TARGETS_MAX) {
        at.index = NOTIFY_TARGETS_MAX;
        add(&at, "name: there are at most %d targets", NOTIFY_TARGETS_MAX);
    }
}

int notify_setup(const struct config *config, struct arena *arena,
                 struct notify_target **ret_targets, struct err *err)
{
    const struct config_notifications *from = &config->notifications;
    uint32_t count = config_notify_count(from);
    struct notify_target *targets =
        arena_alloc_array(arena, count, sizeof(*targets));
    struct finding at = {NULL, from, 0};
    int rc = 0;

    for (; at.index < count && rc == 0; at.index++) {
        const struct config_notify_target *target =
            config_notify_at(from, at.index);
        auto_strbuf key = {0};

        rc = read_key(target, &key, err);
        targets[at.index] = (struct notify_target){
            .name = target->name,
            .url = target->url,
            .command = target->command.items,
            .command_count = target->command.count,
            .ca_file = target->ca_file,
            .secret = arena_str(arena, strbuf_str(&key)),
            .queues = target->queues.items,
            .queue_count = target->queues.count,
            .events = take_events(&at),
            .states = take_states(&at),
            .is_on_request = target->is_on_request,
            .timeout_ms = target->timeout_ms,
        };
    }
    *ret_targets = targets;
    return rc;
}
