#include "api/core/granters.h"

static uint32_t add(struct str *groups, uint32_t count,
                    const struct permission_grant *grant)
{
    for (uint32_t i = 0; i < grant->group_count; i++) {
        uint32_t at = 0;
        while (at < count && !str_equal(groups[at], grant->groups[i])) {
            at++;
        }
        groups[at] = grant->groups[i];
        count = at == count ? count + 1 : count;
    }
    return count;
}

uint32_t granters_list(const struct auth_config *config, struct arena *arena,
                       const struct str **ret_groups)
{
    const struct permission_grant *may =
        &config->grants[PERMISSION_CREATE_QUEUE];
    struct str *groups = arena_alloc_array(
        arena, may->group_count + config->administrators.group_count + 1,
        sizeof(*groups));

    uint32_t count = add(groups, 0, &config->administrators);
    *ret_groups = groups;
    return add(groups, count, may);
}

/* "members of a, b", or the only one who is left. */
static void say_who(const struct auth_config *config, struct strbuf *out)
{
    auto_arena arena = {0};
    const struct str *groups;
    uint32_t count = granters_list(config, &arena, &groups);

    if (count == 0) {
        strbuf_add_text(out, "the operator of the server");
        return;
    }
    strbuf_add_text(out, "members of ");
    for (uint32_t i = 0; i < count && i < GRANTERS_SAID_MAX; i++) {
        strbuf_addf(out, "%s%.*s", i ? ", " : "", STR_ARG(groups[i]));
    }
    strbuf_add_text(out, count > GRANTERS_SAID_MAX ? ", ..." : "");
}

void granters_say(const struct auth_config *config, enum permission permission,
                  enum queue_verb verb, struct strbuf *out)
{
    if (verb != VERB_NONE) {
        strbuf_add_text(out, "; ");
        say_who(config, out);
        strbuf_addf(out, " can grant the verb %s on the queue",
                    queue_verb_name(verb));
        return;
    }
    strbuf_addf(out,
                "; the operator of the server can grant it in "
                "auth.permissionGroupMapping.%s",
                permission_name(permission));
}
