/*
 * berth.api.Berth.Backup: copies of log and store, made while the server runs
 * and sent file by file.
 *
 * A thread of its own makes the copies and sends them, since both may take
 * long; one copies at a time, and a few send.  The store comes first: what it
 * holds, the log that is copied after it holds too.  Once they are open the
 * copies have no names any more, so a client that does not read keeps nobody
 * from making the next; after BACKUP_STALL_MS without progress it is given up.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "api/core/message.h"
#include "api/core/state.h"
#include "api/handlers.h"
#include "berth/api.pb-c.h"
#include "wire/message/message.h"

enum {
    CHUNK_BYTES = 256 << 10,
    PATH_BYTES_MAX = 4096,
    BACKUPS_MAX = 4, /* at once, most of them being sent */
    BACKUP_STALL_MS = 60000,
};

static const char *const names[] = {"store.db", "log.db"};

/* A backup under way; belongs to its call. */
struct backup {
    struct api_call *call;
    struct rpc_call *rpc; /* a reference, of the thread */
    char paths[ARRAY_COUNT(names)][PATH_BYTES_MAX];
    int fds[ARRAY_COUNT(names)]; /* of the copies; -1: not open */
    uint8_t bytes[CHUNK_BYTES];
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_sending, is_lost; /* under lock */
};

static void backup_destroy(void *data)
{
    struct backup *backup = data;

    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        if (backup->fds[i] >= 0) {
            (void)close(backup->fds[i]);
        }
    }
    pthread_cond_destroy(&backup->changed);
    pthread_mutex_destroy(&backup->lock);
    mem_free(backup);
}

static void on_sent(void *ctx, struct rpc_call *rpc, bool is_ok)
{
    struct backup *backup = ctx;

    (void)rpc;
    pthread_mutex_lock(&backup->lock);
    backup->is_sending = false;
    backup->is_lost = !is_ok;
    pthread_cond_signal(&backup->changed);
    pthread_mutex_unlock(&backup->lock);
}

/* Wait until what was sent is taken.  -ERR_UNAVAILABLE: the client is gone;
 * -ERR_LIMIT: it does not read. */
static int await_sent(struct backup *backup)
{
    struct timespec until;
    int rc = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += BACKUP_STALL_MS / 1000;
    pthread_mutex_lock(&backup->lock);
    while (backup->is_sending && rc == 0) {
        rc = pthread_cond_timedwait(&backup->changed, &backup->lock, &until);
    }
    rc = backup->is_sending ? -ERR_LIMIT
         : backup->is_lost  ? -ERR_UNAVAILABLE
                            : 0;
    pthread_mutex_unlock(&backup->lock);
    return rc;
}

static int send_chunk(struct backup *backup, size_t file, size_t byte_count)
{
    Berth__Api__BackupChunk chunk = BERTH__API__BACKUP_CHUNK__INIT;
    auto_strbuf message = {0};

    chunk.file = message_text(str_of(names[file]));
    chunk.content.data = backup->bytes;
    chunk.content.len = byte_count;
    wire_encode(&chunk.base, &message);
    backup->is_sending = true; /* nobody else looks yet */
    if (rpc_call_send(backup->rpc, strbuf_str(&message), on_sent, backup) < 0) {
        return -ERR_UNAVAILABLE;
    }
    return await_sent(backup);
}

/* Send a copy piece by piece: 0, -ERR_IO, or as await_sent(). */
static int send_file(struct backup *backup, size_t file)
{
    int rc = 0;

    while (rc == 0) {
        ssize_t count =
            read(backup->fds[file], backup->bytes, sizeof(backup->bytes));
        if (count <= 0) {
            return count < 0 ? -ERR_IO : 0;
        }
        rc = send_chunk(backup, file, (size_t)count);
    }
    return rc;
}

static void send_all(struct backup *backup)
{
    int rc = 0;

    for (size_t i = 0; i < ARRAY_COUNT(names) && rc == 0; i++) {
        rc = send_file(backup, i);
    }
    if (rc == 0) {
        api_call_end(backup->call);
    } else if (rc == -ERR_LIMIT) {
        api_call_fail(backup->call, RPC_RESOURCE_EXHAUSTED,
                      "the backup was not read for %d s",
                      BACKUP_STALL_MS / 1000);
    } else if (rc == -ERR_IO) {
        api_call_fail(backup->call, RPC_INTERNAL, "cannot read the copy: %s",
                      strerror(errno));
    } else {
        api_call_fail(backup->call, RPC_CANCELLED, "cancelled");
    }
}

static void remove_names(const struct backup *backup)
{
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        (void)unlink(backup->paths[i]);
    }
}

/* Make the copies and open them. */
static int copy(struct backup *backup, struct err *err)
{
    struct api_ports *ports = &backup->call->api->ports;

    remove_names(backup); /* left by a crash */
    int rc = store_backup(ports->store, backup->paths[0], err);
    if (rc == 0) {
        rc = elog_backup(ports->log, backup->paths[1], err);
    }
    for (size_t i = 0; i < ARRAY_COUNT(names) && rc == 0; i++) {
        backup->fds[i] = open(backup->paths[i], O_RDONLY | O_CLOEXEC);
        if (backup->fds[i] < 0) {
            rc = err_set(err, -ERR_IO, "cannot open the copy: %s",
                         strerror(errno));
        }
    }
    remove_names(backup);
    return rc;
}

static void *copy_and_send(void *ctx)
{
    struct backup *backup = ctx;
    struct api *api = backup->call->api;
    struct rpc_call *rpc = backup->rpc;
    struct err err;

    int rc = copy(backup, &err);
    __atomic_store_n(&api->is_backup_copying, false, __ATOMIC_RELEASE);
    if (rc < 0) {
        api_call_fail_storage(backup->call, &err);
    } else {
        send_all(backup);
    }
    rpc_call_unref(rpc); /* the backup may be gone */
    atomic_fetch_sub(&api->backup_count, 1);
    return NULL;
}

static struct backup *make(struct api_call *call)
{
    struct backup *backup = mem_alloc(sizeof(*backup));
    struct str folder = call->api->config->backup_dir;

    pthread_condattr_t attributes;

    backup->call = call;
    backup->rpc = rpc_call_ref(call->rpc);
    pthread_mutex_init(&backup->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&backup->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        backup->fds[i] = -1;
        (void)snprintf(backup->paths[i], PATH_BYTES_MAX, "%.*s/backup/%s",
                       STR_ARG(folder), names[i]);
    }
    /* The copies are for us alone, whatever the umask. */
    char path[PATH_BYTES_MAX];
    (void)snprintf(path, sizeof(path), "%.*s/backup", STR_ARG(folder));
    (void)mkdir(path, 0700);
    call->data = backup;
    call->destroy_data = backup_destroy;
    return backup;
}

/* Give back the turn, and end the call. */
static void give_up(struct api_call *call, const char *why)
{
    struct api *api = call->api;

    api_call_fail(call, RPC_RESOURCE_EXHAUSTED, "%s", why);
    __atomic_store_n(&api->is_backup_copying, false, __ATOMIC_RELEASE);
    atomic_fetch_sub(&api->backup_count, 1);
}

void handle_backup(struct api_call *call, struct str request)
{
    struct api *api = call->api;
    Berth__Api__BackupRequest *message;
    pthread_t thread;

    if (!api_call_decode(call, &berth__api__backup_request__descriptor, request,
                         &message)) {
        return;
    }
    if (call->api->config->backup_dir.byte_count == 0) {
        api_call_fail(call, RPC_UNIMPLEMENTED,
                      "this server has no files to copy");
        return;
    }
    if (__atomic_exchange_n(&api->is_backup_copying, true, __ATOMIC_ACQUIRE)) {
        api_call_fail(call, RPC_RESOURCE_EXHAUSTED,
                      "another backup is in progress");
        return;
    }
    if (atomic_fetch_add(&api->backup_count, 1) >= BACKUPS_MAX) {
        give_up(call, "too many backups are being sent");
        return;
    }
    struct backup *backup = make(call);
    if (pthread_create(&thread, NULL, copy_and_send, backup) != 0) {
        struct rpc_call *rpc = backup->rpc;
        give_up(call, "cannot start a thread");
        rpc_call_unref(rpc);
        return;
    }
    (void)pthread_detach(thread);
}
