/*
 * fake_private - what the files of the API server in memory share.
 *
 * Not for use outside the folder.
 */
#pragma once

#include "base/arena.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "k8s/core.pb-c.h"
#include "kube/fake/fake_api.h"

/* Short names. */
typedef K8s__Io__Api__Core__V1__Pod fake_pod_message;
/* Likewise. */
typedef K8s__Io__Api__Core__V1__Node fake_node_message;

enum fake_kind { FAKE_NODES, FAKE_PODS, FAKE_KINDS };

/* An object, encoded. */
struct fake_object {
    enum fake_kind kind;
    char *name;       /* owned */
    char *namespace_; /* owned; "" of a node */
    struct strbuf bytes;
    uint64_t version;
    int64_t due_ms; /* when the kubelet goes on with it; INT64_MAX: never */
};

/* A service, ingress or config map. */
struct fake_other {
    char *path;         /* owned; with its name */
    struct strbuf body; /* in its envelope */
};

/* What has happened to an object: a line of a watch. */
struct fake_event {
    enum fake_kind kind;
    uint64_t version;
    const char *type;
    struct strbuf bytes; /* of the object then */
};

/* A request that was not answered, or a watch. */
struct fake_ask {
    uint64_t number;
    char *method, *path; /* owned */
    struct strbuf body;
    struct http_ask ask; /* for its callbacks */
    bool is_watch;       /* and has begun */
    bool has_snapshot;   /* a list, whose objects have been read */
    enum fake_kind kind; /* of the watch */
    uint64_t version;    /* that it has told */
};

/* Answers that a test has asked for. */
struct fake_scripted {
    char method[8], path_part[32], reason[64], message[256];
    int count, status;
    bool is_done;
};

struct fake_api {
    struct kube_port port;
    const struct clock *clock;
    VEC(struct fake_object) objects;
    VEC(struct fake_event) events;
    VEC(struct fake_ask *) asks; /* owned */
    VEC(struct fake_scripted) scripted;
    VEC(char *) heard; /* methods of requests, owned */
    VEC(struct fake_object) snapshots[FAKE_KINDS]; /* that pages are read of */
    uint64_t snapshot_versions[FAKE_KINDS];
    size_t page_max; /* objects of a page; 0: any */
    uint64_t version, compacted_version, last_number;
    uint32_t made_count, made_other_count;
    VEC(struct fake_other) others;
    uint64_t last_uid;
    bool are_watches_held, are_kubelets_held, are_lists_held, is_full;
};

/* fake_api.c */

/* Have drive() called. */
void fake_api_wake(struct fake_api *api);
/* Now, for waiting. */
int64_t fake_api_now_ms(const struct fake_api *api);
/* The request or watch of a number; NULL. */
struct fake_ask *fake_api_find_ask(const struct fake_api *api, uint64_t number);
/* End a request, which is freed. */
void fake_api_end_ask(struct fake_api *api, struct fake_ask *ask, int status,
                      struct str body);
/* Append a Status in its envelope; end a request by one. */
void fake_api_write_status(int code, const char *reason, const char *message,
                           struct strbuf *body);
void fake_api_end_with_status(struct fake_api *api, struct fake_ask *ask,
                              int code, const char *reason,
                              const char *message);

/* fake_watch.c */

/* Answer a list, or begin a watch. */
void fake_api_begin_list(struct fake_api *api, struct fake_ask *ask,
                         enum fake_kind kind);
/* Tell a watch what it has not been told; it may end in this. */
void fake_api_feed(struct fake_api *api, struct fake_ask *ask);

/* fake_pods.c */

/* "/api/v1/namespaces/NS/pods", with or without "/NAME". */
void fake_api_answer_pods(struct fake_api *api, struct fake_ask *ask);

/* fake_others.c */

/* Whether a path is that of such objects; answer a request about them. */
bool fake_api_is_other(const char *path);
void fake_api_answer_other(struct fake_api *api, struct fake_ask *ask);
/* Drop those whose pods are gone. */
void fake_api_collect(struct fake_api *api);
/* Free all. */
void fake_api_others_fini(struct fake_api *api);

/* fake_objects.c */

/* The object, or NULL. */
struct fake_object *fake_api_find(struct fake_api *api, enum fake_kind kind,
                                  struct str name);
/* Its message, in the arena; to be written back by fake_api_write(). */
void *fake_api_read(const struct fake_object *object, struct arena *arena);
/* The object is now so (and so made if it was not there): a new version. */
struct fake_object *fake_api_write(struct fake_api *api, enum fake_kind kind,
                                   ProtobufCMessage *message);
/* It is gone. */
void fake_api_drop(struct fake_api *api, struct fake_object *object);
/* Keep all of a kind as it is now, for the pages of a list. */
void fake_api_snapshot(struct fake_api *api, enum fake_kind kind);
/* Free all. */
void fake_api_objects_fini(struct fake_api *api);
/* A new name for an object that is made, in the arena. */
char *fake_api_uid(struct fake_api *api, struct arena *arena);

/* fake_kubelet.c */

/* The pod has ended. */
void fake_api_end_pod(struct fake_api *api, struct fake_object *object,
                      const char *reason, int exit_code);
/* Move pods on whose time has come. */
void fake_api_kubelet_step(struct fake_api *api);
/* When it is due; INT64_MAX: never. */
int64_t fake_api_kubelet_due_ms(const struct fake_api *api);
