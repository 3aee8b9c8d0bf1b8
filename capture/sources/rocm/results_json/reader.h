// Reads a result of rocprofv3 in JSON into a run.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/json/byte_source.h"
#include "capture/json/json_cursor.h"
#include "capture/json/row_parser.h"
#include "capture/json/table_reader.h"
#include "capture/sources/rocm/run/records.h"
#include "capture/sources/rocm/run/run.h"

namespace accelscope::capture::sources::rocm {

// The bytes of a result of rocprofv3 as one object of tables, so that they can be read in windows of rows. In the file
// the tables lie within others, of which each is one row of any size:
//
//   {"rocprofiler-sdk-tool": [{"metadata": {...}, "agents": [...], "buffer_records": {"kernel_dispatch": [...]}}]}
//
// What encloses the tables becomes blanks; places in the file stay what they are. A second process's tables follow
// those of the first, beginning with its "metadata".

class FlatResults final : public json::ByteSource {
 public:
  explicit FlatResults(std::unique_ptr<json::ByteSource> source) : source_(std::move(source)) {}

  Result<std::size_t> read(std::span<char> out) override;
  [[nodiscard]] std::uint64_t file_bytes() const override { return source_->file_bytes(); }
  [[nodiscard]] std::uint64_t file_bytes_read() const override { return source_->file_bytes_read(); }

 private:
  // Where the scan is among what encloses the tables.
  enum class Level : std::uint8_t { outside, root, list, process, records };
  // What is awaited there.
  enum class Await : std::uint8_t { key, colon, value, end };

  void take(char& character, std::size_t place);
  void take_structure(char& character, std::size_t place);
  void begin_value(char& character, std::size_t place);
  void blank(std::size_t from, std::size_t to);
  [[nodiscard]] bool fill();

  std::unique_ptr<json::ByteSource> source_;
  std::vector<char> bytes_;  // those from released_ on were not handed out yet
  std::size_t released_ = 0;
  std::size_t scanned_ = 0;
  std::size_t key_at_ = 0;  // of the key at hand
  std::string key_;
  std::vector<Level> levels_ = {Level::outside};
  Await await_ = Await::value;
  std::uint32_t depth_ = 0;  // within a value of a table; 0: not in one
  bool in_string_ = false;
  bool escaped_ = false;
  bool in_scalar_ = false;
  bool any_since_comma_ = false;
  bool ended_ = false;
  Result<std::size_t> failure_ = std::size_t{0};
};

// The numbers of one record of a result of rocprofv3, whatever objects they lie in, by what they mean.

enum class RecordField : std::uint8_t {
  kind,
  operation,
  thread,
  internal,
  external,
  ancestor,
  start,
  end,
  agent,
  queue,
  stream,
  kernel,
  dispatch,
  private_segment,
  group_segment,
  workgroup_x,
  workgroup_y,
  workgroup_z,
  grid_x,
  grid_y,
  grid_z,
  source_agent,
  destination_agent,
  source_address,
  destination_address,
  bytes,
  address,
  allocation_size,
  flags,
  vgprs,
  accum_vgprs,
  sgprs,
  graph_exec,
  graph_node,
  count
};

class RecordFields {
 public:
  void clear() noexcept {
    numbers_.fill(std::nullopt);
    arguments_.clear();
  }
  // A field of the record and, if it is an object, all within it.
  void add(const json::JsonField& field);
  void add_unread(std::string_view path);

  [[nodiscard]] const MaybeNumber& operator[](RecordField field) const noexcept {
    return numbers_[static_cast<std::size_t>(field)];
  }
  [[nodiscard]] std::int64_t integer(RecordField field) const noexcept { return (*this)[field].value_or(0); }
  [[nodiscard]] const std::string& arguments() const noexcept { return arguments_; }  // as JSON; or ""
  // Values that mean nothing here, of all records: "dispatch_info.size".
  [[nodiscard]] const std::set<std::string, std::less<>>& unread() const noexcept { return unread_; }

 private:
  void add(std::string& path, const json::JsonField& field, unsigned depth);

  std::array<MaybeNumber, static_cast<std::size_t>(RecordField::count)> numbers_;
  std::string arguments_;
  std::string path_;
  std::set<std::string, std::less<>> unread_;
};

class ResultsReader final : private json::JsonRowHandler {
 public:
  ResultsReader(RocmRun& run, std::string name) : run_(run), name_(std::move(name)) {}

  // Of a further file of a run: the columns of kernels are what the first one's counters made them.
  void keep_counters() noexcept { keep_counters_ = true; }

  // Fails only if the file is none, or holds nothing of it.
  Result<void> read(std::unique_ptr<json::ByteSource> source,
                    const std::function<void(std::uint64_t, std::uint64_t)>& progress);

 private:
  enum class Table : std::uint8_t {
    agents,
    counters,
    kernel_symbols,
    dispatches_with_counters,
    dispatches,
    calls,
    marks,
    copies,
    allocations,
    facts,    // whose rows are no events
    unknown,  // not read
  };
  struct Symbol {
    std::string text;
    StringId name = 0;
    MaybeNumber vgprs, accum_vgprs, sgprs;
  };
  struct Operation {
    StringId name = 0;
    std::string text;
  };
  struct KindNames {
    StringId name = 0;
    std::vector<Operation> operations;
  };

  void on_row(std::span<const json::JsonField> fields, bool is_object, const json::RowPlace& place) override;
  void on_bad_row(std::string_view text, const json::RowPlace& place) override;
  void on_repaired_row(const json::RowPlace& place) override;

  [[nodiscard]] static Table table_of(std::string_view name);
  void count_skipped();
  void begin_table(const json::JsonWindow& window);
  void take_metadata(std::string_view object);
  void take_strings(std::string_view object);
  void take_kinds(std::string_view list);
  void take_texts(std::string_view list, std::unordered_map<std::int64_t, std::string>& texts);
  void take_agent(std::span<const json::JsonField> fields);
  void take_counter(std::span<const json::JsonField> fields);
  void take_symbol(std::span<const json::JsonField> fields);
  void add_unread(std::span<const json::JsonField> fields, std::initializer_list<std::string_view> known);
  void choose_counters(const json::JsonWindow& window);
  void write_dispatch(bool with_counters);
  void write_call(bool mark);
  void write_copy();
  void write_allocation();
  [[nodiscard]] bool place(RocmRecord& record);
  void place_on_device(RocmOnDevice& event);
  [[nodiscard]] Symbol& symbol_of(MaybeNumber id);
  [[nodiscard]] const KindNames& kind_of(MaybeNumber kind);
  [[nodiscard]] const Operation& operation_of(MaybeNumber kind, MaybeNumber operation);

  RocmRun& run_;
  std::string name_;
  std::uint32_t process_ = 0;
  bool any_process_ = false;
  Table table_ = Table::unknown;
  std::string table_name_;
  bool counters_chosen_ = false;
  bool keep_counters_ = false;
  RecordFields fields_;
  std::string_view counted_;  // the list of values of the dispatch at hand
  std::unordered_map<std::int64_t, Symbol> symbols_;
  std::unordered_map<std::int64_t, RocmCounter> counters_;
  std::unordered_map<std::int64_t, std::uint32_t> counter_places_;
  std::vector<KindNames> kinds_;
  Operation unknown_operation_;
  std::unordered_map<std::int64_t, std::string> marks_;    // by correlation
  std::unordered_map<std::int64_t, std::string> regions_;  // by external id
  IdSet with_counters_;                                    // dispatches that were written with their counters
  std::uint64_t events_ = 0;
  std::uint64_t twice_ = 0;
  std::uint64_t bad_rows_ = 0;
  std::uint64_t repaired_rows_ = 0;
  std::uint64_t without_time_ = 0;
  std::map<std::string, std::uint64_t, std::less<>> not_read_;
};

}  // namespace accelscope::capture::sources::rocm
