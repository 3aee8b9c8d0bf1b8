#include "capture/sources/other_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include "capture/json/byte_source.h"
#include "core/store/session_check.h"

namespace accelscope::capture::sources {
namespace {

constexpr std::size_t kLookedAt = 64U << 10;
constexpr std::string_view kChromeAdvice = "convert it to a Chrome JSON trace first";

// By how the text begins, blanks and a mark of the byte order left out, and by a word in its first bytes.
struct TextRow {
  std::string_view begin;  // "": anything
  std::string_view word;   // "": none
  std::string_view title;
  std::string_view advice;
};

// The first row that fits. Words are those that the tools themselves write.
constexpr std::array kTexts = {
    TextRow{"\"Name\",\"Calls\"", "TotalDurationNs", "a table of statistics of rocprofv3",
            "import the traces beside it: *_kernel_trace.csv, *_hip_api_trace.csv"},
    TextRow{"{", "speedscope.app/file-format-schema", "a speedscope profile", kChromeAdvice},
    TextRow{"{", "\"forwarding_channel_pairs\"", "a topology for tt-npe", "it holds no events"},
    TextRow{"\xff\xfe", "", "a text in UTF-16", "save it as UTF-8"},
    TextRow{"\xfe\xff", "", "a text in UTF-16", "save it as UTF-8"},
    TextRow{"PERFILE2", "", "a recording of Linux perf", "convert it with perf script > samples.txt"},
    TextRow{"PAR1", "", "a Parquet table", "a Neuron profile in Parquet is a folder of tables with names of its own"},
    TextRow{"\x7f"
            "ELF",
            "", "a program", "a capture runs it: accelscope-agent run -o run.accel -- PROGRAM"},
    TextRow{"<!DOCTYPE html", "", "a web page", "was it downloaded in place of the file itself?"},
    TextRow{"<html", "", "a web page", "was it downloaded in place of the file itself?"},
    TextRow{"version https://git-lfs", "", "a pointer to a file that Git LFS keeps",
            "fetch the file itself with git lfs pull"},
    TextRow{"PK\x03\x04", "", "a zip archive", "unpack it first"},
};

// By the file's name alone, where the bytes say little.
struct NameRow {
  std::string_view ending;
  std::string_view title;
  std::string_view advice;
};

constexpr std::array kNames = {
    NameRow{".qdstrm", "an Nsight Systems recording", "make a report of it with QdstrmImporter, and open that"},
    NameRow{".ncu-rep", "an Nsight Compute report", ""},
    NameRow{".tracy", "a Tracy trace of a version before 0.9, or damaged at its begin",
            "convert it with tracy-update of Tracy 0.10"},
};

[[nodiscard]] std::string_view trimmed_begin(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text;
}

[[nodiscard]] bool has(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

[[nodiscard]] std::optional<OtherFormat> binary_format(std::string_view bytes) {
  constexpr std::size_t kTarMark = 257;
  if (bytes.size() > kTarMark && bytes.substr(kTarMark).starts_with("ustar")) {
    return OtherFormat{"a tar archive", "unpack it first"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<OtherFormat> find_other_format(const std::string& path) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) return std::nullopt;
  if (tables_of_other_database(path)) {
    return OtherFormat{"an SQLite database of another program", "open a session file (.accel) or import a profile"};
  }
  const std::string bytes = json::read_head(path, kLookedAt);
  const std::string_view text = trimmed_begin(bytes);
  for (const TextRow& row : kTexts) {
    if (text.starts_with(row.begin) && has(text, row.word)) {
      return OtherFormat{std::string(row.title), std::string(row.advice)};
    }
  }
  for (const NameRow& row : kNames) {
    if (path.ends_with(row.ending)) return OtherFormat{std::string(row.title), std::string(row.advice)};
  }
  return binary_format(bytes);
}

std::string refusal(const std::string& path, const OtherFormat& format) {
  return fmt::format("{}: this is {}, which is not read here{}{}", path, format.title,
                     format.advice.empty() ? "" : "; ", format.advice);
}

}  // namespace accelscope::capture::sources
