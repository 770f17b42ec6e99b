/*
 * Bounded decompression (src/rpc/core.h): what arrives compressed is inflated
 * up to a limit, whatever it is.
 */
#include <grpc/byte_buffer.h>
#include <stdlib.h>
#include <zlib.h>

#include "rpc/core.h"
#include "unit.h"

enum { PLAIN_BYTES = 100000, PACKED_BYTES_MAX = PLAIN_BYTES + 1024 };

/* `plain` as gzip (window bits 31) or zlib (15); the bytes written. */
static size_t pack(struct str plain, int window_bits, char *ret_packed)
{
    z_stream z = {0};

    assert_int_equal(deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                                  window_bits, 8, Z_DEFAULT_STRATEGY),
                     Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)plain.p;
    z.avail_in = (unsigned)plain.byte_count;
    z.next_out = (unsigned char *)ret_packed;
    z.avail_out = PACKED_BYTES_MAX;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return z.total_out;
}

/* A received message in pieces of `piece_bytes`. */
static grpc_byte_buffer *receive(struct str bytes, size_t piece_bytes,
                                 grpc_compression_algorithm compression)
{
    size_t count = (bytes.byte_count + piece_bytes - 1) / piece_bytes;
    grpc_slice *slices = mem_alloc_array(count + 1, sizeof(grpc_slice));
    grpc_byte_buffer *buffer = NULL;

    for (size_t i = 0; i < count; i++) {
        size_t at = i * piece_bytes;
        size_t left = bytes.byte_count - at;

        slices[i] = grpc_slice_from_copied_buffer(
            bytes.p + at, left < piece_bytes ? left : piece_bytes);
    }
    buffer = compression == GRPC_COMPRESS_NONE
                 ? grpc_raw_byte_buffer_create(slices, count)
                 : grpc_raw_compressed_byte_buffer_create(slices, count,
                                                          compression);
    for (size_t i = 0; i < count; i++) {
        grpc_slice_unref(slices[i]);
    }
    mem_free(slices);
    return buffer;
}

/* Read `bytes` as a message that must come to `wanted`, or fail so. */
static void expect(struct str bytes, grpc_compression_algorithm compression,
                   size_t byte_count_max, int wanted_rc, struct str wanted)
{
    static const size_t pieces[] = {1, 1000, 1 << 20};

    for (size_t i = 0; i < ARRAY_COUNT(pieces); i++) {
        grpc_byte_buffer *buffer = receive(bytes, pieces[i], compression);
        auto_strbuf scratch = strbuf_make(0);
        struct str read = {0};

        assert_int_equal(
            core_buffer_read(buffer, byte_count_max, &scratch, &read),
            wanted_rc);
        assert_true(wanted_rc < 0 || str_equal(read, wanted));
        assert_true(scratch.byte_count <= byte_count_max);
        grpc_byte_buffer_destroy(buffer);
    }
}

static void messages_are_inflated_up_to_the_limit(void **state)
{
    static char bytes[PLAIN_BYTES], packed[PACKED_BYTES_MAX];
    struct str plain = str_make(bytes, sizeof(bytes));
    unsigned seed = 1;

    (void)state;
    for (int is_random = 0; is_random <= 1; is_random++) {
        struct str gzip, zlib;

        for (size_t i = 0; is_random && i < sizeof(bytes); i++) {
            bytes[i] = (char)rand_r(&seed);
        }
        expect(plain, GRPC_COMPRESS_NONE, PLAIN_BYTES, 0, plain);
        expect(plain, GRPC_COMPRESS_NONE, PLAIN_BYTES - 1, -ERR_LIMIT, plain);
        gzip = str_make(packed, pack(plain, 31, packed));
        expect(gzip, GRPC_COMPRESS_GZIP, PLAIN_BYTES, 0, plain);
        expect(gzip, GRPC_COMPRESS_GZIP, PLAIN_BYTES - 1, -ERR_LIMIT, plain);
        expect(gzip, GRPC_COMPRESS_GZIP, 1, -ERR_LIMIT, plain);
        zlib = str_make(packed, pack(plain, 15, packed));
        expect(zlib, GRPC_COMPRESS_DEFLATE, PLAIN_BYTES, 0, plain);
    }
    expect(str_make(packed, pack(STR(""), 31, packed)), GRPC_COMPRESS_GZIP, 10,
           0, STR(""));
}

static void what_does_not_inflate_is_corrupt(void **state)
{
    static char bytes[PLAIN_BYTES], packed[PACKED_BYTES_MAX];
    struct str plain = str_make(bytes, sizeof(bytes));
    size_t packed_bytes = pack(plain, 31, packed);

    (void)state;
    for (size_t cut = 0; cut < packed_bytes; cut += 7) {
        expect(str_make(packed, cut), GRPC_COMPRESS_GZIP, PLAIN_BYTES,
               -ERR_CORRUPT, plain);
    }
    expect(STR("plain text"), GRPC_COMPRESS_GZIP, PLAIN_BYTES, -ERR_CORRUPT,
           plain);
    packed[packed_bytes - 5] ^= 1; /* the checksum */
    expect(str_make(packed, packed_bytes), GRPC_COMPRESS_GZIP, PLAIN_BYTES,
           -ERR_CORRUPT, plain);
}

static void no_bytes_break_the_reader(void **state)
{
    unsigned seed = 2;
    char bytes[300] = "\x1f\x8b\x08\0\0\0\0\0\0\3";

    (void)state;
    for (int run = 0; run < 3000; run++) {
        auto_strbuf scratch = strbuf_make(0);
        struct str read;
        grpc_byte_buffer *buffer = NULL;
        int rc = 0;

        for (size_t i = 10; i < sizeof(bytes); i++) {
            bytes[i] = (char)rand_r(&seed);
        }
        buffer = receive(str_make(bytes, sizeof(bytes)),
                         1 + (size_t)rand_r(&seed) % 300, GRPC_COMPRESS_GZIP);
        rc = core_buffer_read(buffer, 500, &scratch, &read);
        assert_true(rc == -ERR_CORRUPT || rc == -ERR_LIMIT || rc == 0);
        grpc_byte_buffer_destroy(buffer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(messages_are_inflated_up_to_the_limit),
        TEST(what_does_not_inflate_is_corrupt),
        TEST(no_bytes_break_the_reader),
    };

    core_begin();
    return RUN_TESTS(tests);
}
