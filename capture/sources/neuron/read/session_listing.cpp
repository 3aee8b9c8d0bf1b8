#include "capture/sources/neuron/read/session_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "capture/json/json_cursor.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::neuron {
namespace {

[[nodiscard]] std::optional<std::uint64_t> count_of(const json::JsonField& value) { return json::to_uint64(value); }

// First and last time stamp, whatever their keys are called.
[[nodiscard]] std::optional<std::int64_t> span_of(const json::JsonField& info) {
  std::optional<std::int64_t> first;
  std::optional<std::int64_t> last;
  const auto names = [](std::string_view key, std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return key.find(word) != std::string_view::npos; });
  };
  const bool whole = json::each_member(info.text, [&](const json::JsonField& value) {
    const std::string key = lower_case(value.key);
    if (names(key, {"first", "start", "begin"})) first = json::to_rounded_int64(value);
    if (names(key, {"last", "end", "stop"})) last = json::to_rounded_int64(value);
    return true;
  });
  if (!whole || !first || !last || *last < *first) return std::nullopt;
  return *last - *first;
}

struct Reader {
  std::vector<analysis::Executor> rows;
  std::string node;

  bool graph(const json::JsonField& value) {
    analysis::Executor row;
    row.node = node;
    const bool whole = json::each_member(value.text, [&](const json::JsonField& field) {
      const std::string key = lower_case(field.key);
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
    return json::each_member(value.text, [&](const json::JsonField& field) {
      const std::string key = lower_case(field.key);
      if (key != "graphs") return true;
      return json::each_element(field.text, [&](const json::JsonField& graph_value) { return graph(graph_value); });
    });
  }

  bool neff_node(const json::JsonField& value, std::size_t index) {
    constexpr std::array<std::string_view, 4> kIds = {"nodeid", "node_id", "id", "node"};
    node = fmt::format("{}", index);
    // The id may come after what it names.
    bool whole = json::each_member(value.text, [&](const json::JsonField& field) {
      const std::string key = lower_case(field.key);
      if (std::find(kIds.begin(), kIds.end(), key) != kIds.end()) node = field.text;
      return true;
    });
    whole = whole && json::each_member(value.text, [&](const json::JsonField& field) {
              const std::string key = lower_case(field.key);
              return key != "nodeinfo" || info(field);
            });
    return whole;
  }
};

}  // namespace

bool is_session_listing(std::string_view first_bytes) noexcept {
  return first_bytes.find("\"NeffNodes\"") != std::string_view::npos;
}

Result<std::vector<analysis::Executor>> read_session_listing(std::string_view text) {
  Reader reader;
  bool found = false;
  const bool whole = json::each_member(text, [&](const json::JsonField& value) {
    const std::string key = lower_case(value.key);
    if (key != "neffnodes") return true;
    found = true;
    std::size_t index = 0;
    return json::each_element(value.text, [&](const json::JsonField& node) { return reader.neff_node(node, index++); });
  });
  if (!whole)
    return Error{"the listing breaks off or is not JSON; write it again with: neuron-profile show-session -j"};
  if (!found) return Error{"this is no listing of a session: it has no NeffNodes"};
  return std::move(reader.rows);
}

}  // namespace accelscope::capture::sources::neuron
