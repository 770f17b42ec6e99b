/*
 * berth.api.Berth.Backup: copies of log and store, made while the server runs
 * and sent file by file.
 *
 * The copies are made by a thread of their own, since that may take long; at
 * most one backup at a time.  The store comes first: what it holds, the log
 * that is copied after it holds too.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/core/message.h"
#include "api/core/state.h"
#include "api/handlers.h"
#include "berth/api.pb-c.h"
#include "wire/message/message.h"

enum { CHUNK_BYTES = 256 << 10, PATH_BYTES_MAX = 4096 };

static const char *const names[] = {"store.db", "log.db"};

/* A backup under way; belongs to its call. */
struct backup {
    struct api_call *call;
    char paths[ARRAY_COUNT(names)][PATH_BYTES_MAX];
    size_t file; /* which is being sent */
    int fd;      /* of it; -1: not open */
    bool is_locked;
    uint8_t bytes[CHUNK_BYTES];
};

static void backup_destroy(void *data)
{
    struct backup *backup = data;

    if (backup->fd >= 0) {
        (void)close(backup->fd);
    }
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        (void)unlink(backup->paths[i]);
    }
    if (backup->is_locked) {
        __atomic_store_n(&backup->call->api->is_backup_running, false,
                         __ATOMIC_RELEASE);
    }
    mem_free(backup);
}

static void send_next(struct backup *backup);

static void on_sent(void *ctx, struct rpc_call *rpc, bool is_ok)
{
    struct backup *backup = ctx;

    (void)rpc;
    if (is_ok) {
        send_next(backup);
    } else {
        api_call_fail(backup->call, RPC_CANCELLED, "cancelled");
    }
}

/* The next piece of the files: its length, 0 at the end of a file, or -1. */
static ssize_t read_next(struct backup *backup)
{
    if (backup->fd < 0) {
        backup->fd = open(backup->paths[backup->file], O_RDONLY | O_CLOEXEC);
    }
    return backup->fd < 0 ? -1 : read(backup->fd, backup->bytes, CHUNK_BYTES);
}

static void send_next(struct backup *backup)
{
    Berth__Api__BackupChunk chunk = BERTH__API__BACKUP_CHUNK__INIT;
    auto_strbuf message = {0};
    ssize_t length = 0;

    while (backup->file < ARRAY_COUNT(names) &&
           (length = read_next(backup)) == 0) {
        (void)close(backup->fd);
        backup->fd = -1;
        backup->file++;
    }
    if (backup->file == ARRAY_COUNT(names)) {
        api_call_end(backup->call);
        return;
    }
    if (length < 0) {
        api_call_fail(backup->call, RPC_INTERNAL, "cannot read the copy: %s",
                      strerror(errno));
        return;
    }
    chunk.file = message_text(str_of(names[backup->file]));
    chunk.content.data = backup->bytes;
    chunk.content.len = (size_t)length;
    wire_encode(&chunk.base, &message);
    if (rpc_call_send(backup->call->rpc, strbuf_str(&message), on_sent,
                      backup) < 0) {
        api_call_fail(backup->call, RPC_CANCELLED, "cancelled");
    }
}

static void *copy_and_send(void *ctx)
{
    struct backup *backup = ctx;
    struct api_ports *ports = &backup->call->api->ports;
    struct err err;

    int rc = store_backup(ports->store, backup->paths[0], &err);
    if (rc == 0) {
        rc = elog_backup(ports->log, backup->paths[1], &err);
    }
    if (rc < 0) {
        api_call_fail_storage(backup->call, &err);
    } else {
        send_next(backup);
    }
    return NULL;
}

static struct backup *make(struct api_call *call)
{
    struct backup *backup = mem_alloc(sizeof(*backup));
    struct str folder = call->api->config->backup_dir;

    backup->call = call;
    backup->fd = -1;
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
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

void handle_backup(struct api_call *call, struct str request)
{
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
    if (__atomic_exchange_n(&call->api->is_backup_running, true,
                            __ATOMIC_ACQUIRE)) {
        api_call_fail(call, RPC_RESOURCE_EXHAUSTED,
                      "another backup is under way");
        return;
    }
    struct backup *backup = make(call);
    backup->is_locked = true;
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        (void)unlink(backup->paths[i]); /* left by a crash */
    }
    if (pthread_create(&thread, NULL, copy_and_send, backup) != 0) {
        api_call_fail(call, RPC_RESOURCE_EXHAUSTED, "cannot start a thread");
        return;
    }
    (void)pthread_detach(thread);
}
