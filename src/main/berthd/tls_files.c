#include "main/berthd/tls_files.h"

#include "rpc/rpc_channel.h"

static const char *text_or_null(struct str text)
{
    /* Values of settings are NUL-terminated, and so are literals. */
    return text.byte_count > 0 ? text.p : NULL;
}

bool tls_files_server(const struct config_tls *tls,
                      struct rpc_server_tls *ret_files)
{
    *ret_files = (struct rpc_server_tls){
        .certificate_file = text_or_null(tls->certificate),
        .key_file = text_or_null(tls->key),
        .client_ca_file = text_or_null(tls->client_ca),
    };
    return ret_files->certificate_file != NULL;
}

static void note(struct config_findings *findings, const char *key, int rc,
                 const struct err *err)
{
    auto_strbuf text = {0};

    if (rc < 0) {
        strbuf_addf(&text, "%s: %s", key, err->text);
        setting_texts_add(&findings->texts, SETTING_ERRORS_MAX, findings->arena,
                          strbuf_str(&text));
    }
}

void tls_files_check(const struct config *config,
                     struct config_findings *findings)
{
    const struct config_tls *client = &config->executor.tls;
    struct rpc_channel_tls shown = {
        .ca_file = text_or_null(client->client_ca),
        .certificate_file = text_or_null(client->certificate),
        .key_file = text_or_null(client->key),
    };
    struct rpc_server_tls files;
    struct err err;

    /* What is missing of a pair was said. */
    if (tls_files_server(&config->server.tls, &files) && files.key_file) {
        note(findings, "server.tls", rpc_server_check_tls(&files, &err), &err);
    }
    if (!config->executor.is_enabled ||
        (shown.certificate_file != NULL) != (shown.key_file != NULL)) {
        return;
    }
    note(findings, "executor.tls", rpc_channel_check_tls(&shown, &err), &err);
}
