// ACCELSCOPE_CONSTEVAL: `consteval` where the compiler handles it. Clang 16 loses track of a full expression's
// temporaries when an argument in it is an immediate call: inside a `switch` their destructors then run on every path,
// also where they were never made. There the functions are `constexpr`; what must not compile is refused by GCC.
#pragma once

#if defined(__clang__) && __clang_major__ < 18
#define ACCELSCOPE_CONSTEVAL constexpr
#else
#define ACCELSCOPE_CONSTEVAL consteval
#endif
