#include "main/berthd/server.h"

#include <stdio.h>
#include <sys/stat.h>

#include "elog/elog_sqlite.h"
#include "main/berthd/api_setup.h"
#include "main/berthd/data_dir.h"
#include "main/berthd/leader.h"
#include "main/berthd/notifier.h"
#include "main/berthd/pages.h"
#include "main/berthd/periodic.h"
#include "main/berthd/policy_event.h"
#include "main/berthd/projector.h"
#include "main/berthd/request_notes.h"
#include "main/berthd/salvage.h"
#include "main/berthd/scrubber.h"
#include "main/berthd/tls_files.h"
#include "main/berthd/token_file.h"
#include "main/common/machine.h"
#include "main/common/say.h"
#include "main/executor/executor_thread.h"
#include "rpc/http.h"
#include "rpc/rpc_server.h"
#include "store/store_sqlite.h"

struct server {
    struct server_options options;
    struct arena arena; /* what lives as long as the server */
    struct data_dir dir;
    struct api_local_user local_user;
    char grpc[SERVER_ADDRESS_BYTES_MAX], http[SERVER_ADDRESS_BYTES_MAX];
    struct strbuf policy_text; /* in force */
    bool is_rewound;           /* the store was ahead of the log */

    struct jump_watch jumps;
    bool has_jumps; /* `jumps` was begun */

    /* Owned, in the order of starting. */
    struct elog *log;
    struct store *store;
    struct queue_table *queues, *retry_policies;
    struct forecasts *forecasts; /* owned */
    struct leader *leader;
    struct api *api;
    struct projector *projector;
    struct notifier *notifier;
    struct scrubber *scrubber;
    struct periodic *periodic;
    struct rpc_server *rpc;
    struct executor_thread *executor;
    struct pages pages;
    struct request_notes notes; /* of the API */
    struct http_server *http_server;
};

static int open_log(struct server *server, struct err *err)
{
    struct elog_sqlite_options options = {.accepts_loss =
                                              server->options.accepts_loss};

    int rc = elog_sqlite_open(server->dir.log, &options, &server->log, err);
    if (rc == 0 && *elog_note(server->log)) {
        say(SAY_WARN, "log.note", say_text("note", elog_note(server->log)));
    }
    return rc;
}

/* A new store beside a log whose beginning is gone knows nothing of the jobs
 * that ended before: the operator hears of it. */
static int warn_of_partial_store(struct server *server,
                                 struct elog_reader *reader, struct err *err)
{
    struct elog_bounds bounds;

    int rc = elog_bounds(reader, &bounds, err);
    if (rc == 0 && store_seq(server->store) == 0 && bounds.first_seq > 1) {
        say(SAY_WARN, "store.partial",
            say_int("first_record", (int64_t)bounds.first_seq),
            say_text("advice",
                     "the store is rebuilt from the records that the log still "
                     "has; older jobs and client ids are only in a backup"));
    }
    return rc;
}

/* Where loss is accepted, a store that is ahead of the log goes on from the
 * log's end, and what it still knows is salvaged once there is a leader. */
static int rewind_store(struct server *server, struct elog_reader *reader,
                        struct err *err)
{
    uint64_t was_seq = store_seq(server->store);

    int rc = server->options.accepts_loss
                 ? store_rewind(server->store, reader, err)
                 : 0;
    if (rc == 1) {
        server->is_rewound = true;
        say(SAY_WARN, "store.rewound", say_int("from_record", (int64_t)was_seq),
            say_int("to", (int64_t)store_seq(server->store)));
    }
    return rc < 0 ? rc : 0;
}

/* Open the store.  One that does not continue the log is not made anew unasked:
 * it may hold the only copy of what the log has lost. */
static int open_store(struct server *server, struct err *err)
{
    auto_ptr(elog_reader) reader = NULL;

    int rc = elog_reader_open(server->log, &reader, err);
    if (rc == 0) {
        rc = store_sqlite_open(server->dir.store, &server->store, err);
    }
    rc = rc < 0 ? rc : rewind_store(server, reader, err);
    if (rc == 0) {
        rc = store_check(server->store, reader, err);
    }
    if (rc == -ERR_CONFLICT && server->store) {
        struct err reason = *err;
        return err_set(err, rc,
                       "%s: the log has lost records, or belongs to another "
                       "server. Restore the newest backup; or start with "
                       "--accept-loss to recover the jobs that store.db still "
                       "has; or move store.db away to start without them",
                       reason.text);
    }
    if (rc == -ERR_CORRUPT) {
        struct err reason = *err;
        return err_set(err, rc,
                       "%s; if you move that file away, berthd rebuilds the "
                       "query store from the log",
                       reason.text);
    }
    return rc < 0 ? rc : warn_of_partial_store(server, reader, err);
}

/* Compare the clock with the log's. */
static int watch_clock(struct server *server, struct err *err)
{
    auto_ptr(elog_reader) reader = NULL;

    int rc = elog_reader_open(server->log, &reader, err);
    if (rc < 0) {
        return rc;
    }
    jump_watch_init(&server->jumps, &machine_clock, jump_watch_last_ms(reader));
    server->has_jumps = true;
    (void)jump_watch_may_prune(&server->jumps); /* it is said at the start */
    return 0;
}

/* Log and store hold what jobs are given to run with: for us alone, while the
 * directory lets jobs of other users through to their own folders.  What
 * SQLite makes beside a file later has the file's mode. */
static int open_files(struct server *server, struct err *err)
{
    mode_t mask = umask(077);
    int rc = open_log(server, err);

    if (rc == 0) {
        rc = open_store(server, err);
    }
    if (rc == 0) {
        rc = watch_clock(server, err);
    }
    (void)umask(mask);
    return rc;
}

static int start_leader(struct server *server, struct err *err)
{
    const struct config *config = server->options.config;
    auto_arena arena = {0};
    struct policy *policy = NULL;

    int rc = config_policy(config, &arena, &policy, err);
    if (rc < 0) {
        return rc;
    }
    policy_print(policy, &server->policy_text);
    struct leader_options options = {
        .log = server->log,
        .store = server->store,
        .clock = &machine_clock,
        .rng = &machine_rng,
        .policy = policy,
        .queues = server->queues,
        .retry_policies = server->retry_policies,
        .retention_ms = config->log.retention_ms,
        .deduplication_ms = config->store.deduplication_ms,
        .jumps = &server->jumps,
        .checkpoint_record_count =
            (uint64_t)config->log.checkpoint_record_count,
        .planner_thread_count = (uint32_t)config->planner.thread_count,
        .forecasts = server->forecasts,
        .forecast_period_ms = config->planner.forecast_period_ms,
        .failed = server->options.failed,
        .ctx = server->options.ctx,
    };
    server->leader = leader_start(&options, err);
    return server->leader ? 0 : -ERR_IO;
}

static int make_api(struct server *server, struct err *err)
{
    const struct config *config = server->options.config;
    struct api_ports ports = {
        .clock = &machine_clock,
        .rng = &machine_rng,
        .inbox = leader_inbox(server->leader),
        .queues = server->queues,
        .retry_policies = server->retry_policies,
        .store = server->store,
        .log = server->log,
        .forecasts =
            config->planner.forecast_period_ms > 0 ? server->forecasts : NULL,
        .noted = request_notes_say,
        .ctx = &server->notes,
    };

    api_local_user_make(&machine_rng, &server->local_user);
    server->local_user.own_user_id = server->options.own_user_id;
    server->api = api_create(api_setup(config, &server->local_user,
                                       server->dir.path, &server->arena),
                             &ports, err);
    return server->api ? 0 : -ERR_IO;
}

static void on_changed(void *ctx, struct str queue, struct str job_set,
                       uint64_t seq)
{
    struct server *server = ctx;

    api_on_changed(server->api, queue, job_set, seq);
}

static void on_store_failed(void *ctx)
{
    struct server *server = ctx;

    server->options.failed(server->options.ctx);
}

static int start_projector(struct server *server, struct err *err)
{
    const struct config *config = server->options.config;
    struct projector_options options = {
        .log = server->log,
        .store = server->store,
        .clock = &machine_clock,
        .changed = on_changed,
        .failed = on_store_failed,
        .ctx = server,
        .jumps = &server->jumps,
        .retention_ms = config->store.retention_ms,
        .deduplication_ms = config->store.deduplication_ms,
    };

    server->projector = projector_start(&options, err);
    return server->projector ? 0 : -ERR_IO;
}

static int start_notifier(struct server *server, struct err *err)
{
    const struct config_notifications *config =
        &server->options.config->notifications;
    struct notifier_options options = {
        .log = server->log,
        .store = server->store,
        .projector = server->projector,
        .clock = &machine_clock,
        .targets = server->options.notify_targets,
        .runner = server->options.runner,
        .target_count = config_notify_count(config),
        .queued_count_max = (uint32_t)config->queued_count_max,
        .keep_ms = config->keep_ms,
        .path = server->dir.notified,
    };

    if (options.target_count == 0) {
        return 0;
    }
    server->notifier = notifier_start(&options, err);
    return server->notifier ? 0 : -ERR_IO;
}

static int start_scrubber(struct server *server, struct err *err)
{
    struct scrubber_options options = {
        .log = server->log,
        .log_path = server->dir.log,
        .store_path = server->dir.store,
        .clock = &machine_clock,
    };

    server->scrubber = scrubber_start(&options, err);
    return server->scrubber ? 0 : -ERR_IO;
}

static int start_periodic(struct server *server, struct err *err)
{
    server->periodic = periodic_start(server->api, err);
    return server->periodic ? 0 : -ERR_IO;
}

/* The host of `wanted` with the port that it got. */
static void set_address(char address[SERVER_ADDRESS_BYTES_MAX],
                        struct str wanted, uint16_t port)
{
    size_t host = wanted.byte_count;

    while (host > 0 && wanted.p[host - 1] != ':') {
        host--;
    }
    (void)snprintf(address, SERVER_ADDRESS_BYTES_MAX, "%.*s%u", (int)host,
                   wanted.p, port);
}

/* Of an error that names an address, say which option sets it. */
static int name_option(struct err *err, const char *option, const char *address)
{
    struct err why = *err;

    return strstr(why.text, address)
               ? err_set(err, -ERR_IO, "%s: %s", option, why.text)
               : -ERR_IO;
}

static int serve_grpc(struct server *server, struct err *err)
{
    const struct config_server *config = &server->options.config->server;
    const char *address = config->grpc.p;
    struct rpc_server_tls tls;
    struct rpc_server_options options = {
        .addresses = &address,
        .address_count = 1,
        .tls = tls_files_server(&config->tls, &tls) ? &tls : NULL,
        .thread_count = (uint32_t)config->thread_count,
        .receive_bytes_max = (size_t)config->receive_bytes_max,
        .call_count_max = (uint32_t)config->call_count_max,
        .stream_count_max = (uint32_t)config->stream_count_max,
        .connection_count_max = (uint32_t)config->connection_count_max,
        .address_count_max = (uint32_t)config->address_connection_count_max,
    };

    options.methods = api_methods(server->api, &options.method_count);
    server->rpc = rpc_server_create(&options, err);
    if (!server->rpc) {
        return name_option(err, "--grpc (server.grpc)", address);
    }
    set_address(server->grpc, config->grpc, rpc_server_port(server->rpc, 0));
    return 0;
}

/* For who cannot be told by their socket's user. */
static int write_token(struct server *server, struct err *err)
{
    return server->options.config->auth.is_anonymous
               ? token_file_write(server->dir.token, server->grpc,
                                  server->local_user.token, err)
               : token_file_remove(server->dir.token, err);
}

static int start_executor(struct server *server, struct err *err)
{
    const struct config *config = server->options.config;
    const struct config_tls *mine = &config->server.tls;
    struct config_tls tls = config->executor.tls;
    bool shows_own = mine->client_ca.byte_count > 0;

    /* Unless told otherwise the executor inside trusts the server's own
     * certificate, and shows it where one must be shown. */
    if (tls.client_ca.byte_count == 0) {
        tls.client_ca = mine->certificate;
    }
    if (tls.certificate.byte_count == 0 && shows_own) {
        tls.certificate = mine->certificate;
        tls.key = mine->key;
    }
    struct executor_thread_options options = {
        .config = &config->executor,
        .tls = config->server.tls.certificate.byte_count > 0 ? &tls : NULL,
        .server = server->grpc,
        .user_name = server->local_user.name,
        .password = server->local_user.password,
        .helper = server->options.helper,
        .kube = server->options.kube,
        .attempts_fd = server->options.attempts_fd,
        .clock = &machine_clock,
    };

    if (!config->executor.is_enabled) {
        return 0;
    }
    server->executor = executor_thread_start(&options, err);
    return server->executor ? 0 : -ERR_IO;
}

static int serve_http(struct server *server, struct err *err)
{
    struct str wanted = server->options.config->server.http;

    server->pages = (struct pages){
        .dir = &server->dir,
        .leader = server->leader,
        .projector = server->projector,
        .notifier = server->notifier,
        .scrubber = server->scrubber,
        .forecasts = server->forecasts,
        .clock = &machine_clock,
        .server = server->rpc,
        .api = server->api,
        .executor = server->executor,
        .queue_count_max =
            (uint32_t)server->options.config->server.metric_queue_count_max,
    };
    server->http_server = pages_serve(&server->pages, wanted.p, err);
    if (!server->http_server) {
        return name_option(err, "--http (server.http)", wanted.p);
    }
    set_address(server->http, wanted, http_server_port(server->http_server));
    return 0;
}

static int wait_ready(struct server *server, struct err *err)
{
    return leader_wait_ready(server->leader, SERVER_READY_MS_MAX)
               ? 0
               : err_set(err, -ERR_UNAVAILABLE,
                         "the leader could not read the log");
}

static int take_up_lost(struct server *server, struct err *err)
{
    struct salvage_options options = {
        .log = server->log,
        .store = server->store,
        .leader = server->leader,
    };

    return server->is_rewound ? salvage(&options, err) : 0;
}

static int start_all(struct server *server, struct err *err)
{
    static int (*const steps[])(struct server *, struct err *) = {
        open_files,     start_leader,    wait_ready,     take_up_lost,
        make_api,       start_projector, start_notifier, start_scrubber,
        start_periodic, serve_grpc,      write_token,    start_executor,
        serve_http,
    };

    server->queues = queue_table_create();
    server->retry_policies = queue_table_create();
    server->forecasts = forecasts_create();
    int rc = data_dir_open(server->options.config->server.data.p,
                           &server->arena, &server->dir, err);
    for (size_t i = 0; rc == 0 && i < ARRAY_COUNT(steps); i++) {
        rc = steps[i](server, err);
    }
    return rc;
}

struct server *server_start(const struct server_options *options,
                            struct err *err)
{
    struct server *server = mem_alloc(sizeof(*server));

    server->options = *options;
    request_notes_init(&server->notes, &machine_clock);
    if (start_all(server, err) < 0) {
        server_stop(server);
        return NULL;
    }
    return server;
}

const char *server_grpc(const struct server *server)
{
    return server->grpc;
}

const char *server_http(const struct server *server)
{
    return server->http;
}

/* Does nothing if that policy is in force. */
static int set_policy(struct server *server, const struct config *config,
                      struct err *err)
{
    auto_arena arena = {0};
    auto_strbuf text = {0};
    struct policy *policy = NULL;

    int rc = config_policy(config, &arena, &policy, err);
    if (rc < 0) {
        return rc;
    }
    policy_print(policy, &text);
    if (str_equal(strbuf_str(&text), strbuf_str(&server->policy_text))) {
        return 0;
    }
    rc = policy_event_post(leader_inbox(server->leader), strbuf_str(&text),
                           &machine_clock, err);
    if (rc == 0) {
        strbuf_clear(&server->policy_text);
        strbuf_add_str(&server->policy_text, strbuf_str(&text));
        api_set_cpu_per_gpu(server->api,
                            config->scheduling.elastic.cpu_per_gpu_milli);
        say(SAY_INFO, "policy.set", say_int("bytes", (int64_t)text.byte_count));
    }
    return rc;
}

static void warn_of_key(struct str key)
{
    say(SAY_WARN, "config.needs_restart", say_str("key", key),
        say_text("advice", "this section has changed, but is read only "
                           "at the start: restart berthd"));
}

static bool is_same_list(const struct setting_texts *a,
                         const struct setting_texts *b)
{
    bool is_same = a->count == b->count;

    for (uint32_t i = 0; is_same && i < a->count; i++) {
        is_same = str_equal(a->items[i], b->items[i]);
    }
    return is_same;
}

/* What submission says of classes follows the policy where it says nothing,
 * but only at the start. */
static void warn_of_classes(const struct config *before,
                            const struct config *after, struct arena *arena)
{
    struct setting_texts old_names = config_class_names(before, arena);
    struct setting_texts names = config_class_names(after, arena);

    if (before->submission.classes.count == 0 &&
        after->submission.classes.count == 0 &&
        !is_same_list(&old_names, &names)) {
        warn_of_key(STR("submission.allowedPriorityClassNames"));
    }
    if (str_equal(before->submission.default_class,
                  after->submission.default_class) &&
        !str_equal(config_default_class(before), config_default_class(after))) {
        warn_of_key(STR("submission.defaultPriorityClassName"));
    }
}

/* What is read once only. */
static void warn_of_rest(const struct server *server,
                         const struct config *config)
{
    auto_arena arena = {0};
    struct setting_texts paths;

    settings_compare(&config_settings, server->options.config, config, &arena,
                     &paths);
    for (uint32_t i = 0; i < paths.count; i++) {
        if (!str_starts_with(paths.items[i], STR("scheduling.")) &&
            !str_starts_with(paths.items[i], STR("messages."))) {
            warn_of_key(paths.items[i]);
        }
    }
    warn_of_classes(server->options.config, config, &arena);
}

int server_reload(struct server *server, const struct config *config,
                  struct err *err)
{
    say_set_by_name(config->messages.level, config->messages.format);
    warn_of_rest(server, config);
    return set_policy(server, config, err);
}

void server_stop(struct server *server)
{
    if (!server) {
        return;
    }
    http_server_destroy(server->http_server);
    scrubber_stop(server->scrubber);
    periodic_stop(server->periodic); /* it asks the leader */
    executor_thread_stop(server->executor, server->options.ends_jobs,
                         SERVER_JOBS_GRACE_MS);
    if (server->rpc) {
        rpc_server_stop(server->rpc, SERVER_STOP_GRACE_MS);
    }
    leader_stop(server->leader);
    notifier_stop(server->notifier);
    projector_stop(server->projector);
    rpc_server_destroy(server->rpc);
    api_destroy(server->api);
    leader_destroy(server->leader);
    queue_table_destroy(server->queues);
    queue_table_destroy(server->retry_policies);
    forecasts_destroy(server->forecasts);
    store_close(server->store);
    elog_close(server->log);
    if (server->has_jumps) {
        jump_watch_fini(&server->jumps);
    }
    strbuf_fini(&server->policy_text);
    request_notes_fini(&server->notes);
    arena_fini(&server->arena);
    mem_free(server);
}
