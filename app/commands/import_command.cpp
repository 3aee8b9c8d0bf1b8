#include <fmt/format.h>

#include <memory>
#include <ostream>

#include "app/export/output_file.h"
#include "app/export/session_export.h"
#include "app/library/library.h"
#include "app/terminal/command.h"
#include "app/terminal/session_input.h"
#include "app/terminal/terminal.h"
#include "app/workspace/headline.h"
#include "capture/command_line/options.h"
#include "capture/sources/base/source.h"
#include "core/base/format.h"
#include "core/scan/event_mask.h"

namespace accelscope::app {
namespace {

struct ImportCommand {
  std::vector<std::string> inputs;
  std::string output;
  std::string name;
  std::vector<std::string> tags;
  OpenSessionOptions input_options;
  bool force = false;

  int run(const CommandRun& run) const;
  Result<void> name_output(const std::string& file) const;
};

std::string format_names() {
  std::string names;
  for (const capture::sources::SourceFormat& format : capture::sources::source_formats()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", format.name);
  }
  return names;
}

// Names and tags belong to the new file: the input may be a session file itself, and stays as it is.
Result<void> ImportCommand::name_output(const std::string& file) const {
  if (name.empty() && tags.empty()) return {};
  const auto store = TRY(Store::open(file));
  if (!name.empty()) {
    if (Result<void> named = store->define(0, MetaEntry{"name", name}); !named) return named;
    WorkerPool pool;
    keep_headline(*store, pool);
    // The title that the input was given in a list would hide the new name.
    if (!store->overlay_value(kDisplayNameKey).empty()) {
      if (Result<void> untitled = store->set_overlay_value(kDisplayNameKey, ""); !untitled) return untitled;
    }
  }
  return tags.empty() ? Result<void>{} : store->set_overlay_value(kTagsKey, join_tags(tags));
}

int ImportCommand::run(const CommandRun& run) const {
  const std::string file = output.empty() ? default_output(inputs.front(), ".accel") : output;
  if (run.json && file == kStandardStream) return run.fail_usage("import", "-o - and --json both write to the output");
  if (auto may = may_write(file, force, inputs); !may) return run.fail(may.message());
  if (auto roots = check_source_roots(input_options.source_roots); !roots) return run.fail(roots.message());
  const auto target = FileTarget::open(file, run);
  if (!target) return run.fail(target.message());
  const auto session = open_input(inputs, input_options, run);
  if (!session) return run.fail(session.message());
  if (auto saved = save_session(*session->store, target->path(), run); !saved) return run.fail(saved.message());
  if (auto named = name_output(target->path()); !named) return run.fail(named.message());
  if (auto given = target->finish(run); !given) return run.fail(given.message());
  const auto snapshot = session->store->snapshot();
  if (run.json) {
    run.streams.out << fmt::format("{{\"output\": {}, \"events\": {}, \"duration_ns\": {}, \"quality\": {}}}\n",
                                   json_quote(file), count_passing(*snapshot, nullptr),
                                   snapshot->end_ns - snapshot->begin_ns, quality_json(*snapshot));
    return kExitDone;
  }
  run.inform(fmt::format("{}: {} events over {}", file, format_count(count_passing(*snapshot, nullptr)),
                         format_duration(static_cast<double>(snapshot->end_ns - snapshot->begin_ns))));
  const std::size_t findings = snapshot->quality.size();
  if (findings > 0 && file != kStandardStream) {
    run.inform(fmt::format("The data-quality report has {} {}: accelscope ingest-check {}", findings,
                           findings == 1 ? "entry" : "entries", file));
  }
  return kExitDone;
}

}  // namespace

CommandAction declare_import(command_line::OptionSet& options) {
  auto command = std::make_shared<ImportCommand>();
  options.add_option("FILE", command->inputs, "Profiles, or folders of ranks; several become one session").required();
  options.add_option("-o,--output", command->output,
                     "Session file to write, - for the standard output; else FILE.accel in this folder");
  options.add_option("--name", command->name, "Name of the session");
  options
      .add_option("--tag", command->tags,
                  "Tag, taken as it is, such as kernel=mlp or 'config=b=1, s=128'; may be given several times")
      .repeats();
  options.add_option("--format", command->input_options.format,
                     fmt::format("Format of the input instead of guessing it: {}", format_names()));
  options
      .add_option("--source-root", command->input_options.source_roots,
                  "Folder in which named source files are looked for")
      .repeats();
  options.add_flag("--force", command->force, "Replace the output file");
  return [command](const CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app
