#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "app/content/comparison/comparison_output.h"
#include "app/content/comparison/comparison_words.h"
#include "app/content/comparison/explained.h"
#include "app/export/output_file.h"
#include "app/export/report/reports.h"
#include "app/library/library.h"
#include "app/terminal/command.h"
#include "app/terminal/query_watch.h"
#include "app/terminal/session_input.h"
#include "app/workspace/headline.h"
#include "capture/command_line/options.h"
#include "core/base/text.h"
#include "core/export/report/report_pages.h"
#include "core/listing/base/write.h"

namespace accelscope::app {
namespace {

struct CompareCommand {
  std::vector<std::string> inputs;
  std::vector<std::string> by;
  std::string group_by, pair_by, columns;
  std::string format = "text";
  std::string output_file;
  std::vector<std::string> fail_above, metrics;
  std::string noise;
  static constexpr std::uint64_t kUsualRows = 30, kNotAsked = UINT64_MAX;
  std::uint64_t asked_rows = kNotAsked;
  bool force = false, divergence = false, explain = false, report = false, swap = false;
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
  [[nodiscard]] Result<std::vector<std::string>> chosen_columns(std::span<const CaptureFigures> captures) const;
  [[nodiscard]] bool explains() const { return explain || report || format == "html"; }
  int print_divergence(const CommandRun& run) const;
  [[nodiscard]] Result<void> check_results(ComparisonParts& parts, std::span<const CaptureFigures> captures,
                                           const CommandRun& run) const;
  [[nodiscard]] Result<void> explain_pairs(ComparisonParts& parts, const CommandRun& run) const;
  [[nodiscard]] Result<std::string> page(const ComparisonParts& parts, const CommandRun& run) const;
  int print(const ComparisonParts& parts, const CommandRun& run) const;
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
  if (explain) return std::vector<std::string>{"metric"};
  if (by.empty()) {
    out = {"metric", "kernel", "memory"};
    if (report || format == "html") out.insert(out.end(), {"opcode", "layer", "line", "memory_stack"});
  }
  return out;
}

// One capture after another is opened, read and let go.
Result<CaptureFigures> read_capture(const std::string& path, const OpenSessionOptions& options,
                                    const std::vector<std::string>& kinds, const CommandRun& run) {
  const auto session = TRY(open_input({path}, options, run));
  WorkerPool pool;
  const Interruptible interruptible;
  TaskControl control;
  const QueryWatch watch(control, interruptible, run);
  auto figures = capture_figures({*session.store, session.store->snapshot(), pool, control}, kinds);
  if (!figures) return Error{fmt::format("{}: {}", path, figures.message())};
  figures->label = {path, split_tags(session.store->overlay_value(kTagsKey))};
  return figures;
}

Result<std::vector<std::string>> CompareCommand::chosen_columns(std::span<const CaptureFigures> captures) const {
  const auto names = names_of_list(columns);
  if (!names) return Error{names.message()};
  std::vector<std::string> out, known;
  for (const CaptureFigures& capture : captures)
    for (const ComparedMetric& metric : capture.metrics) {
      known.push_back(metric.name);
      known.emplace_back(name_without_device(metric.name));
    }
  for (const std::string& name : *names) {
    std::string figure = name;
    for (const PairedColumn& column : kPairedColumns)
      if (lower_case(name) == column.alias) figure = column.figure;
    if (figure.empty()) continue;  // the total comes first anyway
    if (std::find(known.begin(), known.end(), figure) == known.end()) {
      const std::string nearest = nearest_name(figure, known);
      return Error{fmt::format("{}: no capture has it{}; accelscope query FILE \"SELECT name FROM metric\" lists them",
                               name, nearest.empty() ? "" : fmt::format(", did you mean {}?", nearest))};
    }
    out.push_back(std::move(figure));
  }
  if (!out.empty()) return out;
  for (const PairedColumn& column : kPairedColumns)
    if (column.usual) out.emplace_back(column.figure);
  return out;
}

// Sessions that are open at the same time, with what asks them.
class OpenedCaptures {
 public:
  explicit OpenedCaptures(const CommandRun& run) : watch_(control_, interruptible_, run) {}
  [[nodiscard]] Result<void> open(const std::string& path, const OpenSessionOptions& options, const CommandRun& run) {
    auto session = TRY(open_input({path}, options, run));
    sessions_.push_back(std::move(session));
    return {};
  }
  [[nodiscard]] QueryContext query(std::size_t number) {
    return {*sessions_[number].store, sessions_[number].store->snapshot(), pool_, control_};
  }
  [[nodiscard]] const std::string& title(std::size_t number) const { return sessions_[number].title; }
  [[nodiscard]] bool cancelled() const { return control_.cancelled(); }

 private:
  std::vector<OpenedSession> sessions_;
  WorkerPool pool_;
  Interruptible interruptible_;
  TaskControl control_;
  QueryWatch watch_;
};

// Of each pair the first capture of the base and that of the other.
Result<void> CompareCommand::check_results(ComparisonParts& parts, std::span<const CaptureFigures> captures,
                                           const CommandRun& run) const {
  const CapturePairs& pairs = parts.comparison.pairs;
  for (const std::size_t pair : pairs.shared()) {
    for (std::size_t g = 1; g < pairs.cells[pair].size(); ++g) {
      const std::size_t base = pairs.cells[pair].front().front(), other = pairs.cells[pair][g].front();
      if (!captures[base].has_checksums || !captures[other].has_checksums) continue;
      OpenedCaptures opened(run);
      for (const std::size_t each : {base, other})
        if (auto done = opened.open(inputs[each], input_options, run); !done) return done;
      auto found = TRY(find_divergence(opened.query(0), opened.query(1)));
      if (found.with_checksums == 0 || found.other_with_checksums == 0) continue;
      parts.results.push_back({pair, g, std::move(found)});
    }
  }
  return {};
}

// Of each pair what the difference of its totals is made of, which stand in the table of pairs.
Result<void> CompareCommand::explain_pairs(ComparisonParts& parts, const CommandRun& run) const {
  const auto wanted = TRY(explain ? explained_by()
                                  : Result(std::vector<ExplainedBy>(std::begin(kExplainedBy), std::end(kExplainedBy))));
  const Comparison& comparison = parts.comparison;
  for (const std::size_t pair : comparison.pairs.shared()) {
    std::vector<ExplainedSide> sides;
    std::string why;
    for (const std::vector<std::size_t>& cell : comparison.pairs.cells[pair]) {
      std::vector<ExplainedSide> of_side;
      for (const std::size_t capture : cell) {
        OpenedCaptures opened(run);
        if (auto done = opened.open(inputs[capture], input_options, run); !done) return done;
        auto side = explained_side(opened.query(0), comparison.headline, wanted);
        if (opened.cancelled()) return cancelled_error();
        if (side) of_side.push_back(std::move(*side));
        if (!side) why = fmt::format("{}: {}", inputs[capture], side.message());
      }
      if (of_side.size() == cell.size()) sides.push_back(mean_side(of_side));
    }
    if (sides.size() < comparison.configurations.size()) {
      parts.unexplained.push_back(why);
      continue;
    }
    for (std::size_t g = 1; g < sides.size(); ++g) {
      Explained explained = explain_sides(sides.front(), sides[g], comparison.headline, wanted);
      const std::string of = comparison.pairs.names.size() > 1 ? ", " + pair_title(comparison, pair) : "";
      const auto title = [&](std::size_t side) {
        const std::vector<std::size_t>& cell = comparison.pairs.cells[pair][side];
        if (cell.size() == 1 && comparison.pairs.by.empty()) return file_name(inputs[cell.front()]);
        return side_title(comparison, side) + of;
      };
      explained.base_title = title(0);
      explained.other_title = title(g);
      parts.explained.push_back(std::move(explained));
    }
  }
  return {};
}

// With the timelines of the first captures of the base and of the other.
Result<std::string> CompareCommand::page(const ComparisonParts& parts, const CommandRun& run) const {
  OpenedCaptures opened(run);
  std::vector<ReportSection> timelines;
  const CapturePairs& pairs = parts.comparison.pairs;
  for (std::size_t side = 0; side < 2; ++side) {
    const std::string& path = inputs[pairs.cells[pairs.shared().front()][side].front()];
    TRY(opened.open(path, input_options, run));
    timelines.push_back(capture_timeline(opened.query(side), (side == 0 ? "A, " : "B, ") + opened.title(side)));
    if (opened.cancelled()) return cancelled_error();
  }
  return html_report(comparison_report(parts, timelines));
}

void write_explained_alone(std::ostream& out, const std::vector<Explained>& all, const std::string& format,
                           std::size_t rows) {
  const bool is_json = format == "json";
  if (is_json && all.size() > 1) out << "{\"explained\": [\n";
  for (const Explained& each : all) {
    const bool first = &each == &all.front();
    if (!first) out << (is_json ? ",\n" : "\n");
    if (is_json) {
      write_explained_json(out, each, rows);
    } else if (format == "markdown") {
      write_explained_markdown(out, each, rows);
    } else {
      write_explained_text(out, each, rows);
    }
  }
  if (is_json && all.size() > 1) out << "]}\n";
}

int CompareCommand::print(const ComparisonParts& parts, const CommandRun& run) const {
  const std::string written = run.json ? "json" : format;
  const bool is_page = written == "html";
  const Result<std::string> html = is_page ? page(parts, run) : std::string();
  if (!html) return run.fail(html.message());
  const std::string path = output_file.empty() ? std::string(kStandardOutput) : output_file;
  const auto output = OutputFile::open(path, is_data(format) || is_page ? run.data_out() : run.streams.out);
  if (!output) return run.fail(output.message());
  std::ostream& out = (*output)->stream();
  if (is_page) {
    out << *html;
  } else if (explain) {
    if (written != "json")
      for (const CheckedResults& each : parts.results) out << results_text(parts.comparison, each) << '\n';
    write_explained_alone(out, parts.explained, written, parts.most_rows);
  } else if (written == "json") {
    write_comparison_json(out, parts);
  } else if (written == "markdown") {
    write_comparison_markdown(out, parts);
  } else {
    write_comparison_text(out, parts);
  }
  const Result<void> finished = (*output)->finish();
  return finished ? kExitDone : run.fail(finished.message());
}

int CompareCommand::print_divergence(const CommandRun& run) const {
  if (inputs.size() != 2)
    return run.fail_usage("compare", "--divergence is of two sessions: name one capture of each side");
  OpenedCaptures opened(run);
  for (const std::size_t side : {swap ? 1U : 0U, swap ? 0U : 1U})
    if (auto done = opened.open(inputs[side], input_options, run); !done) return run.fail(done.message());
  const auto found = find_divergence(opened.query(0), opened.query(1));
  if (!found) return run.fail(found.message());
  const auto output = OutputFile::open(output_file.empty() ? std::string(kStandardOutput) : output_file,
                                       is_data(format) ? run.data_out() : run.streams.out);
  if (!output) return run.fail(output.message());
  std::ostream& out = (*output)->stream();
  run.json || format == "json" ? write_divergence_json(out, *found) : write_divergence_text(out, *found, rows(run));
  const Result<void> finished = (*output)->finish();
  return finished ? kExitDone : run.fail(finished.message());
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

int CompareCommand::run(const CommandRun& run) const {
  if (inputs.size() < 2) return run.fail_usage("compare", "name two sessions or more: BASE OTHER...");
  if (!output_file.empty())
    if (auto may = may_write(output_file, force, inputs); !may) return run.fail(may.message());
  if (format == "html" && (divergence || explain))
    return run.fail_usage("compare", "--format html holds what --explain tells; --divergence is text or json");
  if (divergence) return print_divergence(run);
  if (explain) {
    if (const auto named = explained_by(); !named) return run.fail_usage("compare", named.message());
  }
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
  auto groups = group_captures(labels, group_by);
  if (!groups) return run.fail_usage("compare", "--group-by " + group_by + ": " + groups.message());
  if (groups->size() < 2)
    return run.fail_usage(
        "compare", fmt::format("all are of one configuration, {}: choose another --group-by", groups->front().name));
  if (swap) std::reverse(groups->begin(), groups->end());
  auto pairs = pair_captures(labels, *groups, pair_by, group_by);
  if (!pairs) return run.fail_usage("compare", pairs.message());
  auto shown = chosen_columns(captures);
  if (!shown) return run.fail_usage("compare", "--columns " + shown.message());
  Comparison comparison =
      compare_captures(captures, *groups, std::move(*pairs), {.change = options, .columns = std::move(*shown)});
  if (by.empty()) {
    // Of a kernel's run memory is told where the whole report is asked for.
    const bool works = comparison.find_metric(kWorkTime) != nullptr && !report && format != "html";
    std::erase_if(comparison.costs, [&](const ComparedCosts& costs) {
      const bool no_stacks = costs.kind == "memory_stack" &&
                             std::none_of(costs.rows.begin(), costs.rows.end(), [](const ComparedCost& row) {
                               return row.name.find(" < ") != std::string::npos;
                             });
      return costs.rows.empty() || no_stacks || (works && costs.kind.starts_with("memory"));
    });
  }
  std::vector<ComparisonGate> gates;
  for (const Limit& each : *held) {
    auto gate = judged_gate(comparison, each.metric, each.above);
    if (!gate) return run.fail_usage("compare", gate.message());
    gates.push_back(std::move(*gate));
  }
  const bool figures = std::find(wanted->begin(), wanted->end(), "metric") != wanted->end();
  ComparisonParts parts{comparison, gates, figures, rows(run), {}, {}, {}};
  if (auto done = check_results(parts, captures, run); !done) return run.fail(done.message());
  if (explains())
    if (auto done = explain_pairs(parts, run); !done) return run.fail(done.message());
  if (explain && parts.explained.empty()) return run.fail(parts.unexplained.empty() ? "" : parts.unexplained.front());
  if (const int status = print(parts, run); status != kExitDone) return status;
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
                     "Sessions or profiles; the side of the first, A, is what the others are set against");
  options
      .add_option(
          "--by", command->by,
          "What costs are set beside each other by: metric, kernel, opcode, operation, layer, line, finding, memory "
          "(allocating lines at the pools' peaks), memory_stack, or any column; several with commas between them. "
          "Without it metric,kernel, of memory snapshots metric,memory")
      .repeats();
  options.add_option("--group-by", command->group_by,
                     "Tags whose values make a side, such as kernel, config, folder or file; captures of one are one "
                     "sample. Without it kernel, or where that tells nothing apart all tags");
  options.add_option("--pair-by", command->pair_by,
                     "Tags within which sides are set against each other before anything is pooled. Without it those "
                     "of kernel and config that do not make the sides; none: all together");
  options.add_option("--columns", command->columns,
                     "Figures of the table of sides beside the total: tensor, dma, mfu or any figure's name, with "
                     "commas between. Without it tensor,dma, of GPUs kernels,copies");
  options.add_flag("--swap", command->swap, "The last side named is the base, not the first");
  options.add_flag("--report", command->report,
                   "The whole report: verdict, sides by config, figures, costs by kernel, opcode, layer and line, what "
                   "the difference is made of, method, noise and versions");
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
  options.add_flag(
      "--explain", command->explain,
      "Instead: what the difference of the totals is made of, along both critical paths, of each pair; --by "
      "line, wait, resource, name. The terms add up exactly");
  options.add_flag("--force", command->force, "Replace existing output");
  options
      .add_option("--nki-source-root,--framework-source-root", command->input_options.source_roots,
                  "Folder in which named source files are looked for")
      .repeats();
  return [command](const CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app
