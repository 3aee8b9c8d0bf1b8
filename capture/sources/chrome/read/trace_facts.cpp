#include "capture/sources/chrome/read/trace_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "capture/json/json_cursor.h"
#include "capture/sources/tracks/gpu_tables.h"
#include "capture/system/shown_command.h"
#include "core/base/text.h"
#include "core/export/traces/chrome_trace.h"

namespace accelscope::capture::sources::chrome {
namespace {

constexpr std::string_view kBaseTime = "baseTimeNanoseconds";  // what the events' times count from, in Unix time
constexpr std::array<std::string_view, 8> kKinetoKeys = {"schemaVersion", "deviceProperties", "distributedInfo",
                                                         "record_shapes", "profile_memory",   "with_stack",
                                                         "cupti_version", kBaseTime};
constexpr std::array<std::string_view, 4> kMessageTables = {"INFO", "WARNING", "WARN", "ERROR"};
// Words by which the profiler's own lines tell of losses.
constexpr std::array<std::string_view, 5> kLossWords = {"dropped", "failed", "lost", "overflow", "missing"};

template <std::size_t Size>
[[nodiscard]] bool is_one_of(const std::array<std::string_view, Size>& words, std::string_view word) noexcept {
  return std::find(words.begin(), words.end(), word) != words.end();
}

[[nodiscard]] bool tells_of_loss(std::string_view line) {
  const std::string lower = lower_case(line);
  return std::any_of(kLossWords.begin(), kLossWords.end(),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

// N of "Record counts: Out-of-range = N, ...".
[[nodiscard]] std::uint64_t records_out_of_range(std::string_view line) {
  constexpr std::string_view kCount = "Out-of-range = ";
  const std::size_t at = line.find(kCount);
  if (at == std::string_view::npos) return 0;
  const std::string_view rest = line.substr(at + kCount.size());
  const std::string_view digits = rest.substr(0, rest.find_first_not_of("0123456789"));
  return json::to_uint64({.key = {}, .text = digits, .kind = json::JsonKind::number}).value_or(0);
}

[[nodiscard]] std::string text_at(std::string_view object, std::string_view key) {
  std::string text;
  (void)json::each_member(object, [&](const json::JsonField& field) {
    if (field.key == key) text = field.text;
    return field.key != key;
  });
  return text;
}

}  // namespace

void TraceFacts::set(std::string key, std::string_view value) {
  if (facts_.size() >= kMaxFacts && !facts_.contains(key)) {
    ++over_limit_;
    return;
  }
  if (value.size() > kMaxValueBytes) {
    ++over_limit_;
    value = value.substr(0, kMaxValueBytes);
  }
  // Traces carry the environment of the process now and then; sessions are passed on to others.
  const bool secret = system::names_a_secret(key, value);
  secrets_ += secret ? 1 : 0;
  facts_[std::move(key)] =
      secret ? std::string("(left out: it looks like a secret)") : system::without_secrets(json::mend_utf8(value));
}

void TraceFacts::add(const json::JsonWindow& window) {
  kineto_ = kineto_ || is_one_of(kKinetoKeys, window.table);
  own_ = own_ || window.table == kOwnChromeKey;
  for (std::size_t i = 0; i < window.rows.size(); ++i) {
    const std::string_view row = window.row(i);
    if (window.table == "deviceProperties") {
      add_device(row);
    } else if (window.in_array && is_one_of(kMessageTables, window.table)) {
      add_message(window.table, row);
    } else if (window.in_array) {
      constexpr std::size_t kMaxRows = 100;  // of a table that nobody knows
      if (i < kMaxRows) {
        flatten(fmt::format("{}.{}", window.table, i), row, 0);
      } else {
        ++over_limit_;
      }
    } else {
      if (window.table == kOwnChromeKey) {
        base_ns_ = json::to_int64({.key = {}, .text = text_at(row, "begin_unix_ns"), .kind = json::JsonKind::number});
        continue;
      }
      flatten(window.table, row, 0);
      json::JsonCursor cursor(row);
      const json::JsonField value = cursor.value();
      if (window.table == kBaseTime && cursor.ok()) base_ns_ = json::to_int64(value);
    }
  }
}

void TraceFacts::flatten(const std::string& key, std::string_view json, int depth) {
  constexpr int kDeepest = 3;
  json::JsonCursor cursor(json);
  if (depth < kDeepest && cursor.enter('{')) {
    (void)json::each_member(json, [&](const json::JsonField& field) {
      // What a session knew of itself it knows again.
      const bool again = own_ && depth == 0 && key == "otherData";
      const std::string inner = again ? std::string(field.key) : fmt::format("{}.{}", key, field.key);
      if (field.kind == json::JsonKind::object) {
        flatten(inner, field.text, depth + 1);
      } else if (field.kind != json::JsonKind::null) {
        set(inner, field.text);
        // VizTracer has it in an object of its own.
        if (field.key == kBaseTime && !base_ns_) base_ns_ = json::to_int64(field);
      }
      return true;
    });
    return;
  }
  const json::JsonField value = cursor.value();
  if (cursor.ok() && value.kind != json::JsonKind::null) set(key, value.text);
}

void TraceFacts::add_device(std::string_view row) {
  const std::string id = text_at(row, "id");
  const std::string number = id.empty() ? std::to_string(device_count_) : id;
  ++device_count_;
  flatten("device." + number, row, 0);
  // The pool that allocations of this device lie in is named so by ArgsBinder.
  const std::string bytes = text_at(row, "totalGlobalMem");
  if (!bytes.empty()) set(fmt::format("capacity.{} memory", tracks::gpu_name(number)), bytes);
}

void TraceFacts::add_message(std::string_view table, std::string_view row) {
  json::JsonCursor cursor(row);
  const json::JsonField line = cursor.value();
  if (!cursor.ok()) return;
  const std::string text = json::mend_utf8(line.text.substr(0, 500));
  out_of_range_ += records_out_of_range(line.text);
  if (table == "ERROR" || tells_of_loss(line.text)) ++complaints_[text];
  std::string& all = facts_[std::string(table)];
  if (all.size() + text.size() > kMaxValueBytes) {
    ++over_limit_;
  } else {
    all += all.empty() ? text : "\n" + text;
  }
}

void TraceFacts::add_metadata_event(std::string_view name, std::string_view args) {
  if (name == "trace_buffer_overflowed") overflowed_ = true;
  flatten("metadata." + std::string(name), args, 0);
}

void TraceFacts::write(SessionWriter& writer, ImportReport& report) const {
  for (const auto& [key, value] : facts_) writer.set_meta(key, value);
  constexpr std::size_t kMostLines = 50;
  std::size_t lines = 0;
  for (const auto& [line, count] : complaints_) {
    if (++lines > kMostLines) break;
    report.note("profiler_message", fmt::format("the profiler that wrote the trace says: {}", line), count);
  }
  report.note("records_out_of_range",
              "records of the device lay outside of the captured steps and were left out by the profiler; in a short "
              "capture that may be all of them: record more steps, with a warm-up step before",
              out_of_range_);
  if (overflowed_) {
    report.note(
        "buffer_overflow",
        "the tracer's buffer overflowed, so events are missing; record a shorter time, fewer categories or with "
        "a larger buffer");
  }
  report.note("secrets_left_out",
              "values of the metadata that look like passwords or tokens were left out of the session; the file "
              "itself still holds them",
              secrets_);
  report.note("facts_left_out", "facts beside the events that are too many or too long were left out or cut short",
              over_limit_);
}

}  // namespace accelscope::capture::sources::chrome
