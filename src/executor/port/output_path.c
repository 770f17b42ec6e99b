#include "executor/port/output_path.h"

const char *output_path_of(const struct runtime_run *run)
{
    static const char *const keys[] = {"berth.dev/outputPath",
                                       "armadaproject.io/outputPath"};
    const Armadaevents__ObjectMeta *meta = run->submit->objectmeta;

    for (size_t k = 0; k < ARRAY_COUNT(keys); k++) {
        for (size_t i = 0; meta && i < meta->n_annotations; i++) {
            if (strcmp(meta->annotations[i]->key, keys[k]) == 0) {
                return meta->annotations[i]->value;
            }
        }
    }
    return NULL;
}
