#include "capture/sources/tracy/read/trace_names.h"

namespace accelscope::capture::sources::tracy {
namespace {

constexpr std::uint8_t kByNumber = 1;
constexpr std::uint8_t kThere = 2;
constexpr std::size_t kPageBytes = 1U << 20;

void read_numbers(TraceReader& reader, std::vector<std::uint64_t>& numbers) {
  for (std::uint64_t left = reader.count(); left > 0; --left) {
    const auto number = reader.number<std::uint64_t>();
    if (reader.ended()) return;
    numbers.push_back(number);
  }
}

}  // namespace

// Texts may be most of a trace: they are kept in pages, which are never moved.
void TraceNames::read_text(TraceReader& reader, std::uint64_t size) {
  if (size > kPageBytes || pages_.empty() || pages_.back().capacity() - pages_.back().size() < size) {
    pages_.emplace_back().reserve(kPageBytes);
  }
  std::vector<char>& page = pages_.back();
  const std::size_t begin = page.size();
  reader.append(size, page);
  texts_.emplace_back(page.data() + begin, page.size() - begin);
}

TraceNames::KeysAndAddresses TraceNames::read_keys(TraceReader& reader, std::size_t bytes_behind) {
  KeysAndAddresses keys;
  for (std::uint64_t left = reader.count(); left > 0; --left) {
    TraceRecord record = reader.record(16 + bytes_behind);
    if (reader.ended()) break;
    const auto key = record.next<std::uint64_t>();
    keys.emplace_back(key, record.next<std::uint64_t>());
  }
  return keys;
}

void TraceNames::read_texts(TraceReader& reader) {
  std::deque<std::uint64_t> addresses;
  for (std::uint64_t left = reader.count(); left > 0; --left) {
    TraceRecord record = reader.record(16);
    if (reader.ended()) break;
    addresses.push_back(record.next<std::uint64_t>());
    read_text(reader, record.next<std::uint64_t>());
  }
  const KeysAndAddresses literals = read_keys(reader, 0);
  const KeysAndAddresses threads = read_keys(reader, 0);
  // Of threads of other processes: the program's name, and the thread's.
  const KeysAndAddresses programs = read_keys(reader, 8);
  // Few texts are asked for by their address.
  TextsByKey wanted;
  for (const KeysAndAddresses* keys : {&literals, &threads, &programs}) {
    for (const auto& [key, address] : *keys) wanted.emplace(address, kNoText);
  }
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (const auto found = wanted.find(addresses[i]); found != wanted.end()) {
      found->second = static_cast<std::uint32_t>(i);
    }
  }
  const auto resolve = [&](const KeysAndAddresses& keys, TextsByKey& map) {
    for (const auto& [key, address] : keys) {
      if (const std::uint32_t text = wanted[address]; text != kNoText) map.emplace(key, text);
    }
  };
  resolve(literals, literals_);
  resolve(threads, thread_names_);
  resolve(programs, programs_);
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
  return number < texts_.size() ? texts_[number] : std::string_view{};
}

std::uint32_t TraceNames::reference(TraceRecord& record) const {
  const auto value = record.next<std::uint64_t>();
  const auto flags = record.next<std::uint8_t>();
  if ((flags & kThere) == 0) return kNoText;
  if ((flags & kByNumber) != 0) return value < texts_.size() ? static_cast<std::uint32_t>(value) : kNoText;
  const auto literal = literals_.find(value);
  return literal == literals_.end() ? kNoText : literal->second;
}

std::string_view TraceNames::found(const TextsByKey& map, std::uint64_t key) const {
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
