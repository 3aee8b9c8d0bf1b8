#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "app/content/comparison/comparison_output.h"
#include "app/content/comparison/divergence_output.h"
#include "app/content/comparison/explained.h"
#include "app/export/output_file.h"
#include "app/export/query_output.h"
#include "app/export/report/comparison_report.h"
#include "app/library/entry.h"
#include "app/terminal/command.h"
#include "app/terminal/query_watch.h"
#include "app/terminal/session_input.h"
#include "app/workspace/headline.h"
#include "capture/command_line/options.h"
#include "core/base/text.h"
#include "core/export/report/html_report.h"

namespace accelscope::app {
namespace {

struct CompareCommand {
  std::vector<std::string> inputs;
  std::vector<std::string> by;
  std::string group_by;
  std::string format = "text";
  std::string output_file;
  std::vector<std::string> fail_above, metrics;
  std::string noise;
  static constexpr std::uint64_t kUsualRows = 30, kNotAsked = UINT64_MAX;
  std::uint64_t asked_rows = kNotAsked;
  bool force = false, divergence = false, explain = false;
  OpenSessionOptions input_options;

  int run(const CommandRun& run) const;

  // Programs get all, people as many as they read.
  [[nodiscard]] std::size_t rows(const CommandRun& run) const {
    if (asked_rows != kNotAsked) return asked_rows;
    return run.json || format == "json" ? 0 : kUsualRows;
  }

 private:
  struct Limit {
    std::string metric;
    double above = 0;
  };
  [[nodiscard]] Result<std::vector<Limit>> limits() const;
  [[nodiscard]] Result<std::vector<std::string>> kinds() const;
  [[nodiscard]] Result<std::vector<ExplainedBy>> explained_by() const;
  template <typename Ask, typename Write>
  int print_of_two(const CommandRun& run, const char* flag, const Ask& ask, const Write& write) const;
  int print_divergence(const CommandRun& run) const;
  int print_explained(const CommandRun& run) const;
  [[nodiscard]] Result<std::string> page(const Comparison& comparison, const std::vector<ComparisonGate>& gates,
                                         bool with_metrics, const CommandRun& run) const;
  int print(const Comparison& comparison, const std::vector<ComparisonGate>& gates, const CommandRun& run) const;
};

// "3%", "3 %", "0.5%"
Result<double> percent_of(const std::string& text) {
  std::string_view number = trimmed(text);
  if (number.ends_with('%')) number = trimmed(number.substr(0, number.size() - 1));
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size() || !(value >= 0 && value <= 1e6))
    return Error{text + ": write a share such as 3%"};
  return value / 100;
}

Result<std::vector<CompareCommand::Limit>> CompareCommand::limits() const {
  std::vector<Limit> out;
  if (fail_above.empty() && !metrics.empty()) return Error{"--metric is for --fail-above: name how much is too much"};
  if (fail_above.size() > 1 && metrics.size() != fail_above.size())
    return Error{"of several --fail-above each needs its --metric after it"};
  for (const std::string& each : fail_above) {
    const auto share = percent_of(each);
    if (!share) return Error{"--fail-above " + share.message()};
    const std::size_t number = out.size();
    if (fail_above.size() > 1) {
      out.push_back({metrics[number], *share});
      continue;
    }
    for (const std::string& metric : metrics) out.push_back({metric, *share});
    if (metrics.empty()) out.push_back({std::string(kWorkTime), *share});
  }
  return out;
}

Result<std::vector<std::string>> CompareCommand::kinds() const {
  std::vector<std::string> out;
  for (const std::string& each : by) {
    const auto names = names_of_list(each);
    if (!names) return Error{"--by: " + names.message()};
    out.insert(out.end(), names->begin(), names->end());
  }
  if (by.empty()) out = {"metric", "kernel"};
  return out;
}

// One capture after another is opened, read and let go.
Result<CaptureFigures> read_capture(const std::string& path, const OpenSessionOptions& options,
                                    const std::vector<std::string>& kinds, const CommandRun& run) {
  const auto session = open_input({path}, options, run);
  if (!session) return session.error();
  WorkerPool pool;
  const Interruptible interruptible;
  TaskControl control;
  const QueryWatch watch(control, interruptible, run);
  auto figures = capture_figures({*session->store, session->store->snapshot(), pool, control}, kinds);
  if (!figures) return Error{fmt::format("{}: {}", path, figures.message())};
  figures->label = {path, split_tags(session->store->overlay_value(kTagsKey))};
  return figures;
}

// Once more the first capture of the base and that of the other: for their timelines, and what the difference between
// them is made of.
Result<std::string> CompareCommand::page(const Comparison& comparison, const std::vector<ComparisonGate>& gates,
                                         bool with_metrics, const CommandRun& run) const {
  ComparisonReportParts parts{comparison, gates, with_metrics, rows(run), {}, {}, {}};
  std::vector<OpenedSession> sessions;
  for (std::size_t side = 0; side < 2; ++side) {
    auto session = open_input({inputs[comparison.configurations[side].captures.front()]}, input_options, run);
    if (!session) return session.error();
    sessions.push_back(std::move(*session));
  }
  WorkerPool pool;
  const Interruptible interruptible;
  TaskControl control;
  const QueryWatch watch(control, interruptible, run);
  const QueryContext base{*sessions[0].store, sessions[0].store->snapshot(), pool, control};
  const QueryContext other{*sessions[1].store, sessions[1].store->snapshot(), pool, control};
  auto explained = explain_difference(base, other, {std::begin(kExplainedBy), std::end(kExplainedBy)});
  if (control.cancelled()) return cancelled_error();
  if (explained) {
    explained->base_title = sessions[0].title;
    explained->other_title = sessions[1].title;
    parts.explained.push_back(std::move(*explained));
  } else {
    parts.unexplained.push_back(explained.message());
  }
  parts.timelines.push_back(capture_timeline(base, "A, " + sessions[0].title));
  parts.timelines.push_back(capture_timeline(other, "B, " + sessions[1].title));
  return html_report(comparison_report(parts));
}

int CompareCommand::print(const Comparison& comparison, const std::vector<ComparisonGate>& gates,
                          const CommandRun& run) const {
  const auto wanted = kinds();
  const bool figures = std::find(wanted->begin(), wanted->end(), "metric") != wanted->end();
  const bool is_page = !run.json && format == "html";
  const Result<std::string> html = is_page ? page(comparison, gates, figures, run) : std::string();
  if (!html) return run.fail(html.message());
  const std::string path = output_file.empty() ? std::string(kStandardOutput) : output_file;
  const auto output = OutputFile::open(path, is_data(format) || is_page ? run.data_out() : run.streams.out);
  if (!output) return run.fail(output.message());
  const ComparisonOutputOptions options{figures, rows(run)};
  if (is_page) {
    (*output)->stream() << *html;
  } else if (run.json || format == "json") {
    write_comparison_json((*output)->stream(), comparison, gates, options);
  } else if (format == "markdown") {
    write_comparison_markdown((*output)->stream(), comparison, gates, options);
  } else {
    write_comparison_text((*output)->stream(), comparison, gates, options);
  }
  const Result<void> finished = (*output)->finish();
  return finished ? kExitDone : run.fail(finished.message());
}

// Opens both sessions, asks and writes the answer.
template <typename Ask, typename Write>
int CompareCommand::print_of_two(const CommandRun& run, const char* flag, const Ask& ask, const Write& write) const {
  if (inputs.size() != 2)
    return run.fail_usage("compare", fmt::format("{} is of two sessions: name one capture of each side", flag));
  const auto base = open_input({inputs[0]}, input_options, run);
  if (!base) return run.fail(base.message());
  const auto other = open_input({inputs[1]}, input_options, run);
  if (!other) return run.fail(other.message());
  WorkerPool pool;
  const Interruptible interruptible;
  TaskControl control;
  const auto found = [&] {
    const QueryWatch watch(control, interruptible, run);
    return ask(QueryContext{*base->store, base->store->snapshot(), pool, control},
               QueryContext{*other->store, other->store->snapshot(), pool, control});
  }();
  if (!found) return run.fail(found.message());
  const auto output = OutputFile::open(output_file.empty() ? std::string(kStandardOutput) : output_file,
                                       is_data(format) ? run.data_out() : run.streams.out);
  if (!output) return run.fail(output.message());
  write((*output)->stream(), *found);
  const Result<void> finished = (*output)->finish();
  return finished ? kExitDone : run.fail(finished.message());
}

int CompareCommand::print_divergence(const CommandRun& run) const {
  return print_of_two(run, "--divergence", find_divergence, [&](std::ostream& out, const Divergence& found) {
    run.json || format == "json" ? write_divergence_json(out, found) : write_divergence_text(out, found, rows(run));
  });
}

// What --by may name here, all that are told where it is not given; nothing: what is wrong has been said.
Result<std::vector<ExplainedBy>> CompareCommand::explained_by() const {
  std::vector<ExplainedBy> chosen;
  for (const std::string& text : by) {
    const auto names = names_of_list(text);
    if (!names) return Error{"--by: " + names.message()};
    for (const std::string& name : *names) {
      const auto* const found = std::find_if(std::begin(kExplainedBy), std::end(kExplainedBy),
                                             [&](const ExplainedBy& each) { return each.name == name; });
      if (found == std::end(kExplainedBy))
        return Error{"--by " + name + ": with --explain it takes line, wait, resource or name"};
      chosen.push_back(*found);
    }
  }
  if (chosen.empty()) chosen.assign(std::begin(kExplainedBy), std::end(kExplainedBy) - 1);
  return chosen;
}

int CompareCommand::print_explained(const CommandRun& run) const {
  const auto wanted = explained_by();
  if (!wanted) return run.fail_usage("compare", wanted.message());
  const auto ask = [&](const QueryContext& base, const QueryContext& other) {
    Result<Explained> found = explain_difference(base, other, *wanted);
    if (found) found->base_title = file_name(inputs[0]);
    if (found) found->other_title = file_name(inputs[1]);
    return found;
  };
  return print_of_two(run, "--explain", ask, [&](std::ostream& out, const Explained& found) {
    if (run.json || format == "json") {
      write_explained_json(out, found, rows(run));
    } else if (format == "markdown") {
      write_explained_markdown(out, found, rows(run));
    } else {
      write_explained_text(out, found, rows(run));
    }
  });
}

int CompareCommand::run(const CommandRun& run) const {
  if (inputs.size() < 2) return run.fail_usage("compare", "name two sessions or more: BASE OTHER...");
  if (!output_file.empty())
    if (auto may = may_write(output_file, force, inputs); !may) return run.fail(may.message());
  if (format == "html" && (divergence || explain))
    return run.fail_usage("compare", "--format html holds what --explain tells; --divergence is text or json");
  if (divergence) return print_divergence(run);
  if (explain) return print_explained(run);
  const auto held = limits();
  if (!held) return run.fail_usage("compare", held.message());
  const auto wanted = kinds();
  if (!wanted) return run.fail_usage("compare", wanted.message());
  ChangeOptions options;
  if (!noise.empty()) {
    const auto share = percent_of(noise);
    if (!share) return run.fail_usage("compare", "--noise " + share.message());
    options.noise = *share;
  }
  std::vector<CaptureFigures> captures;
  std::vector<CaptureLabel> labels;
  for (const std::string& path : inputs) {
    auto capture = read_capture(path, input_options, *wanted, run);
    if (!capture) return run.fail(capture.message());
    labels.push_back(capture->label);
    captures.push_back(std::move(*capture));
  }
  const auto groups = group_captures(labels, group_by);
  if (!groups) return run.fail_usage("compare", "--group-by " + group_by + ": " + groups.message());
  if (groups->size() < 2)
    return run.fail_usage(
        "compare", fmt::format("all are of one configuration, {}: choose another --group-by", groups->front().name));
  const Comparison comparison = compare_captures(captures, *groups, options);
  std::vector<ComparisonGate> gates;
  for (const Limit& each : *held) {
    auto gate = judged_gate(comparison, each.metric, each.above);
    if (!gate) return run.fail_usage("compare", gate.message());
    gates.push_back(std::move(*gate));
  }
  if (const int status = print(comparison, gates, run); status != kExitDone) return status;
  const auto any = [&](auto is) { return std::any_of(gates.begin(), gates.end(), is); };
  if (any([](const ComparisonGate& gate) { return gate.failed(); })) return kExitFailed;
  if (any([](const ComparisonGate& gate) { return !gate.is_known(); })) {
    return run.fail_usage("compare",
                          "--fail-above cannot be judged without knowing noise: give several captures of a "
                          "configuration, or state their deviation, such as --noise 1%");
  }
  return kExitDone;
}

}  // namespace

CommandAction declare_compare(command_line::OptionSet& options) {
  auto command = std::make_shared<CompareCommand>();
  options.add_option("FILE", command->inputs,
                     "Sessions or profiles; the configuration of the first is what the others are set against");
  options
      .add_option(
          "--by", command->by,
          "What costs are set beside each other by: metric, kernel, opcode, operation, layer, line, finding, or "
          "any column; several with commas between them. Without it metric,kernel")
      .repeats();
  options.add_option("--group-by", command->group_by,
                     "Tags whose values make a configuration, such as config, folder or file; captures of one are one "
                     "sample. Without it those whose tags are all alike");
  options
      .add_option("--format", command->format,
                  "text, markdown for a pull request, html (one page that needs nothing else), or json")
      .one_of({"text", "markdown", "html", "json"});
  options.add_option("-o,--output-file", command->output_file, "File to write, - for the standard output");
  options
      .add_option("--fail-above", command->fail_above,
                  "End with 1 if the --metric after it is worse beyond noise by more than this share of the base, such "
                  "as 3%; without --metric of the time from first to last work")
      .repeats();
  options.add_option("--metric", command->metrics, "Figure that is held to --fail-above, or a row of --by as KIND:NAME")
      .repeats();
  options.add_option("--noise", command->noise,
                     "Deviation between captures, such as 1%, where one capture a side does not tell it");
  options.add_option("--rows", command->asked_rows, "Rows of a table; 0: all. Else 30, in JSON all");
  options.add_flag("--divergence", command->divergence,
                   "Instead: where the checksums of two runs (crc columns) first differ, by tensor, instruction and "
                   "line, with what produced them");
  options.add_flag("--explain", command->explain,
                   "Instead: what the difference of the totals is made of, along both critical paths; --by line, wait, "
                   "resource, name. The terms add up exactly");
  options.add_flag("--force", command->force, "Replace existing output");
  options
      .add_option("--nki-source-root,--framework-source-root", command->input_options.source_roots,
                  "Folder in which named source files are looked for")
      .repeats();
  return [command](const CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app
