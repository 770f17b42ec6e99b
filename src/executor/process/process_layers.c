/* Which layers this machine allows around a pod: the shim tries them. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/files/kv.h"
#include "executor/process/process_private.h"

static const char probe_name[] = "probe";

/* The words for each layer, in the order in which they are told. */
static const struct {
    int64_t layer;
    const char *name;
} layers[] = {
    {RUN_LAYER_USER, "user"},
    {RUN_LAYER_MOUNT, "mount"},
    {RUN_LAYER_PID, "pid"},
    {RUN_LAYER_IPC, "ipc"},
};

/* A space like those of runs, but nobody's. */
static int make_space(const struct process *process)
{
    static const char *const names[] = {RUN_WORK_NAME, RUN_TMP_NAME,
                                        RUN_VAR_TMP_NAME};
    bool is_good = mkdirat(process->spaces_fd, probe_name, 0711) == 0;
    int fd = openat(process->spaces_fd, probe_name,
                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    for (size_t i = 0; is_good && i < ARRAY_COUNT(names); i++) {
        is_good = fd >= 0 && mkdirat(fd, names[i], 0700) == 0;
    }
    if (fd >= 0) {
        close(fd);
    }
    return is_good ? 0 : -ERR_IO;
}

static int spawn_probe(struct process *process, int out_fd, pid_t *ret_pid)
{
    char space_dir[PROCESS_PATH_BYTES_MAX];
    const char *what =
        process->options.has_no_namespaces ? "--probe-fence" : "--probe";
    char *argv[] = {process->shim_path, (char *)(uintptr_t)what, space_dir,
                    process->hidden_dir, NULL};
    char *environment[] = {NULL};
    posix_spawn_file_actions_t actions;

    snprintf(space_dir, sizeof(space_dir), "%.900s/spaces/%s",
             process->data_dir, probe_name);
    posix_spawn_file_actions_init(&actions);
    int rc = posix_spawn_file_actions_adddup2(&actions, out_fd, STDOUT_FILENO);
    rc = rc ? rc
            : posix_spawn_file_actions_addclosefrom_np(&actions,
                                                       STDERR_FILENO + 1);
    rc = rc ? rc
            : posix_spawn(ret_pid, process->shim_path, &actions, NULL, argv,
                          environment);
    posix_spawn_file_actions_destroy(&actions);
    return rc == 0 ? 0 : -ERR_IO;
}

/* What the probe printed, until it ended. */
static void read_probe(struct process *process, struct strbuf *out)
{
    int ends[2];
    pid_t pid;
    ssize_t got;
    char text[512];

    if (pipe2(ends, O_CLOEXEC) < 0) {
        return;
    }
    int rc = spawn_probe(process, ends[1], &pid);
    close(ends[1]);
    while (rc == 0 && ((got = read(ends[0], text, sizeof(text))) > 0 ||
                       (got < 0 && errno == EINTR))) {
        strbuf_add(out, text, got > 0 ? (size_t)got : 0);
    }
    close(ends[0]);
    if (rc == 0) {
        (void)waitpid(pid, NULL, 0);
    }
}

/* Add the names of a set of layers, if there are any. */
static void add_names(struct strbuf *text, const char *head, int64_t set)
{
    const char *before = head;

    for (size_t i = 0; i < ARRAY_COUNT(layers); i++) {
        if (set & layers[i].layer) {
            strbuf_addf(text, "%s%s%s",
                        before == head && text->byte_count > 0 ? "; " : "",
                        before, layers[i].name);
            before = ", ";
        }
    }
}

static void tell_namespaces(struct strbuf *text, int64_t have, const char *why)
{
    int64_t wanted = RUN_LAYER_MOUNT | RUN_LAYER_PID | RUN_LAYER_IPC |
                     (geteuid() == 0 ? have & RUN_LAYER_USER : RUN_LAYER_USER);

    add_names(text, "pods have namespaces: ", have & wanted);
    add_names(text, "namespaces missing: ", wanted & ~have);
    if (wanted & ~have) {
        strbuf_addf(text, " (%.200s)", *why ? why : "the shim cannot be run");
    }
}

static void tell(const struct process *process, int64_t have, const char *why,
                 struct err *ret_text)
{
    auto_strbuf text = strbuf_make(ERR_TEXT_BYTES_MAX);

    if (process->options.has_no_namespaces) {
        strbuf_add_text(&text, "namespaces are switched off");
    } else {
        tell_namespaces(&text, have, why);
    }
    if (have & RUN_LAYER_FENCE) {
        strbuf_add_text(&text, "; Landlock keeps jobs from the data directory");
    }
    if (!(have & RUN_LAYER_FILTER)) {
        strbuf_add_text(&text, "; no filter of system calls");
    }
    snprintf(ret_text->text, ERR_TEXT_BYTES_MAX, "%s", strbuf_text(&text));
}

int64_t process_probe_layers(struct process *process, struct err *ret_text)
{
    auto_strbuf out = strbuf_make(RUN_TEXT_BYTES_MAX);
    const char *why = "";
    int64_t have = 0;

    process_discard(process, process->spaces_fd, probe_name);
    if (make_space(process) == 0) {
        read_probe(process, &out);
    }
    process_discard(process, process->spaces_fd, probe_name);
    struct kv_reader reader = {.rest = strbuf_str(&out)};
    while (kv_next(&reader) == 1) {
        have = kv_is(&reader, "layers") ? kv_int(&reader) : have;
        why = kv_is(&reader, "missing") ? reader.value : why;
    }
    tell(process, have, why, ret_text);
    return have;
}
