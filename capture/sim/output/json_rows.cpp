#include "capture/sim/output/json_rows.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/base/format.h"

namespace accelscope::capture::sim {

Result<std::unique_ptr<JsonFile>> JsonFile::create(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) {
    return Error{path + ": cannot be written (" + std::strerror(errno) + "); choose another place"};
  }
  return std::unique_ptr<JsonFile>(new JsonFile(file, path));
}

JsonFile::~JsonFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  std::error_code ignored;  // what cannot be removed is no more complete for that
  if (std::filesystem::is_regular_file(path_, ignored)) std::filesystem::remove(path_, ignored);
}

void JsonFile::flush() {
  if (!failed_ && std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size()) {
    failed_ = true;
    reason_ = std::strerror(errno);
  }
  buffer_.clear();
}

Result<void> JsonFile::finish() {
  flush();
  if (!failed_ && std::fflush(file_) != 0) {
    failed_ = true;
    reason_ = std::strerror(errno);
  }
  if (failed_) return Error{path_ + ": writing failed (" + reason_ + "); make room or choose another place"};
  const bool closed = std::fclose(file_) == 0;
  file_ = nullptr;
  if (!closed)
    return Error{path_ + ": writing failed (" + std::strerror(errno) + "); make room or choose another place"};
  return {};
}

void JsonRows::begin_table(std::string_view name) {
  file_.put(first_table_ ? "{\"" : ",\"");
  file_.put(name);
  file_.put("\":[");
  first_table_ = false;
  first_row_ = true;
}

void JsonRows::end_table() {
  put_window();
  file_.put("]");
}

void JsonRows::text(std::string_view key, std::string_view value) {
  begin_field(key);
  row_ += json_quote(value);
  end_field();
}

// Steps through the fields by a stride without a common factor, from a random one on.
void JsonRows::end_row() {
  const std::size_t count = fields_.size();
  constexpr std::size_t kStrides[] = {1, 5, 7, 11};
  const std::uint64_t random = random_.next();
  std::size_t stride = kStrides[random & 3];
  if (count % stride == 0) stride = 1;
  std::size_t field = static_cast<std::size_t>((random >> 8) % count);

  if (window_.size() <= window_rows_) window_.emplace_back();
  std::string& out = window_[window_rows_++];
  out.clear();
  out += '{';
  for (std::size_t done = 0; done < count; ++done) {
    const std::size_t begin = field == 0 ? 0 : fields_[field - 1];
    if (done != 0) out += ',';
    out.append(row_, begin, fields_[field] - begin);
    field = (field + stride) % count;
  }
  out += '}';
  if (window_rows_ == kWindowRows) put_window();
}

void JsonRows::put_window() {
  for (std::size_t left = window_rows_; left > 0; --left) {
    const auto pick = static_cast<std::size_t>(random_.next() % left);
    if (!first_row_) file_.put(",");
    first_row_ = false;
    file_.put(window_[pick]);
    std::swap(window_[pick], window_[left - 1]);
  }
  window_rows_ = 0;
}

}  // namespace accelscope::capture::sim
