#include "notify/target.h"

static bool has_queue(const struct notify_target *target, struct str queue)
{
    bool has = target->queue_count == 0;

    for (uint32_t i = 0; i < target->queue_count && !has; i++) {
        has = str_equal(target->queues[i], queue);
    }
    return has;
}

bool notify_target_wants(const struct notify_target *target,
                         enum notify_event event, struct str queue,
                         enum stored_job_state state)
{
    return (target->events & event) != 0 &&
           (target->states == 0 || (target->states & (1u << state)) != 0) &&
           has_queue(target, queue);
}

static bool is_separator(char c)
{
    return c == ',' || c == ' ';
}

bool notify_target_is_named(const struct notify_target *target, struct str list)
{
    for (size_t at = 0, end; at < list.byte_count; at = end + 1) {
        for (end = at; end < list.byte_count && !is_separator(list.p[end]);) {
            end++;
        }
        if (str_equal(str_make(list.p + at, end - at), target->name)) {
            return true;
        }
    }
    return false;
}

bool notify_is_name(struct str text)
{
    bool is_name =
        text.byte_count > 0 && text.byte_count <= NOTIFY_NAME_BYTES_MAX;

    for (size_t i = 0; i < text.byte_count && is_name; i++) {
        char c = text.p[i];
        is_name = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    }
    return is_name;
}
