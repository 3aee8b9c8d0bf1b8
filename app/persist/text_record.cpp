#include "app/persist/text_record.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace accelscope::app {

namespace fs = std::filesystem;

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
  if (!fs::exists(path, error)) return records;
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{path + ": cannot be read; check its permissions"};
  std::string line;
  while (std::getline(file, line)) {
    if (!line.empty()) records.push_back(decode_record(line));
  }
  return records;
}

Result<void> write_records(const std::string& path, const std::vector<TextRecord>& records, RecordAccess access) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  const std::string temporary = path + ".new";
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    if (access == RecordAccess::owner) {  // before anything is in it
      fs::permissions(temporary, fs::perms::owner_read | fs::perms::owner_write, error);
      if (error) return Error{path + ": cannot be kept from others (" + error.message() + ")"};
    }
    for (const TextRecord& record : records) file << encode_record(record) << '\n';
    file.flush();
    if (!file) return Error{path + ": cannot be written; check the folder's permissions and free space"};
  }
  fs::rename(temporary, path, error);
  if (error) return Error{path + ": cannot be replaced (" + error.message() + "); check the folder's permissions"};
  return {};
}

}  // namespace accelscope::app
