#include "scripted_port.h"

#include "kube/api/envelope.h"
#include "wire/message/field.h"

static struct scripted_port *of(struct kube_port *port)
{
    return container_of(port, struct scripted_port, port);
}

static uint64_t on_ask(struct kube_port *port, const struct http_ask *ask)
{
    struct scripted_port *scripted = of(port);

    ASSERT(scripted->number == 0);
    if (scripted->is_full) {
        return 0;
    }
    arena_reset(&scripted->arena);
    scripted->asked = *ask;
    scripted->asked.path = arena_strdup(&scripted->arena, str_of(ask->path));
    scripted->asked.accept =
        arena_strdup(&scripted->arena, str_of(ask->accept));
    scripted->ask_count++;
    return scripted->number = ++scripted->last_number;
}

static void on_cancel(struct kube_port *port, uint64_t request)
{
    struct scripted_port *scripted = of(port);

    if (request == scripted->number) {
        scripted->number = 0;
        scripted->cancel_count++;
    }
}

void scripted_port_init(struct scripted_port *port)
{
    *port =
        (struct scripted_port){.port = {.ask = on_ask, .cancel = on_cancel}};
}

void scripted_port_fini(struct scripted_port *port)
{
    arena_fini(&port->arena);
}

static void end(struct scripted_port *port, const struct http_result *result)
{
    ASSERT(port->number != 0);
    port->number = 0;
    port->asked.on_end(port->asked.ctx, result);
}

void scripted_answer(struct scripted_port *port, int status, struct str body,
                     int64_t retry_after_ms)
{
    end(port, &(struct http_result){.status = status,
                                    .body = body,
                                    .retry_after_ms = retry_after_ms,
                                    .content_type = "",
                                    .text = ""});
}

void scripted_break(struct scripted_port *port)
{
    end(port, &(struct http_result){.rc = -ERR_UNAVAILABLE,
                                    .retry_after_ms = -1,
                                    .content_type = "",
                                    .text = "gone away"});
}

bool scripted_bytes(struct scripted_port *port, struct str bytes)
{
    ASSERT(port->number != 0);
    return port->asked.on_bytes(port->asked.ctx, bytes);
}

void scripted_object(struct strbuf *buf, const char *name, const char *version)
{
    size_t meta = field_begin(buf, 1);

    field_put_bytes(buf, 1, str_of(name));
    field_put_bytes(buf, 6, str_of(version));
    field_end(buf, meta);
}

void scripted_list(struct strbuf *buf, const char *const *names,
                   const char *version, const char *continue_)
{
    auto_strbuf list = strbuf_make(0);
    size_t meta = field_begin(&list, 1);

    field_put_bytes(&list, 2, str_of(version));
    field_put_set_bytes(&list, 3, str_of(continue_));
    field_end(&list, meta);
    for (; *names; names++) {
        size_t item = field_begin(&list, 2);
        scripted_object(&list, *names, "1");
        field_end(&list, item);
    }
    envelope_write(STR("v1"), STR("PodList"), strbuf_str(&list), buf);
}

static void add_frame(struct strbuf *buf, const char *type, struct str object)
{
    auto_strbuf event = strbuf_make(0), raw = strbuf_make(0);

    envelope_write(STR("v1"), STR("Pod"), object, &raw);
    field_put_bytes(&event, 1, str_of(type));
    size_t extension = field_begin_wide(&event, 2, 2);
    field_put_bytes(&event, 1, strbuf_str(&raw));
    field_end_wide(&event, extension, 2);
    strbuf_add_char(buf, 0);
    strbuf_add_char(buf, 0);
    strbuf_add_char(buf, (char)(event.byte_count >> 8));
    strbuf_add_char(buf, (char)event.byte_count);
    strbuf_add_str(buf, strbuf_str(&event));
}

void scripted_event(struct strbuf *buf, const char *type, const char *name,
                    const char *version)
{
    auto_strbuf object = strbuf_make(0);

    scripted_object(&object, name, version);
    add_frame(buf, type, strbuf_str(&object));
}

static void add_status(struct strbuf *buf, int code, const char *message,
                       int retry_after_s)
{
    field_put_set_bytes(buf, 3, str_of(message));
    size_t details = field_begin(buf, 5);
    field_put_set_u64(buf, 5, (uint64_t)retry_after_s);
    field_end(buf, details);
    field_put_u64(buf, 6, (uint64_t)code);
}

void scripted_error(struct strbuf *buf, int code)
{
    auto_strbuf status = strbuf_make(0);

    add_status(&status, code, "no", 0);
    add_frame(buf, "ERROR", strbuf_str(&status));
}

void scripted_status(struct strbuf *buf, int code, const char *message,
                     int retry_after_s)
{
    auto_strbuf status = strbuf_make(0);

    add_status(&status, code, message, retry_after_s);
    envelope_write(STR("v1"), STR("Status"), strbuf_str(&status), buf);
}
