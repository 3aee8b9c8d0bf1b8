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
#include "core/base/json.h"
#include "core/listing/base/write.h"
#include "core/listing/critical_path.h"

namespace accelscope::app::commands {
namespace {

struct WhatIfCommand {
  std::vector<std::string> inputs, changes;
  std::string output = "text";
  terminal::FilterOptions filter;
  workspace::OpenSessionOptions input_options;

  int run(const terminal::CommandRun& run) const;
  [[nodiscard]] static Result<content::WhatIfAnswer> answer(const workspace::OpenedSession& session,
                                                            const std::vector<analysis::WhatIfChange>& changes,
                                                            const terminal::SessionFilter& filter,
                                                            TaskControl& control);
};

Result<content::WhatIfAnswer> WhatIfCommand::answer(const workspace::OpenedSession& session,
                                                    const std::vector<analysis::WhatIfChange>& changes,
                                                    const terminal::SessionFilter& filter, TaskControl& control) {
  WorkerPool pool;
  QueryContext query{*session.store, session.store->snapshot(), pool, control};
  if (filter.filter.needs_mask()) query.mask = filter.mask;
  const auto graph = TRY(analysis::session_graph(query));
  if (graph->count() == 0) return Error{"nothing of the session works, moves or waits: there is nothing to replay"};
  const auto range = TRY(analysis::path_range(query, *graph, filter.filter.range));
  return content::answer_what_if(query, *graph, changes, range);
}

void print_text(std::ostream& out, const content::WhatIfAnswer& answer) {
  const analysis::WhatIfResult& result = answer.result;
  out << fmt::format("{} -> {}, {} as fast; {} events or edges changed\n", format_duration(result.total_before_ns),
                     content::then_text(result), content::ratio_text(result), format_count(result.touched));
  if (!result.rests_on.empty()) {
    out << fmt::format("total {}: {}\n", content::total_change_text({result.least_ns, result.most_ns}),
                       result.rests_on);
  }
  out << fmt::format("now:  {}\nthen: {}\n\n", answer.bound_before, answer.bound_after);
  listing::TextTable table(
      {listing::CellAlign::left, listing::CellAlign::right, listing::CellAlign::right, listing::CellAlign::right});
  table.row({"on the critical path", "now", "then", "difference"});
  const auto add = [&table](const std::string& what, std::int64_t before_ns, std::int64_t after_ns) {
    const auto more = static_cast<double>(after_ns - before_ns);
    table.row({what, format_duration(before_ns), format_duration(after_ns),
               (more < 0 ? "-" : "+") + format_duration(std::abs(more))});
  };
  for (const content::SharePair& pair : answer.shares) add(pair.text(), pair.before_ns, pair.after_ns);
  add("total", result.total_before_ns, result.total_after_ns);
  table.print(out);
}

void print_json(std::ostream& out, const content::WhatIfAnswer& answer, const std::vector<std::string>& changes) {
  const analysis::WhatIfResult& result = answer.result;
  JsonWriter json(JsonLayout::sections);
  json.begin_object("changes", changes, "total_before_ns", result.total_before_ns);
  json.add("total_after_ns", result.total_after_ns, "saves_least_ns", result.least_ns);
  json.add("saves_most_ns", result.most_ns, "rests_on", result.rests_on, "touched", result.touched);
  json.add("bound_before", answer.bound_before, "bound_after", answer.bound_after);
  json.array("path", answer.shares, [&](const content::SharePair& pair) {
    json.object("resource", pair.label, "gap", pair.is_gap, "before_ns", pair.before_ns, "after_ns", pair.after_ns);
  });
  out << json.done() << '\n';
}

int WhatIfCommand::run(const terminal::CommandRun& run) const {
  if (output != "text" && output != "json") return run.fail_usage("what-if", "--format is text or json");
  std::vector<analysis::WhatIfChange> parsed;
  for (const std::string& text : changes) {
    auto change = analysis::parse_change(text);
    if (!change) return run.fail_usage("what-if", change.message());
    parsed.push_back(std::move(*change));
  }
  const auto paths = terminal::InputPaths::read(inputs);
  if (!paths) return run.fail(paths.message());
  const auto session = terminal::open_input(paths->paths(), input_options, run);
  if (!session) return run.fail(paths->shown(session.message()));
  const auto filtered = terminal::make_filter(filter, *session->store, &run);
  if (!filtered) return run.fail(fmt::format("{}: {}", inputs.front(), filtered.message()));
  terminal::QueryWatch watch(run);
  const auto answered = answer(*session, parsed, *filtered, watch.control());
  watch.hide_progress();
  if (!answered) return run.fail(fmt::format("{}: {}", inputs.front(), answered.message()));
  if (run.json || output == "json") {
    print_json(run.streams.out, *answered, changes);
  } else {
    print_text(run.streams.out, *answered);
  }
  return terminal::kExitDone;
}

}  // namespace

terminal::CommandAction declare_what_if(command_line::OptionSet& options) {
  auto command = std::make_shared<WhatIfCommand>();
  options.add_option("FILE", command->inputs, "Session file, profile, or folder of ranks").required();
  options
      .add_option("--change", command->changes,
                  "What is other than it was; several take effect together: " + std::string(analysis::change_forms()))
      .repeats()
      .required();
  options.add_option("--format", command->output, "text or json");
  terminal::declare_filter(options, command->filter);
  return [command](const terminal::CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app::commands
