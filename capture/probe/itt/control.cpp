#include <map>

#include "capture/probe/itt/calls.h"

namespace accelscope::probe::itt {
namespace {

// The objects that this library makes: one for each name, whichever static part asks.
struct Objects {
  std::map<std::string, itt_domain*, std::less<>> domains;
  std::map<std::string, itt_string_handle*, std::less<>> strings;
};
Objects& objects() noexcept {
  static Objects& made = *make_lasting<Objects>();
  return made;
}

// In extra1: the id, or this of a domain that is not wanted; 0: not seen yet.
constexpr int kNotWanted = -1;

// In the order in which readers on other threads may rely on it: the name, then the id.
int register_domain(itt_domain& domain) noexcept {
  Names& names = Names::instance();
  const std::uint32_t id = names.domain(view_of(domain.name));
  domain.extra2 = names.name(view_of(domain.name));
  if (id == Names::kOffDomain) domain.flags = 0;
  const int mark = id == Names::kOffDomain ? kNotWanted : static_cast<int>(id);
  __atomic_store_n(&domain.extra1, mark, __ATOMIC_RELEASE);
  return mark;
}

itt_domain* domain_create(const char* name) noexcept {
  if (name == nullptr) return nullptr;
  const std::lock_guard lock(Names::instance().making());
  itt_domain*& domain = objects().domains[name];
  if (domain == nullptr) {
    domain = make_lasting<itt_domain>();
    domain->flags = 1;
    domain->name = Names::instance().name(name)->text.c_str();
    register_domain(*domain);
  }
  return domain;
}

itt_string_handle* string_handle_create(const char* text) noexcept {
  if (text == nullptr) return nullptr;
  const std::lock_guard lock(Names::instance().making());
  itt_string_handle*& handle = objects().strings[text];
  if (handle == nullptr) {
    handle = make_lasting<itt_string_handle>();
    Name* name = Names::instance().name(text);
    handle->text = name->text.c_str();
    handle->extra2 = name;
  }
  return handle;
}

itt_clock_domain* clock_domain_create(void (*read)(void*, void*), void* data) noexcept {
  auto* clock = make_lasting<itt_clock_domain>();
  clock->read = read;
  clock->data = data;
  return clock;
}

unsigned long long get_timestamp() noexcept { return now_ticks(); }

void thread_set_name(const char* name) noexcept {
  if (name != nullptr) Names::instance().channel().name_thread(name);
}
int thr_name_set(const char* name, int length) noexcept {
  std::string_view text = view_of(name);
  if (length > 0) text = text.substr(0, static_cast<std::size_t>(length));
  Names::instance().channel().name_thread(text);
  return 0;
}

void pause() noexcept { Names::instance().channel().intent(Intent::pause); }
void resume() noexcept { Names::instance().channel().intent(Intent::resume); }
void detach() noexcept { Names::instance().channel().detach(); }

[[nodiscard]] std::uint64_t number_of(const void* lock) noexcept { return reinterpret_cast<std::uintptr_t>(lock); }

void sync_create(void* lock, const char* type, const char* name, int) noexcept {
  std::string text(view_of(type));
  if (!view_of(name).empty()) text.append(text.empty() ? "" : " ").append(name);
  Names::instance().define_lock(number_of(lock), 0, text);
}
int notify_sync_name(void* lock, const char* type, int, const char* name, int, int) noexcept {
  sync_create(lock, type, name, 0);
  return 0;
}
void sync_rename(void* lock, const char* name) noexcept {
  Names::instance().define_lock(number_of(lock), 0, view_of(name));
}
template <RecordType kType>
void sync(void* lock) noexcept {
  Names& names = Names::instance();
  put_value(kType == RecordType::lock_wait ? names.ring() : names.ring_for_end(), kType, 0, number_of(lock));
}

}  // namespace

std::uint32_t domain_of(const itt_domain* domain) noexcept {
  if (domain == nullptr) return Names::kOffDomain;
  int mark = __atomic_load_n(&domain->extra1, __ATOMIC_ACQUIRE);
  if (mark == 0) mark = register_domain(const_cast<itt_domain&>(*domain));
  return mark == kNotWanted ? Names::kOffDomain : static_cast<std::uint32_t>(mark);
}

Name* name_of(itt_string_handle* handle) noexcept {
  if (handle == nullptr) return nullptr;
  void* known = __atomic_load_n(&handle->extra2, __ATOMIC_ACQUIRE);
  if (known != nullptr) return static_cast<Name*>(known);
  Name* name = Names::instance().name(view_of(handle->text));
  __atomic_store_n(&handle->extra2, name, __ATOMIC_RELEASE);
  return name;
}

std::uint32_t site_of(const itt_domain* domain, std::uint32_t domain_id, itt_string_handle* handle) noexcept {
  Name* name = name_of(handle);
  return name == nullptr ? site_of_domain(domain, domain_id) : Names::instance().site(domain_id, *name);
}

std::uint32_t site_of_domain(const itt_domain* domain, std::uint32_t domain_id) noexcept {
  return Names::instance().site(domain_id, *static_cast<Name*>(domain->extra2));
}

void tell_of_own_clock() noexcept {
  static std::atomic<bool> reported{false};
  if (!reported.exchange(true, std::memory_order_relaxed)) Names::instance().define_fact("own_clock", "");
}

void* site_handle(const char* domain, const char* name) noexcept {
  Names& names = Names::instance();
  const std::uint32_t id = names.domain(view_of(domain));
  if (id == Names::kOffDomain) return nullptr;
  return reinterpret_cast<void*>(std::uintptr_t{names.site(id, view_of(name), {})});
}

void adopt(itt_global& part) noexcept {
  // Objects of another collector before this one hold its marks; they are overwritten.
  for (itt_domain* domain = part.domain_list; domain != nullptr; domain = domain->next) register_domain(*domain);
  for (itt_string_handle* handle = part.string_list; handle != nullptr; handle = handle->next) {
    __atomic_store_n(&handle->extra2, Names::instance().name(view_of(handle->text)), __ATOMIC_RELEASE);
  }
}

std::span<const Call> control_calls() noexcept {
  static const Call kCalls[] = {
      {"domain_create", domain_create},
      {"string_handle_create", string_handle_create},
      {"clock_domain_create", clock_domain_create},
      {"get_timestamp", get_timestamp},
      {"thread_set_name", thread_set_name},
      {"thr_name_set", thr_name_set},
      {"pause", pause},
      {"resume", resume},
      {"detach", detach},
      {"sync_create", sync_create, &Wanted::locks},
      {"sync_set_name", sync_create, &Wanted::locks},
      {"notify_sync_name", notify_sync_name, &Wanted::locks},
      {"sync_rename", sync_rename, &Wanted::locks},
      {"sync_prepare", sync<RecordType::lock_wait>, &Wanted::locks},
      {"sync_cancel", sync<RecordType::lock_cancel>, &Wanted::locks},
      {"sync_acquired", sync<RecordType::lock_obtain>, &Wanted::locks},
      {"sync_releasing", sync<RecordType::lock_release>, &Wanted::locks},
      {"fsync_prepare", sync<RecordType::lock_wait>, &Wanted::locks},
      {"fsync_cancel", sync<RecordType::lock_cancel>, &Wanted::locks},
      {"fsync_acquired", sync<RecordType::lock_obtain>, &Wanted::locks},
      {"fsync_releasing", sync<RecordType::lock_release>, &Wanted::locks},
      {"notify_sync_prepare", sync<RecordType::lock_wait>, &Wanted::locks},
      {"notify_sync_cancel", sync<RecordType::lock_cancel>, &Wanted::locks},
      {"notify_sync_acquired", sync<RecordType::lock_obtain>, &Wanted::locks},
      {"notify_sync_releasing", sync<RecordType::lock_release>, &Wanted::locks},
  };
  return kCalls;
}

}  // namespace accelscope::probe::itt
