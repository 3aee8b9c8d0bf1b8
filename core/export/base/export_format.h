// What every export format is given, what it answers and how it is named in the table of formats
// (core/export/formats/formats.h). A format streams: it hands on its bytes piece by piece and holds no more of the
// session than it works on.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/peaks/peaks.h"
#include "core/model/event_filter.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::exporting {

struct ExportRequest {
  QueryContext query;        // its mask says which events are written
  TimeRange range;           // events that share time with it are written, each of them whole
  bool into_folder = false;  // of formats that can be one file or a folder of them
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};  // in events
  // For formats that say what they are of: what the session is called, the filter that mask and range are made of, what
  // it leaves ("1,204 of 38,412 events pass"), and what was entered of devices.
  std::string title = {};
  EventFilter filter = {};
  std::string filter_text = {};
  analysis::PeakEdits peaks = {};
};

struct ExportReport {
  std::uint64_t rows = 0;  // events and rows that were written
  std::uint64_t bytes = 0;
  std::vector<std::string> losses;  // what the format could not hold, a sentence each, with counts
};

// Takes what a format writes. Formats of one file only write; those of several begin each of them first.
class ExportOutput {
 public:
  ExportOutput() = default;
  virtual ~ExportOutput() = default;
  ExportOutput(const ExportOutput&) = delete;
  ExportOutput& operator=(const ExportOutput&) = delete;

  [[nodiscard]] virtual Result<void> begin_file(const std::string& name) = 0;
  [[nodiscard]] virtual Result<void> write(std::string_view bytes) = 0;
};

enum class ExportShape : std::uint8_t {
  file,
  folder,  // a file for each table
  either,  // as ExportRequest::into_folder says
};

struct ExportFormat {
  std::string_view name;     // of --output-format
  std::string_view title;    // in the menu
  std::string_view suffix;   // of its files, with the dot
  std::string_view summary;  // what it is good for, a line
  ExportShape shape = ExportShape::file;
  bool binary = false;                                  // not for a terminal
  bool needs_times = false;                             // rows without times have no place in it
  bool (*applies)(const Snapshot& snapshot) = nullptr;  // whether it has anything of the session; null: always
  Result<ExportReport> (*write)(const ExportRequest& request, ExportOutput& output) = nullptr;
};

}  // namespace accelscope::exporting
