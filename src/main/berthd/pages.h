/*
 * pages - what the HTTP port serves: /health and /metrics.
 */
#pragma once

#include "api/api.h"
#include "main/berthd/data_dir.h"
#include "main/berthd/leader.h"
#include "main/berthd/notifier.h"
#include "main/berthd/projector.h"
#include "main/berthd/scrubber.h"
#include "main/executor/executor_thread.h"
#include "rpc/http.h"

/* What the pages tell of; all borrowed. */
struct pages {
    const struct data_dir *dir;
    struct leader *leader;
    struct projector *projector;
    struct notifier *notifier; /* NULL: nobody is told of ends */
    struct scrubber *scrubber;
    struct forecasts *forecasts;
    const struct clock *clock;
    struct rpc_server *server;
    struct api *api;
    struct executor_thread *executor; /* NULL: none inside */
    uint32_t queue_count_max;         /* with metrics of their own */
};

/* Append a label's value in Prometheus' text format. */
void pages_put_label(struct strbuf *out, struct str value);
/* A label with its name; `first` is what stands before it. */
void pages_put_named(struct strbuf *out, const char *first, const char *name,
                     struct str value);
/* Serve them at `address`. */
struct http_server *pages_serve(struct pages *pages, const char *address,
                                struct err *err) must_check;
