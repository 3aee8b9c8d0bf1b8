// For programs that are marked for Tracy's client: the same marks, taken by an agent of Accelscope.
#pragma once
#include "../accelscope/zones.h"
