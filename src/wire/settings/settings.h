/*
 * settings - configuration as one table of keys, which drives the reading, the
 * checks, the defaults, the printing and the manual page.
 *
 * A record is a C struct; its table says for each key where its value is in
 * the struct, what it may be and what it means.  Defaults are what `init`
 * writes; reading changes only what the text names.  A list or a map that is
 * named replaces the default whole.
 *
 * A key that was renamed keeps its old name in the table.  Reading accepts
 * either name, but not both; printing writes the new one, except for logs,
 * which keep the old names of all releases forever.
 *
 *     type       in the struct                  in the text
 *     bool       bool                           true, false
 *     int        int64_t                        -12
 *     duration   int64_t ms                     90s, 1h30m, 250ms
 *     bytes      int64_t                        4194304, 4Mi
 *     ppm        int64_t millionths             0.5
 *     milli      int64_t thousandths            12.5
 *     quantity   int64_t thousandths            500m, 2, 4Gi
 *     text       struct str                     any scalar
 *     texts      struct setting_texts           [a, b]
 *     amounts    struct resource_list           {cpu: 500m}
 *     fractions  struct setting_fractions       {cpu: 0.5}
 *     record     the nested struct              {...}
 *     records    T[max], and a uint32_t count   [{...}, ...]
 *
 * Ownership: what is read lives in the reader's arena; defaults are literals.
 * Threads: none of this is shared.
 */
#pragma once

#include "base/strbuf.h"
#include "model/policy.h"
#include "model/resource.h"

enum {
    SETTINGS_BYTES_MAX = 16 << 20, /* of one text */
    SETTING_TEXTS_MAX = 4096,
    SETTING_TEXT_BYTES_MAX = 4096,
    SETTING_PATH_BYTES_MAX = 256,
    SETTING_WARNINGS_MAX = 16,
    SETTING_ERRORS_MAX = 64,
};

/* What a value is; see the table above. */
enum setting_type {
    SETTING_BOOL,
    SETTING_INT,
    SETTING_DURATION,
    SETTING_BYTES,
    SETTING_PPM,
    SETTING_MILLI,
    SETTING_QUANTITY,
    SETTING_TEXT,
    SETTING_TEXTS,
    SETTING_AMOUNTS,
    SETTING_FRACTIONS,
    SETTING_RECORD,
    SETTING_RECORDS,
};

/* A list of texts, in the order written. */
struct setting_texts {
    const struct str *items;
    uint32_t count;
};

/* A map from resource names to fractions, sorted by name. */
struct setting_fractions {
    struct resource_fraction items[POLICY_FRACTIONS_MAX];
    uint32_t count;
};

struct settings;

/* One key. */
struct setting {
    const char *key;
    const char *old_key; /* its name in earlier releases and in logs, or NULL */
    enum setting_type type;
    size_t offset;
    const char *about;   /* one sentence for people; "" for a nested record */
    int64_t min, max;    /* of numbers, both included; both 0: 0..INT64_MAX */
    const char *choices; /* of texts: "a b c"; NULL: any */
    const struct settings *table; /* of RECORD and RECORDS */
    size_t count_offset;          /* RECORDS: where the uint32_t count lies */
    uint32_t count_max;           /* RECORDS: items in the struct's array */
    bool is_pointer;  /* RECORDS: the field points to them, in the arena */
    bool is_required; /* a record without it is refused */
    const char *default_from; /* the key that sets its default, or NULL */
};

/* A row of a table: the key, its type and field, then the rest by name. */
#define SETTING(key_, type_, record_, field_, ...)              \
    {                                                           \
        .key = key_, .type = SETTING_##type_,                   \
        .offset = offsetof(struct record_, field_), __VA_ARGS__ \
    }

/* The keys of one kind of record. */
struct settings {
    const struct setting *items;
    size_t count;
    size_t record_bytes;
    /* Write the defaults; NULL: all zero. */
    void (*init)(void *record);
};

/* The value of one: an array of rows, and their record's struct and init. */
#define SETTINGS(rows_, record_, init_)                          \
    {                                                            \
        rows_, ARRAY_COUNT(rows_), sizeof(struct record_), init_ \
    }

/* Where texts come from and where their values go. */
struct settings_reader {
    const char *file_name; /* for messages */
    struct arena *arena;
    /* Gets the first SETTING_WARNINGS_MAX old names in the text, each as
     * "FILE:LINE: KEY: ..." in the arena; starts empty.  NULL for logs, whose
     * old names nobody can change. */
    struct setting_texts *warnings;
    /* Gets all that is wrong (the first SETTING_ERRORS_MAX), likewise; NULL:
     * reading ends at the first. */
    struct setting_texts *errors;
};

/* How a record is printed. */
enum settings_style {
    SETTINGS_PLAIN,     /* the keys alone */
    SETTINGS_COMMENTED, /* for people: each key's meaning stands above it */
    SETTINGS_LOGGED,    /* for the log: renamed keys by their old names */
};

/* Add a copy of `text`, unless there are `count_max` already. */
void setting_texts_add(struct setting_texts *texts, uint32_t count_max,
                       struct arena *arena, struct str text);

/* Read the YAML document `text` into `record`, whose defaults are already
 * there.  -ERR_INVALID with "FILE:LINE: KEY: what is wrong and what is
 * allowed"; a key that does not exist is answered with the nearest that
 * does. */
int settings_read(const struct settings *table, struct str text,
                  const struct settings_reader *reader, void *record,
                  struct err *err) must_check;

/* Write `record` as YAML that settings_read() reads back to the same
 * record. */
void settings_print(const struct settings *table, const void *record,
                    enum settings_style style, struct strbuf *out);

/* Add the path ("server.grpc") of each key whose value differs between two
 * records of a table, at most SETTING_ERRORS_MAX.  A list that differs is one
 * key. */
void settings_compare(const struct settings *table, const void *a,
                      const void *b, struct arena *arena,
                      struct setting_texts *ret_paths);

/* Write the table as rows of a Markdown table: key, type, default, meaning. */
void settings_print_manual(const struct settings *table, struct strbuf *out);

/* Read one scalar of `setting` (not a list, map or record) into the place it
 * has in `record`.  -ERR_INVALID with what is allowed. */
int setting_read_scalar(const struct setting *setting, struct str text,
                        struct arena *arena, void *record,
                        struct err *err) must_check;

/* Write one scalar of `record` as setting_read_scalar() reads it, quoted
 * where YAML needs it. */
void setting_print_scalar(const struct setting *setting, const void *record,
                          struct strbuf *out);

/* Write `text` as a YAML scalar, quoted unless it is plainly a word. */
void setting_print_text(struct str text, struct strbuf *out);

/* A fraction in millionths from a decimal ("0.25").  -ERR_INVALID. */
int setting_parse_ppm(struct str text, int64_t *ret_ppm) must_check;

/* A duration in ms ("1h30m", "250ms", "0").  -ERR_INVALID. */
int setting_parse_duration(struct str text, int64_t *ret_ms) must_check;

/* A duration in the largest units that say it exactly ("1h30m0s" is not
 * written: "1h30m" is). */
void setting_print_duration(int64_t ms, struct strbuf *out);

/* How many single letters must change to make `a` into `b`. */
uint32_t settings_distance(struct str a, struct str b);
