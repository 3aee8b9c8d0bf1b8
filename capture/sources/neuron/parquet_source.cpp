#include "capture/sources/neuron/parquet_source.h"

#include <fmt/format.h>

#include <filesystem>

#include "capture/sources/base/async_sink.h"
#include "capture/sources/neuron/importer.h"
#include "core/parquet/format.h"

namespace accelscope::capture::sources::neuron {
namespace {

constexpr int kFolderOfTables = 90;
constexpr int kSingleTable = 80;

}  // namespace

int probe_neuron_parquet(std::string_view head, const std::string& path) {
  std::error_code failure;
  if (std::filesystem::is_directory(path, failure)) return is_export_folder(path) ? kFolderOfTables : 0;
  return head.starts_with(accelscope::parquet::kMagic) && !export_table_of(path).empty() ? kSingleTable : 0;
}

Result<void> import_neuron_parquet(const std::string& path, const ImportOptions& options, EventSink& sink) {
  std::error_code failure;
  if (!std::filesystem::is_directory(path, failure)) {
    const std::string table = export_table_of(path);
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    return Error{fmt::format(
        "{}: this is {} of a Neuron profile in Parquet, whose tables make one session together: open their folder, {}",
        path, table.empty() ? "a table, if" : "the table " + table, folder.empty() ? "." : folder.string())};
  }
  const Result<std::vector<ExportFile>> files = find_export_files(path);
  if (!files) return files.error();
  AsyncSink receiver(sink);
  NeuronImporter importer(path, options, receiver);
  const Result<void> done = importer.run(*files);
  return done ? receiver.finish() : done;
}

Result<void> import_neuron_table(std::unique_ptr<parquet::RandomBytes> bytes, const std::string& name,
                                 const std::string& table, const ImportOptions& options, EventSink& sink) {
  Result<std::unique_ptr<parquet::TableReader>> reader = parquet::TableReader::open(std::move(bytes));
  if (!reader) return Error{fmt::format("{}: {}", name, reader.message())};
  AsyncSink receiver(sink);
  NeuronImporter importer(name, options, receiver);
  const Result<void> done = importer.run(**reader, table);
  return done ? receiver.finish() : done;
}

}  // namespace accelscope::capture::sources::neuron
