// The container of a NEFF (Neuron Executable File Format): a header of 1,024 bytes and a tar, packed with gzip where
// the package version is 2.
//
//   std::unique_ptr<NeffArchive> archive = TRY(NeffArchive::open(std::move(bytes), name));
//   ArchiveMember member;
//   while (TRY(archive->next(member))) std::string text = TRY(archive->content(limit));
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "capture/json/byte_source.h"
#include "capture/sources/base/tar_reader.h"
#include "core/base/result.h"

namespace accelscope::capture::sources::neuron::neff {

inline constexpr std::size_t kNeffHeaderBytes = 1024;

// Little-endian throughout. Offsets: versions and sizes 0 to 0x28, build 0x28 (128 bytes), hash 0xac (32 bytes), UUID
// 0xcc (16), name 0xdc (256), cores 0x1dc, features 0x220, cores per logical core 0x228.
struct NeffHeader {
  std::uint64_t package_version = 0;  // 1, or 2: a packed tar with an MD5
  std::uint64_t header_size = 0;      // always 1,024
  std::uint64_t data_size = 0;        // bytes behind the header, padding included
  std::uint64_t major_version = 0;
  std::uint64_t minor_version = 0;
  std::string build_version;
  std::string hash;  // 32 hexadecimal digits in the order of the bytes, as the vendor's tool shows it
  std::string uuid;
  std::string network_name;
  std::uint32_t logical_cores = 0;
  std::uint64_t features = 0;  // bits
  std::uint32_t cores_per_logical_core = 0;
};

// Nothing if these are not the first bytes of a NEFF.
[[nodiscard]] std::optional<NeffHeader> read_neff_header(std::string_view bytes);

class NeffArchive final : public TarReader {
 public:
  [[nodiscard]] static Result<std::unique_ptr<NeffArchive>> open(std::unique_ptr<json::ByteSource> bytes,
                                                                 std::string name);

  [[nodiscard]] const NeffHeader& header() const noexcept { return header_; }
  // What the bytes behind the header say of it. Reads on to their end.
  struct Check {
    std::uint64_t missing_bytes = 0;  // of data_size
    std::uint64_t further_bytes = 0;  // behind it
    bool hash_differs = false;        // of package version 2, where no byte is missing
  };
  Result<Check> check();
  [[nodiscard]] std::uint64_t file_bytes() const;
  [[nodiscard]] std::uint64_t file_bytes_read() const;

 private:
  class Payload;
  NeffArchive(NeffHeader header, Payload& payload, std::unique_ptr<json::ByteSource> tar, std::string name)
      : TarReader(std::move(tar), std::move(name), "copy the file again, or compile it anew"),
        header_(std::move(header)),
        payload_(payload) {}

  NeffHeader header_;
  Payload& payload_;  // what the tar inflates
};

}  // namespace accelscope::capture::sources::neuron::neff
