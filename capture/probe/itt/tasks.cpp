#include <cxxabi.h>
#include <dlfcn.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "capture/probe/itt/calls.h"
#include "capture/probe/itt/metadata_text.h"

namespace accelscope::probe::itt {
namespace {

__attribute__((tls_model("initial-exec"))) thread_local constinit RecordedTasks recorded_tasks;

void begin_at(std::uint32_t site, std::uint64_t given_ticks, const Id& id, const Id& parent) noexcept {
  ThreadRing* ring = Names::instance().ring();
  recorded_tasks.begin(ring != nullptr);
  if (ring == nullptr) return;
  const std::uint64_t ticks = given_ticks != 0 ? given_ticks : now_ticks();
  if (id.empty() && parent.empty()) return put_at(ring, RecordType::task_begin, site, ticks);
  put_ids(ring, RecordType::task_begin_ids, site, ticks, id, parent);
}

void end_at(const itt_domain* domain, std::uint64_t given_ticks) noexcept {
  const std::uint32_t domain_id = domain_of(domain);
  if (domain_id == Names::kOffDomain || !recorded_tasks.end()) return;
  ThreadRing* ring = Names::instance().ring_for_end();
  put_at(ring, RecordType::task_end, domain_id, given_ticks != 0 ? given_ticks : now_ticks());
}

void task_begin_ex(const itt_domain* domain, itt_clock_domain* clock, unsigned long long timestamp, Id id, Id parent,
                   itt_string_handle* name) noexcept {
  const std::uint32_t domain_id = domain_of(domain);
  if (domain_id == Names::kOffDomain) return;
  begin_at(site_of(domain, domain_id, name), ticks_of(clock, timestamp), id, parent);
}
void task_begin(const itt_domain* domain, Id id, Id parent, itt_string_handle* name) noexcept {
  const std::uint32_t domain_id = domain_of(domain);
  if (domain_id == Names::kOffDomain) return;
  begin_at(site_of(domain, domain_id, name), 0, id, parent);
}
void task_end(const itt_domain* domain) noexcept { end_at(domain, 0); }
void task_end_ex(const itt_domain* domain, itt_clock_domain* clock, unsigned long long timestamp) noexcept {
  end_at(domain, ticks_of(clock, timestamp));
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
  begin_at(names.site(domain_id, *names.name(name)), ticks_of(clock, timestamp), id, parent);
  std::free(demangled);
}
void task_begin_fn(const itt_domain* domain, Id id, Id parent, void* function) noexcept {
  task_begin_fn_ex(domain, nullptr, 0, id, parent, function);
}

// Regions and overlapped tasks, both with ids. Their ends are told whether or not their begins were: they may come from
// another thread.
void begin_with_id(RecordType type, const itt_domain* domain, std::uint64_t given_ticks, const Id& id, const Id& parent,
                   itt_string_handle* name) noexcept {
  const std::uint32_t domain_id = domain_of(domain);
  if (domain_id == Names::kOffDomain) return;
  const std::uint32_t site = site_of(domain, domain_id, name);
  put_ids(Names::instance().ring(), type, site, given_ticks != 0 ? given_ticks : now_ticks(), id, parent);
}
void end_with_id(RecordType type, const itt_domain* domain, std::uint64_t given_ticks, const Id& id) noexcept {
  const std::uint32_t domain_id = domain_of(domain);
  if (domain_id == Names::kOffDomain) return;
  put_id(Names::instance().ring_for_end(), type, domain_id, given_ticks != 0 ? given_ticks : now_ticks(), id);
}
void task_begin_overlapped(const itt_domain* domain, Id id, Id parent, itt_string_handle* name) noexcept {
  begin_with_id(RecordType::overlapped_begin, domain, 0, id, parent, name);
}
void task_begin_overlapped_ex(const itt_domain* domain, itt_clock_domain* clock, unsigned long long timestamp, Id id,
                              Id parent, itt_string_handle* name) noexcept {
  begin_with_id(RecordType::overlapped_begin, domain, ticks_of(clock, timestamp), id, parent, name);
}
void task_end_overlapped(const itt_domain* domain, Id id) noexcept {
  end_with_id(RecordType::overlapped_end, domain, 0, id);
}
void task_end_overlapped_ex(const itt_domain* domain, itt_clock_domain* clock, unsigned long long timestamp,
                            Id id) noexcept {
  end_with_id(RecordType::overlapped_end, domain, ticks_of(clock, timestamp), id);
}
void region_begin(const itt_domain* domain, Id id, Id parent, itt_string_handle* name) noexcept {
  begin_with_id(RecordType::region_begin, domain, 0, id, parent, name);
}
void region_end(const itt_domain* domain, Id id) noexcept { end_with_id(RecordType::region_end, domain, 0, id); }
void task_group(const itt_domain* domain, Id id, Id parent, itt_string_handle* name) noexcept {
  begin_with_id(RecordType::group, domain, 0, id, parent, name);
}

void frame(RecordType type, const itt_domain* domain, const Id* id) noexcept {
  const std::uint32_t domain_id = domain_of(domain);
  if (domain_id == Names::kOffDomain) return;
  Names& names = Names::instance();
  ThreadRing* ring = type == RecordType::frame_end ? names.ring_for_end() : names.ring();
  put_id(ring, type, site_of_domain(domain, domain_id), now_ticks(), id == nullptr ? Id{} : *id);
}
void frame_begin_v3(const itt_domain* domain, Id* id) noexcept { frame(RecordType::frame_begin, domain, id); }
void frame_end_v3(const itt_domain* domain, Id* id) noexcept { frame(RecordType::frame_end, domain, id); }
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
void* frame_create(const char* domain) noexcept {
  Names& names = Names::instance();
  const std::uint32_t domain_id = names.domain(view_of(domain));
  if (domain_id == Names::kOffDomain) return nullptr;
  return reinterpret_cast<void*>(std::uintptr_t{names.site(domain_id, view_of(domain), {})});
}
void frame_begin(void* frame) noexcept {
  const auto site = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(frame));
  if (site != 0) put_id(Names::instance().ring(), RecordType::frame_begin, site, now_ticks(), {});
}
void frame_end(void* frame) noexcept {
  const auto site = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(frame));
  if (site != 0) put_id(Names::instance().ring_for_end(), RecordType::frame_end, site, now_ticks(), {});
}

void marker_ex(const itt_domain* domain, itt_clock_domain* clock, unsigned long long timestamp, Id id,
               itt_string_handle* name, int scope) noexcept {
  const std::uint32_t domain_id = domain_of(domain);
  if (domain_id == Names::kOffDomain) return;
  ThreadRing* ring = Names::instance().ring();
  if (ring == nullptr) return;
  const std::uint64_t given = ticks_of(clock, timestamp);
  ring->put(MarkerRecord{head_of<MarkerRecord>(RecordType::marker, site_of(domain, domain_id, name)),
                         given != 0 ? given : now_ticks(), static_cast<std::uint64_t>(scope), id});
}
void marker(const itt_domain* domain, Id id, itt_string_handle* name, int scope) noexcept {
  marker_ex(domain, nullptr, 0, id, name, scope);
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
  put_metadata(Names::instance().ring_for_end(), site_of(domain, domain_id, key), id, of_type, data,
               std::min<std::size_t>(count, kMaxTextBytes) * bytes_of(of_type));
}
void metadata_str_add(const itt_domain* domain, Id id, itt_string_handle* key, const char* text,
                      std::size_t length) noexcept {
  const std::uint32_t domain_id = domain_of(domain);
  if (domain_id == Names::kOffDomain || text == nullptr) return;
  put_metadata(Names::instance().ring_for_end(), site_of(domain, domain_id, key), id, MetadataType::text, text,
               length == 0 ? std::strlen(text) : length);
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
    put_metadata(ring, 0, {}, MetadataType::text, text, std::min<std::size_t>(static_cast<std::size_t>(length), 2047));
  }
}

void relation_add_ex(const itt_domain* domain, itt_clock_domain* clock, unsigned long long timestamp, Id head,
                     int relation, Id tail) noexcept {
  if (domain_of(domain) == Names::kOffDomain) return;
  const std::uint64_t given = ticks_of(clock, timestamp);
  put_ids(Names::instance().ring(), RecordType::relation, static_cast<std::uint32_t>(relation),
          given != 0 ? given : now_ticks(), head, tail);
}
void relation_add(const itt_domain* domain, Id head, int relation, Id tail) noexcept {
  relation_add_ex(domain, nullptr, 0, head, relation, tail);
}
void relation_add_to_current(const itt_domain* domain, int relation, Id tail) noexcept {
  relation_add_ex(domain, nullptr, 0, {}, relation, tail);
}
void relation_add_to_current_ex(const itt_domain* domain, itt_clock_domain* clock, unsigned long long timestamp,
                                int relation, Id tail) noexcept {
  relation_add_ex(domain, clock, timestamp, {}, relation, tail);
}

}  // namespace

std::span<const Call> task_calls() noexcept {
  static const std::array kCalls = {
      Call{"task_begin", pointer_to(task_begin), &Wanted::tasks},
      Call{"task_begin_ex", pointer_to(task_begin_ex), &Wanted::tasks},
      Call{"task_begin_fn", pointer_to(task_begin_fn), &Wanted::tasks},
      Call{"task_begin_fn_ex", pointer_to(task_begin_fn_ex), &Wanted::tasks},
      Call{"task_end", pointer_to(task_end), &Wanted::tasks},
      Call{"task_end_ex", pointer_to(task_end_ex), &Wanted::tasks},
      Call{"task_begin_overlapped", pointer_to(task_begin_overlapped), &Wanted::tasks},
      Call{"task_begin_overlapped_ex", pointer_to(task_begin_overlapped_ex), &Wanted::tasks},
      Call{"task_end_overlapped", pointer_to(task_end_overlapped), &Wanted::tasks},
      Call{"task_end_overlapped_ex", pointer_to(task_end_overlapped_ex), &Wanted::tasks},
      Call{"task_group", pointer_to(task_group), &Wanted::tasks},
      Call{"region_begin", pointer_to(region_begin), &Wanted::frames},
      Call{"region_end", pointer_to(region_end), &Wanted::frames},
      Call{"frame_begin_v3", pointer_to(frame_begin_v3), &Wanted::frames},
      Call{"frame_end_v3", pointer_to(frame_end_v3), &Wanted::frames},
      Call{"frame_submit_v3", pointer_to(frame_submit_v3), &Wanted::frames},
      Call{"frame_create", pointer_to(frame_create), &Wanted::frames},
      Call{"frame_begin", pointer_to(frame_begin), &Wanted::frames},
      Call{"frame_end", pointer_to(frame_end), &Wanted::frames},
      Call{"marker", pointer_to(marker), &Wanted::events},
      Call{"marker_ex", pointer_to(marker_ex), &Wanted::events},
      Call{"metadata_add", pointer_to(metadata_add), &Wanted::metadata},
      Call{"metadata_str_add", pointer_to(metadata_str_add), &Wanted::metadata},
      Call{"metadata_add_with_scope", pointer_to(metadata_add_with_scope), &Wanted::metadata},
      Call{"metadata_str_add_with_scope", pointer_to(metadata_str_add_with_scope), &Wanted::metadata},
      Call{"formatted_metadata_add", pointer_to(formatted_metadata_add), &Wanted::metadata},
      Call{"relation_add", pointer_to(relation_add), &Wanted::tasks},
      Call{"relation_add_ex", pointer_to(relation_add_ex), &Wanted::tasks},
      Call{"relation_add_to_current", pointer_to(relation_add_to_current), &Wanted::tasks},
      Call{"relation_add_to_current_ex", pointer_to(relation_add_to_current_ex), &Wanted::tasks},
  };
  return kCalls;
}

}  // namespace accelscope::probe::itt
