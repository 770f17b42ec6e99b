#include "executor/port/job_folders.h"

/* An annotation under our own prefix or under Armada's. */
static const char *find(const struct runtime_run *run, const char *own,
                        const char *armadas)
{
    const Armadaevents__ObjectMeta *meta = run->submit->objectmeta;
    const char *const keys[] = {own, armadas};

    for (size_t k = 0; k < ARRAY_COUNT(keys); k++) {
        for (size_t i = 0; meta && i < meta->n_annotations; i++) {
            if (strcmp(meta->annotations[i]->key, keys[k]) == 0) {
                return meta->annotations[i]->value;
            }
        }
    }
    return NULL;
}

const char *output_path_of(const struct runtime_run *run)
{
    return find(run, "berth.dev/outputPath", "armadaproject.io/outputPath");
}

const char *input_files_of(const struct runtime_run *run)
{
    return find(run, "berth.dev/inputFiles", "armadaproject.io/inputFiles");
}
