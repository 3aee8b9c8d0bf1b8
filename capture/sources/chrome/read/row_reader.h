// Reads the rows of one window of traceEvents into a batch: names and threads become numbers, times become ns, args
// become values of columns. Knows nothing of the events before or after, so that windows are read in parallel; one
// reader per thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/json/json_cursor.h"
#include "capture/json/row_parser.h"
#include "capture/sources/base/inferred_columns.h"
#include "capture/sources/chrome/read/event_batch.h"
#include "capture/sources/chrome/read/tables.h"
#include "core/chunk/event_sink.h"
#include "core/model/schema.h"

namespace accelscope::capture::sources::chrome {

// How the "args" of a table's events become its columns: the known ones, those that the first events of the table
// have beside them, and one column "args" that takes as JSON whatever does not fit. Immutable once made, so that
// several threads bind with it.

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

// Texts numbered from 1 in the order in which they first come, for several threads at once. They become the
// session's dictionary, so the numbers are the StringIds of its chunks. A LocalStrings in front, one per thread,
// answers for what that thread has seen lately without the lock.

class SharedStrings {
 public:
  struct Known {
    StringId id = 0;
    std::string_view text;  // stays valid as long as the strings
  };
  [[nodiscard]] Known intern(std::string_view text);
  [[nodiscard]] std::string_view text(StringId id) const;
  [[nodiscard]] std::uint64_t overflowing() const noexcept { return overflowing_; }
  // Every string as definitions of the session.
  Result<void> define_all(EventSink& sink) const;

 private:
  mutable std::mutex mutex_;
  std::deque<std::string> strings_;
  std::unordered_map<std::string_view, StringId> ids_;
  std::uint64_t overflowing_ = 0;
};

class LocalStrings {
 public:
  explicit LocalStrings(SharedStrings& shared) : shared_(shared), places_(kPlaces) {}
  [[nodiscard]] StringId intern(std::string_view text);
  [[nodiscard]] std::string_view text(StringId id) const { return shared_.text(id); }

 private:
  static constexpr std::size_t kPlaces = 1U << 14;  // a power of two
  SharedStrings& shared_;
  std::vector<SharedStrings::Known> places_;
};

// Turns the args of one event after another into values of a table's columns. Args that come again as the same text
// are bound once: the cache is keyed by the raw bytes. One per thread.

class ArgsBinder {
 public:
  explicit ArgsBinder(LocalStrings& strings) : strings_(strings) {}

  // The values of the args object `args` (may be empty) of an event and of fields that lie beside it. Where the name
  // tells the place in the source, so do the values.
  [[nodiscard]] ValueRange bind(const TableBinding& binding, std::string_view name, std::string_view args,
                                std::span<const json::JsonField> beside, EventBatch& batch);
  // Values that are cached refer to a batch; call this whenever another one is filled.
  void begin_batch() noexcept { ++batch_number_; }

 private:
  struct CacheEntry {
    std::string args;
    const TableBinding* binding = nullptr;
    std::vector<BoundValue> values;
    std::uint64_t batch_number = 0;
    ValueRange range;  // in that batch
  };
  // Events of a table have their keys in the same order nearly always.
  struct Guess {
    std::string key;
    std::uint32_t column = TableBinding::kNoColumn;
  };
  // Tables whose args rarely repeat are not looked up for a while.
  struct Usefulness {
    std::uint32_t hits = 0;
    std::uint32_t lookups = 0;
    std::uint32_t pause = 0;
  };
  static constexpr std::size_t kCacheEntries = 1U << 12;
  static constexpr std::size_t kMaxCachedBytes = 512;

  [[nodiscard]] bool worth_a_lookup(Usefulness& use) const noexcept;
  void bind_object(const TableBinding& binding, std::string_view args, EventBatch& batch);
  [[nodiscard]] std::uint32_t column_of(const TableBinding& binding, std::string_view key);
  void bind_field(const TableBinding& binding, const json::JsonField& field, EventBatch& batch);
  // The text of a value for a string or text column; valid until the next call.
  [[nodiscard]] std::string_view text_of(const json::JsonField& field, Role role);
  void add_location(const TableBinding& binding, std::string_view name, EventBatch& batch);
  void add_pool(const TableBinding& binding, EventBatch& batch);
  void add_launch(const TableBinding& binding, EventBatch& batch);
  void add_transfer(const TableBinding& binding, EventBatch& batch);
  [[nodiscard]] std::string_view spaced(std::string_view list);  // valid until the next call
  // The text that was bound to a column; "" if there is none.
  [[nodiscard]] std::string_view string_at(const TableBinding& binding, const EventBatch& batch,
                                           std::uint32_t column) const;
  [[nodiscard]] const BoundValue* value_of(const EventBatch& batch, std::uint32_t column) const noexcept;

  LocalStrings& strings_;
  std::array<Usefulness, kChromeTableCount> use_{};
  std::array<std::vector<Guess>, kChromeTableCount> guesses_;
  std::size_t next_guess_ = 0;  // place of the next key in its event
  std::vector<CacheEntry> cache_{kCacheEntries};
  std::uint64_t batch_number_ = 0;
  std::size_t first_ = 0;  // value of the event at hand
  std::string rest_;       // JSON of what fits no column
  std::string scratch_;
  std::string spaced_;
};

// The times of Chrome JSON: decimal microseconds, read from their text. A double holds the microseconds of an
// absolute time to a quarter of a microsecond only, so the digits never pass through one.

// ns + part / 10^9, with 0 <= part < 10^9: a file may be finer than a ns.
struct ExactTime {
  std::int64_t ns = 0;
  std::uint32_t part = 0;

  // Both ends of an event are rounded down, so that what was nested stays nested.
  [[nodiscard]] ExactTime operator+(const ExactTime& other) const noexcept {
    constexpr std::uint32_t kWhole = 1'000'000'000;
    const std::uint32_t parts = part + other.part;
    return parts < kWhole ? ExactTime{ns + other.ns, parts} : ExactTime{ns + other.ns + 1, parts - kWhole};
  }
};

enum class TimeReading : std::uint8_t { ok, not_a_number, out_of_range };

// From 12, "12.345", -1.5, 1.7e15. Times beyond kMaxTimeNs either way are out of range.
[[nodiscard]] TimeReading read_microseconds(std::string_view text, ExactTime& time) noexcept;

// ns since 1970 are 1.8e18; sums of two times must not overflow.
inline constexpr std::int64_t kMaxTimeNs = std::int64_t{1} << 61;

// What the reading threads share. The writing thread adds a binding when a table's first events have come.
struct ChromeVocabulary {
  SharedStrings strings;  // the session's dictionary
  SharedStrings threads;  // pid and tid as thread_key() makes them; a thread's number is its id
  std::array<std::atomic<const TableBinding*>, kChromeTableCount> bindings{};
};

// pid and tid as texts; numbers and the texts of numbers are the same, null is "".
[[nodiscard]] std::string thread_key(std::string_view pid, std::string_view tid);
struct ThreadName {
  std::string pid;
  std::string tid;
};
[[nodiscard]] ThreadName split_thread_key(std::string_view key);

class ChromeRowReader final : public json::JsonRowHandler {
 public:
  explicit ChromeRowReader(ChromeVocabulary& vocabulary);

  void read(const json::JsonWindow& window, EventBatch& batch);

  void on_row(std::span<const json::JsonField> fields, bool is_object, const json::RowPlace& place) override;
  void on_bad_row(std::string_view text, const json::RowPlace& place) override;
  void on_repaired_row(const json::RowPlace& place) override;

 private:
  // The fields of the row at hand that every event may have.
  struct Row {
    EventRecord record;
    const json::JsonField* pid = nullptr;
    const json::JsonField* tid = nullptr;
    const json::JsonField* args = nullptr;
    std::string_view name;
    std::string_view time_problem;
    bool has_start = false;
    bool has_phase = false;
    std::uint64_t seen = 0;  // a bit per field, to notice one that comes twice
  };
  void take_field(const json::JsonField& field, Row& row);
  void take_time(const json::JsonField& field, Row& row, ExactTime& time, bool& has);
  void take_id(const json::JsonField& field, EventRecord& record);
  void take_bind_id(const json::JsonField& field, EventRecord& record);
  // A number, or the id of a text.
  [[nodiscard]] std::uint64_t identity(const json::JsonField& field, bool& is_text);
  [[nodiscard]] std::uint32_t thread_of(const Row& row);
  [[nodiscard]] ChromeTable table_of(const Row& row);
  void finish_row(Row& row);
  void bind_args(Row& row);

  ChromeVocabulary& vocabulary_;
  json::JsonRowParser parser_;
  LocalStrings strings_;
  LocalStrings threads_;
  ArgsBinder binder_;
  EventBatch* batch_ = nullptr;
  std::vector<json::JsonField> beside_;  // fields of the row that only some tools write
  ExactTime start_;
  ExactTime duration_;
  std::string key_;
  struct CategoryPlace {
    StringId category = 0;
    ChromeTable table = ChromeTable::event;
    bool allocation = false;  // of a trace that was exported from a session
  };
  std::array<CategoryPlace, 256> categories_{};
};

}  // namespace accelscope::capture::sources::chrome
