#include "api/submit/depends.h"

#include "api/submit/annotations.h"

/* A walk over a request. */
struct resolving {
    const Berth__Submission__Request *request;
    struct readers *readers;
    struct arena *arena;
    struct refusal *refusal;
    uint32_t item;
    bool has_waited; /* for the store to have what was just submitted */
};

bool depends_are_given(const Berth__Submission__Request *request)
{
    for (size_t i = 0; i < request->n_job_request_items; i++) {
        if (annotation_find_own(request->job_request_items[i],
                                ANNOTATION_DEPENDS_ON)
                .byte_count > 0) {
            return true;
        }
    }
    return false;
}

/* Take the next piece of a text up to `end`. */
static struct str take(struct str *rest, char end)
{
    size_t length = 0;

    while (length < rest->byte_count && rest->p[length] != end) {
        length++;
    }
    struct str piece = str_make(rest->p, length);
    size_t taken = length < rest->byte_count ? length + 1 : length;
    *rest = str_make(rest->p + taken, rest->byte_count - taken);
    return piece;
}

static int read_want(struct resolving *r, struct str text,
                     enum job_want *ret_want)
{
    static const char *const words[] = {
        [JOB_WANT_SUCCEEDED] = "succeeded",
        [JOB_WANT_ENDED] = "ended",
        [JOB_WANT_FAILED] = "failed",
    };

    *ret_want = JOB_WANT_SUCCEEDED;
    for (enum job_want want = JOB_WANT_SUCCEEDED; want <= JOB_WANT_FAILED;
         want++) {
        if (str_equal(text, str_of(words[want]))) {
            *ret_want = want;
            return 0;
        }
    }
    return text.byte_count == 0
               ? 0
               : refusal_set(r->refusal,
                             "dependsOn: \"%.*s\" is not succeeded, ended or "
                             "failed",
                             STR_ARG(text));
}

/* One more than the earlier item of that client id; 0: there is none. */
static uint32_t find_item(const struct resolving *r, struct str client_id)
{
    for (uint32_t i = r->item; i > 0; i--) {
        if (str_equal(str_of(r->request->job_request_items[i - 1]->client_id),
                      client_id)) {
            return i;
        }
    }
    return 0;
}

/* The job of a client id; the store may have it a moment later. */
static int find_client(struct resolving *r, struct str client_id,
                       struct depend *depend)
{
    struct str queue = str_of(r->request->queue);
    struct err err;

    depend->item = find_item(r, client_id);
    if (depend->item > 0) {
        return 0;
    }
    int rc =
        store_client_id(r->readers->store, queue, client_id, &depend->on, &err);
    if (rc == 0 && !r->has_waited) {
        r->has_waited = true;
        readers_await(r->readers);
        rc = store_client_id(r->readers->store, queue, client_id, &depend->on,
                             &err);
    }
    return rc > 0 ? 0
                  : refusal_set(r->refusal,
                                "dependsOn: there is no job with clientId "
                                "%.*s in queue %.*s, nor does one come earlier "
                                "in this request",
                                STR_ARG(client_id), STR_ARG(queue));
}

static bool has_ended(enum stored_job_state state)
{
    return state == STORED_JOB_SUCCEEDED || state == STORED_JOB_FAILED ||
           state == STORED_JOB_CANCELLED || state == STORED_JOB_PREEMPTED ||
           state == STORED_JOB_REJECTED;
}

/* See what became of a job that was submitted before: 1 if it is still to be
 * waited for, 0 if not. */
static int look_up(struct resolving *r, struct depend *depend)
{
    struct stored_job job;
    char id[ID_TEXT_BYTES_MAX];
    struct err err;

    int rc = store_job(r->readers->store, depend->on, r->arena, &job, &err);
    if (rc < 0) {
        return refusal_set(r->refusal, "dependsOn: %s", err.text);
    }
    if (rc == 0) {
        return 1; /* just submitted, or not there: the leader knows */
    }
    if (!str_equal(job.queue, str_of(r->request->queue))) {
        return refusal_set(r->refusal,
                           "dependsOn: there is no job %s in this queue",
                           job_id_format(depend->on, id));
    }
    depend->is_known = true;
    if (!has_ended(job.state)) {
        return 1;
    }
    bool has_succeeded = job.state == STORED_JOB_SUCCEEDED;
    if (depend->want != JOB_WANT_ENDED &&
        has_succeeded != (depend->want == JOB_WANT_SUCCEEDED)) {
        return refusal_set(r->refusal,
                           "dependsOn: job %s has %s already, so this job "
                           "would never start",
                           job_id_format(depend->on, id),
                           has_succeeded ? "succeeded" : "ended badly");
    }
    return 0;
}

/* One piece of the annotation; 1 if it is to be waited for. */
static int read_one(struct resolving *r, struct str piece,
                    struct depend *ret_depend)
{
    static const char client[] = "client/";
    struct str target = take(&piece, ':');

    *ret_depend = (struct depend){0};
    int rc = read_want(r, piece, &ret_depend->want);
    if (rc < 0) {
        return rc;
    }
    if (str_starts_with(target, str_of(client))) {
        struct str id = str_make(target.p + strlen(client),
                                 target.byte_count - strlen(client));
        rc = find_client(r, id, ret_depend);
        return rc < 0 || ret_depend->item > 0 ? (rc < 0 ? rc : 1)
                                              : look_up(r, ret_depend);
    }
    if (job_id_parse(target, &ret_depend->on) < 0) {
        return refusal_set(r->refusal,
                           "dependsOn: \"%.*s\" is neither a job's id nor "
                           "client/CLIENT_ID",
                           STR_ARG(target));
    }
    return look_up(r, ret_depend);
}

static int read_item(struct resolving *r, struct depends *ret)
{
    const Berth__Submission__Item *item =
        r->request->job_request_items[r->item];
    struct str rest = annotation_find_own(item, ANNOTATION_DEPENDS_ON);

    ret->items = arena_alloc_array(
        r->arena, rest.byte_count ? JOB_WAITS_MAX : 0, sizeof(*ret->items));
    while (rest.byte_count > 0) {
        struct depend depend;
        int rc = read_one(r, take(&rest, ','), &depend);
        if (rc < 0) {
            return rc;
        }
        if (ret->count == JOB_WAITS_MAX) {
            return refusal_set(r->refusal, "dependsOn: more than %d jobs",
                               JOB_WAITS_MAX);
        }
        if (rc > 0) {
            ret->items[ret->count++] = depend;
        }
    }
    return 0;
}

int depends_resolve(const Berth__Submission__Request *request,
                    struct readers *readers, struct arena *arena,
                    const struct depends **ret_depends, struct refusal *refusal)
{
    struct resolving r = {request, readers, arena, refusal, 0, false};
    struct depends *depends = arena_alloc_array(
        arena, request->n_job_request_items, sizeof(*depends));
    int rc = 0;

    for (; r.item < request->n_job_request_items && rc == 0; r.item++) {
        rc = read_item(&r, &depends[r.item]);
        refusal->item_number = rc < 0 ? r.item + 1 : 0;
    }
    *ret_depends = depends;
    return rc;
}
