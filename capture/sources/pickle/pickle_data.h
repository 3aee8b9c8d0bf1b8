// Plain data as it came out of a pickle: equal lists, texts and small dictionaries are kept once, dictionaries with the
// same keys share them, so that a million events with stacks of a hundred frames take little more than their numbers.
// Tuples and sets are lists, bytes are texts. Values speak of the data that made them.
//
//   const PickleValue segments = data.find(data.root(), "segments");
//   for (const PickleValue segment : data.list(segments)) ... data.to_int64(data.find(segment, "total_size"))
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace accelscope::capture::sources::pickle {

enum class PickleKind : std::uint8_t { none, boolean, integer, real, text, list, dict };

// What it holds says PickleData alone; equal ones are equal, the other way round need not be so.
struct PickleValue {
  std::uint64_t word = 0;
  bool operator==(const PickleValue&) const = default;
};

class PickleData {
 public:
  PickleData();

  [[nodiscard]] PickleValue root() const noexcept { return root_; }
  [[nodiscard]] static PickleKind kind(PickleValue value) noexcept;
  // Numbers and truth values; nothing for others, and for what does not fit.
  [[nodiscard]] std::optional<std::int64_t> to_int64(PickleValue value) const noexcept;
  [[nodiscard]] std::optional<std::uint64_t> to_uint64(PickleValue value) const noexcept;
  [[nodiscard]] std::optional<double> to_double(PickleValue value) const noexcept;
  [[nodiscard]] std::string_view text(PickleValue value) const noexcept;              // "" for others
  [[nodiscard]] std::span<const PickleValue> list(PickleValue value) const noexcept;  // empty for others

  // The keys of a dictionary and their values; none for others. Dictionaries of one shape have the same keys.
  [[nodiscard]] std::uint32_t shape(PickleValue dict) const noexcept;
  [[nodiscard]] std::span<const PickleValue> keys(std::uint32_t shape) const noexcept;
  [[nodiscard]] std::span<const PickleValue> values(PickleValue dict) const noexcept;
  [[nodiscard]] PickleValue find(PickleValue dict, std::string_view key) const noexcept;  // none if it is not there

  // Makes values.
  [[nodiscard]] static PickleValue boolean(bool value) noexcept;
  [[nodiscard]] PickleValue integer(std::int64_t value);
  [[nodiscard]] PickleValue unsigned_integer(std::uint64_t value);
  [[nodiscard]] PickleValue real(double value);
  [[nodiscard]] PickleValue make_text(std::string_view text);
  [[nodiscard]] PickleValue make_list(std::span<const PickleValue> items);
  // Keys and values in turn; nothing where there are more kinds of dictionaries than can be numbered.
  [[nodiscard]] std::optional<PickleValue> make_dict(std::span<const PickleValue> pairs);
  void set_root(PickleValue value) noexcept { root_ = value; }
  // What all of them take.
  [[nodiscard]] std::uint64_t words() const noexcept { return retained_words_ + 2 * wide_.size() + reals_.size(); }
  [[nodiscard]] std::uint64_t text_bytes() const noexcept { return text_bytes_; }

 private:
  friend class PickleReader;  // puts its own marks into words
  enum Tag : std::uint64_t { kSimple, kSmall, kWide, kReal, kText, kList, kDict, kObject };
  static constexpr unsigned kTagBits = 3;
  static constexpr unsigned kOffsetBits = 40, kShapeBits = 20;  // of a dictionary's word
  static constexpr unsigned kBlockBits = 20;                    // words of a block of the arena

  [[nodiscard]] static PickleValue tagged(Tag tag, std::uint64_t payload) noexcept {
    return {payload << kTagBits | tag};
  }
  [[nodiscard]] static Tag tag(PickleValue value) noexcept { return static_cast<Tag>(value.word & 7U); }
  [[nodiscard]] static std::uint64_t payload(PickleValue value) noexcept { return value.word >> kTagBits; }

  struct Wide {
    std::uint64_t bits = 0;
    bool negative = false;
  };
  struct Run {  // of values in the arena
    std::uint64_t offset = 0;
    std::uint32_t count = 0;
  };
  [[nodiscard]] std::uint64_t keep(std::span<const PickleValue> values);
  [[nodiscard]] const PickleValue* at(std::uint64_t offset) const noexcept;
  [[nodiscard]] std::uint32_t number_list(std::span<const PickleValue> items);
  [[nodiscard]] std::optional<std::uint32_t> number_shape(std::span<const PickleValue> keys);

  std::vector<std::unique_ptr<PickleValue[]>> blocks_;
  std::size_t used_ = 0;  // of the last block
  std::size_t room_ = 0;
  std::uint64_t retained_words_ = 0;  // of all blocks
  std::uint64_t text_bytes_ = 0;
  std::vector<Run> lists_;
  std::vector<std::uint32_t> shapes_;                              // their keys, numbers in lists_
  std::unordered_map<std::uint64_t, std::uint32_t> known_lists_;   // by hash
  std::unordered_map<std::uint32_t, std::uint32_t> known_shapes_;  // by the number of their keys' list
  std::unordered_map<std::uint64_t, PickleValue> known_dicts_;     // small ones, by hash
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, std::uint64_t> known_texts_;
  std::vector<Wide> wide_;
  std::vector<double> reals_;
  PickleValue root_;
  std::vector<PickleValue> scratch_keys_, scratch_values_;
};

}  // namespace accelscope::capture::sources::pickle
