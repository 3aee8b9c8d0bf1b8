// A file that has no name: nobody else can open it, and it is gone with the process, however that ends.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/bytes.h"
#include "core/base/result.h"

namespace accelscope {

class NamelessFile {
 public:
  // On the disk of `folder`; empty: of the system's folder for temporary files.
  [[nodiscard]] static Result<std::unique_ptr<NamelessFile>> create(const std::string& folder);
  ~NamelessFile();
  NamelessFile(const NamelessFile&) = delete;
  NamelessFile& operator=(const NamelessFile&) = delete;

  // Behind what is there; says where they lie. If it fails, all that was there still is and the next bytes take their
  // place.
  Result<std::uint64_t> append(ByteView bytes);
  // By any thread, also while another one appends.
  [[nodiscard]] Result<Bytes> read(std::uint64_t offset, std::size_t size) const;

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }

 private:
  NamelessFile(int descriptor, std::string folder) : descriptor_(descriptor), folder_(std::move(folder)) {}

  int descriptor_;
  std::string folder_;
  std::uint64_t size_ = 0;
};

}  // namespace accelscope
