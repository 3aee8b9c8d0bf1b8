#include "app/export/tar_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>

namespace accelscope::app {
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

}  // namespace accelscope::app
