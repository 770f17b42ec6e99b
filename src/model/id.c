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

static int digit_of(char c)
{
    if (c >= 'A' && c <= 'Z') {
        c = (char)(c - 'A' + 'a');
    }
    const char *at = c ? strchr(alphabet, c) : NULL;
    return at ? (int)(at - alphabet) : -1;
}

int job_id_parse(struct str text, struct job_id *ret_id)
{
    struct key128 v = {0, 0};

    if (text.byte_count != JOB_ID_TEXT_BYTES || digit_of(text.p[0]) > 7) {
        return -ERR_INVALID;
    }
    for (int i = 0; i < JOB_ID_TEXT_BYTES; i++) {
        int digit = digit_of(text.p[i]);
        if (digit < 0) {
            return -ERR_INVALID;
        }
        v.hi = v.hi << 5 | v.lo >> 59;
        v.lo = v.lo << 5 | (uint64_t)digit;
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

static int hex_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

int run_id_parse(struct str text, struct run_id *ret_id)
{
    struct key128 v = {0, 0};

    if (text.byte_count != RUN_ID_TEXT_BYTES) {
        return -ERR_INVALID;
    }
    for (int i = 0; i < RUN_ID_TEXT_BYTES; i++) {
        int digit = hex_of(text.p[i]);
        if (is_dash_at(i) ? text.p[i] != '-' : digit < 0) {
            return -ERR_INVALID;
        }
        if (!is_dash_at(i)) {
            v.hi = v.hi << 4 | v.lo >> 60;
            v.lo = v.lo << 4 | (uint64_t)digit;
        }
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
