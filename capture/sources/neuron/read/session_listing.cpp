#include "capture/sources/neuron/read/session_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <optional>
#include <string>

#include "capture/json/json_cursor.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::neuron {
namespace {

// Calls for every member of an object or element of a list. False if the text breaks off.
using Visit = std::function<bool(std::string_view key, const json::JsonField& value)>;
[[nodiscard]] bool each_member(std::string_view object, const Visit& visit) {
  json::JsonCursor cursor(object);
  if (!cursor.enter('{')) return false;
  while (cursor.next_element('{')) {
    const std::string key = lower_case(cursor.key());
    if (!cursor.ok() || !visit(key, cursor.value())) return false;
  }
  return cursor.ok();
}
[[nodiscard]] bool each_element(std::string_view list, const Visit& visit) {
  json::JsonCursor cursor(list);
  if (!cursor.enter('[')) return false;
  while (cursor.next_element('[')) {
    if (!visit({}, cursor.value())) return false;
  }
  return cursor.ok();
}

[[nodiscard]] std::optional<std::uint64_t> count_of(const json::JsonField& value) { return json::to_uint64(value); }

// First and last time stamp, whatever their keys are called.
[[nodiscard]] std::optional<std::int64_t> span_of(const json::JsonField& info) {
  std::optional<std::int64_t> first;
  std::optional<std::int64_t> last;
  const auto names = [](std::string_view key, std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return key.find(word) != std::string_view::npos; });
  };
  const bool whole = each_member(info.text, [&](std::string_view key, const json::JsonField& value) {
    if (names(key, {"first", "start", "begin"})) first = json::to_rounded_int64(value);
    if (names(key, {"last", "end", "stop"})) last = json::to_rounded_int64(value);
    return true;
  });
  if (!whole || !first || !last || *last < *first) return std::nullopt;
  return *last - *first;
}

struct Reader {
  std::vector<Executor> rows;
  std::string node;

  bool graph(const json::JsonField& value) {
    Executor row;
    row.node = node;
    const bool whole = each_member(value.text, [&](std::string_view key, const json::JsonField& field) {
      if (key == "name" || key == "graphname" || key == "subgraph") row.name = field.text;
      if (key == "executor" || key == "executorname" || key == "executortype") row.executor = field.text;
      if (key == "cyclecount") row.cycles = json::to_rounded_int64(field);
      if (key == "eventscount" || key == "eventcount") row.events = count_of(field);
      if (key == "errorcount" || key == "errorscount") row.errors = count_of(field);
      if (key == "tracecount" || key == "tracescount") row.trace = count_of(field);
      if (key == "exectime" || key == "exectimens" || key == "exec_time_ns")
        row.exec_time_ns = json::to_rounded_int64(field);
      if (key == "timestampinfo" && !row.exec_time_ns) row.exec_time_ns = span_of(field);
      return true;
    });
    rows.push_back(std::move(row));
    return whole;
  }

  bool info(const json::JsonField& value) {
    return each_member(value.text, [&](std::string_view key, const json::JsonField& field) {
      if (key != "graphs") return true;
      return each_element(field.text,
                          [&](std::string_view, const json::JsonField& graph_value) { return graph(graph_value); });
    });
  }

  bool neff_node(const json::JsonField& value, std::size_t index) {
    constexpr std::array<std::string_view, 4> kIds = {"nodeid", "node_id", "id", "node"};
    node = fmt::format("{}", index);
    // The id may come after what it names.
    bool whole = each_member(value.text, [&](std::string_view key, const json::JsonField& field) {
      if (std::find(kIds.begin(), kIds.end(), key) != kIds.end()) node = field.text;
      return true;
    });
    whole = whole && each_member(value.text, [&](std::string_view key, const json::JsonField& field) {
              return key != "nodeinfo" || info(field);
            });
    return whole;
  }
};

}  // namespace

bool is_session_listing(std::string_view first_bytes) noexcept {
  return first_bytes.find("\"NeffNodes\"") != std::string_view::npos;
}

Result<std::vector<Executor>> read_session_listing(std::string_view json) {
  Reader reader;
  bool found = false;
  const bool whole = each_member(json, [&](std::string_view key, const json::JsonField& value) {
    if (key != "neffnodes") return true;
    found = true;
    std::size_t index = 0;
    return each_element(value.text,
                        [&](std::string_view, const json::JsonField& node) { return reader.neff_node(node, index++); });
  });
  if (!whole)
    return Error{"the listing breaks off or is not JSON; write it again with: neuron-profile show-session -j"};
  if (!found) return Error{"this is no listing of a session: it has no NeffNodes"};
  return std::move(reader.rows);
}

}  // namespace accelscope::capture::sources::neuron
