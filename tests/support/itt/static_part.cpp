#include "tests/support/itt/static_part.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace accelscope::test {
namespace {

constexpr const char* kNames[] = {
    "__itt_domain_create",
    "__itt_string_handle_create",
    "__itt_task_begin",
    "__itt_task_end",
    "__itt_task_begin_fn",
    "__itt_task_begin_overlapped",
    "__itt_task_end_overlapped",
    "__itt_region_begin",
    "__itt_region_end",
    "__itt_frame_begin_v3",
    "__itt_frame_end_v3",
    "__itt_frame_submit_v3",
    "__itt_counter_create",
    "__itt_counter_create_typed",
    "__itt_counter_set_value",
    "__itt_counter_inc",
    "__itt_counter_dec_delta",
    "__itt_counter_inc_delta_v3",
    "__itt_event_create",
    "__itt_event_start",
    "__itt_event_end",
    "__itt_marker",
    "__itt_metadata_add",
    "__itt_metadata_str_add",
    "__itt_formatted_metadata_add",
    "__itt_metadata_str_add_with_scope",
    "__itt_relation_add",
    "__itt_thread_set_name",
    "__itt_pause",
    "__itt_resume",
    "__itt_detach",
    "__itt_get_timestamp",
    "__itt_sync_create",
    "__itt_sync_prepare",
    "__itt_sync_acquired",
    "__itt_sync_releasing",
    "__itt_histogram_create",
    "__itt_histogram_submit",
    "__itt_task_group",
    "__itt_suppress_push",
    "__itt_id_create",
};

// Takes any arguments; its result is 0 or null.
void* nothing() { return nullptr; }

}  // namespace

StaticPart::StaticPart() {
  std::copy(std::begin(probe::itt::kGlobalMagic), std::end(probe::itt::kGlobalMagic), global_.magic);
  global_.version_major = 3;
  global_.version_build = 20250807;
  pthread_mutex_init(&global_.mutex, nullptr);
  for (const char* name : kNames) {
    void*& function = functions_[name];
    apis_.push_back({.name = name, .function = &function, .null_function = reinterpret_cast<void*>(nothing)});
  }
  apis_.push_back({});
  global_.api_list = apis_.data();
}

itt_domain* StaticPart::early_domain(const char* name) {
  global_.domain_list = new itt_domain{.flags = 1, .name = name, .next = global_.domain_list};
  return global_.domain_list;
}

itt_string_handle* StaticPart::early_string(const char* text) {
  global_.string_list = new itt_string_handle{.text = text, .next = global_.string_list};
  return global_.string_list;
}

itt_counter_info* StaticPart::early_counter(const char* name, const char* domain, int type) {
  // The parts leave the collector's fields of counters as they find them.
  global_.counter_list = new itt_counter_info{
      .name = name, .domain = domain, .type = type, .extra1 = 0x5a5a, .next = global_.counter_list};
  return global_.counter_list;
}

bool StaticPart::attach() {
  const char* path = std::getenv("INTEL_LIBITTNOTIFY64");
  void* library = path == nullptr ? nullptr : ::dlopen(path, RTLD_LAZY);
  if (library == nullptr) return false;
  void* init = ::dlsym(library, "__itt_api_init");
  if (init == nullptr) return false;
  pthread_mutex_lock(&global_.mutex);
  reinterpret_cast<void (*)(itt_global*, int)>(init)(&global_, -1);
  pthread_mutex_unlock(&global_.mutex);
  return true;
}

}  // namespace accelscope::test
