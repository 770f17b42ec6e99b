#include "damage_tally.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *const outcome_names[] = {"harmless", "told", "refused",
                                            "found", "silent"};

static struct tally_row *row_of(struct tally *tally,
                                const struct tally_one *one)
{
    const struct damage *damage = one->damage;
    uint32_t i = 0;

    while (i < tally->row_count &&
           (strcmp(tally->rows[i].kind, damage->kind) != 0 ||
            strcmp(tally->rows[i].file, damage->file) != 0 ||
            strcmp(tally->rows[i].world, one->world) != 0)) {
        i++;
    }
    ASSERT(i < TALLY_ROWS_MAX);
    if (i == tally->row_count) {
        tally->rows[tally->row_count++] =
            (struct tally_row){one->world, damage->kind, damage->file, {0}};
    }
    return &tally->rows[i];
}

void tally_note(struct tally *tally, const struct tally_one *one)
{
    row_of(tally, one)->counts[one->outcome]++;
    tally->counts[one->outcome]++;
    tally->lost_count += one->lost > 0;
    if (one->outcome == SILENT || one->lost > 0 || getenv("DAMAGE_VERBOSE")) {
        printf("seed %" PRIu64 ": %s, %s of %s: %s, %" PRIu32
               " jobs lost: %s\n",
               one->seed, one->damage->kind, one->damage->file, one->world,
               outcome_names[one->outcome], one->lost, one->text);
    }
}

static void print_row(FILE *file, const char *name, const uint32_t *counts)
{
    fprintf(file, "%s", name);
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        fprintf(file, "\t%" PRIu32, counts[i]);
    }
    fprintf(file, "\n");
}

void tally_print(FILE *file, const struct tally *tally)
{
    fprintf(file, "directory\tdamage\tfile");
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        fprintf(file, "\t%s", outcome_names[i]);
    }
    fprintf(file, "\n");
    for (uint32_t i = 0; i < tally->row_count; i++) {
        const struct tally_row *row = &tally->rows[i];
        fprintf(file, "%s\t%s\t", row->world, row->kind);
        print_row(file, row->file, row->counts);
    }
    print_row(file, "all\t\t", tally->counts);
}

bool tally_report(const struct tally *tally)
{
    print_row(stdout, "harmless, told, refused, found, silent", tally->counts);
    printf("losing jobs that had another copy: %" PRIu32 "\n",
           tally->lost_count);
    return tally->counts[SILENT] == 0 && tally->lost_count == 0;
}
