/*
 * command - what the commands of berthctl have in common: what describes one,
 * its parsed options, and the words to talk to the server and to people.
 *
 * Memory of one invocation is in `cli->arena`.
 *
 * Threads: berthctl's only one; an invocation has a `struct cli` of its own.
 */
#pragma once

#include "base/arena.h"
#include "base/vec.h"
#include "cli/shared/cli.h"
#include "cli/shared/context.h"
#include "google/protobuf/timestamp.pb-c.h"
#include "rpc/rpc_channel.h"
#include "wire/json/json.h"
#include "wire/message/message.h"

enum {
    CLI_OPTIONS_MAX = 32, /* of one command, common ones included */
    CLI_LIST_MAX = 4096,  /* items of one list option */
    CLI_FILE_BYTES_MAX = 64 << 20,
};

enum option_kind {
    OPTION_FLAG,
    OPTION_SWITCH, /* a flag that =false turns off */
    OPTION_TEXT,
    OPTION_LIST, /* comma-separated, may be repeated */
    OPTION_COUNT /* -vvv */
};

/* One option of a command. */
struct option_spec {
    const char *name;
    char letter; /* 0: only the long form */
    enum option_kind kind;
    const char *value; /* what to call its value in --help; NULL for flags */
    const char *about;
};

/* What was given for an option. */
struct option_value {
    bool is_given;
    uint32_t count; /* how often; of a list: the number of items */
    const char *text;
    const char **items;
};

/* What -o asks for. */
enum cli_output {
    CLI_OUTPUT_TEXT,
    CLI_OUTPUT_JSON,
    CLI_OUTPUT_YAML,
    CLI_OUTPUT_NAME,     /* what names each item, a line each */
    CLI_OUTPUT_COLUMNS,  /* custom-columns=pattern */
    CLI_OUTPUT_TEMPLATE, /* jsonpath=pattern */
};

struct cli;

/* One command. */
struct command_spec {
    const char *path;      /* "cancel job" */
    const char *alias;     /* another path, or NULL */
    const char *arguments; /* "QUEUE JOBSET ID" */
    int argument_count_min;
    int argument_count_max; /* -1: any number */
    const char *about;
    enum cli_exit (*run)(struct cli *cli);
    const struct option_spec *options;
    uint32_t option_count;
    /* Its first argument ends the options: what follows is another program's
     * command line. */
    bool takes_command_line;
};

/* One invocation. */
struct cli {
    const struct cli_ports *ports;
    struct arena arena;
    const struct command_spec *command;
    char **arguments; /* what is neither command nor option */
    int argument_count;
    struct option_spec options[CLI_OPTIONS_MAX];
    struct option_value values[CLI_OPTIONS_MAX];
    uint32_t option_count;
    enum cli_output output;
    bool is_csv;         /* tables are written with commas, as by RFC 4180 */
    bool is_wide;        /* tables are not cut to the terminal's width */
    const char *pattern; /* of -o, behind its equals sign */
    const char
        *config_path; /* --config's, or that found; NULL: none is there */
    struct context context;
    struct rpc_channel *channel; /* owned; opened by the first call */
    json_t *notes;               /* owned; NULL: none */
    const char *about;           /* what a failing call was about, or NULL */
    /* Where in a file what fails stands ("document 2 of 3"), or NULL. */
    const char *place;
    /* The job is made of options: errors name these, and no fields of files. */
    bool is_of_options;
};

/* What was given for the option `name`, which the command must have. */
const struct option_value *cli_option(const struct cli *cli, const char *name);
/* Whether the option was given; of a list: with an item at least. */
bool cli_has(const struct cli *cli, const char *name);
/* Whether the option was given, even as an empty list. */
bool cli_is_given(const struct cli *cli, const char *name);
/* Its text, or `otherwise`. */
const char *cli_text(const struct cli *cli, const char *name,
                     const char *otherwise);
/* Take over a switch, true or false, alone true; unchanged without it.
 * CLI_USAGE, with a message, for any other text. */
enum cli_exit cli_switch(const struct cli *cli, const char *name,
                         protobuf_c_boolean *ret_is_on);
/* The argument `index`, which must be there. */
char *cli_argument(const struct cli *cli, int index);

/* Remark, for people, on what is wrong and does not stop the command. */
void cli_remark(const struct cli *cli, const char *format, ...)
    printf_like(2, 3);
/* Say what is wrong, for people, and return `code`. */
enum cli_exit cli_fail(const struct cli *cli, enum cli_exit code,
                       const char *format, ...) printf_like(3, 4);
/* The same, followed by what errno says. */
enum cli_exit cli_fail_errno(const struct cli *cli, enum cli_exit code,
                             const char *format, ...) printf_like(3, 4);
/* Say how a call failed, and return the exit code for it. */
enum cli_exit cli_fail_call(const struct cli *cli,
                            const struct rpc_status *status);
/* The exit code for how a call ended. */
enum cli_exit cli_exit_of(enum rpc_code code);

/* Open the channel if it is not open. */
enum cli_exit cli_connect(struct cli *cli);
/* The options of a call: credentials, compression. */
struct rpc_call_options cli_call_options(struct cli *cli);
/* Call `path` and decode the answer into the arena.  What goes wrong is said
 * before the return. */
enum cli_exit cli_call(struct cli *cli, const char *path,
                       const ProtobufCMessage *request,
                       const ProtobufCMessageDescriptor *reply_type,
                       ProtobufCMessage **ret_reply);
/* The same for a method whose answer says nothing. */
enum cli_exit cli_call_empty(struct cli *cli, const char *path,
                             const ProtobufCMessage *request);
/* The same, but the failure is only returned, not said. */
enum rpc_code cli_try(struct cli *cli, const char *path,
                      const ProtobufCMessage *request,
                      const ProtobufCMessageDescriptor *reply_type,
                      ProtobufCMessage **ret_reply,
                      struct rpc_status *ret_status);

/* Write to a file as text: what clients chose, a terminal shows and does not
 * obey (wire/text/printable.h). */
void cli_put(FILE *file, const char *format, ...) printf_like(2, 3);
/* Write JSON likewise, and a line feed; `flags` are json_dumps()'s. */
void cli_put_json(FILE *file, const json_t *json, size_t flags);
/* Write a line to standard output: one, whatever names are in it. */
void cli_say(const struct cli *cli, const char *format, ...) printf_like(2, 3);
/* Say that something was done: a line, or with -o json or yaml one of the
 * `messages` of the object that is written in the end. */
void cli_note(struct cli *cli, const char *format, ...) printf_like(2, 3);
/* If -o json or yaml was given, write `message` so and answer true. */
bool cli_print_message(const struct cli *cli, const ProtobufCMessage *message);
/* Append `json` as -o json writes it, with a line feed. */
void cli_json_text(const json_t *json, struct strbuf *buf);
/* Write `json` as -o says (text: as YAML); takes the reference. */
void cli_print_json(const struct cli *cli, json_t *json);

/* Read all of `path` ("-": standard input) into the arena. */
enum cli_exit cli_read_file(struct cli *cli, const char *path,
                            struct str *ret_text);
/* Read the first YAML or JSON document of a file; the caller lets it go. */
enum cli_exit cli_read_document(struct cli *cli, const char *path,
                                json_t **ret_document);
/* What is done with a document of a file. */
typedef enum cli_exit cli_document_fn(struct cli *cli, const json_t *document);
/* Do it with each, in order, up to the first that fails; empty ones are passed
 * over, but not all of them may be. */
enum cli_exit cli_each_document(struct cli *cli, const char *path,
                                cli_document_fn *fn);

/* The documents of what was read of a file, without empty ones; the caller
 * json_decref()s the array.  CLI_INVALID if there is none. */
enum cli_exit cli_parse_documents(struct cli *cli, const char *path,
                                  struct str text, json_t **ret_documents);
/* The first document of what was read of a file. */
enum cli_exit cli_parse_document(struct cli *cli, const char *path,
                                 struct str text, json_t **ret_document);

/* A C string in the arena. */
char *cli_format(struct cli *cli, const char *format, ...) printf_like(2, 3);
/* A time in UTC, as in 2026-01-31T12:00:00Z; "" for NULL.  In the arena. */
const char *cli_time(struct cli *cli, const Google__Protobuf__Timestamp *stamp);

/* How long ago a time is, as people say it: 45s, 3m20s, 2h5m, 4d3h; what is yet
 * to come is 0s.  With -o wide it is the time itself; "" for NULL.  In the
 * arena. */
const char *cli_age(struct cli *cli, const Google__Protobuf__Timestamp *stamp);
/* The same as "3m20s ago" or "in 3m20s". */
const char *cli_when(struct cli *cli, const Google__Protobuf__Timestamp *stamp);

/* What a table has room for of a text: on a terminal the first line, cut
 * between characters where the table would get too wide; with -o wide or csv,
 * and where there is no terminal, all of it on one line.  In the arena. */
const char *cli_cell(struct cli *cli, const char *text);
/* A text without the line feeds that end it, and with a space in place of each
 * other and the indent behind it.  In the arena. */
const char *cli_one_line(struct cli *cli, const char *text);

/* Texts under a name, all borrowed. */
struct cli_names {
    char **items;
    size_t count;
};

/* The items of a list option as protobuf wants them. */
struct cli_names cli_list(struct cli *cli, const char *name);

/* A table for people: columns as wide as their widest cell. */
struct table {
    struct arena *arena;
    const char *const *headings; /* [column_count] */
    uint32_t column_count;
    VEC(const char *) cells; /* row by row, in the arena */
    /* Headings of columns that a terminal which is too narrow goes without, the
     * first of them first; NULL ends them, and is none. */
    const char *const *spare;
    /* Of cli_print_rows(): widths that the first rows had, owned by the caller,
     * who begins with zeroed ones; NULL: none. */
    int *widths;
    bool has_headings; /* they are written */
};

/* Add the next cell; rows fill from the left.  The text is copied. */
void table_add(struct table *table, const char *text);
/* The same from a format. */
void table_addf(struct table *table, const char *format, ...) printf_like(2, 3);
/* The same for people: on a terminal columns are left out, and the last one is
 * cut, to the width, and states have colours. */
void cli_print_table(const struct cli *cli, struct table *table);
/* The same for rows of which more may follow, in the widths that the first ones
 * had; headings once. */
void cli_print_rows(const struct cli *cli, struct table *table);
/* Write it and forget the cells. */
void table_print(struct table *table, FILE *out);
