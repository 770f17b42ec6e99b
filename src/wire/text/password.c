#include "wire/text/password.h"

#include <crypt.h>

_Static_assert(PASSWORD_HASH_BYTES_MAX >= CRYPT_OUTPUT_SIZE, "a hash has room");
_Static_assert(PASSWORD_BYTES_MAX >= CRYPT_MAX_PASSPHRASE_SIZE,
               "a password has room");

/* A NUL-terminated copy; false: it is too long, or has a byte 0. */
static bool copy_text(struct str text, char *ret_text, size_t byte_count_max)
{
    if (text.byte_count >= byte_count_max ||
        memchr(text.p ? text.p : "", 0, text.byte_count)) {
        return false;
    }
    memcpy(ret_text, text.p ? text.p : "", text.byte_count);
    ret_text[text.byte_count] = '\0';
    return true;
}

/* After the last $ of a hash stand 256 bits or more in base 64; a setting that
 * lacks them, such as "$y$", is none. */
enum { DIGEST_BYTES_MIN = 43 };

bool password_is_hash(struct str text)
{
    char hash[PASSWORD_HASH_BYTES_MAX];

    if (!copy_text(text, hash, sizeof(hash)) || hash[0] != '$' ||
        crypt_checksalt(hash) != CRYPT_SALT_OK) {
        return false;
    }
    return strlen(strrchr(hash, '$') + 1) >= DIGEST_BYTES_MIN;
}

bool password_matches(struct str hash, struct str password)
{
    char setting[PASSWORD_HASH_BYTES_MAX], phrase[PASSWORD_BYTES_MAX];
    auto_mem struct crypt_data *data = mem_alloc(sizeof(*data));
    unsigned char difference = 0;

    if (!copy_text(hash, setting, sizeof(setting)) ||
        !copy_text(password, phrase, sizeof(phrase)) ||
        !crypt_rn(phrase, setting, data, sizeof(*data))) {
        return false;
    }
    size_t byte_count = strlen(data->output);
    if (byte_count != hash.byte_count) {
        return false;
    }
    for (size_t i = 0; i < byte_count; i++) {
        difference |= (unsigned char)(data->output[i] ^ setting[i]);
    }
    return difference == 0;
}

int password_hash(struct str password, char ret_hash[PASSWORD_HASH_BYTES_MAX],
                  struct err *err)
{
    char phrase[PASSWORD_BYTES_MAX], setting[CRYPT_GENSALT_OUTPUT_SIZE];
    auto_mem struct crypt_data *data = mem_alloc(sizeof(*data));

    if (password.byte_count == 0 ||
        !copy_text(password, phrase, sizeof(phrase))) {
        return err_set(err, -ERR_INVALID,
                       "a password must have 1 to %d bytes, none of which is 0",
                       PASSWORD_BYTES_MAX - 1);
    }
    if (!crypt_gensalt_rn("$y$", 0, NULL, 0, setting, sizeof(setting)) ||
        !crypt_rn(phrase, setting, data, sizeof(*data))) {
        return err_set(err, -ERR_INVALID,
                       "this system's crypt(3) cannot hash it");
    }
    memcpy(ret_hash, data->output, strlen(data->output) + 1);
    return 0;
}
