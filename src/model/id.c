#include "model/id.h"

#include "base/hash.h"

/* Digits of a job's id that are 60 of its bits, of which it has two. */
enum { HALF_DIGITS = 12 };

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
    uint64_t middle = 0, low = 0; /* 60 bits each, below the first 8 */

    if (text.byte_count != JOB_ID_TEXT_BYTES || digit_of(text.p[0]) > 7) {
        return -ERR_INVALID;
    }
    int first = digit_of(text.p[0]), second = digit_of(text.p[1]);
    int all = first | second; /* negative if any is: ids are read too often to
                                 branch */
    for (int i = 2; i < 2 + HALF_DIGITS; i++) {
        int digit = digit_of(text.p[i]);
        int other = digit_of(text.p[i + HALF_DIGITS]);
        all |= digit | other;
        middle = middle << 5 | (uint64_t)(digit & 31);
        low = low << 5 | (uint64_t)(other & 31);
    }
    if (all < 0) {
        return -ERR_INVALID;
    }
    ret_id->v.hi = (uint64_t)(first << 5 | second) << 56 | middle >> 4;
    ret_id->v.lo = middle << 60 | low;
    return 0;
}

char *job_id_format(struct job_id id, char text[ID_TEXT_BYTES_MAX])
{
    uint64_t middle = id.v.hi << 4 | id.v.lo >> 60, low = id.v.lo;

    for (int i = 1 + HALF_DIGITS; i > 1; i--) {
        text[i] = alphabet[middle & 31];
        text[i + HALF_DIGITS] = alphabet[low & 31];
        middle >>= 5;
        low >>= 5;
    }
    text[0] = alphabet[id.v.hi >> 61];
    text[1] = alphabet[id.v.hi >> 56 & 31];
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

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "digits are read eight at a time");

/* The same byte eight times. */
static uint64_t each(uint64_t byte)
{
    return byte * UINT64_C(0x0101010101010101);
}

/* The high bit of each byte below 128 that is from `first` to `last`. */
static uint64_t is_within(uint64_t bytes, uint8_t first, uint8_t last)
{
    return (bytes + each(128u - first)) & ~(bytes + each(127u - last));
}

/* Read eight hexadecimal digits; false: they are not. */
static bool read_hex(const char text[8], uint32_t *ret_number)
{
    uint64_t bytes;

    memcpy(&bytes, text, sizeof(bytes));
    uint64_t is_letter = is_within(bytes | each(0x20), 'a', 'f');
    uint64_t is_good = (is_letter | is_within(bytes, '0', '9')) & ~bytes;
    if ((is_good & each(0x80)) != each(0x80)) {
        return false;
    }
    bytes = (bytes & each(0x0f)) + ((is_letter & each(0x80)) >> 7) * 9;
    /* The first digit is in the lowest byte. */
    bytes = __builtin_bswap64(bytes);
    bytes = (bytes | bytes >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    bytes = (bytes | bytes >> 8) & UINT64_C(0x0000ffff0000ffff);
    *ret_number = (uint32_t)(bytes | bytes >> 16);
    return true;
}

static void write_hex(uint32_t number, char text[8])
{
    uint64_t bytes = number;

    bytes = (bytes | bytes << 16) & UINT64_C(0x0000ffff0000ffff);
    bytes = (bytes | bytes << 8) & UINT64_C(0x00ff00ff00ff00ff);
    bytes = __builtin_bswap64((bytes | bytes << 4) & each(0x0f));
    uint64_t is_letter = (bytes + each(6)) >> 4 & each(1);
    bytes += each('0') + is_letter * ('a' - '0' - 10);
    memcpy(text, &bytes, sizeof(bytes));
}

/* The digits of a run's id, without its dashes. */
enum { RUN_DIGITS = 32, RUN_PARTS = 4 };

int run_id_parse(struct str text, struct run_id *ret_id)
{
    char hex[RUN_DIGITS];
    uint32_t parts[RUN_PARTS];

    if (text.byte_count != RUN_ID_TEXT_BYTES || text.p[8] != '-' ||
        text.p[13] != '-' || text.p[18] != '-' || text.p[23] != '-') {
        return -ERR_INVALID;
    }
    memcpy(hex, text.p, 8);
    memcpy(hex + 8, text.p + 9, 4);
    memcpy(hex + 12, text.p + 14, 4);
    memcpy(hex + 16, text.p + 19, 4);
    memcpy(hex + 20, text.p + 24, 12);
    for (int i = 0; i < RUN_PARTS; i++) {
        if (!read_hex(hex + (size_t)i * 8, &parts[i])) {
            return -ERR_INVALID;
        }
    }
    ret_id->v.hi = (uint64_t)parts[0] << 32 | parts[1];
    ret_id->v.lo = (uint64_t)parts[2] << 32 | parts[3];
    return 0;
}

char *run_id_format(struct run_id id, char text[ID_TEXT_BYTES_MAX])
{
    char hex[RUN_DIGITS];

    write_hex((uint32_t)(id.v.hi >> 32), hex);
    write_hex((uint32_t)id.v.hi, hex + 8);
    write_hex((uint32_t)(id.v.lo >> 32), hex + 16);
    write_hex((uint32_t)id.v.lo, hex + 24);
    memcpy(text, hex, 8);
    memcpy(text + 9, hex + 8, 4);
    memcpy(text + 14, hex + 12, 4);
    memcpy(text + 19, hex + 16, 4);
    memcpy(text + 24, hex + 20, 12);
    text[8] = text[13] = text[18] = text[23] = '-';
    text[RUN_ID_TEXT_BYTES] = '\0';
    return text;
}
