#include "sim/sha256.h"

enum { BLOCK_BYTES = 64, ROUNDS = 64, LENGTH_AT = 56 };

/* The first bits of the fractions of the primes' square and cube roots. */
static const uint32_t roots[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};
static const uint32_t cube_roots[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int bits)
{
    return x >> bits | x << (32 - bits);
}

static void expand(const uint8_t block[BLOCK_BYTES], uint32_t w[ROUNDS])
{
    for (int i = 0; i < 16; i++) {
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    }
    for (int i = 16; i < ROUNDS; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

static void take_block(struct sha256 *sha)
{
    uint32_t w[ROUNDS], v[8];

    expand(sha->block, w);
    memcpy(v, sha->state, sizeof(v));
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        uint32_t t1 = v[7] + choice + cube_roots[i] + w[i] +
                      (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25));
        uint32_t t2 =
            majority + (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22));
        memmove(v + 1, v, 7 * sizeof(*v));
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) {
        sha->state[i] += v[i];
    }
}

void sha256_init(struct sha256 *sha)
{
    memcpy(sha->state, roots, sizeof(roots));
    sha->byte_count = 0;
}

void sha256_add(struct sha256 *sha, struct str bytes)
{
    for (size_t i = 0; i < bytes.byte_count; i++) {
        sha->block[sha->byte_count++ % BLOCK_BYTES] = (uint8_t)bytes.p[i];
        if (sha->byte_count % BLOCK_BYTES == 0) {
            take_block(sha);
        }
    }
}

void sha256_finish(struct sha256 *sha, uint8_t ret_digest[SHA256_BYTES])
{
    uint64_t bit_count = sha->byte_count * 8;

    sha256_add(sha, STR("\x80"));
    while (sha->byte_count % BLOCK_BYTES != LENGTH_AT) {
        sha256_add(sha, str_make("", 1));
    }
    for (int i = 7; i >= 0; i--) {
        uint8_t byte = (uint8_t)(bit_count >> (8 * i));
        sha256_add(sha, str_make(&byte, 1));
    }
    for (int i = 0; i < SHA256_BYTES; i++) {
        ret_digest[i] = (uint8_t)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
    }
}
