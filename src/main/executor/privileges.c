#include "main/executor/privileges.h"

#include "executor/filter/filter.h"
#include "main/common/say.h"

void privileges_deny_calls(const struct config_hardening *config,
                           bool starts_programs)
{
    struct err err = {""};
    const char *why = !config->has_filter ? "hardening.systemCallFilter: false"
                      : starts_programs   ? "this process starts jobs"
                                          : NULL;

    if (!why && filter_enter_server(&err) < 0) {
        why = err.text;
    }
    if (why) {
        say(SAY_WARN, "filter.off", say_text("reason", why));
    } else {
        say(SAY_INFO, "filter.on",
            say_text("denies", "programs, processes, users, mounts, new code, "
                               "rare kernel calls"));
    }
}
