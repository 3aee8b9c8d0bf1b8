// Reads the rows of one window of traceEvents into a batch: names and threads become numbers, times become ns, args
// become values of columns. Knows nothing of the events before or after, so that windows are read in parallel; one
// reader per thread.
#pragma once

#include <array>
#include <atomic>
#include <span>
#include <string>
#include <vector>

#include "capture/json/row_parser.h"
#include "capture/sources/chrome/read/args_binder.h"
#include "capture/sources/chrome/read/decimal_time.h"
#include "capture/sources/chrome/read/event_batch.h"
#include "capture/sources/chrome/read/shared_strings.h"
#include "capture/sources/chrome/read/table_binding.h"

namespace accelscope::capture::sources::chrome {

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
  void on_mended_row(const json::RowPlace& place) override;

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
