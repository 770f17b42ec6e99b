#include "executor/kubernetes/kube_log.h"

#include <inttypes.h>
#include <poll.h>

#include "executor/kubernetes/kube_answer.h"
#include "executor/port/log_cut.h"
#include "kube/http/http_client.h"
#include "wire/kube/kube_name.h"

enum { STATUS_OK = 200, WAIT_MS = 100, SPARE_BYTES = 64 << 10 };

/* An answer, once it has come. */
struct log_answer {
    const struct runtime_log_query *query;
    char since[WIRE_RFC3339_TEXT_BYTES_MAX]; /* "": from the beginning */
    struct strbuf *buf;
    struct err *err;
    bool has_ended;
    int rc;
};

static void on_end(void *ctx, const struct http_result *result)
{
    struct log_answer *answer = ctx;

    answer->has_ended = true;
    if (result->status == STATUS_OK) {
        /* The API server counts in whole seconds. */
        struct str log = *answer->since
                             ? log_cut_since(result->body, answer->since)
                             : result->body;
        struct str kept = log_cut_bytes(log, answer->query->byte_count_max);
        strbuf_add_str(answer->buf, kept);
        answer->rc = kept.byte_count < log.byte_count;
        return;
    }
    struct kube_verdict verdict = kube_answer_read(result);
    int code = result->status / 100 == 4 ? -ERR_NOT_FOUND : -ERR_UNAVAILABLE;
    answer->rc = err_set(answer->err, code, "%s", verdict.why.text);
}

/* -ERR_NOT_FOUND: no pod or container has such a name; -ERR_INVALID: `since` is
 * no time. */
static int write_path(const struct kube_log_place *place,
                      struct log_answer *answer, struct strbuf *path,
                      struct err *err)
{
    const struct runtime_log_query *query = answer->query;
    struct str container =
        query->container.byte_count > 0 ? query->container : place->container;

    if (!kube_is_dns_label(container)) {
        return err_set(err, -ERR_NOT_FOUND, "there is no container \"%.*s\"",
                       STR_ARG(container));
    }
    if (!kube_is_dns_label(place->namespace_) ||
        !kube_is_subdomain(place->pod_name)) {
        return err_set(err, -ERR_NOT_FOUND,
                       "no pod can have the name \"%.*s\" in \"%.*s\"",
                       STR_ARG(place->pod_name), STR_ARG(place->namespace_));
    }
    strbuf_addf(path,
                "/api/v1/namespaces/%.*s/pods/%.*s/log?container=%.*s"
                "&timestamps=true&limitBytes=%" PRId64,
                STR_ARG(place->namespace_), STR_ARG(place->pod_name),
                STR_ARG(container), query->byte_count_max + 1);
    if (query->line_count_max >= 0) {
        strbuf_addf(path, "&tailLines=%" PRId64, query->line_count_max);
    }
    if (query->since.byte_count == 0) {
        return 0;
    }
    if (!log_cut_time(query->since, answer->since)) {
        return err_set(err, -ERR_INVALID, "\"%.*s\" is not an RFC 3339 time",
                       STR_ARG(query->since));
    }
    strbuf_addf(path, "&sinceTime=%s", answer->since);
    return 0;
}

/* The API server may end a line that it has begun; what it refuses with is
 * short. */
static size_t answer_bytes_max(const struct runtime_log_query *query)
{
    return (size_t)query->byte_count_max + SPARE_BYTES;
}

static void wait_for(struct http_client *client,
                     const struct log_answer *answer)
{
    struct pollfd fd = {http_client_fd(client), POLLIN, 0};

    /* The request has an end of its own. */
    while (!answer->has_ended) {
        http_client_drive(client);
        (void)poll(&fd, 1, WAIT_MS);
    }
}

int kube_log_read(const struct kube_config *config, const struct clock *clock,
                  const struct kube_log_place *place,
                  const struct runtime_log_query *query, struct strbuf *buf,
                  struct err *err)
{
    struct log_answer answer = {.query = query, .buf = buf, .err = err};
    auto_strbuf path = strbuf_make(0);

    int rc = write_path(place, &answer, &path, err);
    if (rc < 0) {
        return rc;
    }
    auto_ptr(http_client) client = http_client_create(config, clock, err);
    if (!client) {
        return -ERR_UNAVAILABLE;
    }
    struct kube_port *port = http_client_port(client);
    if (port->ask(port,
                  &(struct http_ask){.method = "GET",
                                     .path = strbuf_text(&path),
                                     .total_ms_max = KUBE_LOG_MS_MAX,
                                     .byte_count_max = answer_bytes_max(query),
                                     .on_end = on_end,
                                     .ctx = &answer}) == 0) {
        return err_set(err, -ERR_UNAVAILABLE, "too many requests wait");
    }
    wait_for(client, &answer);
    return answer.rc;
}
