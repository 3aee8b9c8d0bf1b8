// Memory reports of TTNN (db.sqlite, what ttnn-visualizer opens): operations of a program, their tensors, and the
// buffers that lay in the device's memories behind each operation.
//
// The file tells how long an operation took and not when: they lie one after another, in the order of their numbers.
// A buffer that is listed behind several operations in a row is one allocation; it is made within the first of them and
// released within the one behind the last. Its bytes are those of one bank, which in L1 is one core's memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "capture/sources/base/importers.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/sqlite/foreign_database.h"
#include "capture/sources/tracks/unordered_session.h"
#include "core/base/capped.h"
#include "core/base/text.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::sources::ttnn {
namespace {

using namespace columns;
using sqlite::ForeignRows;
using tracks::UnorderedSession;

constexpr ColumnSpec kOperationColumns[] = {
    {"operation_id", kInt, "", kIds, "Operation", "The report's number of the operation.", Role::none, true},
    {"arguments", kText, "", kOperation, "Arguments", "What it was called with."},
    {"inputs", kText, "", kOperation, "Inputs", "The tensors that it reads."},
    {"outputs", kText, "", kOperation, "Outputs", "The tensors that it makes."},
    {"stack", kString, "", kSource, "Stack", "Where it was called from, innermost first.", Role::stack},
};
constexpr ColumnSpec kBufferColumns[] = {
    {"bytes", kInt, "B", kMemory, "Bytes per bank",
     "In the bank that holds most of it, allocated, or released if negative; a bank of L1 is one core's.",
     Role::allocation},
    {"address", kUnsigned, "", kMemory, "Address", "Where it lies in each bank.", Role::address},
    {"operation_id", kInt, "", kIds, "Operation", "The operation within which it is allocated or released."},
    {"layout", kString, "", kMemory, "Layout", "How it is spread over the banks."},
};
constexpr ColumnSpec kTensorColumns[] = {
    {"tensor_id", kInt, "", kIds, "Tensor", "The report's number of the tensor."},
    {"shape", kString, "", kOperation, "Shape", "Its shape."},
    {"dtype", kString, "", kOperation, "Type", "The type of its elements."},
    {"layout", kString, "", kMemory, "Layout", "How its elements are arranged."},
    {"memory_config", kText, "", kMemory, "Memory", "Where and how it is kept."},
    {"device_id", kInt, "", kIds, "Device", "Number of the device."},
    {"address", kUnsigned, "", kMemory, "Address", "Where it lies."},
    {"buffer_type", kString, "", kMemory, "Kind of memory", "Which of the device's memories it lies in."},
};
constexpr ColumnSpec kErrorColumns[] = {
    {"operation_id", kInt, "", kIds, "Operation", "The operation that failed."},
    {"message", kText, "", kOperation, "Message", "What it said."},
};

constexpr std::array<std::string_view, 5> kMemories = {"DRAM", "L1", "SYSTEM_MEMORY", "L1_SMALL", "TRACE"};
constexpr std::array<std::string_view, 5> kLayouts = {"INTERLEAVED", "HEIGHT_SHARDED", "WIDTH_SHARDED", "BLOCK_SHARDED",
                                                      "SINGLE_BANK"};
constexpr std::size_t kLongestTensor = 1024;  // of a tensor's description in lists of many
constexpr std::int64_t kUntimedNs = 1000;     // of operations whose duration is not known

template <std::size_t Size>
[[nodiscard]] std::string word_of(const std::array<std::string_view, Size>& words, std::optional<std::int64_t> number) {
  if (!number) return {};
  const bool known = *number >= 0 && static_cast<std::size_t>(*number) < Size;
  return known ? std::string(words[static_cast<std::size_t>(*number)]) : fmt::format("{}", *number);
}

[[nodiscard]] std::string device_name(std::int64_t number) { return fmt::format("chip {}", number); }

[[nodiscard]] bool is_memory_report(const std::vector<std::string>& tables) {
  constexpr std::array<std::string_view, 3> kNeeded = {"operations", "buffers", "devices"};
  return std::all_of(kNeeded.begin(), kNeeded.end(), [&](std::string_view name) {
    return std::find(tables.begin(), tables.end(), name) != tables.end();
  });
}

struct BufferKey {
  std::int64_t device = 0, memory = 0, address = 0, bytes = 0;
  auto operator<=>(const BufferKey&) const = default;
};

struct LiveBuffer {
  std::int64_t first = 0;  // place of the operation within which it is allocated
  std::int64_t last = 0;   // of the last one behind which it is listed
  StringId layout = 0;
};

class MemoryReportImport {
 public:
  MemoryReportImport(const sqlite::ForeignDatabase& database, const std::string& path, const ImportOptions& options,
                     EventSink& sink)
      : database_(database), path_(path), options_(options), session_(sink) {}

  Result<void> run();

 private:
  struct Operation {
    std::int64_t id = 0;
    std::int64_t begin = 0, end = 0;  // ns
    StringId name = 0;
  };
  struct Use {  // of a tensor by an operation
    std::int64_t operation = 0;
    std::int64_t tensor = 0;
  };
  [[nodiscard]] ForeignRows rows(std::string_view table, std::initializer_list<std::string_view> columns,
                                 std::string_view further = {});
  void read_operations();
  void read_tensors();
  void read_uses(std::string_view table, std::string_view index, std::map<std::int64_t, std::string>& texts);
  void read_texts();
  void write_operations();
  void write_errors();
  void read_buffers();
  void end_buffers(std::int64_t before);
  void write_buffer(const BufferKey& key, const LiveBuffer& buffer);
  [[nodiscard]] StringId name_of(const BufferKey& key, const LiveBuffer& buffer);
  [[nodiscard]] std::uint32_t pool_row(const BufferKey& key);
  // Counts a row that is told of an operation; false: the file does not have that one.
  [[nodiscard]] bool count_part(std::string_view table, std::int64_t operation);
  void write_facts();
  void report();
  [[nodiscard]] std::string tensor_text(std::int64_t tensor) const;

  const sqlite::ForeignDatabase& database_;
  const std::string& path_;
  const ImportOptions& options_;
  UnorderedSession session_;
  tracks::EventValues values_;
  std::vector<Operation> operations_;                                     // by number
  std::map<std::int64_t, std::int64_t> places_;                           // in operations_, by number
  std::map<std::int64_t, std::string> tensors_;                           // "tensor 5 [1, 32] BFLOAT16", by number
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Use>> at_;  // uses, by device and address
  std::map<std::int64_t, std::vector<std::pair<std::int64_t, std::int64_t>>> homes_;  // of tensors: device, address
  std::map<std::int64_t, std::string> inputs_, outputs_, arguments_, stacks_;         // by operation
  std::map<BufferKey, LiveBuffer> live_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> pools_;
  std::uint32_t buffers_ = kNone;  // table
  std::uint64_t untimed_ = 0;
  std::uint64_t cut_tensors_ = 0;
  std::uint64_t without_operation_ = 0;
  std::uint64_t buffer_rows_ = 0;
  struct PartRows {
    std::uint64_t all = 0;
    std::uint64_t lost = 0;
  };
  std::map<std::string, PartRows, std::less<>> parts_;  // of what is told of operations and tensors, by table
};

ForeignRows MemoryReportImport::rows(std::string_view table, std::initializer_list<std::string_view> columns,
                                     std::string_view further) {
  Result<ForeignRows> found = database_.rows(table, columns, further);
  if (found) return std::move(*found);
  session_.report().note("unreadable", fmt::format("the table {} cannot be read: {}", table, found.message()));
  return {};
}

void MemoryReportImport::read_operations() {
  ForeignRows found = rows("operations", {"operation_id", "name", "duration"}, " ORDER BY \"operation_id\"");
  std::int64_t at = 0;
  while (found.next()) {
    constexpr double kNsPerSecond = 1e9;
    constexpr double kLongest = 1e7;  // s
    const double seconds = found.has(2) ? found.real(2) : 0;
    const bool timed = std::isfinite(seconds) && seconds > 0 && seconds < kLongest;
    untimed_ += timed ? 0 : 1;
    const std::int64_t length = timed ? std::max<std::int64_t>(std::llround(seconds * kNsPerSecond), 1) : kUntimedNs;
    const std::int64_t id = found.integer(0);
    if (!places_.emplace(id, static_cast<std::int64_t>(operations_.size())).second) continue;
    const std::int64_t end = capped_sum(at, length);
    operations_.push_back({id, at, end, session_.intern(found.text(1))});
    at = end;
  }
}

std::string MemoryReportImport::tensor_text(std::int64_t tensor) const {
  const auto known = tensors_.find(tensor);
  return known == tensors_.end() ? fmt::format("tensor {}", tensor) : known->second;
}

void MemoryReportImport::read_tensors() {
  ForeignRows found = rows(
      "tensors", {"tensor_id", "shape", "dtype", "layout", "memory_config", "device_id", "address", "buffer_type"});
  if (!found.has_column(0)) return;
  const std::uint32_t table =
      session_.add_table(make_schema({"tensor", EventKind::table, "tensor", "The tensor."}, kTensorColumns));
  const std::uint32_t row = session_.add_track(table, {.name = "tensors", .kind = "table"}, {tracks::kProfilerRows, 1});
  while (found.next()) {
    const std::int64_t id = found.integer(0);
    std::string text = fmt::format("tensor {} {} {}", id, found.text(1), found.text(2));
    values_.clear();
    values_.integer(0, id);
    for (const std::size_t column : {1U, 2U, 3U}) {
      if (!found.text(column).empty()) values_.string(column, session_.intern(found.text(column)));
    }
    if (!found.text(4).empty()) values_.text(4, found.text(4));
    if (const auto device = found.number(5)) values_.integer(5, *device);
    if (const auto address = found.number(6)) {
      values_.unsigned_integer(6, static_cast<std::uint64_t>(*address));
      homes_[id].emplace_back(found.integer(5), *address);
    }
    if (found.has(7)) values_.string(7, session_.intern(word_of(kMemories, found.number(7))));
    session_.write(row, 0, 0, session_.intern(text), values_);
    ++parts_["tensor"].all;
    if (text.size() > kLongestTensor) {
      ++cut_tensors_;
      text = utf8_front(text, kLongestTensor);
    }
    tensors_.emplace(id, std::move(text));
  }
  ForeignRows copies = rows("device_tensors", {"tensor_id", "device_id", "address"});
  while (copies.next()) {
    auto& [all, lost] = parts_["device_tensors"];
    ++all;
    lost += copies.has(2) ? 0 : 1;
    if (copies.has(2)) homes_[copies.integer(0)].emplace_back(copies.integer(1), copies.integer(2));
  }
}

bool MemoryReportImport::count_part(std::string_view table, std::int64_t operation) {
  PartRows& rows = parts_[std::string(table)];
  ++rows.all;
  if (places_.contains(operation)) return true;
  ++rows.lost;
  return false;
}

void MemoryReportImport::read_uses(std::string_view table, std::string_view index,
                                   std::map<std::int64_t, std::string>& texts) {
  ForeignRows found =
      rows(table, {"operation_id", index, "tensor_id"}, fmt::format(" ORDER BY \"operation_id\", \"{}\"", index));
  while (found.next()) {
    const std::int64_t operation = found.integer(0);
    const std::int64_t tensor = found.integer(2);
    if (!count_part(table, operation)) continue;
    std::string& text = texts[operation];
    text += fmt::format("{}{}", text.empty() ? "" : "\n", tensor_text(tensor));
    const auto home = homes_.find(tensor);
    if (home == homes_.end()) continue;
    for (const auto& place : home->second) at_[place].push_back({operation, tensor});
  }
}

void MemoryReportImport::read_texts() {
  ForeignRows arguments = rows("operation_arguments", {"operation_id", "name", "value"});
  while (arguments.next()) {
    if (!count_part("operation_arguments", arguments.integer(0))) continue;
    std::string& text = arguments_[arguments.integer(0)];
    text += fmt::format("{}{}={}", text.empty() ? "" : "\n", arguments.text(1), arguments.text(2));
  }
  ForeignRows stacks = rows("stack_traces", {"operation_id", "stack_trace"});
  while (stacks.next()) {
    if (count_part("stack_traces", stacks.integer(0))) stacks_[stacks.integer(0)] = stacks.text(1);
  }
  read_uses("input_tensors", "input_index", inputs_);
  read_uses("output_tensors", "output_index", outputs_);
}

void MemoryReportImport::write_operations() {
  const std::uint32_t table =
      session_.add_table(make_schema({"ttnn_op", EventKind::slice, "operation", "The operation."}, kOperationColumns));
  const std::uint32_t row = session_.add_track(
      table, {.name = "TTNN operations", .kind = "host_thread", .host = "host"}, {tracks::kMainThreadRows, 0});
  const auto text_of = [](const std::map<std::int64_t, std::string>& texts, std::int64_t id) {
    const auto found = texts.find(id);
    return found == texts.end() ? std::string_view() : std::string_view(found->second);
  };
  for (const Operation& operation : operations_) {
    values_.clear();
    values_.integer(0, operation.id);
    std::size_t column = 1;
    for (const auto* texts : {&arguments_, &inputs_, &outputs_}) {
      const std::string_view text = text_of(*texts, operation.id);
      if (!text.empty()) values_.text(column, text);
      ++column;
    }
    if (const std::string_view stack = text_of(stacks_, operation.id); !stack.empty()) {
      values_.string(column, session_.intern(stack));
    }
    session_.write(row, operation.begin, operation.end - operation.begin, operation.name, values_);
  }
}

void MemoryReportImport::write_errors() {
  ForeignRows found = rows("errors", {"operation_id", "error_type", "error_message"});
  std::uint32_t row = kNone;
  while (found.next()) {
    if (row == kNone) {
      const std::uint32_t table =
          session_.add_table(make_schema({"error", EventKind::instant, "type", "What went wrong."}, kErrorColumns));
      row = session_.add_track(table, {.name = "Errors", .kind = "error", .host = "host"}, {tracks::kHostRows, 0});
    }
    ++parts_["error"].all;
    const auto place = places_.find(found.integer(0));
    const std::int64_t at = place == places_.end() ? (operations_.empty() ? 0 : operations_.back().end)
                                                   : operations_[static_cast<std::size_t>(place->second)].end;
    values_.clear();
    values_.integer(0, found.integer(0));
    values_.text(1, found.text(2));
    session_.write(row, at, 0, session_.intern(found.text(1)), values_);
  }
}

// The tensor that an operation of its life reads or makes at its address; else its address.
StringId MemoryReportImport::name_of(const BufferKey& key, const LiveBuffer& buffer) {
  const auto uses = at_.find({key.device, key.address});
  if (uses != at_.end()) {
    for (const Use& use : uses->second) {
      const auto place = places_.find(use.operation);
      // One that is read by the operation behind the last lived until then.
      const bool within = place != places_.end() && place->second >= buffer.first && place->second <= buffer.last + 1;
      if (within) return session_.intern(tensor_text(use.tensor));
    }
  }
  return session_.intern(fmt::format("buffer at {:#x}", key.address));
}

std::uint32_t MemoryReportImport::pool_row(const BufferKey& key) {
  const auto [row, is_new] = pools_.try_emplace({key.device, key.memory}, kNone);
  if (is_new) {
    if (buffers_ == kNone) {
      buffers_ = session_.add_table(
          make_schema({"memory", EventKind::memory, "tensor", "The tensor that lies in it."}, kBufferColumns));
    }
    row->second = session_.add_track(
        buffers_, {.name = word_of(kMemories, key.memory), .kind = "memory", .device = device_name(key.device)},
        {tracks::kDeviceRows, key.memory == 1 ? -1 : key.memory});
  }
  return row->second;
}

void MemoryReportImport::write_buffer(const BufferKey& key, const LiveBuffer& buffer) {
  const std::uint32_t row = pool_row(key);
  const StringId name = name_of(key, buffer);
  const auto write = [&](std::int64_t at, std::int64_t bytes, std::int64_t operation) {
    values_.clear();
    values_.integer(0, bytes);
    values_.unsigned_integer(1, static_cast<std::uint64_t>(key.address));
    values_.integer(2, operation);
    if (buffer.layout != 0) values_.string(3, buffer.layout);
    session_.write(row, at, 0, name, values_);
  };
  const Operation& first = operations_[static_cast<std::size_t>(buffer.first)];
  write(first.begin, key.bytes, first.id);
  const auto after = static_cast<std::size_t>(buffer.last + 1);
  if (after < operations_.size())
    write(operations_[after].begin, capped_difference<std::int64_t>(0, key.bytes), operations_[after].id);
}

// Those that are not listed behind the operation before that one any more. At one address a release comes before the
// allocation that follows it at the same time.
void MemoryReportImport::end_buffers(std::int64_t before) {
  std::vector<std::pair<BufferKey, LiveBuffer>> ended;
  std::erase_if(live_, [&](const auto& buffer) {
    const bool ends = buffer.second.last + 1 < before;
    if (ends) ended.push_back(buffer);
    return ends;
  });
  std::stable_sort(ended.begin(), ended.end(),
                   [](const auto& a, const auto& b) { return a.second.last < b.second.last; });
  for (const auto& [key, buffer] : ended) write_buffer(key, buffer);
}

void MemoryReportImport::read_buffers() {
  ForeignRows found =
      rows("buffers", {"operation_id", "device_id", "address", "max_size_per_bank", "buffer_type", "buffer_layout"},
           " ORDER BY \"operation_id\"");
  const std::uint64_t total = [&] {
    const Result<std::int64_t> count = database_.row_count("buffers");
    return count ? static_cast<std::uint64_t>(std::max<std::int64_t>(*count, 0)) : 0;
  }();
  std::int64_t current = -1;
  while (found.next()) {
    constexpr std::uint64_t kLookUpEvery = 4096;
    if (++buffer_rows_ % kLookUpEvery == 0) {
      if (session_.cancelled()) return;
      if (options_.progress) options_.progress(buffer_rows_, total);
    }
    const auto place = places_.find(found.integer(0));
    if (place == places_.end()) {
      ++without_operation_;
      continue;
    }
    if (place->second != current) {
      current = place->second;
      end_buffers(current);
    }
    const BufferKey key{found.integer(1), found.integer(4), found.integer(2), found.integer(3)};
    const auto [buffer, is_new] = live_.try_emplace(key);
    if (is_new) {
      buffer->second.first = current;
      if (found.has(5)) buffer->second.layout = session_.intern(word_of(kLayouts, found.number(5)));
    }
    buffer->second.last = current;
  }
  end_buffers(INT64_MAX);
}

void MemoryReportImport::write_facts() {
  SessionWriter& writer = session_.writer();
  const std::vector<std::string> names = database_.columns("devices");
  const std::vector<std::string_view> wanted(names.begin(), names.end());
  Result<ForeignRows> devices = database_.rows("devices", wanted);
  const auto place = [&](std::string_view name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  while (devices && devices->next()) {
    const std::string device =
        device_name(place("device_id") < names.size() ? devices->integer(place("device_id")) : 0);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (devices->has(i)) writer.set_meta(fmt::format("{}.{}", device, names[i]), std::string(devices->text(i)));
    }
    const std::size_t bank = place("l1_bank_size");
    if (bank < names.size() && devices->integer(bank) > 0) {
      writer.set_meta(fmt::format("capacity.{} L1", device), fmt::format("{}", devices->integer(bank)));
    }
  }
  ForeignRows said = rows("report_metadata", {"key", "value"});
  while (said.next()) writer.set_meta("report." + std::string(said.text(0)), std::string(said.text(1)));
  writer.set_meta("source_format", "TTNN memory report");
  const Result<std::int64_t> operations = database_.row_count("operations");
  set_row_counts(writer, "ttnn_op", operations ? static_cast<std::uint64_t>(*operations) : operations_.size(),
                 operations_.size());
  set_row_counts(writer, "buffers", buffer_rows_, buffer_rows_ - without_operation_);
  for (const auto& [table, rows] : parts_) set_row_counts(writer, table, rows.all, rows.all - rows.lost);
}

void MemoryReportImport::report() {
  ImportReport& said = session_.report();
  said.note("time_unit", "the file tells how long operations took and not when: they lie one after another");
  said.note("time_unit", "operations have no duration; they are shown with 1 us each", untimed_);
  said.note("texts_cut",
            fmt::format("tensors are described by more than {} characters; lists of what operations read and make "
                        "show the first of them",
                        kLongestTensor),
            cut_tensors_);
  said.note("rows_left_out", "buffers are listed behind operations that the file does not have", without_operation_);
  for (const auto& [table, rows] : parts_) {
    said.note("rows_left_out",
              fmt::format("rows of the table {} name no address, or an operation that the file does not have", table),
              rows.lost);
  }
  if (database_.is_cut()) said.note("truncated", "the file ends before its last page; what it still holds was read");
  said.note_unread("the report", database_.unread_columns());
  constexpr std::array<std::string_view, 11> kRead = {
      "operations",     "operation_arguments", "stack_traces", "tensors", "device_tensors",
      "input_tensors",  "output_tensors",      "buffers",      "devices", "errors",
      "report_metadata"};
  for (const std::string& table : database_.tables()) {
    if (std::find(kRead.begin(), kRead.end(), table) != kRead.end()) continue;
    const Result<std::int64_t> count = database_.row_count(table);
    said.note("rows_left_out", fmt::format("rows of the table {} are not read", table),
              count ? static_cast<std::uint64_t>(std::max<std::int64_t>(*count, 0)) : 0);
  }
}

Result<void> MemoryReportImport::run() {
  read_operations();
  if (operations_.empty()) {
    return Error{fmt::format("{}: this report of TTNN lists no operations; was the program stopped early?", path_)};
  }
  read_tensors();
  read_texts();
  write_operations();
  read_buffers();
  write_errors();
  if (session_.cancelled()) return Error{fmt::format("{}: the import was cancelled", path_)};
  write_facts();
  report();
  return session_.finish({.clock = "total", .path = path_});
}

}  // namespace

int probe_memory_report(const FileHead& head) {
  constexpr int kSureReport = 90;
  return head.database && is_memory_report(head.database->tables()) ? kSureReport : 0;
}

Result<void> import_memory_report(const std::string& path, const ImportOptions& options, EventSink& sink) {
  sqlite::ForeignDatabase database = TRY(sqlite::ForeignDatabase::open(path));
  return MemoryReportImport(database, path, options, sink).run();
}

}  // namespace accelscope::capture::sources::ttnn
