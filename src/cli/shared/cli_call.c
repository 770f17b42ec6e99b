/* Calls of commands: connections, retries, and what a failed call says. */
#include "cli/shared/cli.h"
#include "cli/shared/command.h"
#include "cli/shared/token.h"

enum {
    CALL_TIMEOUT_MS = 60000,
    REPLY_BYTES_MAX = 64 << 20,
};

static const struct wire_limits reply_limits = {
    .byte_count_max = REPLY_BYTES_MAX,
    .field_count_max = 8 << 20,
    .memory_bytes_max = (size_t)1 << 30,
    .depth_max = WIRE_DEPTH_MAX,
    .mends_text = true,
};

enum cli_exit cli_exit_of(enum rpc_code code)
{
    switch (code) {
    case RPC_OK:
        return CLI_OK;
    case RPC_NOT_FOUND:
        return CLI_NOT_FOUND;
    case RPC_PERMISSION_DENIED:
    case RPC_UNAUTHENTICATED:
        return CLI_DENIED;
    case RPC_UNAVAILABLE:
    case RPC_DEADLINE_EXCEEDED:
        return CLI_UNAVAILABLE;
    case RPC_INVALID_ARGUMENT:
        return CLI_INVALID;
    case RPC_CANCELLED:
    case RPC_UNKNOWN:
    case RPC_ALREADY_EXISTS:
    case RPC_RESOURCE_EXHAUSTED:
    case RPC_FAILED_PRECONDITION:
    case RPC_ABORTED:
    case RPC_OUT_OF_RANGE:
    case RPC_UNIMPLEMENTED:
    case RPC_INTERNAL:
    case RPC_DATA_LOSS:
        break;
    }
    return CLI_FAILED;
}

/* What can be done about a failure that is not about what was asked. */
static void put_advice(const struct cli *cli, const struct rpc_status *status)
{
    if (status->code == RPC_UNAUTHENTICATED) {
        fprintf(cli->ports->err,
                "set your user and password under basicAuth in %s: see "
                "berthctl(1), FILES\n",
                cli->config_path ? cli->config_path : "~/.berthctl.yaml");
    } else if (status->code == RPC_UNAVAILABLE &&
               (strstr(status->message, "failed to connect") ||
                strstr(status->message, "DNS resolution"))) {
        fprintf(cli->ports->err,
                "is there a server at %s? --berthUrl HOST:PORT or a context "
                "names another\n",
                cli->context.url);
        /* So a server with TLS answers who speaks none. */
        if (!cli->context.is_tls_asked &&
            strstr(status->message, "onnection reset")) {
            fputs("perhaps it wants TLS: tls: true in the context, see "
                  "berthctl(1), FILES\n",
                  cli->ports->err);
        }
    }
}

enum cli_exit cli_fail_call(const struct cli *cli,
                            const struct rpc_status *status)
{
    /* How Armada denies what is asked about a queue that does not exist. */
    const char *no_queue = strstr(status->message, "could not find queue ");

    if (no_queue && (status->code == RPC_PERMISSION_DENIED ||
                     status->code == RPC_UNKNOWN)) {
        return cli_fail(
            cli, CLI_NOT_FOUND,
            "%s (create queue creates one, get queues lists those that exist)",
            no_queue);
    }
    enum cli_exit rc =
        cli_fail(cli, cli_exit_of(status->code), "%s: %s%s%s",
                 rpc_code_name(status->code), cli->about ? cli->about : "",
                 cli->about ? ": " : "", status->message);
    put_advice(cli, status);
    return rc;
}

enum cli_exit cli_connect(struct cli *cli)
{
    struct rpc_channel_tls tls = {.ca_file = cli->context.ca_file};
    struct rpc_channel_options options = {
        .address = cli->context.url,
        .tls = cli->context.is_plain ? NULL : &tls,
        .receive_bytes_max = REPLY_BYTES_MAX,
        .user_agent = "berthctl/" BERTH_VERSION,
    };
    struct err err;

    if (!cli->channel) {
        cli->channel = rpc_channel_open(&options, &err);
    }
    return cli->channel ? CLI_OK
                        : cli_fail(cli, CLI_UNAVAILABLE, "%s: %s",
                                   cli->context.url, err.text);
}

struct rpc_call_options cli_call_options(struct cli *cli)
{
    struct rpc_call_options options = {.is_gzip = true};
    struct rpc_header *header = arena_alloc(&cli->arena, sizeof(*header));

    header->name = "authorization";
    header->value = cli->context.user_name
                        ? context_basic(cli->context.user_name,
                                        cli->context.password, &cli->arena)
                        : token_find(cli->context.url, &cli->arena);
    if (header->value) {
        options.headers = header;
        options.header_count = 1;
    }
    return options;
}

enum rpc_code cli_try(struct cli *cli, const char *path,
                      const ProtobufCMessage *request,
                      const ProtobufCMessageDescriptor *reply_type,
                      ProtobufCMessage **ret_reply,
                      struct rpc_status *ret_status)
{
    struct rpc_call_options options = cli_call_options(cli);
    auto_strbuf bytes = {0}, reply = {0};
    struct err err;

    options.timeout_ms = CALL_TIMEOUT_MS;
    wire_encode(request, &bytes);
    enum rpc_code code = rpc_channel_call(
        cli->channel, path, strbuf_str(&bytes), &options, &reply, ret_status);
    if (code != RPC_OK || !reply_type) {
        return code;
    }
    struct str copy = arena_str(&cli->arena, strbuf_str(&reply));
    int rc = wire_decode(reply_type, copy, &reply_limits, &cli->arena,
                         ret_reply, &err);
    if (rc < 0) {
        ret_status->code = RPC_INTERNAL;
        (void)snprintf(ret_status->message, sizeof(ret_status->message),
                       "the answer cannot be read: %s", err.text);
    }
    return ret_status->code;
}

enum cli_exit cli_call(struct cli *cli, const char *path,
                       const ProtobufCMessage *request,
                       const ProtobufCMessageDescriptor *reply_type,
                       ProtobufCMessage **ret_reply)
{
    auto_mem struct rpc_status *status = mem_alloc(sizeof(*status));

    enum cli_exit rc = cli_connect(cli);
    if (rc != CLI_OK) {
        return rc;
    }
    enum rpc_code code =
        cli_try(cli, path, request, reply_type, ret_reply, status);
    if (code == RPC_OK) {
        return CLI_OK;
    }
    return cli_fail_call(cli, status);
}

enum cli_exit cli_call_empty(struct cli *cli, const char *path,
                             const ProtobufCMessage *request)
{
    return cli_call(cli, path, request, NULL, NULL);
}
