#include "fraction.h"

struct fraction fraction_of(i128 up, i128 down)
{
    i128 a = up < 0 ? -up : up, b = down;

    while (b) {
        i128 rest = a % b;
        a = b;
        b = rest;
    }
    return (struct fraction){up / a, down / a};
}

struct fraction fraction_add(struct fraction a, struct fraction b)
{
    return fraction_of(a.up * b.down + b.up * a.down, a.down * b.down);
}

struct fraction fraction_less(struct fraction a, struct fraction b)
{
    i128 up = a.up * b.down - b.up * a.down;

    return fraction_of(up > 0 ? up : 0, a.down * b.down);
}

struct fraction fraction_times(struct fraction a, struct fraction b)
{
    return fraction_of(a.up * b.up, a.down * b.down);
}

int fraction_compare(struct fraction a, struct fraction b)
{
    i128 gap = a.up * b.down - b.up * a.down;

    return (gap > 0) - (gap < 0);
}

double fraction_value(struct fraction a)
{
    return (double)a.up / (double)a.down;
}
