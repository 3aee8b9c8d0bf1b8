/* How marked programs reach the probe library: a table of functions, found once by the environment that an agent gives
   to the programs it starts. Nothing is linked. Programs include accelscope/zones.h (C++) or zones_c.h (C) instead.

   accelscope_zones() is null unless an agent wants zones: then a mark costs a load and a branch. */
#ifndef ACCELSCOPE_ZONES_API_H
#define ACCELSCOPE_ZONES_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ACCELSCOPE_ZONES_VERSION 1

/* Where a mark stands in the source; lives as long as the program. */
struct accelscope_zones_place {
  const char* name; /* null: the function's */
  const char* function;
  const char* file;
  uint32_t line;
  uint32_t color; /* 0xRRGGBB, 0: none */
};

enum accelscope_zones_frame { ACCELSCOPE_FRAME_MARK, ACCELSCOPE_FRAME_START, ACCELSCOPE_FRAME_END };
enum accelscope_zones_lock {
  ACCELSCOPE_LOCK_WAIT,
  ACCELSCOPE_LOCK_OBTAIN,
  ACCELSCOPE_LOCK_RELEASE,
  ACCELSCOPE_LOCK_CANCEL
};

/* Texts need not end with NUL where their size is given. Any thread. */
struct accelscope_zones_functions {
  uint32_t version;
  /* Both say whether the zone was recorded: only then does it end. */
  int (*begin)(const struct accelscope_zones_place* place);
  int (*begin_site)(uint32_t site);
  void (*end)(void);
  /* A place that is made while the program runs; 0 if there is none. */
  uint32_t (*site)(uint32_t line, const char* file, size_t file_size, const char* function, size_t function_size,
                   const char* name, size_t name_size, uint32_t color);
  /* Of the thread's innermost open zone. */
  void (*text)(const char* text, size_t size);
  void (*name)(const char* text, size_t size);
  void (*value)(uint64_t value);
  void (*color)(uint32_t color);
  void (*frame)(int what, const char* name);
  void (*frame_image)(void);
  void (*plot_integer)(const char* name, int64_t value);
  void (*plot_real)(const char* name, double value);
  void (*plot_format)(const char* name, int format); /* 0 number, 1 bytes, 2 percent, 3 watt */
  void (*message)(const char* text, size_t size, uint32_t color, int severity);
  void (*app_info)(const char* text, size_t size);
  void (*allocated)(const void* address, size_t size, const char* pool);
  void (*freed)(const void* address, const char* pool);
  void (*lock_named)(uint64_t lock, const struct accelscope_zones_place* place, const char* name, size_t size);
  void (*lock)(int what, uint64_t lock, int shared);
  void (*lock_marked)(uint64_t lock, const struct accelscope_zones_place* place);
  void (*thread_name)(const char* name);
  void (*program_name)(const char* name);
  void (*fiber_entered)(const char* name);
  void (*fiber_left)(void);
  int (*collecting)(void);
};

#ifdef __cplusplus
}
#endif

#if defined(__linux__)
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/auxv.h>

/* NOLINTBEGIN(modernize-use-nullptr): C as well */
/* A program that runs with more rights than its user loads nothing that the user names. */
static inline const struct accelscope_zones_functions* accelscope_zones_look(void) {
  typedef const struct accelscope_zones_functions* (*attach_function)(uint32_t);
  const char* library = getauxval(AT_SECURE) != 0 ? NULL : getenv("ACCELSCOPE_ZONES_LIBRARY");
  void* handle = library != NULL && library[0] != '\0' ? dlopen(library, RTLD_NOW | RTLD_LOCAL) : NULL;
  attach_function attach = NULL;
  if (handle == NULL) return NULL;
  *(void**)(&attach) = dlsym(handle, "accelscope_zones_attach");
  return attach == NULL ? NULL : attach(ACCELSCOPE_ZONES_VERSION);
}
/* NOLINTEND(modernize-use-nullptr) */
#else
static inline const struct accelscope_zones_functions* accelscope_zones_look(void) { return NULL; }
#endif

/* Not looked for yet: the address of a table that nobody uses. */
#ifdef __cplusplus
namespace accelscope {
namespace zones {
template <int>
struct State {
  static accelscope_zones_functions unknown;
  static const accelscope_zones_functions* functions;
};
template <int N>
accelscope_zones_functions State<N>::unknown = {};
template <int N>
const accelscope_zones_functions* State<N>::functions = &State<N>::unknown;
}  // namespace zones
}  // namespace accelscope
#define ACCELSCOPE_ZONES_UNKNOWN (&accelscope::zones::State<0>::unknown)
#define ACCELSCOPE_ZONES_FUNCTIONS accelscope::zones::State<0>::functions
#else
static struct accelscope_zones_functions accelscope_zones_unknown;
static const struct accelscope_zones_functions* accelscope_zones_found = &accelscope_zones_unknown;
#define ACCELSCOPE_ZONES_UNKNOWN (&accelscope_zones_unknown)
#define ACCELSCOPE_ZONES_FUNCTIONS accelscope_zones_found
#endif

static inline const struct accelscope_zones_functions* accelscope_zones(void) {
  const struct accelscope_zones_functions* functions = __atomic_load_n(&ACCELSCOPE_ZONES_FUNCTIONS, __ATOMIC_ACQUIRE);
  if (__builtin_expect(functions == ACCELSCOPE_ZONES_UNKNOWN, 0)) {
    functions = accelscope_zones_look();
    __atomic_store_n(&ACCELSCOPE_ZONES_FUNCTIONS, functions, __ATOMIC_RELEASE);
  }
  return functions;
}

#endif
