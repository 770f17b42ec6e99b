/*
 * id: texts and back; the same attempt has the same run id.
 */
#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#include "base/hash.h"
#include "model/id.h"
#include "unit.h"

static void a_job_id_survives_its_text(void **state)
{
    const uint8_t random[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 250};
    struct job_id id = job_id_make(INT64_C(1790000000123), random);
    struct job_id back;
    char text[ID_TEXT_BYTES_MAX];
    (void)state;

    assert_int_equal(job_id_parse(str_of(job_id_format(id, text)), &back), 0);
    assert_int_equal(key128_compare(id.v, back.v), 0);
    assert_int_equal(job_id_time_ms(back), INT64_C(1790000000123));
    assert_int_equal(strlen(text), JOB_ID_TEXT_BYTES);
}

static void what_is_no_ulid_is_refused(void **state)
{
    struct job_id id;
    (void)state;

    assert_int_equal(job_id_parse(STR(""), &id), -ERR_INVALID);
    assert_int_equal(job_id_parse(STR("81arz3ndektsv4rrffq69g5fav"), &id),
                     -ERR_INVALID);
    assert_int_equal(job_id_parse(STR("01arz3ndektsv4rrffq69g5fau"), &id),
                     -ERR_INVALID);
    assert_int_equal(job_id_parse(STR("01ARZ3NDEKTSV4RRFFQ69G5FAV"), &id), 0);
}

/* Crockford's base 32, in either case. */
static void each_character_means_its_place_in_the_alphabet(void **state)
{
    const char alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";
    char text[] = "01arz3ndektsv4rrffq69g5fa?";
    struct job_id id;
    (void)state;

    for (int c = 1; c <= UINT8_MAX; c++) {
        const char *at = c < 128 ? strchr(alphabet, tolower(c)) : NULL;
        text[JOB_ID_TEXT_BYTES - 1] = (char)c;
        assert_int_equal(job_id_parse(str_of(text), &id),
                         at ? 0 : -ERR_INVALID);
        assert_true(!at || (id.v.lo & 31) == (uint64_t)(at - alphabet));
    }
}

static void what_is_no_uuid_is_refused(void **state)
{
    const char good[] = "01234567-89ab-4cde-8f01-23456789ABCD";
    struct run_id id;
    (void)state;

    assert_int_equal(run_id_parse(str_of(good), &id), 0);
    assert_int_equal(id.v.hi, INT64_C(0x0123456789ab4cde));
    assert_int_equal(id.v.lo, UINT64_C(0x8f0123456789abcd));
    assert_int_equal(run_id_parse(str_make(good, 35), &id), -ERR_INVALID);
    for (int i = 0; i < RUN_ID_TEXT_BYTES; i++) {
        for (const char *wrong = "g/:@G` Z\xff+"; *wrong; wrong++) {
            char text[] = "01234567-89ab-4cde-8f01-23456789ABCD";
            text[i] = *wrong;
            assert_int_equal(run_id_parse(str_of(text), &id), -ERR_INVALID);
        }
    }
}

/* Each byte in each place. */
static void
a_uuid_has_hexadecimal_digits_of_either_case_and_dashes(void **state)
{
    const char *sound = "01234567-89ab-4cde-8f01-23456789abcd";
    char text[ID_TEXT_BYTES_MAX];

    (void)state;
    for (int at = 0; at < RUN_ID_TEXT_BYTES; at++) {
        for (int byte = 0; byte <= UINT8_MAX; byte++) {
            char changed[ID_TEXT_BYTES_MAX];
            struct run_id id;
            snprintf(changed, sizeof(changed), "%s", sound);
            changed[at] = (char)byte;
            bool is_good = sound[at] == '-' ? byte == '-' : isxdigit(byte) != 0;
            int rc = run_id_parse(str_make(changed, RUN_ID_TEXT_BYTES), &id);
            assert_int_equal(rc, is_good ? 0 : -ERR_INVALID);
            if (is_good) {
                assert_int_equal(strcasecmp(run_id_format(id, text), changed),
                                 0);
            }
        }
    }
}

static void ids_of_all_bits_survive_their_texts(void **state)
{
    uint64_t draw = 1;

    (void)state;
    for (int i = 0; i < 10000; i++) {
        char text[ID_TEXT_BYTES_MAX];
        struct key128 v = {hash_mix(draw), hash_mix(draw + 1)};
        struct job_id job;
        struct run_id run;
        draw += 2;
        job_id_format((struct job_id){v}, text);
        assert_int_equal(job_id_parse(str_of(text), &job), 0);
        assert_int_equal(key128_compare(job.v, v), 0);
        run_id_format((struct run_id){v}, text);
        assert_int_equal(run_id_parse(str_of(text), &run), 0);
        assert_int_equal(key128_compare(run.v, v), 0);
    }
}

static void a_run_id_is_a_function_of_job_and_attempt(void **state)
{
    struct job_id job = {{1, 2}};
    struct run_id a = run_id_make(job, 0);
    struct run_id b = run_id_make(job, 1);
    struct run_id back;
    char text[ID_TEXT_BYTES_MAX];
    (void)state;

    assert_int_not_equal(key128_compare(a.v, b.v), 0);
    assert_int_equal(key128_compare(a.v, run_id_make(job, 0).v), 0);
    assert_int_equal(run_id_parse(str_of(run_id_format(a, text)), &back), 0);
    assert_int_equal(key128_compare(a.v, back.v), 0);
    assert_int_equal(text[14], '4');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_job_id_survives_its_text),
        TEST(what_is_no_ulid_is_refused),
        TEST(each_character_means_its_place_in_the_alphabet),
        TEST(what_is_no_uuid_is_refused),
        TEST(a_uuid_has_hexadecimal_digits_of_either_case_and_dashes),
        TEST(ids_of_all_bits_survive_their_texts),
        TEST(a_run_id_is_a_function_of_job_and_attempt),
    };
    return RUN_TESTS(tests);
}
