#include "app/export/session_export.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "core/base/file_system.h"
#include "core/base/format.h"

namespace accelscope::app {
namespace {

namespace fs = std::filesystem;

class OneFile final : public ExportOutput {
 public:
  explicit OneFile(OutputFile& file) : file_(file) {}
  Result<void> begin_file(const std::string& name) override {
    return Error{name + ": this format writes one file only"};
  }
  Result<void> write(std::string_view bytes) override { return file_.write(bytes); }

 private:
  OutputFile& file_;
};

// Files are drafts until the last of them is complete.
class FilesOfFolder final : public ExportOutput {
 public:
  explicit FilesOfFolder(std::string folder, std::ostream& unused) : folder_(std::move(folder)), unused_(unused) {}
  ~FilesOfFolder() override {
    drafts_.clear();
    std::error_code ignored;  // only what this export made and did not finish
    if (made_ && !finished_) fs::remove(folder_, ignored);
  }

  Result<void> begin() {
    std::error_code error;
    if (fs::is_directory(folder_, error)) return {};
    made_ = fs::create_directories(folder_, error);
    if (!made_) return Error{folder_ + ": the folder cannot be made; check its name and permissions"};
    return {};
  }
  Result<void> begin_file(const std::string& name) override {
    auto file = OutputFile::open((fs::path(folder_) / name).string(), unused_);
    if (!file) return file.error();
    drafts_.push_back(std::move(*file));
    return {};
  }
  Result<void> write(std::string_view bytes) override {
    if (drafts_.empty()) return Error{folder_ + ": nothing was begun in it"};
    return drafts_.back()->write(bytes);
  }
  Result<void> finish() {
    for (const auto& draft : drafts_) {
      if (Result<void> done = draft->finish(); !done) return done;
    }
    finished_ = true;
    return {};
  }

 private:
  std::string folder_;
  std::ostream& unused_;
  std::vector<std::unique_ptr<OutputFile>> drafts_;
  bool made_ = false;
  bool finished_ = false;
};

}  // namespace

bool exports_folder(const ExportFormat& format, const std::string& path) {
  if (format.shape != ExportShape::either) return format.shape == ExportShape::folder;
  if (path == kStandardOutput || path.empty()) return false;
  std::error_code error;
  return path.ends_with('/') || fs::is_directory(path, error) ||
         (!fs::exists(path, error) && !fs::path(path).has_extension());
}

std::string default_export(const std::string& input, const ExportFormat& format) {
  if (format.shape == ExportShape::folder) return default_output(input, fmt::format("-{}", format.name));
  return default_output(input, format.suffix);
}

Result<void> may_export(const ExportFormat& format, const std::string& path, bool replace,
                        const std::vector<std::string>& inputs) {
  if (!exports_folder(format, path)) {
    std::error_code error;
    if (path != kStandardOutput && fs::is_directory(path, error)) {
      return Error{fmt::format("{}: is a folder, and {} is one file; name a file", path, format.name)};
    }
    return may_write(path, replace, inputs);
  }
  if (path == kStandardOutput) {
    return Error{fmt::format("-: {} is a file for each table; name a folder with --output-file", format.name)};
  }
  std::error_code error;
  if (!fs::exists(path, error)) return {};
  if (!fs::is_directory(path, error)) {
    return Error{fmt::format("{}: is a file, and {} is a folder of files; name a folder", path, format.name)};
  }
  if (replace || fs::is_empty(path, error)) return {};
  return Error{path + ": the folder is not empty; name another, or replace its files with --force"};
}

Result<ExportReport> write_export(const ExportFormat& format, const ExportRequest& request, const std::string& path,
                                  std::ostream& standard) {
  if (exports_folder(format, path)) {
    FilesOfFolder folder(path, standard);
    if (Result<void> begun = folder.begin(); !begun) return begun.error();
    ExportRequest tables = request;
    tables.into_folder = true;
    Result<ExportReport> report = format.write(tables, folder);
    if (!report) return report;
    if (Result<void> done = folder.finish(); !done) return done.error();
    return report;
  }
  const auto file = OutputFile::open(path, standard);
  if (!file) return file.error();
  OneFile output(**file);
  Result<ExportReport> report = format.write(request, output);
  if (!report) return report;
  if (Result<void> done = (*file)->finish(); !done) return done.error();
  return report;
}

std::string export_said(const ExportReport& report, const std::string& path) {
  std::string text = fmt::format("Wrote {} events to {}, {}", format_count(report.rows), path,
                                 format_bytes(static_cast<double>(report.bytes)));
  for (const std::string& loss : report.losses) text += ". Not in it: " + loss;
  return text;
}

}  // namespace accelscope::app
