// What each opcode of a pickle is, a row each. Source: Python's Lib/pickletools.py, which describes all of them.
#pragma once

#include <cstdint>
#include <string_view>

namespace accelscope::capture::sources::pickle {

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

}  // namespace accelscope::capture::sources::pickle
