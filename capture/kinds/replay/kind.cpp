#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "capture/kinds/base/kind_list.h"
#include "capture/request/options.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/base/source.h"
#include "capture/sources/import_input.h"
#include "capture/sources/input_parts.h"

namespace accelscope::capture::kinds::replay {
namespace {

namespace fs = std::filesystem;

request::KindFacts declare_replay() {
  std::vector<std::string> formats;
  for (const sources::SourceFormat& format : sources::source_formats()) formats.emplace_back(format.name);
  return {
      .name = "replay",
      .title = "Replay of files",
      .explanation = "Plays session files, or any files that can be imported, as if they were captured now.",
      .options = {
          {.name = "file",
           .type = request::OptionType::file,
           .explanation = "A file, or a folder with the profiles of ranks; several are played one after another.",
           .required = true,
           .repeats = true},
          {"speed", request::OptionType::rate, "max",
           "1.0: as it was captured; 2: twice as fast; max: as fast as possible."},
          {"format", request::OptionType::choice, "", "The files' format, if their content does not tell.", formats},
      }};
}

std::vector<request::KindCheck> check_replay() {
  std::string names;
  for (const sources::SourceFormat& format : sources::source_formats()) {
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", format.title, format.name);
  }
  return {{true, "can replay " + names}};
}

// What the viewer sent lies in the folder of the capture; everything else is a path on this host.
std::vector<std::string> found_files(const request::OptionReader& options, const std::string& work_folder) {
  std::vector<std::string> files = options.texts("file");
  for (std::string& file : files) {
    const fs::path sent = fs::path(work_folder) / file;
    std::error_code failure;
    if (!work_folder.empty() && fs::path(file).is_relative() && fs::exists(sent, failure)) file = sent.string();
  }
  return files;
}

std::string short_name(const std::string& path) {
  const fs::path normal = fs::path(path).lexically_normal();
  return normal.has_filename() ? normal.filename().string() : normal.parent_path().filename().string();
}

Result<std::string> describe_replay(const request::CaptureRequest& /*request*/, const request::OptionReader& options,
                                    const std::string& work_folder) {
  std::string text;
  for (const std::string& file : found_files(options, work_folder)) {
    const sources::InputParts parts = TRY(sources::find_input_parts(sources::recognise(file), options.text("format")));
    const std::string what = parts.parts.size() == 1 ? std::string(parts.parts.front().format->title)
                                                     : fmt::format("{} profiles", parts.parts.size());
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", short_name(file), what);
  }
  return text;
}

Result<void> run_replay(const request::KindRun& run, EventSink& sink) {
  const double speed = run.options->rate("speed");
  sources::InputOptions input;
  input.format = run.options->text("format");
  bool first = true;
  const sources::MakeSink make_sink = [&]() -> std::unique_ptr<EventSink> {
    if (std::exchange(first, false)) return std::make_unique<sources::PacedSink>(sink, speed);
    return std::make_unique<sources::PacedSink>(run.open_scope(), speed);
  };
  Result<void> done =
      sources::import_input(sources::recognise(found_files(*run.options, run.work_folder)), input, make_sink);
  if (!done && sink.cancelled()) return {};  // what was played until then is a capture that was stopped
  return done;
}

bool repeats(const request::OptionReader& options) {
  std::error_code failure;
  return options.texts("file").size() == 1 && fs::is_regular_file(options.texts("file").front(), failure);
}

}  // namespace

request::CaptureKind replay_kind() {
  return {.declare = declare_replay,
          .check = check_replay,
          .describe = describe_replay,
          .run = run_replay,
          .repeats = repeats,
          .own_time = true};
}

}  // namespace accelscope::capture::kinds::replay
