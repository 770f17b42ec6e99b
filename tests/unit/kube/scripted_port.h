/*
 * scripted_port - an API server that answers what the test says, when the test
 * says so.
 */
#pragma once

#include "base/arena.h"
#include "base/strbuf.h"
#include "kube/http/kube_port.h"

/* It holds one request at a time. */
struct scripted_port {
    struct kube_port port;
    struct arena arena;
    struct http_ask asked; /* the last one; texts in the arena */
    uint64_t number;       /* of it; 0: it has ended */
    uint64_t last_number;
    int ask_count, cancel_count;
    bool is_full; /* it takes no request */
};

/* A port that has not been asked. */
void scripted_port_init(struct scripted_port *port);
/* Free what it owns. */
void scripted_port_fini(struct scripted_port *port);
/* End the request with this status and body. */
void scripted_answer(struct scripted_port *port, int status, struct str body,
                     int64_t retry_after_ms);
/* End it without an answer. */
void scripted_break(struct scripted_port *port);
/* Give it bytes; false: it wants no more. */
bool scripted_bytes(struct scripted_port *port, struct str bytes);

/* Append an object that has a name and a version. */
void scripted_object(struct strbuf *buf, const char *name, const char *version);
/* Append a list in its envelope: objects of these names, NULL-ended. */
void scripted_list(struct strbuf *buf, const char *const *names,
                   const char *version, const char *continue_);
/* Append a frame of a watch: an event about an object. */
void scripted_event(struct strbuf *buf, const char *type, const char *name,
                    const char *version);
/* Append a frame with an error. */
void scripted_error(struct strbuf *buf, int code);
/* Append a Status in its envelope. */
void scripted_status(struct strbuf *buf, int code, const char *message,
                     int retry_after_s);
