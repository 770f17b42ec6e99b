#include "patience.h"

#include <stdlib.h>

enum { PATIENT_MS_MAX = 3600 * 1000 };

int patient_ms(int ms)
{
    const char *text = getenv("BERTH_PATIENCE");
    double patience = text ? strtod(text, NULL) : 1;
    double patient = ms * (patience > 1 ? patience : 1);

    return patient < PATIENT_MS_MAX ? (int)patient : PATIENT_MS_MAX;
}
