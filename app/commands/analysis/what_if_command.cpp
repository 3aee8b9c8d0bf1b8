#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <ostream>

#include "app/content/why/what_if.h"
#include "app/terminal/command.h"
#include "app/terminal/filter_options.h"
#include "app/terminal/query_watch.h"
#include "app/terminal/session_input.h"
#include "app/terminal/terminal.h"
#include "capture/command_line/options.h"
#include "core/base/format.h"
#include "core/listing/base/write.h"
#include "core/listing/critical_path.h"

namespace accelscope::app {
namespace {

struct WhatIfCommand {
  std::vector<std::string> inputs, changes;
  std::string output = "text";
  FilterOptions filter;
  OpenSessionOptions input_options;

  int run(const CommandRun& run) const;
  [[nodiscard]] static Result<WhatIfAnswer> answer(const OpenedSession& session,
                                                   const std::vector<WhatIfChange>& changes,
                                                   const SessionFilter& filter, TaskControl& control);
};

Result<WhatIfAnswer> WhatIfCommand::answer(const OpenedSession& session, const std::vector<WhatIfChange>& changes,
                                           const SessionFilter& filter, TaskControl& control) {
  WorkerPool pool;
  QueryContext query{*session.store, session.store->snapshot(), pool, control};
  if (filter.filter.needs_mask()) query.mask = filter.mask;
  const auto graph = TRY(session_graph(query));
  if (graph->count() == 0) return Error{"nothing of the session works, moves or waits: there is nothing to replay"};
  const auto range = TRY(path_range(query, *graph, filter.filter.range));
  return answer_what_if(query, *graph, changes, range);
}

void print_text(std::ostream& out, const WhatIfAnswer& answer) {
  const WhatIfResult& result = answer.result;
  out << fmt::format("{} -> {}, {} as fast; {} events or edges changed\n",
                     format_duration(static_cast<double>(result.total_before_ns)), then_text(result),
                     ratio_text(result), format_count(result.touched));
  if (!result.rests_on.empty()) {
    out << fmt::format("total {}: {}\n", total_change_text({result.least_ns, result.most_ns}), result.rests_on);
  }
  out << fmt::format("now:  {}\nthen: {}\n\n", answer.bound_before, answer.bound_after);
  TextTable table({CellAlign::left, CellAlign::right, CellAlign::right, CellAlign::right});
  table.row({"on the critical path", "now", "then", "difference"});
  const auto add = [&table](const std::string& what, std::int64_t before_ns, std::int64_t after_ns) {
    const auto more = static_cast<double>(after_ns - before_ns);
    table.row({what, format_duration(static_cast<double>(before_ns)), format_duration(static_cast<double>(after_ns)),
               (more < 0 ? "-" : "+") + format_duration(std::abs(more))});
  };
  for (const SharePair& pair : answer.shares) add(pair.text(), pair.before_ns, pair.after_ns);
  add("total", result.total_before_ns, result.total_after_ns);
  table.print(out);
}

void print_json(std::ostream& out, const WhatIfAnswer& answer, const std::vector<std::string>& changes) {
  out << "{\"changes\": [";
  for (std::size_t i = 0; i < changes.size(); ++i) out << (i == 0 ? "" : ", ") << json_quote(changes[i]);
  out << fmt::format(
      "],\n \"total_before_ns\": {}, \"total_after_ns\": {}, \"saves_least_ns\": {}, \"saves_most_ns\": {}, "
      "\"rests_on\": {},\n \"touched\": {},\n \"bound_before\": {}, \"bound_after\": {},\n \"path\": [",
      answer.result.total_before_ns, answer.result.total_after_ns, answer.result.least_ns, answer.result.most_ns,
      json_quote(answer.result.rests_on), answer.result.touched, json_quote(answer.bound_before),
      json_quote(answer.bound_after));
  bool first = true;
  for (const SharePair& pair : answer.shares) {
    out << fmt::format("{}\n  {{\"resource\": {}, \"gap\": {}, \"before_ns\": {}, \"after_ns\": {}}}", first ? "" : ",",
                       json_quote(pair.label), pair.is_gap, pair.before_ns, pair.after_ns);
    first = false;
  }
  out << "\n]}\n";
}

int WhatIfCommand::run(const CommandRun& run) const {
  if (output != "text" && output != "json") return run.fail_usage("what-if", "--format is text or json");
  std::vector<WhatIfChange> parsed;
  for (const std::string& text : changes) {
    auto change = parse_change(text);
    if (!change) return run.fail_usage("what-if", change.message());
    parsed.push_back(std::move(*change));
  }
  const auto paths = InputPaths::read(inputs);
  if (!paths) return run.fail(paths.message());
  const auto session = open_input(paths->paths(), input_options, run);
  if (!session) return run.fail(paths->shown(session.message()));
  const auto filtered = make_filter(filter, *session->store);
  if (!filtered) return run.fail(fmt::format("{}: {}", inputs.front(), filtered.message()));
  const Interruptible interruptible;
  TaskControl control;
  Result<WhatIfAnswer> answered = Error{"interrupted"};
  {
    const QueryWatch watch(control, interruptible, run);
    answered = answer(*session, parsed, *filtered, control);
  }
  if (!answered) return run.fail(fmt::format("{}: {}", inputs.front(), answered.message()));
  if (run.json || output == "json") {
    print_json(run.streams.out, *answered, changes);
  } else {
    print_text(run.streams.out, *answered);
  }
  return kExitDone;
}

}  // namespace

CommandAction declare_what_if(command_line::OptionSet& options) {
  auto command = std::make_shared<WhatIfCommand>();
  options.add_option("FILE", command->inputs, "Session file, profile, or folder of ranks").required();
  options
      .add_option("--change", command->changes,
                  "What is other than it was; several take effect together: " + std::string(change_forms()))
      .repeats()
      .required();
  options.add_option("--format", command->output, "text or json");
  declare_filter(options, command->filter);
  return [command](const CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app
