#include <bit>
#include <map>

#include "capture/probe/itt/calls.h"
#include "capture/probe/itt/metadata_text.h"

namespace accelscope::probe::itt {
namespace {

[[nodiscard]] CounterType counter_type(MetadataType type) noexcept {
  return with_number(type, [](auto number) {
    if (std::is_floating_point_v<decltype(number)>) return CounterType::real;
    return std::is_signed_v<decltype(number)> ? CounterType::signed_integer : CounterType::unsigned_integer;
  });
}

// The bits of a value of the counter's type, widened to 64.
[[nodiscard]] std::uint64_t bits_of(MetadataType type, const char* at) noexcept {
  if (bytes_of(type) == 1) type = MetadataType::u64;  // not known
  return with_number(type, [at](auto number) {
    std::memcpy(&number, at, sizeof number);
    if constexpr (std::is_floating_point_v<decltype(number)>) {
      return std::bit_cast<std::uint64_t>(static_cast<double>(number));
    } else {
      return static_cast<std::uint64_t>(number);
    }
  });
}

// 0: not wanted.
[[nodiscard]] std::uint32_t counter_id(std::string_view name, std::string_view domain, int type) noexcept {
  Names& names = Names::instance();
  const std::uint32_t domain_id = names.domain(domain);
  if (domain_id == Names::kOffDomain) return 0;
  return names.counter(domain_id, name, counter_type(static_cast<MetadataType>(type)));
}

// A handle is a record like those of the static part, with the counter's id in extra1.
itt_counter_info* make_counter(std::string_view name, std::string_view domain, int type) noexcept {
  const std::uint32_t id = counter_id(name, domain, type);
  static auto& made = *make_lasting<std::map<std::uint32_t, itt_counter_info*>>();
  const std::lock_guard lock(Names::instance().making());
  itt_counter_info*& handle = made[id];
  if (handle == nullptr) {
    handle = make_lasting<itt_counter_info>();
    handle->type = type;
    handle->extra1 = static_cast<int>(id);
  }
  return handle;
}

itt_counter_info* counter_create(const char* name, const char* domain) noexcept {
  return make_counter(view_of(name), view_of(domain), static_cast<int>(MetadataType::u64));
}
itt_counter_info* counter_create_typed(const char* name, const char* domain, int type) noexcept {
  return make_counter(view_of(name), view_of(domain), type);
}
itt_counter_info* counter_create_v3(const itt_domain* domain, const char* name, int type) noexcept {
  return make_counter(view_of(name), domain == nullptr ? "" : view_of(domain->name), type);
}

void counter_set_value_ex(itt_counter_info* counter, itt_clock_domain* clock, unsigned long long timestamp,
                          void* value) noexcept {
  if (counter == nullptr || counter->extra1 == 0 || value == nullptr) return;
  ThreadRing* ring = Names::instance().ring();
  if (ring == nullptr) return;
  ring->put(ValueRecord{head_of<ValueRecord>(RecordType::counter_set, static_cast<std::uint32_t>(counter->extra1)),
                        ticks_of(clock, timestamp),
                        bits_of(static_cast<MetadataType>(counter->type), static_cast<const char*>(value))});
}
void add(const itt_counter_info* counter, std::uint64_t difference) noexcept {
  if (counter == nullptr || counter->extra1 == 0) return;
  put_value(Names::instance().ring(), RecordType::counter_add, static_cast<std::uint32_t>(counter->extra1), difference);
}
void counter_inc(itt_counter_info* counter) noexcept { add(counter, 1); }
void counter_dec(itt_counter_info* counter) noexcept { add(counter, ~std::uint64_t{0}); }
void counter_inc_delta(itt_counter_info* counter, unsigned long long value) noexcept { add(counter, value); }
void counter_dec_delta(itt_counter_info* counter, unsigned long long value) noexcept { add(counter, 0 - value); }

void add_named(const itt_domain* domain, itt_string_handle* handle, std::uint64_t difference) noexcept {
  const std::uint32_t domain_id = domain_of(domain);
  Name* name = name_of(handle);
  if (domain_id == Names::kOffDomain || name == nullptr) return;
  Names& names = Names::instance();
  put_value(names.ring(), RecordType::counter_add, names.counter(domain_id, *name, CounterType::unsigned_integer),
            difference);
}
void counter_inc_v3(const itt_domain* domain, itt_string_handle* name) noexcept { add_named(domain, name, 1); }
void counter_dec_v3(const itt_domain* domain, itt_string_handle* name) noexcept {
  add_named(domain, name, ~std::uint64_t{0});
}
void counter_inc_delta_v3(const itt_domain* domain, itt_string_handle* name, unsigned long long value) noexcept {
  add_named(domain, name, value);
}
void counter_dec_delta_v3(const itt_domain* domain, itt_string_handle* name, unsigned long long value) noexcept {
  add_named(domain, name, 0 - value);
}

// Events and marks have no domain; their numbers are sites.
int named_site(const char* domain, std::string_view name) noexcept {
  Names& names = Names::instance();
  const std::uint32_t domain_id = names.domain(domain);
  return domain_id == Names::kOffDomain ? 0 : static_cast<int>(names.site(domain_id, name, {}));
}
int event_create(const char* name, int length) noexcept {
  std::string_view text = view_of(name);
  if (length > 0) text = text.substr(0, static_cast<std::size_t>(length));
  return named_site("event", text);
}
template <RecordType kType>
int put_event(int event) noexcept {
  Names& names = Names::instance();
  if (event > 0) {
    put_at(kType == RecordType::event_begin ? names.ring() : names.ring_for_end(), kType,
           static_cast<std::uint32_t>(event), now_ticks());
  }
  return 0;
}
int mark_create(const char* name) noexcept { return named_site("mark", view_of(name)); }
template <Scope kScope>
int put_mark(int mark, const char* parameter) noexcept {
  ThreadRing* ring = Names::instance().ring();
  if (mark <= 0 || ring == nullptr) return 0;
  ring->put(MarkerRecord{head_of<MarkerRecord>(RecordType::marker, static_cast<std::uint32_t>(mark)), now_ticks(),
                         static_cast<std::uint64_t>(kScope), Id{}});
  const std::string_view text = view_of(parameter);
  if (!text.empty()) put_message(ring, static_cast<std::uint32_t>(mark), 2, text);
  return 0;
}

itt_histogram* histogram_create(const itt_domain* domain, const char* name, int x_type, int y_type) noexcept {
  auto* histogram = make_lasting<itt_histogram>();
  histogram->domain = domain;
  const std::uint32_t domain_id = domain_of(domain);
  histogram->extra1 =
      domain_id == Names::kOffDomain ? 0 : static_cast<int>(Names::instance().site(domain_id, view_of(name), {}));
  histogram->x_type = x_type;
  histogram->y_type = y_type;
  return histogram;
}
// Reported as a message "name: x=y, x=y, ...".
void histogram_submit(itt_histogram* histogram, std::size_t length, void* x_data, void* y_data) noexcept {
  ThreadRing* ring = Names::instance().ring();
  if (ring == nullptr || histogram == nullptr || histogram->extra1 == 0 || y_data == nullptr) return;
  const auto x_type = static_cast<MetadataType>(histogram->x_type),
             y_type = static_cast<MetadataType>(histogram->y_type);
  std::string text;
  for (std::size_t i = 0; i < length && text.size() < kMaxTextBytes; ++i) {
    if (i > 0) text += ", ";
    if (x_data == nullptr) {
      text += std::to_string(i);
    } else {
      append_metadata_value(text, x_type, static_cast<const char*>(x_data) + i * bytes_of(x_type));
    }
    text += '=';
    append_metadata_value(text, y_type, static_cast<const char*>(y_data) + i * bytes_of(y_type));
  }
  put_message(ring, static_cast<std::uint32_t>(histogram->extra1), 2, text);
}

// A heap's handle is a site of the pool's name.
void* heap_function_create(const char* name, const char* domain) noexcept { return site_handle(domain, name); }
void put_memory(void* heap, bool allocates, const void* address, std::size_t bytes) noexcept {
  const auto site = site_of_handle(heap);
  ThreadRing* ring = Names::instance().ring_for_end();
  if (site == 0 || ring == nullptr || address == nullptr) return;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (!allocates) return put_value(ring, RecordType::memory_free, site, at);
  ring->put(TwoValuesRecord{head_of<TwoValuesRecord>(RecordType::memory_alloc, site), now_ticks(), at, bytes});
}
void heap_allocate_end(void* heap, void** address, std::size_t size, int) noexcept {
  if (address != nullptr) put_memory(heap, true, *address, size);
}
void heap_free_begin(void* heap, void* address) noexcept { put_memory(heap, false, address, 0); }
void heap_reallocate_end(void* heap, void* address, void** new_address, std::size_t size, int) noexcept {
  put_memory(heap, false, address, 0);
  if (new_address != nullptr) put_memory(heap, true, *new_address, size);
}

}  // namespace

void adopt_counters(itt_global& part) noexcept {
  for (itt_counter_info* counter = part.counter_list; counter != nullptr; counter = counter->next) {
    counter->extra1 = static_cast<int>(counter_id(view_of(counter->name), view_of(counter->domain), counter->type));
  }
}

std::span<const Call> counter_calls() noexcept {
  static const Call kCalls[] = {
      {"counter_create", counter_create},
      {"counter_create_typed", counter_create_typed},
      {"counter_create_v3", counter_create_v3},
      {"counter_set_value", untimed<counter_set_value_ex>, &Wanted::counters},
      {"counter_set_value_ex", counter_set_value_ex, &Wanted::counters},
      {"counter_set_value_v3", untimed<counter_set_value_ex>, &Wanted::counters},
      {"counter_inc", counter_inc, &Wanted::counters},
      {"counter_dec", counter_dec, &Wanted::counters},
      {"counter_inc_delta", counter_inc_delta, &Wanted::counters},
      {"counter_dec_delta", counter_dec_delta, &Wanted::counters},
      {"counter_inc_v3", counter_inc_v3, &Wanted::counters},
      {"counter_dec_v3", counter_dec_v3, &Wanted::counters},
      {"counter_inc_delta_v3", counter_inc_delta_v3, &Wanted::counters},
      {"counter_dec_delta_v3", counter_dec_delta_v3, &Wanted::counters},
      {"event_create", event_create, &Wanted::events},
      {"event_start", put_event<RecordType::event_begin>, &Wanted::events},
      {"event_end", put_event<RecordType::event_end>, &Wanted::events},
      {"mark_create", mark_create, &Wanted::events},
      {"mark", put_mark<Scope::thread>, &Wanted::events},
      {"mark_global", put_mark<Scope::global>, &Wanted::events},
      {"histogram_create", histogram_create, &Wanted::events},
      {"histogram_submit", histogram_submit, &Wanted::events},
      {"heap_function_create", heap_function_create, &Wanted::memory},
      {"heap_allocate_end", heap_allocate_end, &Wanted::memory},
      {"heap_free_begin", heap_free_begin, &Wanted::memory},
      {"heap_reallocate_end", heap_reallocate_end, &Wanted::memory},
  };
  return kCalls;
}

}  // namespace accelscope::probe::itt
