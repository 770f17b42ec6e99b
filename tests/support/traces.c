#include "traces.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/strbuf.h"

char *trace_path(const char *name)
{
    const char *folder = getenv("BERTH_TRACES");
    auto_strbuf path = {0};

    strbuf_addf(&path, "%s/%s", folder ? folder : TRACES_DIR, name);
    if (access(strbuf_text(&path), R_OK) < 0) {
        printf("skipped: there is no %s\n", strbuf_text(&path));
        return NULL;
    }
    return strbuf_steal(&path);
}
