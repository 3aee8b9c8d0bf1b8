// The terms of a search, ready to be tested on blocks of one schema's events. Text is looked up once per string
// of the session, numbers become a range of stored values, so that a block is tested 64 values at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/scan/chunk_scan.h"
#include "core/search/search.h"

namespace accelscope {

// One bit per session-wide string.
class StringSet {
 public:
  StringSet() = default;
  explicit StringSet(std::size_t size) : size_(size), words_((size + 63) / 64, 0) {}
  void insert(StringId id) noexcept { words_[id / 64] |= std::uint64_t{1} << (id % 64); }
  [[nodiscard]] bool contains(std::uint64_t id) const noexcept {
    return id < size_ && (words_[id / 64] >> (id % 64) & 1) != 0;
  }
  [[nodiscard]] std::vector<std::uint64_t>& words() noexcept { return words_; }

 private:
  std::size_t size_ = 0;
  std::vector<std::uint64_t> words_;
};

using TextTest = std::function<bool(std::string_view)>;  // may be called by several threads

// Fails if the expression is wrong.
[[nodiscard]] Result<TextTest> text_test(const SearchTerm& term);
// The strings of the session that pass, tested on the pool.
[[nodiscard]] Result<StringSet> matching_strings(const QueryContext& context, const TextTest& test);

// A term about anything but the name, for one schema.
struct Condition {
  enum class Subject : std::uint8_t { name, begin, duration, column };
  enum class Test : std::uint8_t { stored_range, real, strings, text };

  Subject subject = Subject::column;
  Test test = Test::stored_range;
  std::size_t column = 0;
  bool negated = false;
  std::uint64_t low = 1;  // inclusive range of stored values; low > high: none
  std::uint64_t high = 0;
  double real = 0;
  Compare compare = Compare::equal;
  std::shared_ptr<const StringSet> strings;
  TextTest text;

  // Bits of the events first..last of the block that pass.
  [[nodiscard]] std::uint64_t apply(const ScannedChunk& chunk, const ScannedBlock& block, std::uint64_t mask) const;
  // False if the chunk's statistics rule out every event.
  [[nodiscard]] bool possible(const ChunkView& view) const noexcept;
};

// The string and text terms of a query are tested once and shared by all schemas.
class ConditionBuilder {
 public:
  explicit ConditionBuilder(const QueryContext& context) : context_(context) {}
  // False in the optional's place: the schema has no such column. An error: the term is wrong for this column.
  [[nodiscard]] Result<std::optional<Condition>> build(const SearchTerm& term, const Schema& schema);

 private:
  [[nodiscard]] Result<std::optional<Condition>> build_text(const SearchTerm& term, const Column* column,
                                                            Condition condition);
  struct Known {
    const SearchTerm* term;
    TextTest test;
    std::shared_ptr<const StringSet> strings;
  };
  const QueryContext& context_;
  std::vector<Known> known_;
};

}  // namespace accelscope
