#include "cli/shared/progress.h"

enum { BAR_CHARACTERS = 24 };

void progress_put(struct strbuf *buf, uint64_t done, uint64_t total)
{
    uint64_t part = total > 0 ? done * 100 / total : 100;
    uint64_t full = part * BAR_CHARACTERS / 100;

    strbuf_add_char(buf, '[');
    for (uint64_t i = 0; i < BAR_CHARACTERS; i++) {
        strbuf_add_char(buf, i < full ? '=' : i == full ? '>' : ' ');
    }
    strbuf_addf(buf, "] %3u%%", (unsigned)part);
}

void progress_show(const struct cli_ports *ports, uint64_t done, uint64_t total,
                   const char *text)
{
    auto_strbuf line = {0};

    if (ports->is_terminal) {
        progress_put(&line, done, total);
        fprintf(ports->err, "\r%s %s\033[K", strbuf_text(&line), text);
        (void)fflush(ports->err);
    }
}

void progress_end(const struct cli_ports *ports)
{
    if (ports->is_terminal) {
        fputc('\n', ports->err);
    }
}
