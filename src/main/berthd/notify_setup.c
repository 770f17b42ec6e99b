#include "main/berthd/notify_setup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "notify/note.h"
#include "notify/signature.h"

enum { FILE_BYTES_MAX = 4096 };

static void add(struct config_findings *out, uint32_t i, const char *format,
                ...) printf_like(3, 4);

static void add(struct config_findings *out, uint32_t i, const char *format,
                ...)
{
    auto_strbuf text = {0};
    struct err err;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(err.text, sizeof(err.text), format, args);
    va_end(args);
    strbuf_addf(&text, "notifications.webhooks[%u].%s", i, err.text);
    setting_texts_add(&out->texts, SETTING_ERRORS_MAX, out->arena,
                      strbuf_str(&text));
}

static void check_name(const struct config_notifications *config, uint32_t i,
                       struct config_findings *out)
{
    struct str name = config->targets[i].name;

    if (!notify_is_name(name)) {
        add(out, i,
            "name: \"%.*s\" is not 1 to %d letters, digits, '-', '_' and '.'",
            STR_ARG(name), NOTIFY_NAME_BYTES_MAX);
    }
    for (uint32_t j = 0; j < i; j++) {
        if (str_equal(name, config->targets[j].name)) {
            add(out, i, "name: \"%.*s\" is given twice", STR_ARG(name));
            break;
        }
    }
}

/* What a list of words stands for, as bits; a word that is none is noted. */

static uint32_t take_events(const struct setting_texts *words, uint32_t i,
                            struct config_findings *out)
{
    uint32_t events = words->count > 0 ? 0 : NOTIFY_JOB_SET;

    for (uint32_t k = 0; k < words->count; k++) {
        if (str_equal(words->items[k], STR("job"))) {
            events |= NOTIFY_JOB;
        } else if (str_equal(words->items[k], STR("jobSet"))) {
            events |= NOTIFY_JOB_SET;
        } else if (out) {
            add(out, i, "events: \"%.*s\" is neither job nor jobSet",
                STR_ARG(words->items[k]));
        }
    }
    return events;
}

static uint32_t take_states(const struct setting_texts *words, uint32_t i,
                            struct config_findings *out)
{
    uint32_t states = 0;

    for (uint32_t k = 0; k < words->count; k++) {
        enum stored_job_state state = note_state_of(words->items[k]);
        if (state) {
            states |= 1u << state;
        } else if (out) {
            add(out, i,
                "states: \"%.*s\" is not succeeded, failed, cancelled, "
                "preempted or rejected",
                STR_ARG(words->items[k]));
        }
    }
    return states;
}

static bool is_url(struct str url)
{
    struct str schemes[] = {STR("https://"), STR("http://")};
    bool is = false;

    for (size_t i = 0; i < ARRAY_COUNT(schemes); i++) {
        is |= str_starts_with(url, schemes[i]) &&
              url.byte_count > schemes[i].byte_count;
    }
    for (size_t i = 0; i < url.byte_count; i++) {
        is = is && url.p[i] > ' ' && url.p[i] < 0x7f;
    }
    return is;
}

/* What a small file holds.  A key that everybody on the machine can read signs
 * nothing. */
static int read_secret(const char *path, char text[FILE_BYTES_MAX],
                       size_t *ret_bytes, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat about;
    int rc = 0;

    if (fd < 0 || fstat(fd, &about) != 0) {
        rc = err_set(err, -ERR_IO, "%s: %s", path, strerror(errno));
    } else if (!S_ISREG(about.st_mode)) {
        rc = err_set(err, -ERR_INVALID, "%s is not a file", path);
    } else if (about.st_mode & (S_IROTH | S_IWOTH)) {
        rc = err_set(err, -ERR_INVALID,
                     "everybody on this machine can read or write %s: chmod "
                     "o-rw it",
                     path);
    }
    ssize_t count = rc < 0 ? -1 : read(fd, text, FILE_BYTES_MAX);
    if (rc == 0 && count < 0) {
        rc = err_set(err, -ERR_IO, "%s: %s", path, strerror(errno));
    }
    if (fd >= 0) {
        close(fd);
    }
    *ret_bytes = count < 0 ? 0 : (size_t)count;
    return rc;
}

static int read_key(const struct config_notify_target *target,
                    struct strbuf *key, struct err *err)
{
    char text[FILE_BYTES_MAX];
    size_t byte_count;
    struct err why;

    if (target->secret_file.byte_count == 0) {
        return 0;
    }
    int rc = read_secret(target->secret_file.p, text, &byte_count, err);
    if (rc == 0 && signature_key(str_make(text, byte_count), key, &why) < 0) {
        rc = err_set(err, -ERR_INVALID, "%s: %s", target->secret_file.p,
                     why.text);
    }
    explicit_bzero(text, sizeof(text));
    return rc;
}

void notify_setup_check(const struct config *config,
                        struct config_findings *findings)
{
    const struct config_notifications *from = &config->notifications;

    for (uint32_t i = 0; i < from->target_count; i++) {
        const struct config_notify_target *target = &from->targets[i];
        auto_strbuf key = {0};
        struct err err;

        check_name(from, i, findings);
        (void)take_events(&target->events, i, findings);
        (void)take_states(&target->states, i, findings);
        if (!is_url(target->url)) {
            add(findings, i,
                "url: \"%.*s\" is not https://HOST/... or http://HOST/...",
                STR_ARG(target->url));
        }
        if (target->ca_file.byte_count > 0 &&
            access(target->ca_file.p, R_OK) != 0) {
            add(findings, i, "caFile: %s: %s", target->ca_file.p,
                strerror(errno));
        }
        if (read_key(target, &key, &err) < 0) {
            add(findings, i, "secretFile: %s", err.text);
        }
    }
}

int notify_setup(const struct config *config, struct arena *arena,
                 struct notify_target **ret_targets, struct err *err)
{
    const struct config_notifications *from = &config->notifications;
    struct notify_target *targets =
        arena_alloc_array(arena, from->target_count, sizeof(*targets));
    int rc = 0;

    for (uint32_t i = 0; i < from->target_count && rc == 0; i++) {
        const struct config_notify_target *target = &from->targets[i];
        auto_strbuf key = {0};
        struct err why;

        rc = read_key(target, &key, &why);
        if (rc < 0) {
            return err_set(err, rc, "notifications.webhooks[%u].secretFile: %s",
                           i, why.text);
        }
        targets[i] = (struct notify_target){
            .name = target->name,
            .url = target->url,
            .ca_file = target->ca_file,
            .secret = arena_str(arena, strbuf_str(&key)),
            .queues = target->queues.items,
            .queue_count = target->queues.count,
            .events = take_events(&target->events, i, NULL),
            .states = take_states(&target->states, i, NULL),
            .is_on_request = target->is_on_request,
            .timeout_ms = target->timeout_ms,
        };
    }
    *ret_targets = targets;
    return rc;
}
