#include "cli/shared/context.h"

#include "base/strbuf.h"
#include "wire/text/host.h"

static const char *text_of(const json_t *object, const char *key,
                           struct arena *arena)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? arena_strdup(arena, str_of(text)) : NULL;
}

/* Clear text goes to this machine, unless TLS is asked for, and to others only
 * by name. */
static void choose_plain(struct context *context)
{
    context->is_plain =
        context->is_plain_forced ||
        (!context->is_tls_asked && wire_is_loopback(str_of(context->url)));
}

void context_set_url(struct context *context, const char *url)
{
    context->url = url;
    choose_plain(context);
}

static void read_context(const json_t *json, struct arena *arena,
                         struct context *context)
{
    const char *url = text_of(json, "berthUrl", arena);
    const json_t *basic = json_object_get(json, "basicAuth");

    context->url = url ? url : text_of(json, "armadaUrl", arena);
    context->url = context->url ? context->url : CONTEXT_URL_DEFAULT;
    context->is_plain_forced =
        json_is_true(json_object_get(json, "forceNoTls"));
    context->is_tls_asked = json_is_true(json_object_get(json, "tls"));
    choose_plain(context);
    context->ca_file = text_of(json, "tlsCaFile", arena);
    context->user_name = text_of(basic, "username", arena);
    context->password = text_of(basic, "password", arena);
    if (context->user_name && !context->password) {
        context->password = "";
    }
}

int context_choose(const json_t *file, const char *name, struct arena *arena,
                   struct context *ret_context, struct err *err)
{
    struct context context = {.name = ""};
    const json_t *contexts = json_object_get(file, "contexts");

    if (file && !json_is_object(file) && !json_is_null(file)) {
        return err_set(err, -ERR_INVALID, "not a map of keys to values");
    }
    if (!name) {
        name = json_string_value(json_object_get(file, "currentContext"));
    }
    if (!name || !contexts) {
        if (name && !contexts) {
            return err_set(err, -ERR_NOT_FOUND, "there are no contexts");
        }
        read_context(file, arena, &context);
        *ret_context = context;
        return 0;
    }
    const json_t *chosen = json_object_get(contexts, name);
    if (!chosen) {
        return err_set(err, -ERR_NOT_FOUND, "there is no context %s", name);
    }
    context.name = arena_strdup(arena, str_of(name));
    read_context(chosen, arena, &context);
    *ret_context = context;
    return 0;
}

char *context_basic(const char *user_name, const char *password,
                    struct arena *arena)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    auto_strbuf plain = {0}, coded = {0};

    strbuf_addf(&plain, "%s:%s", user_name, password);
    strbuf_add_text(&coded, "Basic ");
    for (size_t i = 0; i < plain.byte_count; i += 3) {
        size_t left = plain.byte_count - i;
        const unsigned char *p = (const unsigned char *)plain.bytes + i;
        uint32_t word = (uint32_t)p[0] << 16 |
                        (left > 1 ? (uint32_t)p[1] << 8 : 0) |
                        (left > 2 ? p[2] : 0);
        strbuf_add_char(&coded, digits[word >> 18 & 63]);
        strbuf_add_char(&coded, digits[word >> 12 & 63]);
        strbuf_add_char(&coded, left > 1 ? digits[word >> 6 & 63] : '=');
        strbuf_add_char(&coded, left > 2 ? digits[word & 63] : '=');
    }
    return arena_strdup(arena, strbuf_str(&coded));
}
