#include <cxxabi.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "capture/probe/itt/calls.h"
#include "capture/probe/itt/metadata_text.h"

namespace accelscope::probe::itt {
namespace {

__attribute__((tls_model("initial-exec"))) thread_local constinit RecordedTasks recorded_tasks;

void begin_at(std::uint32_t site, const itt_clock_domain* clock, std::uint64_t timestamp, const Id& id,
              const Id& parent) noexcept {
  ThreadRing* ring = Names::instance().ring();
  recorded_tasks.begin(ring != nullptr);
  if (ring == nullptr) return;
  const std::uint64_t ticks = ticks_of(clock, timestamp);
  if (id.empty() && parent.empty()) return put_at(ring, RecordType::task_begin, site, ticks);
  put_ids(ring, RecordType::task_begin_ids, site, ticks, id, parent);
}

void task_begin_ex(const itt_domain* domain, itt_clock_domain* clock, unsigned long long timestamp, Id id, Id parent,
                   itt_string_handle* name) noexcept {
  const std::uint32_t domain_id = domain_of(domain);
  if (domain_id == Names::kOffDomain) return;
  begin_at(site_of(domain, domain_id, name), clock, timestamp, id, parent);
}
void task_end_ex(const itt_domain* domain, itt_clock_domain* clock, unsigned long long timestamp) noexcept {
  const std::uint32_t domain_id = domain_of(domain);
  if (domain_id == Names::kOffDomain || !recorded_tasks.end()) return;
  put_at(Names::instance().ring_for_end(), RecordType::task_end, domain_id, ticks_of(clock, timestamp));
}

// Named by the symbol that the loader knows at the address.
void task_begin_fn_ex(const itt_domain* domain, itt_clock_domain* clock, unsigned long long timestamp, Id id, Id parent,
                      void* function) noexcept {
  const std::uint32_t domain_id = domain_of(domain);
  if (domain_id == Names::kOffDomain) return;
  char address[32];
  std::snprintf(address, sizeof address, "function %p", function);
  const char* name = address;
  Dl_info info;
  char* demangled = nullptr;
  if (dladdr(function, &info) != 0 && info.dli_sname != nullptr) {
    int status = 0;
    demangled = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
    name = demangled != nullptr ? demangled : info.dli_sname;
  }
  Names& names = Names::instance();
  begin_at(names.site(domain_id, *names.name(name)), clock, timestamp, id, parent);
  std::free(demangled);
}

// Regions and overlapped tasks, both with ids. Their ends are told whether or not their begins were: they may come from
// another thread.
template <RecordType kType>
void begin_with_id(const itt_domain* domain, itt_clock_domain* clock, unsigned long long timestamp, Id id, Id parent,
                   itt_string_handle* name) noexcept {
  const std::uint32_t domain_id = domain_of(domain);
  if (domain_id == Names::kOffDomain) return;
  const std::uint32_t site = site_of(domain, domain_id, name);
  put_ids(Names::instance().ring(), kType, site, ticks_of(clock, timestamp), id, parent);
}
template <RecordType kType>
void end_with_id(const itt_domain* domain, itt_clock_domain* clock, unsigned long long timestamp, Id id) noexcept {
  const std::uint32_t domain_id = domain_of(domain);
  if (domain_id == Names::kOffDomain) return;
  put_id(Names::instance().ring_for_end(), kType, domain_id, ticks_of(clock, timestamp), id);
}

template <RecordType kType>
void put_frame(std::uint32_t site, const Id& id) noexcept {
  Names& names = Names::instance();
  put_id(kType == RecordType::frame_end ? names.ring_for_end() : names.ring(), kType, site, now_ticks(), id);
}
template <RecordType kType>
void frame_v3(const itt_domain* domain, Id* id) noexcept {
  const std::uint32_t domain_id = domain_of(domain);
  if (domain_id == Names::kOffDomain) return;
  put_frame<kType>(site_of_domain(domain, domain_id), id == nullptr ? Id{} : *id);
}
void frame_submit_v3(const itt_domain* domain, Id* id, unsigned long long begin, unsigned long long end) noexcept {
  const std::uint32_t domain_id = domain_of(domain);
  if (domain_id == Names::kOffDomain) return;
  constexpr unsigned long long kNow = ~0ULL;  // a time that the caller leaves out
  ThreadRing* ring = Names::instance().ring();
  if (ring == nullptr) return;
  ring->put(FrameSubmitRecord{head_of<FrameSubmitRecord>(RecordType::frame_submit, site_of_domain(domain, domain_id)),
                              begin, end == kNow ? now_ticks() : end, id == nullptr ? Id{} : *id});
}
// The first version's frames: a handle is a site.
void* frame_create(const char* domain) noexcept { return site_handle(domain, domain); }
template <RecordType kType>
void frame_v1(void* frame) noexcept {
  if (site_of_handle(frame) != 0) put_frame<kType>(site_of_handle(frame), {});
}

void marker_ex(const itt_domain* domain, itt_clock_domain* clock, unsigned long long timestamp, Id id,
               itt_string_handle* name, int scope) noexcept {
  const std::uint32_t domain_id = domain_of(domain);
  if (domain_id == Names::kOffDomain) return;
  ThreadRing* ring = Names::instance().ring();
  if (ring == nullptr) return;
  ring->put(MarkerRecord{head_of<MarkerRecord>(RecordType::marker, site_of(domain, domain_id, name)),
                         ticks_of(clock, timestamp), static_cast<std::uint64_t>(scope), id});
}

[[nodiscard]] std::string_view key_text(itt_string_handle* key) noexcept {
  const Name* name = name_of(key);
  return name == nullptr ? std::string_view("value") : std::string_view(name->text);
}

void metadata_add(const itt_domain* domain, Id id, itt_string_handle* key, int type, std::size_t count,
                  void* data) noexcept {
  const std::uint32_t domain_id = domain_of(domain);
  if (domain_id == Names::kOffDomain || data == nullptr) return;
  const auto of_type = static_cast<MetadataType>(type);
  put_metadata(Names::instance().ring_for_end(), site_of(domain, domain_id, key), id, of_type,
               {static_cast<const char*>(data), std::min<std::size_t>(count, kMaxTextBytes) * bytes_of(of_type)});
}
void metadata_str_add(const itt_domain* domain, Id id, itt_string_handle* key, const char* text,
                      std::size_t length) noexcept {
  const std::uint32_t domain_id = domain_of(domain);
  if (domain_id == Names::kOffDomain || text == nullptr) return;
  put_metadata(Names::instance().ring_for_end(), site_of(domain, domain_id, key), id, MetadataType::text,
               {text, length == 0 ? std::strlen(text) : length});
}
// What belongs to more than a task is told once, of the process.
void metadata_add_with_scope(const itt_domain* domain, int scope, itt_string_handle* key, int type, std::size_t count,
                             void* data) noexcept {
  if (scope == static_cast<int>(Scope::task)) return metadata_add(domain, {}, key, type, count, data);
  if (domain_of(domain) == Names::kOffDomain || data == nullptr) return;
  const auto of_type = static_cast<MetadataType>(type);
  const std::size_t bytes = std::min<std::size_t>(count, kMaxTextBytes / 8) * bytes_of(of_type);
  Names::instance().define_fact(key_text(key), metadata_text(of_type, {static_cast<const char*>(data), bytes}));
}
void metadata_str_add_with_scope(const itt_domain* domain, int scope, itt_string_handle* key, const char* text,
                                 std::size_t length) noexcept {
  if (scope == static_cast<int>(Scope::task)) return metadata_str_add(domain, {}, key, text, length);
  if (domain_of(domain) == Names::kOffDomain || text == nullptr) return;
  Names::instance().define_fact(
      key_text(key), std::string_view(text, length == 0 ? std::strlen(text) : length).substr(0, kMaxTextBytes));
}
void formatted_metadata_add(const itt_domain* domain, itt_string_handle* format, ...) {
  if (domain_of(domain) == Names::kOffDomain || format == nullptr || format->text == nullptr) return;
  ThreadRing* ring = Names::instance().ring_for_end();
  if (ring == nullptr) return;
  char text[2048];
  va_list values;
  va_start(values, format);
  const int length = std::vsnprintf(text, sizeof text, format->text, values);
  va_end(values);
  if (length > 0) {
    put_metadata(ring, 0, {}, MetadataType::text,
                 {text, std::min<std::size_t>(static_cast<std::size_t>(length), 2047)});
  }
}

void relation_add_ex(const itt_domain* domain, itt_clock_domain* clock, unsigned long long timestamp, Id head,
                     int relation, Id tail) noexcept {
  if (domain_of(domain) == Names::kOffDomain) return;
  put_ids(Names::instance().ring(), RecordType::relation, static_cast<std::uint32_t>(relation),
          ticks_of(clock, timestamp), head, tail);
}
void relation_add_to_current_ex(const itt_domain* domain, itt_clock_domain* clock, unsigned long long timestamp,
                                int relation, Id tail) noexcept {
  relation_add_ex(domain, clock, timestamp, {}, relation, tail);
}

}  // namespace

std::span<const Call> task_calls() noexcept {
  static const Call kCalls[] = {
      {"task_begin", untimed<task_begin_ex>, &Wanted::tasks},
      {"task_begin_ex", task_begin_ex, &Wanted::tasks},
      {"task_begin_fn", untimed<task_begin_fn_ex>, &Wanted::tasks},
      {"task_begin_fn_ex", task_begin_fn_ex, &Wanted::tasks},
      {"task_end", untimed<task_end_ex>, &Wanted::tasks},
      {"task_end_ex", task_end_ex, &Wanted::tasks},
      {"task_begin_overlapped", untimed<begin_with_id<RecordType::overlapped_begin>>, &Wanted::tasks},
      {"task_begin_overlapped_ex", begin_with_id<RecordType::overlapped_begin>, &Wanted::tasks},
      {"task_end_overlapped", untimed<end_with_id<RecordType::overlapped_end>>, &Wanted::tasks},
      {"task_end_overlapped_ex", end_with_id<RecordType::overlapped_end>, &Wanted::tasks},
      {"task_group", untimed<begin_with_id<RecordType::group>>, &Wanted::tasks},
      {"region_begin", untimed<begin_with_id<RecordType::region_begin>>, &Wanted::frames},
      {"region_end", untimed<end_with_id<RecordType::region_end>>, &Wanted::frames},
      {"frame_begin_v3", frame_v3<RecordType::frame_begin>, &Wanted::frames},
      {"frame_end_v3", frame_v3<RecordType::frame_end>, &Wanted::frames},
      {"frame_submit_v3", frame_submit_v3, &Wanted::frames},
      {"frame_create", frame_create, &Wanted::frames},
      {"frame_begin", frame_v1<RecordType::frame_begin>, &Wanted::frames},
      {"frame_end", frame_v1<RecordType::frame_end>, &Wanted::frames},
      {"marker", untimed<marker_ex>, &Wanted::events},
      {"marker_ex", marker_ex, &Wanted::events},
      {"metadata_add", metadata_add, &Wanted::metadata},
      {"metadata_str_add", metadata_str_add, &Wanted::metadata},
      {"metadata_add_with_scope", metadata_add_with_scope, &Wanted::metadata},
      {"metadata_str_add_with_scope", metadata_str_add_with_scope, &Wanted::metadata},
      {"formatted_metadata_add", formatted_metadata_add, &Wanted::metadata},
      {"relation_add", untimed<relation_add_ex>, &Wanted::tasks},
      {"relation_add_ex", relation_add_ex, &Wanted::tasks},
      {"relation_add_to_current", untimed<relation_add_to_current_ex>, &Wanted::tasks},
      {"relation_add_to_current_ex", relation_add_to_current_ex, &Wanted::tasks},
  };
  return kCalls;
}

}  // namespace accelscope::probe::itt
