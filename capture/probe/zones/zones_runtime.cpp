// What zones, frames, plots, locks and messages of a marked program call, through the table of
// include/accelscope/zones_api.h. Shares names, channel and rings with the ITT collector.
#include <array>
#include <atomic>
#include <cstring>

#include "capture/probe/itt/recorder.h"
#include "capture/probe/zones/include/accelscope/zones_api.h"

namespace accelscope::probe::itt {
namespace {

using PlaceInSource = accelscope_zones_place;

[[nodiscard]] std::string_view view_of(const char* text) noexcept { return text == nullptr ? "" : text; }

[[nodiscard]] Names& names() noexcept { return Names::instance(); }
[[nodiscard]] std::uint32_t zones_domain() noexcept {
  static const std::uint32_t domain = names().domain("zones");
  return domain;
}

// What an address stands for, found without a lock: written once for each slot. What finds no free slot near its own is
// looked up by its content each time.
template <typename Known>
class ByAddress {
 public:
  [[nodiscard]] Known* find(const void* address) noexcept {
    for (std::size_t i = 0; i < kProbes; ++i) {
      const Slot& slot = slots_[(start(address) + i) % kSlots];
      const void* key = slot.address.load(std::memory_order_acquire);
      if (key == address) return slot.known.load(std::memory_order_acquire);
      if (key == nullptr) return nullptr;
    }
    return nullptr;
  }
  void keep(const void* address, Known* known) noexcept {
    for (std::size_t i = 0; i < kProbes; ++i) {
      Slot& slot = slots_[(start(address) + i) % kSlots];
      const void* free = nullptr;
      if (slot.address.compare_exchange_strong(free, address, std::memory_order_acq_rel) || free == address) {
        return slot.known.store(known, std::memory_order_release);
      }
    }
  }

 private:
  static constexpr std::size_t kSlots = 1U << 14, kProbes = 8;
  struct Slot {
    std::atomic<const void*> address{nullptr};
    std::atomic<Known*> known{nullptr};
  };
  [[nodiscard]] static std::size_t start(const void* address) noexcept {
    return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(address) * 0x9E3779B97F4A7C15U >> 40U);
  }
  std::array<Slot, kSlots> slots_;
};

// A place as it was when it was named: another one may lie at its address once its library is gone.
struct KnownPlace {
  KnownPlace(const PlaceInSource& given, std::uint32_t named) : place(given), site(named) {}
  PlaceInSource place;
  std::uint32_t site;
};
constinit ByAddress<KnownPlace> known_places;
constinit ByAddress<Name> known_names;

[[nodiscard]] std::uint32_t site_of(const PlaceInSource* place) noexcept {
  if (const KnownPlace* known = known_places.find(place)) {
    if (known->place.name == place->name && known->place.function == place->function &&
        known->place.line == place->line && known->place.color == place->color) {
      return known->site;
    }
  }
  const std::string_view name = place->name == nullptr ? view_of(place->function) : place->name;
  const std::uint32_t site = names().site(zones_domain(), name,
                                          {.function = view_of(place->function),
                                           .file = view_of(place->file),
                                           .line = place->line,
                                           .colour = place->color & 0xffffffU});
  known_places.keep(place, make_lasting<KnownPlace>(*place, site));
  return site;
}

// Names may lie in memory that is used again: they are compared.
[[nodiscard]] Name& name_of(const char* text) noexcept {
  if (text == nullptr) text = "";
  if (Name* known = known_names.find(text)) {
    if (known->text == text) return *known;
  }
  Name* name = names().name(text);
  known_names.keep(text, name);
  return *name;
}

int begin_site(std::uint32_t site) noexcept { return put_task_begin(names(), site) ? 1 : 0; }
int begin(const PlaceInSource* place) noexcept {
  ThreadRing* ring = names().ring();
  if (ring == nullptr) return 0;
  const std::uint32_t site = site_of(place);
  ring->put(TaskRecord{head_of<TaskRecord>(RecordType::task_begin, site), now_ticks()});
  return 1;
}
void end() noexcept { put_at(names().ring_for_end(), RecordType::task_end, zones_domain(), now_ticks()); }

std::uint32_t make_site(std::uint32_t line, const char* file, std::size_t file_size, const char* function,
                        std::size_t function_size, const char* name, std::size_t name_size,
                        std::uint32_t color) noexcept {
  const std::string_view in_function(function == nullptr ? "" : function, function == nullptr ? 0 : function_size);
  const std::string_view in_file(file == nullptr ? "" : file, file == nullptr ? 0 : file_size);
  const std::string_view named = name == nullptr || name_size == 0 ? in_function : std::string_view(name, name_size);
  return names().site(zones_domain(), named,
                      {.function = in_function, .file = in_file, .line = line, .colour = color & 0xffffffU});
}

void text(const char* text, std::size_t size) noexcept {
  put_text(names().ring_for_end(), RecordType::task_text, {text, size});
}
void name(const char* text, std::size_t size) noexcept {
  put_text(names().ring_for_end(), RecordType::task_name, {text, size});
}
void value(std::uint64_t value) noexcept {
  if (ThreadRing* ring = names().ring_for_end()) {
    ring->put(TaskValueRecord{head_of<TaskValueRecord>(RecordType::task_value, 0), value});
  }
}
void color(std::uint32_t color) noexcept {
  if (ThreadRing* ring = names().ring_for_end()) {
    ring->put(HeadOnly{head_of<HeadOnly>(RecordType::task_colour, color & 0xffffffU)});
  }
}

void frame(int what, const char* name) noexcept {
  if (!names().wanted().frames) return;
  Name& of = name_of(name == nullptr ? "Frame" : name);
  const std::uint32_t site = names().site(zones_domain(), of);
  if (what == ACCELSCOPE_FRAME_MARK) return put_at(names().ring(), RecordType::frame_mark, site, now_ticks());
  if (what == ACCELSCOPE_FRAME_START) return put_id(names().ring(), RecordType::frame_begin, site, now_ticks(), {});
  put_id(names().ring_for_end(), RecordType::frame_end, site, now_ticks(), {});
}
void frame_image() noexcept {
  static std::atomic<bool> reported{false};
  if (!reported.exchange(true, std::memory_order_relaxed)) names().define_fact("frame_images", "");
}

[[nodiscard]] std::uint32_t counter_of(const char* name, CounterType type) noexcept {
  return names().counter(zones_domain(), name_of(name), type);
}
void plot_integer(const char* name, std::int64_t value) noexcept {
  if (!names().wanted().counters) return;
  put_value(names().ring(), RecordType::counter_set, counter_of(name, CounterType::signed_integer),
            static_cast<std::uint64_t>(value));
}
void plot_real(const char* name, double value) noexcept {
  if (!names().wanted().counters) return;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  put_value(names().ring(), RecordType::counter_set, counter_of(name, CounterType::real), bits);
}
void plot_format(const char* name, int format) noexcept {
  if (format < 0 || format > 3) return;
  // Its values have not come yet: they may be of either type.
  for (const CounterType type : {CounterType::signed_integer, CounterType::real}) {
    names().set_format(counter_of(name, type), static_cast<CounterFormat>(format));
  }
}

void message(const char* text, std::size_t size, std::uint32_t color, int severity) noexcept {
  ThreadRing* ring = names().ring();
  if (ring == nullptr || !names().wanted().events) return;
  const std::uint32_t site = color == 0 ? 0 : names().site(zones_domain(), "message", {.colour = color & 0xffffffU});
  put_message(ring, site, static_cast<std::uint32_t>(severity), {text, size});
}
void app_info(const char* text, std::size_t size) noexcept { names().define_fact("app_info", {text, size}); }

void allocated(const void* address, std::size_t size, const char* pool) noexcept {
  ThreadRing* ring = names().ring_for_end();
  if (ring == nullptr || !names().wanted().memory) return;
  const std::uint32_t site = names().site(zones_domain(), name_of(pool == nullptr ? "heap" : pool));
  ring->put(TwoValuesRecord{head_of<TwoValuesRecord>(RecordType::memory_alloc, site), now_ticks(),
                            reinterpret_cast<std::uintptr_t>(address), size});
}
void freed(const void* address, const char* pool) noexcept {
  if (!names().wanted().memory || address == nullptr) return;
  const std::uint32_t site = names().site(zones_domain(), name_of(pool == nullptr ? "heap" : pool));
  put_value(names().ring_for_end(), RecordType::memory_free, site, reinterpret_cast<std::uintptr_t>(address));
}

void lock_named(std::uint64_t lock, const PlaceInSource* place, const char* name, std::size_t size) noexcept {
  names().define_lock(lock, place == nullptr ? 0 : site_of(place),
                      name == nullptr ? std::string_view{} : std::string_view{name, size});
}
void lock(int what, std::uint64_t lock, int shared) noexcept {
  if (!names().wanted().locks) return;
  constexpr RecordType kTypes[] = {RecordType::lock_wait, RecordType::lock_obtain, RecordType::lock_release,
                                   RecordType::lock_cancel};
  ThreadRing* ring = what == ACCELSCOPE_LOCK_WAIT ? names().ring() : names().ring_for_end();
  put_value(ring, kTypes[what & 3], static_cast<std::uint32_t>(shared), lock);
}
void lock_marked(std::uint64_t lock, const PlaceInSource* place) noexcept {
  if (names().wanted().locks) put_value(names().ring(), RecordType::lock_mark, site_of(place), lock);
}

void thread_name(const char* name) noexcept { names().channel().name_thread(view_of(name)); }
void program_name(const char* name) noexcept { names().define_fact("program_name", view_of(name)); }
void fiber_entered(const char* name) noexcept {
  put_at(names().ring_for_end(), RecordType::fiber_enter, names().site(zones_domain(), name_of(name)), now_ticks());
}
void fiber_left() noexcept { put_at(names().ring_for_end(), RecordType::fiber_leave, 0, now_ticks()); }
int collecting() noexcept { return names().channel().collecting() ? 1 : 0; }

constexpr accelscope_zones_functions kFunctions = {
    .version = ACCELSCOPE_ZONES_VERSION,
    .begin = begin,
    .begin_site = begin_site,
    .end = end,
    .site = make_site,
    .text = text,
    .name = name,
    .value = value,
    .color = color,
    .frame = frame,
    .frame_image = frame_image,
    .plot_integer = plot_integer,
    .plot_real = plot_real,
    .plot_format = plot_format,
    .message = message,
    .app_info = app_info,
    .allocated = allocated,
    .freed = freed,
    .lock_named = lock_named,
    .lock = lock,
    .lock_marked = lock_marked,
    .thread_name = thread_name,
    .program_name = program_name,
    .fiber_entered = fiber_entered,
    .fiber_left = fiber_left,
    .collecting = collecting,
};

}  // namespace
}  // namespace accelscope::probe::itt

// Null: there is no agent, or it does not want zones, or the program was built for another version of this table.
extern "C" __attribute__((visibility("default"))) const accelscope_zones_functions* accelscope_zones_attach(
    std::uint32_t version) noexcept {
  using namespace accelscope::probe::itt;
  if (version != ACCELSCOPE_ZONES_VERSION) return nullptr;
  Names& known = Names::instance();
  return known.channel().generation() != 0 && known.wanted().zones && zones_domain() != Names::kOffDomain ? &kFunctions
                                                                                                          : nullptr;
}
