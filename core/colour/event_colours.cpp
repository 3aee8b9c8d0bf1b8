#include "core/colour/event_colours.h"

#include <atomic>

#include "core/colour/builder.h"

namespace accelscope::colour {
namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

EventColours::EventColours() : id_(next_id()) {}

EventColours::~EventColours() = default;

const ColourTable* EventColours::table(std::string_view name) const noexcept {
  for (const ColourTable& table : tables_) {
    if (table.table == name) return &table;
  }
  return nullptr;
}

std::size_t EventColours::memory_bytes() const noexcept {
  std::size_t bytes = sizeof(*this);
  for (const auto& lane : lanes_) {
    if (lane) bytes += lane->memory_bytes();
  }
  return bytes;
}

std::size_t LaneColours::memory_bytes() const noexcept {
  std::size_t bytes = sizeof(*this) + codes_.capacity() * sizeof(std::uint64_t);
  for (const auto& level : nodes_) bytes += level.capacity() * sizeof(std::uint32_t);
  return bytes;
}

Result<std::shared_ptr<const EventColours>> event_colours(const QueryContext& query, const ColourChoice& choice,
                                                          const EventColours* previous) {
  return ColourBuilder(query, choice, previous).run();
}

}  // namespace accelscope::colour
