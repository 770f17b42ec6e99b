#include "notify/signature.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "wire/text/base64.h"

static const char key_prefix[] = "whsec_";

void signature_put(struct str key, struct str id, int64_t seconds,
                   struct str body, struct strbuf *out)
{
    auto_strbuf text = {0};
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int byte_count = 0;

    strbuf_add_str(&text, id);
    strbuf_addf(&text, ".%lld.", (long long)seconds);
    strbuf_add_str(&text, body);
    (void)HMAC(EVP_sha256(), key.p, (int)key.byte_count,
               (const unsigned char *)text.bytes, text.byte_count, digest,
               &byte_count);
    strbuf_add_text(out, "v1,");
    wire_base64_encode(str_make(digest, byte_count), out);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct str trimmed(struct str text)
{
    while (text.byte_count > 0 && is_space(text.p[0])) {
        text = str_make(text.p + 1, text.byte_count - 1);
    }
    while (text.byte_count > 0 && is_space(text.p[text.byte_count - 1])) {
        text.byte_count--;
    }
    return text;
}

int signature_key(struct str text, struct strbuf *ret_key, struct err *err)
{
    size_t prefix_bytes = sizeof(key_prefix) - 1;

    text = trimmed(text);
    if (!str_starts_with(text, str_of(key_prefix))) {
        strbuf_add_str(ret_key, text);
    } else if (wire_base64_decode(str_make(text.p + prefix_bytes,
                                           text.byte_count - prefix_bytes),
                                  ret_key) < 0) {
        return err_set(err, -ERR_INVALID, "what follows %s is no base64",
                       key_prefix);
    }
    if (ret_key->byte_count < SIGNATURE_KEY_BYTES_MIN ||
        ret_key->byte_count > SIGNATURE_KEY_BYTES_MAX) {
        return err_set(
            err, -ERR_INVALID,
            "has %zu bytes; a key has %d to %d. To make one: openssl "
            "rand -hex 32",
            ret_key->byte_count, SIGNATURE_KEY_BYTES_MIN,
            SIGNATURE_KEY_BYTES_MAX);
    }
    return 0;
}
