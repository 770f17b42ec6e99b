/*
 * replay_main - run a fuzz target over a corpus without libFuzzer.
 *
 *     fuzz_NAME FILE...
 *
 * Each seed is tried as it is, cut short at every length, and with each byte
 * turned over.  Every try has a copy of exactly its size, so that a sanitizer
 * sees a read beyond the end.
 */
#include <stdio.h>

#include "fuzz.h"

enum { SEED_BYTES_MAX = 64 << 10, VARIANTS_MAX = 4096 };

static void try_copy(const uint8_t *bytes, size_t byte_count)
{
    uint8_t *copy = mem_dup(bytes, byte_count);

    LLVMFuzzerTestOneInput(copy, byte_count);
    mem_free(copy);
}

static void try_variants(uint8_t *bytes, size_t byte_count)
{
    size_t variant_count =
        byte_count < VARIANTS_MAX ? byte_count : VARIANTS_MAX;

    try_copy(bytes, byte_count);
    for (size_t i = 0; i < variant_count; i++) {
        try_copy(bytes, i);
        bytes[i] ^= 0xff;
        try_copy(bytes, byte_count);
        bytes[i] ^= 0xff ^ 0x01;
        try_copy(bytes, byte_count);
        bytes[i] ^= 0x01;
    }
}

static bool replay(const char *path)
{
    uint8_t *bytes = mem_alloc(SEED_BYTES_MAX);
    FILE *file = fopen(path, "rb");
    bool is_read = false;

    if (file) {
        size_t byte_count = fread(bytes, 1, SEED_BYTES_MAX, file);
        is_read = !ferror(file);
        if (is_read) {
            try_variants(bytes, byte_count);
        }
        fclose(file);
    }
    if (!is_read) {
        fprintf(stderr, "%s: cannot be read\n", path);
    }
    mem_free(bytes);
    return is_read;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!replay(argv[i])) {
            return 1;
        }
    }
    printf("%d seeds replayed\n", argc - 1);
    return argc > 1 ? 0 : 1;
}
