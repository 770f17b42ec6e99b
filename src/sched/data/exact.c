#include "sched/data/exact.h"

/* 256 bits. */
struct wide {
    u128 high, low;
};

static struct wide multiply(u128 a, u128 b)
{
    u128 a_low = (uint64_t)a, a_high = a >> 64;
    u128 b_low = (uint64_t)b, b_high = b >> 64;
    u128 low = a_low * b_low;
    u128 cross = a_high * b_low + (low >> 64);
    u128 other = a_low * b_high + (uint64_t)cross;

    return (struct wide){
        .high = a_high * b_high + (cross >> 64) + (other >> 64),
        .low = other << 64 | (uint64_t)low,
    };
}

int exact_compare_products(u128 a, u128 b, u128 c, u128 d)
{
    struct wide x = multiply(a, b);
    struct wide y = multiply(c, d);

    if (x.high != y.high) {
        return x.high < y.high ? -1 : 1;
    }
    return x.low < y.low ? -1 : x.low > y.low;
}

u128 exact_ratio(u128 a, u128 b, bool is_up)
{
    u128 whole = a / b, rest = a % b, digits = 0;

    ASSERT(b < (u128)1 << 127);
    if (whole >> 32) {
        return EXACT_ONE << 32;
    }
    for (int i = 0; i < 64; i++) {
        rest <<= 1;
        digits <<= 1;
        if (rest >= b) {
            rest -= b;
            digits |= 1;
        }
    }
    return (whole << 64) + digits + (is_up && rest != 0);
}

u128 exact_scale(u128 a, u128 b, bool is_up)
{
    struct wide product = multiply(a, b);
    bool is_more = is_up && (uint64_t)product.low != 0;

    return (product.high << 64) + (product.low >> 64) + is_more;
}

u128 exact_common_multiple(u128 multiple, int64_t divisor, u128 max)
{
    u128 a = multiple, b = (u128)divisor;

    ASSERT(divisor > 0 && multiple > 0);
    if (multiple >= max || multiple % b == 0) {
        return multiple;
    }
    while (b != 0) {
        u128 rest = a % b;
        a = b;
        b = rest;
    }
    ASSERT((u128)divisor % a == 0); /* the greatest common divisor */
    u128 factor = (u128)divisor / a;
    return multiple > max / factor ? max : multiple * factor;
}
