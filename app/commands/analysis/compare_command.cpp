#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "app/content/comparison/comparison_output.h"
#include "app/content/comparison/comparison_words.h"
#include "app/content/comparison/explained.h"
#include "app/content/hierarchy/tree_difference.h"
#include "app/library/library.h"
#include "app/output/output_file.h"
#include "app/output/report/reports.h"
#include "app/terminal/command.h"
#include "app/terminal/query_watch.h"
#include "app/terminal/session_input.h"
#include "app/workspace/headline.h"
#include "capture/command_line/options.h"
#include "core/base/text.h"
#include "core/export/report/report_pages.h"
#include "core/listing/base/write.h"

namespace accelscope::app::commands {
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
  bool force = false, divergence = false, explain = false, report = false, swap = false, flame = false;
  workspace::OpenSessionOptions input_options;

  int run(const terminal::CommandRun& run) const;

  // Programs get all, people as many as they read.
  [[nodiscard]] std::size_t rows(const terminal::CommandRun& run) const {
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
  [[nodiscard]] Result<std::vector<content::ExplainedBy>> explained_by() const;
  [[nodiscard]] Result<std::vector<std::string>> chosen_columns(
      std::span<const analysis::CaptureFigures> captures) const;
  [[nodiscard]] bool explains() const { return explain || report || format == "html"; }
  int print_divergence(const terminal::CommandRun& run) const;
  int print_flame(const terminal::CommandRun& run) const;
  [[nodiscard]] Result<void> check_results(content::ComparisonParts& parts,
                                           std::span<const analysis::CaptureFigures> captures,
                                           const terminal::CommandRun& run) const;
  [[nodiscard]] Result<void> explain_pairs(content::ComparisonParts& parts, const terminal::CommandRun& run) const;
  [[nodiscard]] Result<std::string> page(const content::ComparisonParts& parts, const terminal::CommandRun& run) const;
  int print(const content::ComparisonParts& parts, const terminal::CommandRun& run) const;
};

// "3%", "3 %", "0.5%"
Result<double> percent_of(const std::string& text) {
  std::string_view number = trimmed(text);
  if (number.ends_with('%')) number = trimmed(number.substr(0, number.size() - 1));
  double value = 0;
  if (!read_number(number, value) || !(value >= 0 && value <= 1e6)) return Error{text + ": write a share such as 3%"};
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
    if (metrics.empty()) out.push_back({std::string(analysis::kWorkTime), *share});
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
Result<analysis::CaptureFigures> read_capture(const std::string& path, const workspace::OpenSessionOptions& options,
                                              const std::vector<std::string>& kinds, const terminal::CommandRun& run) {
  const auto session = TRY(terminal::open_input({path}, options, run));
  WorkerPool pool;
  terminal::QueryWatch watch(run);
  auto figures = analysis::capture_figures({*session.store, session.store->snapshot(), pool, watch.control()}, kinds);
  if (!figures) return Error{fmt::format("{}: {}", path, figures.message())};
  figures->label = {path, library::split_tags(session.store->overlay_value(workspace::kTagsKey))};
  return figures;
}

Result<std::vector<std::string>> CompareCommand::chosen_columns(
    std::span<const analysis::CaptureFigures> captures) const {
  const auto names = names_of_list(columns);
  if (!names) return Error{names.message()};
  std::vector<std::string> out, known;
  for (const analysis::CaptureFigures& capture : captures)
    for (const analysis::ComparedMetric& metric : capture.metrics) {
      known.push_back(metric.name);
      known.emplace_back(analysis::name_without_device(metric.name));
    }
  for (const std::string& name : *names) {
    std::string figure = name;
    for (const content::PairedColumn& column : content::kPairedColumns)
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
  for (const content::PairedColumn& column : content::kPairedColumns)
    if (column.usual) out.emplace_back(column.figure);
  return out;
}

// Sessions that are open at the same time, with what asks them.
class OpenedCaptures {
 public:
  explicit OpenedCaptures(const terminal::CommandRun& run) : watch_(run) {}
  [[nodiscard]] Result<void> open(const std::string& path, const workspace::OpenSessionOptions& options,
                                  const terminal::CommandRun& run) {
    auto session = TRY(terminal::open_input({path}, options, run));
    sessions_.push_back(std::move(session));
    return {};
  }
  [[nodiscard]] QueryContext query(std::size_t number) {
    return {*sessions_[number].store, sessions_[number].store->snapshot(), pool_, watch_.control()};
  }
  [[nodiscard]] const std::string& title(std::size_t number) const { return sessions_[number].title; }
  [[nodiscard]] bool cancelled() { return watch_.control().cancelled(); }

 private:
  std::vector<workspace::OpenedSession> sessions_;
  WorkerPool pool_;
  terminal::QueryWatch watch_;
};

// Of each pair the first capture of the base and that of the other.
Result<void> CompareCommand::check_results(content::ComparisonParts& parts,
                                           std::span<const analysis::CaptureFigures> captures,
                                           const terminal::CommandRun& run) const {
  const analysis::CapturePairs& pairs = parts.comparison.pairs;
  for (const std::size_t pair : pairs.shared()) {
    for (std::size_t g = 1; g < pairs.cells[pair].size(); ++g) {
      const std::size_t base = pairs.cells[pair].front().front(), other = pairs.cells[pair][g].front();
      if (!captures[base].has_checksums || !captures[other].has_checksums) continue;
      OpenedCaptures opened(run);
      for (const std::size_t each : {base, other})
        if (auto done = opened.open(inputs[each], input_options, run); !done) return done;
      auto found = TRY(analysis::find_divergence(opened.query(0), opened.query(1)));
      if (found.with_checksums == 0 || found.other_with_checksums == 0) continue;
      parts.results.push_back({pair, g, std::move(found)});
    }
  }
  return {};
}

// Of each pair what the difference of its totals is made of, which stand in the table of pairs.
Result<void> CompareCommand::explain_pairs(content::ComparisonParts& parts, const terminal::CommandRun& run) const {
  const auto wanted = TRY(explain ? explained_by()
                                  : Result(std::vector<content::ExplainedBy>(std::begin(content::kExplainedBy),
                                                                             std::end(content::kExplainedBy))));
  const analysis::Comparison& comparison = parts.comparison;
  for (const std::size_t pair : comparison.pairs.shared()) {
    std::vector<content::ExplainedSide> sides;
    std::string why;
    for (const std::vector<std::size_t>& cell : comparison.pairs.cells[pair]) {
      std::vector<content::ExplainedSide> of_side;
      for (const std::size_t capture : cell) {
        OpenedCaptures opened(run);
        if (auto done = opened.open(inputs[capture], input_options, run); !done) return done;
        auto side = content::explained_side(opened.query(0), comparison.headline, wanted);
        if (opened.cancelled()) return cancelled_error();
        if (side) of_side.push_back(std::move(*side));
        if (!side) why = fmt::format("{}: {}", inputs[capture], side.message());
      }
      if (of_side.size() == cell.size()) sides.push_back(content::mean_side(of_side));
    }
    if (sides.size() < comparison.configurations.size()) {
      parts.unexplained.push_back(why);
      continue;
    }
    for (std::size_t g = 1; g < sides.size(); ++g) {
      content::Explained explained = content::explain_sides(sides.front(), sides[g], comparison.headline, wanted);
      const std::string of = comparison.pairs.names.size() > 1 ? ", " + content::pair_title(comparison, pair) : "";
      const auto title = [&](std::size_t side) {
        const std::vector<std::size_t>& cell = comparison.pairs.cells[pair][side];
        if (cell.size() == 1 && comparison.pairs.by.empty()) return file_name(inputs[cell.front()]);
        return content::side_title(comparison, side) + of;
      };
      explained.base_title = title(0);
      explained.other_title = title(g);
      parts.explained.push_back(std::move(explained));
    }
  }
  return {};
}

// With the timelines of the first captures of the base and of the other.
Result<std::string> CompareCommand::page(const content::ComparisonParts& parts, const terminal::CommandRun& run) const {
  OpenedCaptures opened(run);
  std::vector<exporting::ReportSection> timelines;
  const analysis::CapturePairs& pairs = parts.comparison.pairs;
  for (std::size_t side = 0; side < 2; ++side) {
    const std::string& path = inputs[pairs.cells[pairs.shared().front()][side].front()];
    TRY(opened.open(path, input_options, run));
    timelines.push_back(output::capture_timeline(opened.query(side), (side == 0 ? "A, " : "B, ") + opened.title(side)));
    if (opened.cancelled()) return cancelled_error();
  }
  return exporting::html_report(output::comparison_report(parts, timelines));
}

void write_explained_alone(std::ostream& out, const std::vector<content::Explained>& all, const std::string& format,
                           std::size_t rows) {
  JsonWriter json(JsonLayout::sections);
  if (all.size() > 1) json.begin_object().key("explained").begin_array();
  for (const content::Explained& each : all) {
    if (format == "json") {
      content::add_explained(json, each, rows);
      continue;
    }
    if (&each != &all.front()) out << '\n';
    format == "markdown" ? content::write_explained_markdown(out, each, rows)
                         : content::write_explained_text(out, each, rows);
  }
  if (format == "json") out << json.done() << '\n';
}

int CompareCommand::print(const content::ComparisonParts& parts, const terminal::CommandRun& run) const {
  const std::string written = run.json ? "json" : format;
  const bool is_page = written == "html";
  const Result<std::string> html = is_page ? page(parts, run) : std::string();
  if (!html) return run.fail(html.message());
  return terminal::write_answer(output_file, listing::is_data(format) || is_page, run, [&](std::ostream& out) {
    if (is_page) {
      out << *html;
    } else if (explain) {
      if (written != "json")
        for (const content::CheckedResults& each : parts.results)
          out << content::results_text(parts.comparison, each) << '\n';
      write_explained_alone(out, parts.explained, written, parts.most_rows);
    } else if (written == "json") {
      content::write_comparison_json(out, parts);
    } else if (written == "markdown") {
      content::write_comparison_markdown(out, parts);
    } else {
      content::write_comparison_text(out, parts);
    }
  });
}

int CompareCommand::print_divergence(const terminal::CommandRun& run) const {
  if (inputs.size() != 2)
    return run.fail_usage("compare", "--divergence is of two sessions: name one capture of each side");
  OpenedCaptures opened(run);
  for (const std::size_t side : {swap ? 1U : 0U, swap ? 0U : 1U})
    if (auto done = opened.open(inputs[side], input_options, run); !done) return run.fail(done.message());
  const auto found = analysis::find_divergence(opened.query(0), opened.query(1));
  if (!found) return run.fail(found.message());
  return terminal::write_answer(output_file, listing::is_data(format), run, [&](std::ostream& out) {
    run.json || format == "json" ? content::write_divergence_json(out, *found)
                                 : content::write_divergence_text(out, *found, rows(run));
  });
}

// Both trees laid over each other, as a table or folded.
int CompareCommand::print_flame(const terminal::CommandRun& run) const {
  if (inputs.size() != 2 || by.size() > 1)
    return run.fail_usage("compare", "--flame is of two sessions, by one kind of tree: A B --flame --by layer");
  if (format == "markdown" || format == "html")
    return run.fail_usage("compare", "--format of --flame is text, json or folded");
  OpenedCaptures opened(run);
  for (const std::size_t side : {swap ? 1U : 0U, swap ? 0U : 1U})
    if (auto done = opened.open(inputs[side], input_options, run); !done) return run.fail(done.message());
  const auto found = content::tree_difference(opened.query(0), opened.query(1), by.empty() ? "" : by.front());
  if (!found) return run.fail(found.message());
  const bool is_folded = format == "folded" && !run.json, is_json = format == "json" || run.json;
  listing::Listing listing = content::difference_listing(**found);
  const std::size_t cells = rows(run) * listing.columns.size();
  if (cells > 0 && cells < listing.rows.cells.size()) {
    listing.rows.cells.resize(cells);
    listing.targets.resize(rows(run));
  }
  const int status = terminal::write_answer(output_file, is_folded || is_json, run, [&](std::ostream& out) {
    if (is_folded) {
      out << content::folded_difference(**found);
      return;
    }
    const auto output = listing::make_query_output(is_json ? "json" : "table", out, run.streams.out_is_terminal);
    listing::print_listing(listing, *output);
    output->finish();
  });
  if (!is_folded) run.inform("accelscope: " + listing.note);
  return status;
}

// What --by may name here, all that are told where it is not given; nothing: what is wrong has been said.
Result<std::vector<content::ExplainedBy>> CompareCommand::explained_by() const {
  std::vector<content::ExplainedBy> chosen;
  for (const std::string& text : by) {
    const auto names = names_of_list(text);
    if (!names) return Error{"--by: " + names.message()};
    for (const std::string& name : *names) {
      const auto* const found = std::find_if(std::begin(content::kExplainedBy), std::end(content::kExplainedBy),
                                             [&](const content::ExplainedBy& each) { return each.name == name; });
      if (found == std::end(content::kExplainedBy))
        return Error{"--by " + name + ": with --explain it takes line, wait, resource or name"};
      chosen.push_back(*found);
    }
  }
  if (chosen.empty()) chosen.assign(std::begin(content::kExplainedBy), std::end(content::kExplainedBy) - 1);
  return chosen;
}

int CompareCommand::run(const terminal::CommandRun& run) const {
  if (inputs.size() < 2) return run.fail_usage("compare", "name two sessions or more: BASE OTHER...");
  if (!output_file.empty())
    if (auto may = output::may_write(output_file, force, inputs); !may) return run.fail(may.message());
  if (format == "html" && (divergence || explain))
    return run.fail_usage("compare", "--format html holds what --explain tells; --divergence is text or json");
  if (divergence) return print_divergence(run);
  if (flame) return print_flame(run);
  if (format == "folded") return run.fail_usage("compare", "--format folded is of --flame");
  if (explain) {
    if (const auto named = explained_by(); !named) return run.fail_usage("compare", named.message());
  }
  const auto held = limits();
  if (!held) return run.fail_usage("compare", held.message());
  const auto wanted = kinds();
  if (!wanted) return run.fail_usage("compare", wanted.message());
  analysis::ChangeOptions options;
  if (!noise.empty()) {
    const auto share = percent_of(noise);
    if (!share) return run.fail_usage("compare", "--noise " + share.message());
    options.noise = *share;
  }
  std::vector<analysis::CaptureFigures> captures;
  std::vector<analysis::CaptureLabel> labels;
  for (const std::string& path : inputs) {
    auto capture = read_capture(path, input_options, *wanted, run);
    if (!capture) return run.fail(capture.message());
    labels.push_back(capture->label);
    captures.push_back(std::move(*capture));
  }
  auto groups = analysis::group_captures(labels, group_by);
  if (!groups) return run.fail_usage("compare", "--group-by " + group_by + ": " + groups.message());
  if (groups->size() < 2)
    return run.fail_usage(
        "compare", fmt::format("all are of one configuration, {}: choose another --group-by", groups->front().name));
  if (swap) std::reverse(groups->begin(), groups->end());
  auto pairs = analysis::pair_captures(labels, *groups, pair_by, group_by);
  if (!pairs) return run.fail_usage("compare", pairs.message());
  auto shown = chosen_columns(captures);
  if (!shown) return run.fail_usage("compare", "--columns " + shown.message());
  analysis::Comparison comparison = analysis::compare_captures(captures, *groups, std::move(*pairs),
                                                               {.change = options, .columns = std::move(*shown)});
  if (by.empty()) {
    // Of a kernel's run memory is told where the whole report is asked for.
    const bool works = comparison.find_metric(analysis::kWorkTime) != nullptr && !report && format != "html";
    std::erase_if(comparison.costs, [&](const analysis::ComparedCosts& costs) {
      const bool no_stacks = costs.kind == "memory_stack" &&
                             std::none_of(costs.rows.begin(), costs.rows.end(), [](const analysis::ComparedCost& row) {
                               return row.name.find(" < ") != std::string::npos;
                             });
      return costs.rows.empty() || no_stacks || (works && costs.kind.starts_with("memory"));
    });
  }
  std::vector<content::ComparisonGate> gates;
  for (const Limit& each : *held) {
    auto gate = content::judged_gate(comparison, each.metric, each.above);
    if (!gate) return run.fail_usage("compare", gate.message());
    gates.push_back(std::move(*gate));
  }
  const bool figures = std::find(wanted->begin(), wanted->end(), "metric") != wanted->end();
  content::ComparisonParts parts{comparison, gates, figures, rows(run), {}, {}, {}};
  if (auto done = check_results(parts, captures, run); !done) return run.fail(done.message());
  if (explains())
    if (auto done = explain_pairs(parts, run); !done) return run.fail(done.message());
  if (explain && parts.explained.empty()) return run.fail(parts.unexplained.empty() ? "" : parts.unexplained.front());
  if (const int status = print(parts, run); status != terminal::kExitDone) return status;
  const auto any = [&](auto is) { return std::any_of(gates.begin(), gates.end(), is); };
  if (any([](const content::ComparisonGate& gate) { return gate.failed(); })) return terminal::kExitFailed;
  if (any([](const content::ComparisonGate& gate) { return !gate.is_known(); })) {
    return run.fail_usage("compare",
                          "--fail-above cannot be judged without knowing noise: give several captures of a "
                          "configuration, or state their deviation, such as --noise 1%");
  }
  return terminal::kExitDone;
}

}  // namespace

terminal::CommandAction declare_compare(command_line::OptionSet& options) {
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
                  "text, markdown for a pull request, html (one page that needs nothing else), json, or of --flame "
                  "folded (PATH A B, for other tools)")
      .one_of({"text", "markdown", "html", "json", "folded"});
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
  options.add_flag("--flame", command->flame,
                   "Instead: the differential flame graph of two sessions as a table, by the size of the difference; "
                   "--by layer, stack or another kind of tree that both have");
  options.add_flag("--force", command->force, "Replace existing output");
  terminal::declare_source_roots(options, command->input_options);
  return [command](const terminal::CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app::commands
