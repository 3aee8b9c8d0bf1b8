#include "app/persist/text_record.h"

#include <filesystem>
#include <sstream>

#include "core/base/own_files.h"

namespace accelscope::app {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20;

}  // namespace

std::string encode_record(const TextRecord& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i != 0) line += '\t';
    for (const char c : fields[i]) {
      switch (c) {
        case '\t':
          line += "\\t";
          break;
        case '\n':
          line += "\\n";
          break;
        case '\\':
          line += "\\\\";
          break;
        default:
          line += c;
      }
    }
  }
  return line;
}

TextRecord decode_record(std::string_view line) {
  TextRecord fields(1);
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\t') {
      fields.emplace_back();
    } else if (c == '\\' && i + 1 < line.size()) {
      const char escaped = line[++i];
      fields.back() += escaped == 't' ? '\t' : escaped == 'n' ? '\n' : escaped;
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

Result<std::vector<TextRecord>> read_records(const std::string& path) {
  std::vector<TextRecord> records;
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error))) return records;
  const Result<std::string> text = read_own_file(behind_own_link(path), Sharing::group, kMostBytes);
  if (!text) return text.error();
  std::istringstream file(*text);
  std::string line;
  while (std::getline(file, line)) {
    if (!line.empty()) records.push_back(decode_record(line));
  }
  return records;
}

Result<void> write_records(const std::string& path, const std::vector<TextRecord>& records) {
  std::error_code error;
  if (const std::string folder = fs::path(path).parent_path().string(); !folder.empty()) {
    if (Result<void> own = make_own_folder(behind_own_link(folder), Sharing::group); !own) {
      return Error{path + ": is not kept: " + own.message()};
    }
  }
  std::string lines;
  for (const TextRecord& record : records) lines += encode_record(record) + '\n';
  const Result<void> written = write_own_file(behind_own_link(path), lines);
  return written ? written : Error{written.message() + "; check the folder's permissions and free space"};
}

}  // namespace accelscope::app
