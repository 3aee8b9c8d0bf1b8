#include "app/output/output_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <ostream>
#include <sstream>

#include "app/workspace/opening.h"
#include "core/base/file_system.h"

namespace accelscope::app::output {

namespace fs = std::filesystem;

Result<void> may_write(const std::string& path, bool replace, const std::vector<std::string>& inputs) {
  std::error_code error;
  if (path == kStandardOutput || !fs::exists(path, error)) return {};
  if (fs::is_block_file(path, error) || fs::is_socket(path, error)) {
    return Error{path + ": is a device or a socket; name a file"};
  }
  if (is_pipe_or_device(path)) return {};  // nothing there is replaced
  for (const std::string& input : inputs) {
    if (fs::equivalent(path, input, error)) {
      return Error{path + ": this is the input itself; name another one"};
    }
  }
  if (replace) return {};
  return Error{path + ": the file exists already; name another, or replace it with --force"};
}

std::string default_output(const std::string& input, std::string_view ending) {
  if (input.empty() || input == kStandardOutput) return "session" + std::string(ending);
  std::string name = workspace::title_of_path(input);
  for (const std::string_view packed : {".json", ".csv"}) {  // of kernel.json.gz
    if (name.size() > packed.size() && name.ends_with(packed)) name.resize(name.size() - packed.size());
  }
  return name + std::string(ending);
}

OutputFile::OutputFile(std::string path, std::ostream& standard)
    : path_(path == kStandardOutput ? std::move(path) : behind_links(path)),
      standard_(standard),
      is_file_(path_ != kStandardOutput) {
  if (!is_file_) return;
  if (is_pipe_or_device(path_)) {
    file_.open(path_, std::ios::binary);
    return;
  }
  if (const Result<std::string> draft = draft_beside(path_)) {
    temporary_ = *draft;
    file_.open(temporary_, std::ios::binary);
  } else {
    file_.setstate(std::ios::failbit);
  }
}

OutputFile::~OutputFile() {
  if (temporary_.empty() || finished_) return;
  file_.close();
  std::error_code ignored;  // nothing is worse for a part that stays behind
  fs::remove(temporary_, ignored);
}

Result<std::unique_ptr<OutputFile>> OutputFile::open(const std::string& path, std::ostream& standard) {
  std::unique_ptr<OutputFile> output(new OutputFile(path, standard));
  if (!output->stream()) return Error{path + ": cannot be written; check the folder and its permissions"};
  return output;
}

Error OutputFile::failure() const {
  return Error{(is_file_ ? path_ : std::string("the output")) + ": cannot be written; is the disk full?"};
}

Result<void> OutputFile::write(std::string_view text) {
  stream().write(text.data(), static_cast<std::streamsize>(text.size()));
  return stream().good() ? Result<void>{} : failure();
}

Result<void> OutputFile::finish() {
  stream().flush();
  if (!stream().good()) return failure();
  if (!is_file_) return {};
  file_.close();
  if (file_.fail()) return failure();
  if (!temporary_.empty()) {
    Result<void> replaced = sync_file(temporary_);
    if (replaced) replaced = replace_file(temporary_, path_);
    if (!replaced) return replaced;
  }
  finished_ = true;
  return {};
}

Result<void> write_file(const std::string& path, std::string_view text) {
  std::ostringstream unused;
  const std::unique_ptr<OutputFile> file = TRY(OutputFile::open(path, unused));
  if (Result<void> written = file->write(text); !written) return written;
  return file->finish();
}

namespace {

constexpr std::size_t kTarBlock = 512;
using TarHeader = std::array<char, kTarBlock>;

void put_tar_field(TarHeader& header, std::size_t at, std::string_view text) {
  std::copy(text.begin(), text.end(), header.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace

void TarFile::add(std::string_view name, std::string_view content, std::int64_t unix_seconds) {
  constexpr std::size_t kLongestName = 99;
  constexpr std::size_t kName = 0, kMode = 100, kOwner = 108, kGroup = 116, kSize = 124, kTime = 136, kChecksum = 148,
                        kType = 156, kMagic = 257;
  TarHeader header{};
  put_tar_field(header, kName, name.substr(0, kLongestName));
  put_tar_field(header, kMode, "0000644");
  put_tar_field(header, kOwner, "0000000");
  put_tar_field(header, kGroup, "0000000");
  put_tar_field(header, kSize, fmt::format("{:011o}", content.size()));
  put_tar_field(header, kTime, fmt::format("{:011o}", std::max<std::int64_t>(0, unix_seconds)));
  put_tar_field(header, kChecksum, "        ");
  put_tar_field(header, kType, "0");
  put_tar_field(header, kMagic, std::string_view("ustar\00000", 8));
  unsigned sum = 0;
  for (const char byte : header) sum += static_cast<unsigned char>(byte);
  put_tar_field(header, kChecksum, fmt::format("{:06o}", sum));
  header[kChecksum + 6] = '\0';
  out_.write(header.data(), kTarBlock);
  out_.write(content.data(), static_cast<std::streamsize>(content.size()));
  const TarHeader padding{};
  const std::size_t over = content.size() % kTarBlock;
  if (over != 0) out_.write(padding.data(), static_cast<std::streamsize>(kTarBlock - over));
}

void TarFile::finish() {
  const TarHeader empty{};
  out_.write(empty.data(), kTarBlock);
  out_.write(empty.data(), kTarBlock);
}

}  // namespace accelscope::app::output
