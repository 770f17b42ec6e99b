/* Reads the files given to commands, and the documents in them. */
#include "cli/shared/command.h"
#include "wire/yaml/yaml.h"

static bool read_stream(FILE *stream, struct strbuf *text)
{
    char piece[65536];
    size_t count;

    while ((count = fread(piece, 1, sizeof(piece), stream)) > 0) {
        strbuf_add(text, piece, count);
    }
    return !ferror(stream);
}

enum cli_exit cli_read_file(struct cli *cli, const char *path,
                            struct str *ret_text)
{
    auto_strbuf text = strbuf_make(CLI_FILE_BYTES_MAX);
    bool is_input = strcmp(path, "-") == 0;
    FILE *file = is_input ? cli->ports->in : fopen(path, "re");

    if (!file) {
        return cli_fail_errno(cli, CLI_INVALID, "cannot open %s", path);
    }
    bool is_read = read_stream(file, &text);
    if (!is_input) {
        (void)fclose(file);
    }
    if (!is_read || text.is_over) {
        return cli_fail(cli, CLI_INVALID, "cannot read %s: %s", path,
                        text.is_over ? "longer than 64 MiB" : "read error");
    }
    *ret_text = arena_str(&cli->arena, strbuf_str(&text));
    return CLI_OK;
}

enum cli_exit cli_read_document(struct cli *cli, const char *path,
                                json_t **ret_document)
{
    struct str text;

    enum cli_exit rc = cli_read_file(cli, path, &text);
    return rc == CLI_OK ? cli_parse_document(cli, path, text, ret_document)
                        : rc;
}

enum cli_exit cli_parse_document(struct cli *cli, const char *path,
                                 struct str text, json_t **ret_document)
{
    struct err err;

    if (wire_yaml_read_first(text, ret_document, &err) < 0) {
        return cli_fail(cli, CLI_INVALID, "%s: %s", path, err.text);
    }
    return CLI_OK;
}

enum cli_exit cli_parse_documents(struct cli *cli, const char *path,
                                  struct str text, json_t **ret_documents)
{
    auto_json_t *all = NULL;
    struct err err;
    json_t *document;
    size_t i;

    if (wire_yaml_read(text, &all, &err) < 0) {
        return cli_fail(cli, CLI_INVALID, "%s: %s", path, err.text);
    }
    auto_json_t *documents = json_array();
    json_array_foreach(all, i, document)
    {
        if (!json_is_null(document)) {
            (void)json_array_append(documents, document);
        }
    }
    if (json_array_size(documents) == 0) {
        return cli_fail(cli, CLI_INVALID, "%s: the file has no documents",
                        path);
    }
    *ret_documents = json_incref(documents);
    return CLI_OK;
}

enum cli_exit cli_each_document(struct cli *cli, const char *path,
                                cli_document_fn *fn)
{
    auto_json_t *documents = NULL;
    struct str text;

    enum cli_exit rc = cli_read_file(cli, path, &text);
    if (rc == CLI_OK) {
        rc = cli_parse_documents(cli, path, text, &documents);
    }
    size_t all = json_array_size(documents), i;
    for (i = 0; rc == CLI_OK && i < all; i++) {
        rc = fn(cli, json_array_get(documents, i));
    }
    if (rc != CLI_OK && all > 1) {
        return cli_fail(cli, rc,
                        "%s: document %zu of %zu; the documents before it were "
                        "applied, this one and the rest were not",
                        path, i, all);
    }
    return rc;
}
