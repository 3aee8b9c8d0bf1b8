/* For programs in C that are marked for Tracy's client: the same marks, taken by an agent of Accelscope. */
#ifndef ACCELSCOPE_TRACY_C_H
#define ACCELSCOPE_TRACY_C_H
#include "../accelscope/zones_c.h"
#endif
