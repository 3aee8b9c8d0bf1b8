#include "capture/sources/tracy/read/trace_names.h"

#include <algorithm>

namespace accelscope::capture::sources::tracy {
namespace {

constexpr std::uint8_t kByNumber = 1;
constexpr std::uint8_t kThere = 2;

void read_numbers(TraceReader& reader, std::vector<std::uint64_t>& numbers) {
  for (std::uint64_t left = reader.count(); left > 0; --left) {
    const auto number = reader.number<std::uint64_t>();
    if (reader.ended()) return;
    numbers.push_back(number);
  }
}

[[nodiscard]] std::uint32_t text_at(const std::vector<std::pair<std::uint64_t, std::uint32_t>>& pointers,
                                    std::uint64_t pointer) {
  const auto place = std::lower_bound(pointers.begin(), pointers.end(), std::pair(pointer, std::uint32_t{0}));
  return place != pointers.end() && place->first == pointer ? place->second : kNoText;
}

}  // namespace

void TraceNames::read_texts(TraceReader& reader) {
  Pointers pointers;
  for (std::uint64_t left = reader.count(); left > 0; --left) {
    TraceRecord record = reader.record(16);
    if (reader.ended()) break;
    const auto pointer = record.next<std::uint64_t>();
    const auto size = record.next<std::uint64_t>();
    reader.append(size, bytes_);
    pointers.emplace_back(pointer, static_cast<std::uint32_t>(ends_.size()));
    ends_.push_back(bytes_.size());
  }
  std::sort(pointers.begin(), pointers.end());
  read_map(reader, pointers, literals_);
  read_map(reader, pointers, thread_names_);
  // Of threads of other processes: the program's name, and the thread's.
  for (std::uint64_t left = reader.count(); left > 0; --left) {
    TraceRecord record = reader.record(24);
    if (reader.ended()) return;
    const auto thread = record.next<std::uint64_t>();
    const std::uint32_t program = text_at(pointers, record.next<std::uint64_t>());
    if (program != kNoText) programs_.emplace(thread, program);
  }
}

void TraceNames::read_map(TraceReader& reader, const Pointers& pointers,
                          std::unordered_map<std::uint64_t, std::uint32_t>& map) {
  for (std::uint64_t left = reader.count(); left > 0; --left) {
    TraceRecord record = reader.record(16);
    if (reader.ended()) return;
    const auto key = record.next<std::uint64_t>();
    const std::uint32_t text = text_at(pointers, record.next<std::uint64_t>());
    if (text != kNoText) map.emplace(key, text);
  }
}

void TraceNames::read_threads(TraceReader& reader) {
  read_numbers(reader, threads_);
  read_numbers(reader, other_threads_);
}

SourcePlace TraceNames::read_place(TraceReader& reader) const {
  TraceRecord record = reader.record(3 * kReferenceBytes + 8);
  SourcePlace place;
  place.name = reference(record);
  place.function = reference(record);
  place.file = reference(record);
  place.line = record.next<std::uint32_t>();
  place.colour = record.next<std::uint32_t>();
  return place;
}

void TraceNames::read_places(TraceReader& reader) {
  for (std::uint64_t left = reader.count(); left > 0; --left) {
    const auto address = reader.number<std::uint64_t>();
    const SourcePlace place = read_place(reader);
    if (reader.ended()) return;
    built_in_.emplace(address, place);
  }
  read_numbers(reader, addresses_);
  for (std::uint64_t left = reader.count(); left > 0; --left) {
    const SourcePlace place = read_place(reader);
    if (reader.ended()) return;
    made_later_.push_back(place);
  }
}

std::string_view TraceNames::text(std::uint32_t number) const noexcept {
  if (number >= ends_.size()) return {};
  const std::uint64_t begin = number == 0 ? 0 : ends_[number - 1];
  return {bytes_.data() + begin, static_cast<std::size_t>(ends_[number] - begin)};
}

std::uint32_t TraceNames::reference(TraceRecord& record) const {
  const auto value = record.next<std::uint64_t>();
  const auto flags = record.next<std::uint8_t>();
  if ((flags & kThere) == 0) return kNoText;
  if ((flags & kByNumber) != 0) return value < ends_.size() ? static_cast<std::uint32_t>(value) : kNoText;
  const auto literal = literals_.find(value);
  return literal == literals_.end() ? kNoText : literal->second;
}

std::string_view TraceNames::found(const std::unordered_map<std::uint64_t, std::uint32_t>& map,
                                   std::uint64_t key) const {
  const auto place = map.find(key);
  return place == map.end() ? std::string_view{} : text(place->second);
}

std::string_view TraceNames::literal(std::uint64_t address) const { return found(literals_, address); }
std::string_view TraceNames::thread_name(std::uint64_t thread) const { return found(thread_names_, thread); }
std::string_view TraceNames::other_program(std::uint64_t thread) const { return found(programs_, thread); }

std::uint64_t TraceNames::thread(std::uint16_t number) const noexcept {
  return number < threads_.size() ? threads_[number] : number;
}
std::uint64_t TraceNames::other_thread(std::uint16_t number) const noexcept {
  return number < other_threads_.size() ? other_threads_[number] : number;
}

const SourcePlace* TraceNames::place(std::int16_t number) const {
  if (number < 0) {
    const auto later = static_cast<std::size_t>(-(number + 1));
    return later < made_later_.size() ? &made_later_[later] : nullptr;
  }
  if (static_cast<std::size_t>(number) >= addresses_.size()) return nullptr;
  const auto place = built_in_.find(addresses_[static_cast<std::size_t>(number)]);
  return place == built_in_.end() ? nullptr : &place->second;
}

}  // namespace accelscope::capture::sources::tracy
