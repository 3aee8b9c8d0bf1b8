// How the "args" of a table's events become its columns: the known ones, those that the first events of the table
// have beside them, and one column "args" that takes as JSON whatever does not fit. Immutable once made, so that
// several threads bind with it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "capture/sources/base/inferred_columns.h"
#include "capture/sources/chrome/read/tables.h"
#include "core/model/schema.h"

namespace accelscope::capture::sources::chrome {

// Reads types off the args of a table's first events.
class ArgsInference {
 public:
  void add(const json::JsonField& field);
  // What is known of the table, then what was seen, then the product's own columns.
  [[nodiscard]] Schema schema(ChromeTable table, const AllocationColumns& allocations) const;

 private:
  InferredColumns found_{{.most_columns = 64, .any_text_recurs = true}};  // what is over goes into "args"
  bool has_module_ = false;
  bool has_location_ = false;  // some event states its place in the source
};

class TableBinding {
 public:
  TableBinding(ChromeTable table, Schema schema, const AllocationColumns& allocations);

  [[nodiscard]] ChromeTable table() const noexcept { return table_; }
  [[nodiscard]] const Schema& schema() const noexcept { return schema_; }
  // Among the columns that args fill.
  [[nodiscard]] std::optional<std::uint32_t> column_of(std::string_view key) const noexcept;

  static constexpr std::uint32_t kNoColumn = ~0U;
  std::uint32_t category = kNoColumn;
  std::uint32_t rest = kNoColumn;      // JSON of what fits nowhere
  std::uint32_t location = kNoColumn;  // "file.py:33", made from file and line or from the name
  std::uint32_t file = kNoColumn;
  std::uint32_t line = kNoColumn;
  std::uint32_t pool = kNoColumn;  // of memory events, made from device_type and device_id
  std::uint32_t device_type = kNoColumn;
  std::uint32_t device_id = kNoColumn;
  std::uint32_t grid = kNoColumn;
  std::uint32_t block = kNoColumn;
  // Numbers of their own that some tools write in place of a grid and a block.
  std::array<std::uint32_t, 3> grid_parts = {kNoColumn, kNoColumn, kNoColumn};
  std::array<std::uint32_t, 3> block_parts = {kNoColumn, kNoColumn, kNoColumn};
  std::uint32_t external_id = kNoColumn;
  std::uint32_t collective = kNoColumn;  // the first of collective_columns(), which follow one another
  std::uint32_t layer = kNoColumn;       // a path of modules with a slash between them, made from `module`
  std::uint32_t module = kNoColumn;
  std::uint32_t kernel_details = kNoColumn;  // one text with the others in it: see tracks/kernel_work.h
  std::uint32_t transfer_details = kNoColumn;

 private:
  ChromeTable table_;
  Schema schema_;
  std::unordered_map<std::string, std::uint32_t> by_key_;
};

// "file.py" and "33" of "dir/file.py(33): function".
struct CodePlace {
  std::string_view file;
  std::string_view line;
  std::string_view function;
};
[[nodiscard]] std::optional<CodePlace> parse_code_place(std::string_view text) noexcept;

// "layers.0/attention/wq" of "layers.0.attention.wq", and of the hierarchy that PyTorch's profiler writes,
// "TOP(Net)::forward.layer1(Sequential)::forward.0(Block)::forward" : "layer1.0"; a path with slashes is one already.
[[nodiscard]] std::string layer_path(std::string_view module);

// "a.py(1): f;b.py(2): g" as "f (a.py:1)\ng (b.py:2)".
[[nodiscard]] std::string stack_lines(std::string_view call_stack);

}  // namespace accelscope::capture::sources::chrome
