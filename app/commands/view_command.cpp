#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <ostream>

#include "app/commands/command.h"
#include "app/commands/session_input.h"
#include "app/commands/summary_output.h"

namespace accelscope::app {
namespace {

// Names that users of the vendors' tools will try, so that the refusal can say more than "unknown".
constexpr std::array<std::string_view, 2> kFormats = {"summary-text", "summary-json"};
constexpr std::array<std::string_view, 11> kLaterFormats = {"db",           "json",           "perfetto",  "csv",
                                                            "html",         "chrome",         "vtune-csv", "ops-csv",
                                                            "device-stats", "rearranged-csv", "tt-perf"};

struct ViewCommand {
  std::vector<std::string> inputs;
  std::string format = "summary-text";
  std::string output_file;
  OpenSessionOptions input_options;

  int run(const CommandRun& run) const;
  int check_format(const CommandRun& run) const;
};

int ViewCommand::check_format(const CommandRun& run) const {
  if (std::find(kFormats.begin(), kFormats.end(), format) != kFormats.end()) return kExitDone;
  const bool later = std::find(kLaterFormats.begin(), kLaterFormats.end(), format) != kLaterFormats.end();
  return run.fail_usage("view", fmt::format("--output-format {}: this version {} it; there are {}", format,
                                            later ? "does not write" : "does not know", fmt::join(kFormats, " and ")));
}

int ViewCommand::run(const CommandRun& run) const {
  if (const int wrong = check_format(run); wrong != kExitDone) return wrong;
  std::vector<SessionSummary> summaries;
  for (const std::string& input : inputs) {
    const auto session = open_input({input}, input_options, run);
    if (!session) return run.fail(session.message());
    auto summary = summarise(*session->store, session->title);
    if (!summary) return run.fail(fmt::format("{}: {}", input, summary.message()));
    summaries.push_back(std::move(*summary));
  }
  std::ofstream file;
  if (!output_file.empty()) {
    file.open(output_file, std::ios::binary);
    if (!file) return run.fail(output_file + ": cannot be written; check the folder and its permissions");
  }
  std::ostream& out = output_file.empty() ? run.streams.out : file;
  if (format == "summary-json" || run.json) {
    write_summary_json(out, summaries);
  } else {
    write_summary_text(out, summaries);
  }
  out.flush();
  if (!out.good()) return run.fail("the output could not be written; is the disk full?");
  return kExitDone;
}

}  // namespace

CommandAction declare_view(CLI::App& options) {
  auto command = std::make_shared<ViewCommand>();
  options.add_option("FILE", command->inputs, "Profiles or session files")->required();
  options.add_option("--output-format", command->format, "summary-text or summary-json");
  options.add_option("--output-file", command->output_file, "File to write instead of the standard output");
  options.add_option("--format", command->input_options.format, "Format of the input instead of guessing it");
  options
      .add_option("--nki-source-root,--framework-source-root", command->input_options.source_roots,
                  "Folder in which named source files are looked for")
      ->expected(1)
      ->take_all();
  return [command](const CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app
