// The texts of a trace, and what refers to them: texts by number, literals by their address in the program, names of
// threads, places in the source.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/sources/tracy/read/trace_reader.h"

namespace accelscope::capture::sources::tracy {

inline constexpr std::uint32_t kNoText = UINT32_MAX;

struct SourcePlace {
  std::uint32_t name = kNoText;  // given by the program; often none
  std::uint32_t function = kNoText;
  std::uint32_t file = kNoText;
  std::uint32_t line = 0;
  std::uint32_t colour = 0;
};

class TraceNames {
 public:
  void read_texts(TraceReader& reader);    // all texts, and which of them literals, threads, programs are
  void read_threads(TraceReader& reader);  // the threads' short numbers
  void read_places(TraceReader& reader);   // in the source

  [[nodiscard]] std::string_view text(std::uint32_t number) const noexcept;
  // As events refer to texts: a number above by one, 0 for none.
  [[nodiscard]] std::string_view text_above(std::uint32_t number) const noexcept {
    return number == 0 ? std::string_view{} : text(number - 1);
  }
  // Eight bytes, of an address or a number, and a byte that says which.
  [[nodiscard]] std::uint32_t reference(TraceRecord& record) const;
  static constexpr std::size_t kReferenceBytes = 9;

  [[nodiscard]] std::string_view literal(std::uint64_t address) const;
  [[nodiscard]] std::string_view thread_name(std::uint64_t thread) const;    // "" if it has none
  [[nodiscard]] std::string_view other_program(std::uint64_t thread) const;  // that a thread of another process is of
  [[nodiscard]] std::uint64_t thread(std::uint16_t number) const noexcept;
  [[nodiscard]] std::uint64_t other_thread(std::uint16_t number) const noexcept;
  // Places that the program knew when it was built have numbers from 0, those made later from -1 downwards. Null for
  // numbers that no place has.
  [[nodiscard]] const SourcePlace* place(std::int16_t number) const;

 private:
  using TextsByKey = std::unordered_map<std::uint64_t, std::uint32_t>;
  // Keys and the addresses that their texts had in the profiler.
  using KeysAndAddresses = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  [[nodiscard]] static KeysAndAddresses read_keys(TraceReader& reader, std::size_t bytes_behind);
  void read_text(TraceReader& reader, std::uint64_t size);
  [[nodiscard]] SourcePlace read_place(TraceReader& reader) const;
  [[nodiscard]] std::string_view found(const TextsByKey& map, std::uint64_t key) const;

  std::vector<std::vector<char>> pages_;  // of texts, each of which lies in one
  std::deque<std::string_view> texts_;    // in them, by number
  TextsByKey literals_;
  TextsByKey thread_names_;
  TextsByKey programs_;
  std::vector<std::uint64_t> threads_;
  std::vector<std::uint64_t> other_threads_;
  std::unordered_map<std::uint64_t, SourcePlace> built_in_;
  std::vector<std::uint64_t> addresses_;  // of places by number
  std::vector<SourcePlace> made_later_;
};

}  // namespace accelscope::capture::sources::tracy
