#include "sim/world/draw.h"

#include "base/hash.h"

enum { ONE_BITS = 32, TAIL_FACTOR = 20 };

/* ln 2, with ONE_BITS bits after the point. */
static const uint64_t ln2 = 2977044472;

struct draw draw_make(uint64_t seed, uint64_t stream)
{
    return (struct draw){
        .key = hash_mix(hash_mix(seed + 1) ^ (stream * 0x9e3779b97f4a7c15u))};
}

uint64_t draw_u64(struct draw *draw)
{
    return hash_mix(draw->key ^ hash_mix(++draw->count * 0x9e3779b97f4a7c15u));
}

uint64_t draw_below(struct draw *draw, uint64_t count)
{
    ASSERT(count > 0);
    return (uint64_t)(((u128)draw_u64(draw) * count) >> 64);
}

/* -log2(x / 2^64) of x > 0, with ONE_BITS bits after the point, by repeated
 * squaring. */
static uint64_t minus_log2(uint64_t x)
{
    uint32_t shift = (uint32_t)__builtin_clzll(x);
    uint64_t fraction = 0;
    uint64_t m = x << shift; /* [2^63, 2^64): 1 to 2 */

    for (int i = 0; i < ONE_BITS; i++) {
        u128 square = (u128)m * m;
        fraction <<= 1;
        if (square >> 127) {
            fraction |= 1;
            m = (uint64_t)(square >> 64);
        } else {
            m = (uint64_t)(square >> 63);
        }
    }
    /* log2(x / 2^64) = -1 - shift + fraction */
    return ((uint64_t)(shift + 1) << ONE_BITS) - fraction;
}

int64_t draw_exponential(struct draw *draw, int64_t mean)
{
    uint64_t bits = minus_log2(draw_u64(draw) | 1);
    u128 product = (u128)((bits * (u128)ln2) >> ONE_BITS) * (uint64_t)mean;
    u128 value = product >> ONE_BITS;
    u128 most = (u128)(uint64_t)mean * TAIL_FACTOR;

    return (int64_t)(value < most ? value : most);
}

/* 2^(p / 2^ONE_BITS), with ONE_BITS bits after the point, for p below 63. */
static u128 exp2_of(uint64_t p)
{
    /* 2^(1/2), 2^(1/4), ... less one, with 32 bits after the point. */
    static const uint32_t roots[] = {
        1779033704, 812638371, 388727752, 190154448, 94047537,
        46769127,   23321248,  11644838,  5818478,   2908254,
    };
    u128 value = (u128)1 << ONE_BITS;
    uint64_t fraction = p & (((uint64_t)1 << ONE_BITS) - 1);

    for (uint32_t i = 0; i < ARRAY_COUNT(roots); i++) {
        if (fraction >> (ONE_BITS - 1 - i) & 1) {
            value += (value * roots[i]) >> ONE_BITS;
        }
    }
    return value << (p >> ONE_BITS);
}

static int64_t draw_log_uniform(struct draw *draw, int64_t a, int64_t b)
{
    uint64_t low = (uint64_t)(a > 0 ? a : 1);
    uint64_t high = (uint64_t)(b > a ? b : a) + (a == 0);
    /* minus_log2() counts down from 2^64. */
    uint64_t range = minus_log2(low) - minus_log2(high > low ? high : low);

    if (range == 0) {
        return a;
    }
    u128 value = exp2_of(draw_below(draw, range)) * low;
    int64_t drawn = (int64_t)(value >> ONE_BITS);
    return drawn < a ? a : drawn > b ? b : drawn;
}

int64_t draw_from(struct draw *draw, enum draw_distribution distribution,
                  int64_t a, int64_t b)
{
    switch (distribution) {
    case DRAW_FIXED:
        return a;
    case DRAW_UNIFORM:
        return a + (int64_t)draw_below(draw, (uint64_t)(b - a) + 1);
    case DRAW_EXPONENTIAL:
        return draw_exponential(draw, a);
    case DRAW_LOG_UNIFORM:
        return draw_log_uniform(draw, a, b);
    }
    return a;
}
