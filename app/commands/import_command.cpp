#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <ostream>

#include "app/commands/command.h"
#include "app/commands/quality_report.h"
#include "app/commands/session_input.h"
#include "capture/sources/source.h"
#include "core/base/format.h"

namespace accelscope::app {
namespace {

struct ImportCommand {
  std::vector<std::string> inputs;
  std::string output;
  std::string name;
  std::vector<std::string> tags;
  SessionInputOptions input_options;
  bool force = false;

  int run(const CommandRun& run) const;
};

std::string format_names() {
  std::string names;
  for (const capture::SourceFormat& format : capture::source_formats()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", format.name);
  }
  return names;
}

std::string join(const std::vector<std::string>& tags) {
  std::string all;
  for (const std::string& tag : tags) all += (all.empty() ? "" : ",") + tag;
  return all;
}

int ImportCommand::run(const CommandRun& run) const {
  std::error_code error;
  if (!force && std::filesystem::exists(output, error)) {
    return run.fail(output + ": the file exists already; name another with -o, or replace it with --force");
  }
  auto store = Store::create();
  if (!store) return run.fail(store.message());
  for (const std::string& input : inputs) {
    if (auto done = import_into(**store, input, input_options, run); !done) return run.fail(done.message());
  }
  if (!name.empty()) {
    const Result<void> named = (*store)->define((*store)->new_scope(), MetaEntry{"name", name});
    if (!named) return run.fail(named.message());
  }
  if (!tags.empty()) {
    if (auto set = (*store)->set_overlay_value("tags", join(tags)); !set) return run.fail(set.message());
  }
  if (auto saved = save_session(**store, output, run); !saved) return run.fail(saved.message());
  const auto snapshot = (*store)->snapshot();
  if (run.json) {
    run.streams.out << fmt::format("{{\"output\": {}, \"events\": {}, \"duration_ns\": {}, \"quality\": {}}}\n",
                                   json_quote(output), snapshot->event_count, snapshot->end_ns - snapshot->begin_ns,
                                   quality_json(*snapshot));
    return kExitDone;
  }
  run.say(fmt::format("{}: {} events over {}", output, format_count(snapshot->event_count),
                      format_duration(static_cast<double>(snapshot->end_ns - snapshot->begin_ns))));
  const std::size_t findings = snapshot->quality.size();
  if (findings > 0) {
    run.say(fmt::format("The data-quality report has {} {}: accelscope ingest-check {}", findings,
                        findings == 1 ? "entry" : "entries", output));
  }
  return kExitDone;
}

}  // namespace

CommandAction declare_import(CLI::App& options) {
  auto command = std::make_shared<ImportCommand>();
  options.add_option("FILE", command->inputs, "Profiles to read; several become one session")->required();
  options.add_option("-o,--output", command->output, "Session file to write")->required();
  options.add_option("--name", command->name, "Name of the session");
  options.add_option("--tag", command->tags, "Tag, may be given several times")->expected(1)->take_all();
  options.add_option("--format", command->input_options.format,
                     fmt::format("Format of the input instead of guessing it: {}", format_names()));
  options
      .add_option("--source-root", command->input_options.source_roots,
                  "Folder in which named source files are looked for")
      ->expected(1)
      ->take_all();
  options.add_flag("--force", command->force, "Replace the output file");
  return [command](const CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app
