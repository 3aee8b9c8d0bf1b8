// The machine that reads pickles. It knows no opcode that could name, make or call anything but plain data: one that
// comes ends the reading. What is put into a list or dictionary is kept as it is at that time: data that holds itself
// (which no dump of plain facts does) stays cut there, and that is counted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/json/byte_source.h"
#include "capture/sources/pickle/pickle_data.h"
#include "core/base/result.h"

namespace accelscope::capture::sources::pickle {

// The bytes of a pickle in order, with their place in it. Memory is a quarter of a MiB, or the longest text.

class PickleBytes {
 public:
  explicit PickleBytes(json::ByteSource& source) : source_(source) {}

  // Exactly so many bytes, valid until the next call; nothing where the file ends before. A length that lies takes no
  // memory beyond what the file holds.
  [[nodiscard]] std::optional<std::string_view> take(std::size_t count) {
    if (end_ - at_ < count && !fill(count)) return std::nullopt;
    const std::string_view bytes(buffer_.data() + at_, count);
    at_ += count;
    return bytes;
  }
  // The next byte, or -1 at the end.
  [[nodiscard]] int next() {
    if (at_ == end_ && !fill(1)) return -1;
    return static_cast<unsigned char>(buffer_[at_++]);
  }
  // A number of at most 8 bytes, the lowest first.
  [[nodiscard]] std::optional<std::uint64_t> number(std::size_t bytes);

  [[nodiscard]] std::uint64_t place() const noexcept { return begin_ + at_; }     // in the unpacked file
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }  // why no more could be read; or ""

 private:
  [[nodiscard]] bool fill(std::size_t count);

  json::ByteSource& source_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0;
  std::uint64_t begin_ = 0;  // place of the buffer's first byte
  std::string failure_;
  bool ended_ = false;
};

// What each opcode of a pickle is, a row each. Source: Python's Lib/pickletools.py, which describes all of them.

enum class PickleOp : std::uint8_t {
  unknown,
  refused,    // could name, make or call something that is no plain data
  text_form,  // of protocols 0 and 1, which nobody has written for twenty years
  skip,       // its argument is of no use here
  stop,
  mark,
  pop,
  pop_mark,
  duplicate,
  none,
  new_false,
  new_true,
  integer,       // of `size` bytes, unsigned but for 4
  long_integer,  // of as many bytes as `size` bytes say
  real,
  text,  // of as many bytes as `size` bytes say
  empty_list,
  empty_dict,
  append,
  append_all,
  set_item,
  set_items,
  tuple,     // from the mark
  tuple_of,  // of `size` values
  get,       // from the place that `size` bytes say
  put,
  memoize,
};

struct OpcodeRow {
  std::uint8_t code;
  std::string_view name;
  PickleOp op;
  std::uint8_t size = 0;
};

// The row of a byte; its op is unknown if there is none.
[[nodiscard]] const OpcodeRow& opcode_row(std::uint8_t code) noexcept;

struct PickleOptions {
  std::string name;                            // what messages call the file
  std::string_view kind_of_file = "a pickle";  // "a memory snapshot": what has no need of the opcodes that are refused
  std::function<bool()> go_on;                 // asked now and then; false ends the reading with an error
};

struct ReadPickle {
  PickleData data;
  std::string broken;              // why and where it ends too early; "": it is whole
  std::uint64_t wide_numbers = 0;  // that fit into no 64 bits, and are left out
  std::uint64_t changed_late = 0;  // lists and dictionaries that went on growing after they were put somewhere
  bool bytes_behind = false;       // something follows its end
  std::uint64_t bytes = 0;         // of the unpacked file, as far as it was read
};

// Fails if the file has an opcode that is refused, was never a pickle, or grows beyond what it can be.
[[nodiscard]] Result<ReadPickle> read_pickle(json::ByteSource& source, const PickleOptions& options);

class PickleReader {
 public:
  PickleReader(json::ByteSource& source, const PickleOptions& options);
  [[nodiscard]] Result<ReadPickle> run();

 private:
  enum class Step : std::uint8_t { on, stopped, cut, failed };

  [[nodiscard]] bool too_large() const noexcept;
  [[nodiscard]] Step step();
  [[nodiscard]] Step run_op(const OpcodeRow& row);
  [[nodiscard]] Step push_integer(std::size_t bytes);
  [[nodiscard]] Step push_long(std::size_t bytes);
  [[nodiscard]] Step push_real();
  [[nodiscard]] Step push_text(std::size_t bytes);
  [[nodiscard]] Step push_tuple(std::size_t count);
  // What lies on the stack from `first` on goes into the object below it.
  [[nodiscard]] Step grow_below(std::size_t first, PickleData::Tag kind, const char* no_object, const char* too_often);
  [[nodiscard]] Step append(std::size_t first);
  [[nodiscard]] Step set(std::size_t first);
  [[nodiscard]] Step get(std::size_t bytes);
  [[nodiscard]] Step put(std::uint64_t place);
  [[nodiscard]] Step fail(std::string what);
  [[nodiscard]] Step lacks(std::string_view what);
  Step push(PickleValue value) {
    stack_.push_back(value);
    return Step::on;
  }

  [[nodiscard]] std::optional<std::size_t> take_mark();
  // How many values lie above the innermost mark.
  [[nodiscard]] std::size_t above_mark() const noexcept { return stack_.size() - (marks_.empty() ? 0 : marks_.back()); }
  // As it is to be kept within another.
  [[nodiscard]] PickleValue settled(PickleValue value);
  [[nodiscard]] bool grow(std::uint32_t object, std::span<const PickleValue> items);
  [[nodiscard]] std::optional<std::uint32_t> object_of(PickleValue value, PickleData::Tag kind) const;
  [[nodiscard]] PickleValue content(std::uint32_t object) const noexcept;
  [[nodiscard]] std::optional<PickleValue> make(PickleData::Tag kind, std::span<const PickleValue> items);
  void salvage();
  void salvage_above(std::size_t first);

  PickleBytes bytes_;
  const PickleOptions& options_;
  ReadPickle read_;
  std::vector<PickleValue> stack_;
  std::vector<std::size_t> marks_;  // heights of the stack
  std::vector<PickleValue> memo_;
  std::unordered_map<std::uint64_t, PickleValue> far_memo_;  // by places that nobody's pickles come to
  std::vector<std::uint64_t> objects_;  // lists and dictionaries that may still grow: the word of what they hold
  std::unordered_map<std::uint32_t, std::vector<PickleValue>> growing_;  // those of several batches
  std::vector<PickleValue> scratch_;
  const std::uint64_t most_words_;
  const std::uint64_t most_text_bytes_;
  std::uint64_t copied_ = 0;    // values, for lists that went on growing
  std::uint64_t op_place_ = 0;  // of the opcode at hand
  const OpcodeRow* op_ = nullptr;
  std::string failure_;
};

}  // namespace accelscope::capture::sources::pickle
