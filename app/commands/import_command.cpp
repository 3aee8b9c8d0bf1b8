#include <fmt/format.h>

#include <memory>
#include <ostream>

#include "app/library/library.h"
#include "app/output/output_file.h"
#include "app/output/session_export.h"
#include "app/terminal/command.h"
#include "app/terminal/session_input.h"
#include "app/terminal/terminal.h"
#include "app/workspace/headline.h"
#include "capture/command_line/options.h"
#include "capture/sources/base/source.h"
#include "core/base/format.h"
#include "core/base/json.h"
#include "core/scan/event_mask.h"

namespace accelscope::app::commands {
namespace {

struct ImportCommand {
  std::vector<std::string> inputs;
  std::string output;
  std::string name;
  std::vector<std::string> tags;
  workspace::OpenSessionOptions input_options;
  bool force = false;

  int run(const terminal::CommandRun& run) const;
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
    workspace::keep_headline(*store, pool);
    // The title that the input was given in a list would hide the new name.
    if (!store->overlay_value(workspace::kDisplayNameKey).empty()) {
      if (Result<void> untitled = store->set_overlay_value(workspace::kDisplayNameKey, ""); !untitled) return untitled;
    }
  }
  return tags.empty() ? Result<void>{} : store->set_overlay_value(workspace::kTagsKey, library::join_tags(tags));
}

int ImportCommand::run(const terminal::CommandRun& run) const {
  const std::string file = output.empty() ? output::default_output(inputs.front(), ".accel") : output;
  if (run.json && file == terminal::kStandardStream)
    return run.fail_usage("import", "-o - and --json both write to the output");
  if (auto may = output::may_write(file, force, inputs); !may) return run.fail(may.message());
  if (auto roots = terminal::check_source_roots(input_options.source_roots); !roots) return run.fail(roots.message());
  const auto target = terminal::FileTarget::open(file, run);
  if (!target) return run.fail(target.message());
  const auto session = terminal::open_input(inputs, input_options, run);
  if (!session) return run.fail(session.message());
  if (auto saved = terminal::save_session(*session->store, target->path(), run); !saved)
    return run.fail(saved.message());
  if (auto named = name_output(target->path()); !named) return run.fail(named.message());
  if (auto given = target->finish(run); !given) return run.fail(given.message());
  const auto snapshot = session->store->snapshot();
  if (run.json) {
    run.streams.out << json_line("output", file, "events", count_passing(*snapshot, nullptr), "duration_ns",
                                 snapshot->end_ns - snapshot->begin_ns, "quality",
                                 JsonValue::raw(output::quality_json(*snapshot)));
    return terminal::kExitDone;
  }
  run.inform(fmt::format("{}: {}", file, output::extent_text(*snapshot)));
  const std::size_t findings = snapshot->quality.size();
  if (findings > 0 && file != terminal::kStandardStream) {
    run.inform(fmt::format("The data-quality report has {}: accelscope ingest-check {}",
                           counted(findings, "entry", "entries"), file));
  }
  return terminal::kExitDone;
}

}  // namespace

terminal::CommandAction declare_import(command_line::OptionSet& options) {
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
  return [command](const terminal::CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app::commands
