#include "model/weights.h"

double weights_scale(const double *weights, uint32_t count)
{
    double scale = 1;

    for (uint32_t i = 0; i < count; i++) {
        scale = weights[i] > scale ? weights[i] : scale;
    }
    return scale;
}
