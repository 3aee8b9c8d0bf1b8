#include "app/output/dataset_folder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/base/file_system.h"

namespace accelscope::app::output {
namespace {

namespace fs = std::filesystem;

// Drafts beside the files that they become; what reads a data set passes over their names. A data set can be made
// again, so that the disk is not waited for: ten files a session take longer to sync than to write.
class DatasetFiles final : public exporting::ExportOutput {
 public:
  explicit DatasetFiles(std::string folder) : folder_(std::move(folder)) {}
  ~DatasetFiles() override {
    for (const Draft& each : drafts_) remove_file(each.temporary);
  }

  Result<void> begin_file(const std::string& name) override {
    TRY(close());
    const fs::path path = fs::path(folder_) / name;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) return Error{path.parent_path().string() + ": the folder cannot be made; check its permissions"};
    // Hidden: Spark reads all other files of a folder.
    std::string temporary = TRY(draft_beside((path.parent_path() / ("." + path.filename().string())).string()));
    drafts_.push_back({path.string(), temporary});
    file_.open(temporary, std::ios::binary);
    return file_.good() ? Result<void>{} : failure();
  }
  Result<void> write(std::string_view bytes) override {
    file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return file_.good() ? Result<void>{} : failure();
  }
  Result<void> finish() {
    TRY(close());
    while (!drafts_.empty()) {
      std::error_code error;
      fs::rename(drafts_.back().temporary, drafts_.back().path, error);
      if (error) return failure();
      drafts_.pop_back();
    }
    return {};
  }

 private:
  struct Draft {
    std::string path, temporary;
  };
  Result<void> close() {
    if (!file_.is_open()) return {};
    file_.close();
    return file_.good() ? Result<void>{} : failure();
  }
  [[nodiscard]] Error failure() const { return Error{drafts_.back().path + ": cannot be written; is the disk full?"}; }

  std::string folder_;
  std::vector<Draft> drafts_;
  std::ofstream file_;
};

// The session's partitions of other dates: its begin was not known then, or its file has none and was saved again.
void remove_former(const std::string& folder, std::string_view table, const fs::path& partition) {
  std::error_code error;
  for (const auto& date : fs::directory_iterator(fs::path(folder) / table, error)) {
    if (date.path().filename() == *partition.begin()) continue;
    fs::remove_all(date.path() / partition.filename(), error);
    fs::remove(date.path(), error);  // where it is empty now
  }
}

}  // namespace

Result<exporting::ExportReport> add_to_dataset(const std::string& folder, const exporting::ExportRequest& request,
                                               const exporting::DatasetSession& session,
                                               const std::vector<std::string>& tables) {
  DatasetFiles files(folder);
  auto report = TRY(exporting::write_dataset(request, session, tables, files));
  const fs::path partition = exporting::dataset_partition(*request.query.snapshot, session);
  for (const exporting::DatasetTable& table : exporting::dataset_tables()) {
    if (tables.empty() || std::ranges::find(tables, table.name) != tables.end())
      remove_former(folder, table.name, partition);
  }
  TRY(files.finish());
  return report;
}

}  // namespace accelscope::app::output
