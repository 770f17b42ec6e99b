#include "main/executor/allowed_users.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>

enum { ENTRY_BYTES = 1 << 16 };

/* The number that it is; false: it is a name. */
static bool read_number(const char *text, uid_t *ret_uid)
{
    char *end;

    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    *ret_uid = (uid_t)number;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 &&
           number < (uid_t)-1;
}

/* Whether there is such an account, or nobody can tell now. */
static bool is_account(struct str entry)
{
    auto_mem char *room = mem_alloc(ENTRY_BYTES);
    auto_mem char *text = str_dup(entry);
    struct passwd about, *found = NULL;
    uid_t uid;

    int rc = read_number(text, &uid)
                 ? getpwuid_r(uid, &about, room, ENTRY_BYTES, &found)
                 : getpwnam_r(text, &about, room, ENTRY_BYTES, &found);
    return found || (rc != 0 && rc != ENOENT && rc != ESRCH);
}

void allowed_users_check(const struct config_executor *executor,
                         struct config_findings *findings)
{
    const struct setting_texts *users = &executor->process.allowed_users;

    if (!str_equal(executor->runtime, STR("process"))) {
        return;
    }
    for (uint32_t i = 0; i < users->count; i++) {
        struct str entry = users->items[i];
        auto_strbuf text = {0};

        if (entry.byte_count > 0 && is_account(entry)) {
            continue;
        }
        strbuf_addf(&text,
                    "executor.process.allowedUsers[%u]: \"%.*s\" is no account "
                    "of this machine, by name or number",
                    i, STR_ARG(entry));
        setting_texts_add(&findings->texts, SETTING_ERRORS_MAX, findings->arena,
                          strbuf_str(&text));
    }
}
