#include "capture/kinds/python/sources.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "capture/json/json_cursor.h"

namespace accelscope::capture::kinds::python {
namespace {

namespace fs = std::filesystem;

// What users install may lie inside the library's folder.
[[nodiscard]] bool of_library(std::string_view path, std::string_view library) {
  if (library.empty() || !path.starts_with(library) || path.size() == library.size() || path[library.size()] != '/') {
    return false;
  }
  const std::string_view rest = path.substr(library.size());
  return !rest.starts_with("/site-packages/") && !rest.starts_with("/dist-packages/");
}

}  // namespace

void SourceShelf::take(const std::string& path, std::string_view library) {
  if (!path.starts_with('/') || of_library(path, library) || files_.contains(path)) return;
  File& file = files_[path];
  std::error_code failure;
  if (!fs::is_regular_file(path, failure)) return;
  const std::uintmax_t size = fs::file_size(path, failure);
  if (failure) return;
  if (size > kMaxFileBytes || bytes_ + size > kMaxAllBytes) {
    ++left_out_;
    return;
  }
  std::ifstream stream(path, std::ios::binary);
  file.content.assign(std::istreambuf_iterator<char>(stream), {});
  if (!json::is_utf8(file.content)) file.content = json::mend_utf8(file.content);
  file.begins.push_back(0);
  for (std::size_t at = 0; at < file.content.size(); ++at) {
    if (file.content[at] == '\n') file.begins.push_back(at + 1);
  }
  file.begins.push_back(file.content.size());
  bytes_ += file.content.size();
  writer_.add_source_file(path, file.content);
}

std::string_view SourceShelf::line(const std::string& path, std::uint32_t number) const {
  const auto found = files_.find(path);
  if (found == files_.end() || number == 0 || number + std::size_t{1} > found->second.begins.size()) return {};
  const File& file = found->second;
  std::string_view text(file.content);
  text = text.substr(file.begins[number - 1], file.begins[number] - file.begins[number - 1]);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  return text;
}

}  // namespace accelscope::capture::kinds::python
