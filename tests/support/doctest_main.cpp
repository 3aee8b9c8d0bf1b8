#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "tests/support/sanitized.h"

#if defined(__has_feature)  // clang
#define ACCELSCOPE_SANITIZED_FOR(what) __has_feature(what##_sanitizer)
#else
#define ACCELSCOPE_SANITIZED_FOR(what) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || ACCELSCOPE_SANITIZED_FOR(address)
// The compiler inside the software renderer keeps a few hundred bytes when its driver is closed. LeakSanitizer can only
// be told so while the library is still loaded, so under it libraries stay.
extern "C" int dlclose(void*) { return 0; }
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libLLVM\n"; }
#endif

bool accelscope::test::sanitized() noexcept {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || ACCELSCOPE_SANITIZED_FOR(address)
  return true;
#else
  return false;
#endif
}
