#include "wire/text/input_files.h"

#include "wire/text/base64.h"
#include "wire/text/inner_path.h"

enum { SHOWN_BYTES_MAX = 200 };

static int refuse(struct str path, const char *what, struct err *err)
{
    int shown = path.byte_count < SHOWN_BYTES_MAX ? (int)path.byte_count
                                                  : SHOWN_BYTES_MAX;

    return err_set(err, -ERR_INVALID, "input file \"%.*s\" %s", shown, path.p,
                   what);
}

/* Whether they cannot both be there. */
static bool collide(struct str a, struct str b)
{
    struct str shorter = a.byte_count < b.byte_count ? a : b;
    struct str longer = a.byte_count < b.byte_count ? b : a;

    return str_starts_with(longer, shorter) &&
           (longer.byte_count == shorter.byte_count ||
            longer.p[shorter.byte_count] == '/');
}

static int count_folders(struct str path)
{
    int count = 0;

    for (size_t i = 0; i < path.byte_count; i++) {
        count += path.p[i] == '/';
    }
    return count;
}

static int check_path(const struct input_file *files, int count,
                      struct str path, struct err *err)
{
    if (!inner_path_is_good(path)) {
        return refuse(path, "must be " INNER_PATH_RULE, err);
    }
    if (count_folders(path) > INPUT_FILE_FOLDERS_MAX) {
        return refuse(path, "lies in more than 31 folders", err);
    }
    for (int i = 0; i < count; i++) {
        if (collide(files[i].path, path)) {
            return refuse(path, "is there already, or lies in another", err);
        }
    }
    return 0;
}

/* One line, without its line feed. */
static int read_line(struct str line, struct arena *arena,
                     struct input_file *files, int count, int64_t *byte_count,
                     struct err *err)
{
    const char *colon = memchr(line.p, ':', line.byte_count);
    auto_strbuf bytes = strbuf_make(INPUT_FILES_BYTES_MAX * 2);

    if (!colon) {
        return refuse(line, "must be followed by a colon", err);
    }
    struct str path = str_make(line.p, (size_t)(colon - line.p));
    size_t rest = line.byte_count - path.byte_count - 1;
    int rc = check_path(files, count, path, err);
    if (rc == 0 && (wire_base64_decode(str_make(colon + 1, rest), &bytes) < 0 ||
                    bytes.is_over)) {
        rc = refuse(path, "must be base64, of at most 64 KiB", err);
    }
    if (rc < 0) {
        return rc;
    }
    *byte_count += (int64_t)bytes.byte_count;
    files[count] = (struct input_file){arena_str(arena, path),
                                       arena_str(arena, strbuf_str(&bytes))};
    return 0;
}

/* Of what has been read so far. */
static int check_sums(int64_t byte_count, int folder_count, struct err *err)
{
    if (byte_count > INPUT_FILES_BYTES_MAX) {
        return err_set(err, -ERR_LIMIT,
                       "the input files have together more than the %d KiB "
                       "allowed",
                       INPUT_FILES_BYTES_MAX >> 10);
    }
    if (folder_count > INPUT_FOLDERS_MAX) {
        return err_set(err, -ERR_LIMIT,
                       "the paths of the input files name together more than "
                       "the %d folders allowed",
                       INPUT_FOLDERS_MAX);
    }
    return 0;
}

int input_files_read(struct str text, struct arena *arena,
                     struct input_file **ret_files, struct err *err)
{
    struct input_file *files =
        arena_alloc_array(arena, INPUT_FILES_MAX, sizeof(*files));
    int64_t byte_count = 0;
    int folder_count = 0, count = 0, rc = 0;

    while (rc == 0 && text.byte_count > 0) {
        const char *end = memchr(text.p, '\n', text.byte_count);
        size_t n = end ? (size_t)(end - text.p) : text.byte_count;
        rc = count == INPUT_FILES_MAX
                 ? err_set(err, -ERR_LIMIT, "more than %d input files",
                           INPUT_FILES_MAX)
                 : read_line(str_make(text.p, n), arena, files, count,
                             &byte_count, err);
        count++;
        n += end != NULL;
        text = str_make(text.p + n, text.byte_count - n);
        if (rc == 0) {
            folder_count += count_folders(files[count - 1].path);
            rc = check_sums(byte_count, folder_count, err);
        }
    }
    *ret_files = files;
    return rc < 0 ? rc : count;
}

void input_files_add(struct strbuf *text, struct str path, struct str bytes)
{
    strbuf_add_str(text, path);
    strbuf_add_char(text, ':');
    wire_base64_encode(bytes, text);
    strbuf_add_char(text, '\n');
}
