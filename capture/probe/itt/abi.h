// The interface between ITT's static part, which is linked into instrumented programs, and a collector, which it loads
// by the environment variable INTEL_LIBITTNOTIFY64: what both sides must lay out alike. Declared from the interface's
// documented behaviour, builds 20180723 and later.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>

#include "capture/probe/itt/records.h"

#pragma pack(push, 8)

extern "C" {

struct itt_domain {
  volatile int flags;  // 0: the program's calls with this domain are skipped before they reach a collector
  const char* name;
  void* wide_name;
  int extra1;  // both of the collector
  void* extra2;
  itt_domain* next;
};

struct itt_string_handle {
  const char* text;
  void* wide_text;
  int extra1;
  void* extra2;
  itt_string_handle* next;
};

struct itt_counter_info {
  const char* name;
  void* wide_name;
  const char* domain;
  void* wide_domain;
  int type;
  long index;
  int extra1;
  void* extra2;
  itt_counter_info* next;
};

struct itt_histogram {
  const itt_domain* domain;
  const char* name;
  void* wide_name;
  int x_type, y_type;
  int extra1;
  void* extra2;
  itt_histogram* next;
};

struct itt_clock_domain {
  std::uint64_t frequency, base;
  void (*read)(void* info, void* data);
  void* data;
  int extra1;
  void* extra2;
  itt_clock_domain* next;
};

struct itt_api_info {
  const char* name;  // "__itt_task_begin"; null ends the list
  void** function;   // where the static part calls through
  void* init_function;
  void* null_function;
  int group;
};

struct itt_global {
  unsigned char magic[8];
  unsigned long version_major, version_minor, version_build;
  volatile long api_initialized, mutex_initialized, atomic_counter;
  pthread_mutex_t mutex;
  void* library;
  void* error_handler;
  const char** library_path;
  itt_api_info* api_list;
  itt_global* next;
  void* thread_list;
  itt_domain* domain_list;
  itt_string_handle* string_list;
  int state;
  itt_counter_info* counter_list;
};

}  // extern "C"

#pragma pack(pop)

namespace accelscope::probe::itt {

static_assert(sizeof(itt_domain) == 48 && sizeof(itt_string_handle) == 40 && sizeof(itt_api_info) == 40);
static_assert(sizeof(itt_counter_info) == 72 && offsetof(itt_global, api_list) == 56 + sizeof(pthread_mutex_t) + 24);

constexpr unsigned char kGlobalMagic[8] = {0xED, 0xAB, 0xAB, 0xEC, 0x0D, 0xEE, 0xDA, 0x30};
constexpr unsigned long kBuildWithCounterList = 20180723;

}  // namespace accelscope::probe::itt
