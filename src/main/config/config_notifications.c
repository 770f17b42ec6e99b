#include "main/config/config_notifications.h"

enum {
    SECOND_MS = 1000,
    MINUTE_MS = 60000,
    DAY_MS = 86400000,
    QUEUED_COUNT_MAX = 1000000,
};

static void init_target(void *record)
{
    struct config_notify_target *target = record;

    *target = (struct config_notify_target){.timeout_ms = 10 * SECOND_MS};
}

/* What both kinds of targets have. */
#define COMMON_KEYS                                                          \
    SETTING("events", TEXTS, config_notify_target, events,                   \
            .about = "Any of job and jobSet: whose ends it is told of; []: " \
                     "jobSet."),                                             \
        SETTING("states", TEXTS, config_notify_target, states,               \
                .about = "Any of succeeded, failed, cancelled, preempted, "  \
                         "rejected: only such ends; []: all."),              \
        SETTING("queues", TEXTS, config_notify_target, queues,               \
                .about = "Only of these queues; []: of all."),               \
        SETTING("onRequest", BOOL, config_notify_target, is_on_request,      \
                .about =                                                     \
                    "Whether it is told only of jobs whose annotation "      \
                    "berth.dev/notify names it, and of job sets whose last " \
                    "job to end does."),                                     \
        SETTING("timeout", DURATION, config_notify_target, timeout_ms,       \
                .min = SECOND_MS, .max = MINUTE_MS,                          \
                .about = "How long an attempt may take.")

static const struct setting webhook_keys[] = {
    SETTING("name", TEXT, config_notify_target, name, .is_required = true,
            .about = "Name of the target, which jobs can name in the "
                     "annotation berth.dev/notify."),
    SETTING("url", TEXT, config_notify_target, url, .is_required = true,
            .about = "Where to POST to: https://... or http://... . Redirects "
                     "are not followed."),
    SETTING("caFile", TEXT, config_notify_target, ca_file,
            .about = "PEM file of the CA that signed the receiver's "
                     "certificate; empty: the system's CAs."),
    SETTING("secretFile", TEXT, config_notify_target, secret_file,
            .about = "File with the key that signs each notification; empty: "
                     "they are not signed."),
    COMMON_KEYS,
};
static const struct settings webhook_table =
    SETTINGS(webhook_keys, config_notify_target, init_target);

static const struct setting command_keys[] = {
    SETTING("name", TEXT, config_notify_target, name, .is_required = true,
            .about = "Name of the target, as of a webhook."),
    SETTING("command", TEXTS, config_notify_target, command,
            .is_required = true,
            .about = "The program, by its absolute path, and its arguments. "
                     "The notification is its standard input."),
    COMMON_KEYS,
};
static const struct settings command_table =
    SETTINGS(command_keys, config_notify_target, init_target);

static const struct setting notifications_keys[] = {
    SETTING("webhooks", RECORDS, config_notifications, webhooks,
            .table = &webhook_table, .count_max = CONFIG_NOTIFY_TARGETS_MAX,
            .count_offset =
                offsetof(struct config_notifications, webhook_count),
            .about = "Whom to tell, over HTTP."),
    SETTING("commands", RECORDS, config_notifications, commands,
            .table = &command_table, .count_max = CONFIG_NOTIFY_TARGETS_MAX,
            .count_offset =
                offsetof(struct config_notifications, command_count),
            .about = "Programs to run on the server's machine."),
    SETTING("maxQueued", INT, config_notifications, queued_count_max, .min = 1,
            .max = QUEUED_COUNT_MAX,
            .about = "Notifications that wait for one target at most; what "
                     "comes while there are so many is dropped and counted."),
    SETTING("retryFor", DURATION, config_notifications, keep_ms,
            .min = SECOND_MS, .max = 7 * (int64_t)DAY_MS,
            .about = "How long a notification is tried again before it is "
                     "dropped."),
};
const struct settings config_notifications_settings =
    SETTINGS(notifications_keys, config_notifications, NULL);
