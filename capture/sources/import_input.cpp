#include "capture/sources/import_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "capture/sources/input_parts.h"
#include "capture/sources/labelled_sink.h"

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;

struct Input {
  std::string path;
  bool is_folder = false;
  InputParts found;
};

[[nodiscard]] std::uint64_t bytes_of(const InputPart& part) {
  std::error_code failure;
  const std::uintmax_t bytes = fs::file_size(part.path, failure);
  return failure ? 0 : static_cast<std::uint64_t>(bytes);
}

// Knows whether what failed was the receiver, in which case going on is useless.
class WatchedSink final : public EventSink {
 public:
  explicit WatchedSink(std::unique_ptr<EventSink> target) : target_(std::move(target)) {}
  Result<void> define(const Definition& definition) override { return watch(target_->define(definition)); }
  Result<void> append(SealedChunk chunk) override { return watch(target_->append(std::move(chunk))); }
  [[nodiscard]] bool cancelled() const override { return target_->cancelled(); }
  [[nodiscard]] bool broken() const noexcept { return broken_; }

 private:
  Result<void> watch(Result<void> result) {
    broken_ = broken_ || !result.ok();
    return result;
  }
  std::unique_ptr<EventSink> target_;
  bool broken_ = false;
};

class InputImport {
 public:
  InputImport(const InputOptions& options, const MakeSink& make_sink) : options_(options), make_sink_(make_sink) {}

  Result<void> run(const std::vector<std::string>& paths);

 private:
  Result<void> find(const std::vector<std::string>& paths);
  Result<void> import_folder(const Input& input);
  Result<void> import_part(const InputPart& part);
  Result<void> report(const Input& input, const std::vector<std::string>& unreadable);
  [[nodiscard]] WatchedSink& sink();

  const InputOptions& options_;
  const MakeSink& make_sink_;
  std::vector<Input> inputs_;
  std::uint64_t bytes_total_ = 0;
  std::uint64_t bytes_done_ = 0;
  SharedFacts facts_;
  std::unique_ptr<WatchedSink> sink_;  // of the part at hand
};

Result<void> InputImport::run(const std::vector<std::string>& paths) {
  if (Result<void> done = find(paths); !done) return done;
  for (const Input& input : inputs_) {
    if (input.is_folder) {
      if (Result<void> done = import_folder(input); !done) return done;
      continue;
    }
    for (const InputPart& part : input.found.parts) {
      if (Result<void> done = import_part(part); !done) return done;
    }
  }
  return {};
}

Result<void> InputImport::find(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    Result<InputParts> found = find_input_parts(path, options_.format);
    if (!found) return found.error();
    std::error_code failure;
    inputs_.push_back({path, fs::is_directory(path, failure), std::move(*found)});
    for (InputPart& part : inputs_.back().found.parts) {
      // Ranks that are named one by one are told apart as well.
      if (paths.size() > 1 && part.label.empty()) part.label = label_of_path(fs::path(part.path).filename().string());
      bytes_total_ += bytes_of(part);
    }
  }
  return {};
}

WatchedSink& InputImport::sink() {
  sink_ = std::make_unique<WatchedSink>(make_sink_());
  return *sink_;
}

Result<void> InputImport::import_part(const InputPart& part) {
  WatchedSink& target = sink();
  ImportOptions import = options_.import;
  const std::uint64_t bytes = bytes_of(part);
  import.progress = [&](std::uint64_t done, std::uint64_t total) {
    if (!options_.import.progress) return;
    if (bytes_total_ == 0) return options_.import.progress(done, total);
    if (total == 0) return options_.import.progress(bytes_done_, bytes_total_);
    const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
    options_.import.progress(bytes_done_ + static_cast<std::uint64_t>(share * static_cast<double>(bytes)),
                             bytes_total_);
  };
  Result<void> done;
  if (part.label.empty()) {
    done = part.format->run(part.path, import, target);
  } else {
    LabelledSink labelled(target, part.label, facts_);
    done = part.format->run(part.path, import, labelled);
  }
  bytes_done_ += bytes;
  if (target.cancelled()) return Error{fmt::format("{}: the import was cancelled", part.path)};
  return done;
}

Result<void> InputImport::import_folder(const Input& input) {
  std::vector<std::string> unreadable = input.found.unreadable;
  std::size_t read = 0;
  for (const InputPart& part : input.found.parts) {
    const Result<void> done = import_part(part);
    if (!done && (sink_->broken() || sink_->cancelled())) return done;
    if (done) {
      ++read;
    } else {
      unreadable.push_back(done.message());
    }
  }
  if (read == 0) return Error{unreadable.front()};
  return report(input, unreadable);
}

Result<void> InputImport::report(const Input& input, const std::vector<std::string>& unreadable) {
  const std::string name = fs::path(input.path).lexically_normal().filename().string();
  const std::string folder = name.empty() ? fs::path(input.path).parent_path().filename().string() : name;
  if (inputs_.size() == 1 && !folder.empty()) {
    if (Result<void> done = sink_->define(MetaEntry{"name", folder}); !done) return done;
  }
  for (const std::string& why : unreadable) {
    const QualityEntry entry{"unreadable_input", 1, fmt::format("{}; what else the folder holds was read", why),
                             Severity::error};
    if (Result<void> done = sink_->define(entry); !done) return done;
  }
  if (input.found.skipped.empty()) return {};
  const QualityEntry skipped{
      "files_skipped", input.found.skipped.size(),
      fmt::format("files in {} that are no profiles, or hold what another one holds, such as {}; name such a file "
                  "itself to read it",
                  input.path, input.found.skipped.front()),
      Severity::note};
  return sink_->define(skipped);
}

}  // namespace

Result<void> import_input(const std::vector<std::string>& paths, const InputOptions& options,
                          const MakeSink& make_sink) {
  return InputImport(options, make_sink).run(paths);
}

}  // namespace accelscope::capture
