#include "model/id.h"

#include "base/hash.h"

static const char alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";

struct job_id job_id_make(int64_t time_ms, const uint8_t random[10])
{
    ASSERT(time_ms >= 0);
    ASSERT(time_ms < (int64_t)1 << 48);
    struct job_id id = {{(uint64_t)time_ms << 16, 0}};

    id.v.hi |= (uint64_t)random[0] << 8 | random[1];
    for (int i = 2; i < 10; i++) {
        id.v.lo = id.v.lo << 8 | random[i];
    }
    return id;
}

/* What a character stands for, and one more; 0: nothing. */
/* clang-format off */
static const uint8_t digits[UINT8_MAX + 1] = {
    ['0'] = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    ['A'] = 11, 12, 13, 14, 15, 16, 17, 18,
    ['J'] = 19, 20, ['M'] = 21, 22,
    ['P'] = 23, 24, 25, 26, 27,
    ['V'] = 28, 29, 30, 31, 32,
    ['a'] = 11, 12, 13, 14, 15, 16, 17, 18,
    ['j'] = 19, 20, ['m'] = 21, 22,
    ['p'] = 23, 24, 25, 26, 27,
    ['v'] = 28, 29, 30, 31, 32,
};
/* clang-format on */

static int digit_of(char c)
{
    return digits[(uint8_t)c] - 1;
}

int job_id_parse(struct str text, struct job_id *ret_id)
{
    struct key128 v = {0, 0};
    int all = 0; /* negative if any is; ids are read too often to branch */

    if (text.byte_count != JOB_ID_TEXT_BYTES || digit_of(text.p[0]) > 7) {
        return -ERR_INVALID;
    }
    for (int i = 0; i < JOB_ID_TEXT_BYTES; i++) {
        int digit = digit_of(text.p[i]);
        all |= digit;
        v.hi = v.hi << 5 | v.lo >> 59;
        v.lo = v.lo << 5 | (uint64_t)(digit & 31);
    }
    if (all < 0) {
        return -ERR_INVALID;
    }
    ret_id->v = v;
    return 0;
}

char *job_id_format(struct job_id id, char text[ID_TEXT_BYTES_MAX])
{
    struct key128 v = id.v;

    for (int i = JOB_ID_TEXT_BYTES - 1; i >= 0; i--) {
        text[i] = alphabet[v.lo & 31];
        v.lo = v.lo >> 5 | v.hi << 59;
        v.hi >>= 5;
    }
    text[JOB_ID_TEXT_BYTES] = '\0';
    return text;
}

int64_t job_id_time_ms(struct job_id id)
{
    return (int64_t)(id.v.hi >> 16);
}

struct run_id run_id_make(struct job_id job, uint32_t attempt)
{
    uint64_t hi = hash_bytes(&job, sizeof(job), attempt);
    uint64_t lo = hash_bytes(&job, sizeof(job), ~(uint64_t)attempt);

    /* Version 4 and variant 1, as readers of UUIDs expect. */
    hi = (hi & ~(uint64_t)0xf000) | 0x4000;
    lo = (lo & ~(UINT64_C(3) << 62)) | UINT64_C(2) << 62;
    return (struct run_id){{hi, lo}};
}

static bool is_dash_at(int i)
{
    return i == 8 || i == 13 || i == 18 || i == 23;
}

/* Append `count` hexadecimal digits to a number; false: they are not. */
static bool add_hex(const char *text, int count, uint64_t *number)
{
    int all = 0;

    for (int i = 0; i < count; i++) {
        int digit = digit_of(text[i]);
        all |= digit | (15 - digit);
        *number = *number << 4 | (uint64_t)(digit & 15);
    }
    return all >= 0;
}

int run_id_parse(struct str text, struct run_id *ret_id)
{
    struct key128 v = {0, 0};

    if (text.byte_count != RUN_ID_TEXT_BYTES || text.p[8] != '-' ||
        text.p[13] != '-' || text.p[18] != '-' || text.p[23] != '-' ||
        !add_hex(text.p, 8, &v.hi) || !add_hex(text.p + 9, 4, &v.hi) ||
        !add_hex(text.p + 14, 4, &v.hi) || !add_hex(text.p + 19, 4, &v.lo) ||
        !add_hex(text.p + 24, 12, &v.lo)) {
        return -ERR_INVALID;
    }
    ret_id->v = v;
    return 0;
}

char *run_id_format(struct run_id id, char text[ID_TEXT_BYTES_MAX])
{
    struct key128 v = id.v;

    for (int i = RUN_ID_TEXT_BYTES - 1; i >= 0; i--) {
        if (is_dash_at(i)) {
            text[i] = '-';
        } else {
            text[i] = "0123456789abcdef"[v.lo & 15];
            v.lo = v.lo >> 4 | v.hi << 60;
            v.hi >>= 4;
        }
    }
    text[RUN_ID_TEXT_BYTES] = '\0';
    return text;
}
