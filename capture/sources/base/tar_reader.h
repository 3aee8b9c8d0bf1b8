// Tar archives. Members come one after another, as often as there are some, in memory that does not grow with them;
// nothing is ever written to a path that a member names.
//
//   TarReader archive(std::move(bytes), name, "copy the file again");
//   ArchiveMember member;
//   while (TRY(archive.next(member))) std::string text = TRY(archive.content());
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "capture/json/byte_source.h"
#include "core/base/result.h"

namespace accelscope::capture::sources {

struct ArchiveMember {
  std::string path;  // as stored, in UTF-8
  std::uint64_t size = 0;
  bool is_file = true;  // else a link, whose target is not looked at
};

class TarReader {
 public:
  // `advice`: what to try where the archive is damaged, for messages.
  TarReader(std::unique_ptr<json::ByteSource> tar, std::string name, std::string_view advice)
      : tar_(std::move(tar)), name_(std::move(name)), advice_(advice) {}

  // Goes on to the next member, past what was not read of this one; false at the end. Folders are left out.
  Result<bool> next(ArchiveMember& member);
  // Of the member: how many bytes were put into `out`; 0 at its end.
  Result<std::size_t> read(std::span<char> out);
  // What is left of the member, of which there may be as much as the caller has room for.
  Result<std::string> content();
  [[nodiscard]] std::uint64_t unpacked_bytes() const noexcept { return at_; }  // that were read

 private:
  // False at the end of the archive; fewer bytes than wanted are an error.
  Result<bool> read_block(std::span<char> block);
  Result<void> skip(std::uint64_t bytes);
  [[nodiscard]] Error damaged(std::string_view what) const;

  std::unique_ptr<json::ByteSource> tar_;
  std::string name_;
  std::string advice_;
  std::string member_;
  std::uint64_t left_ = 0;     // of the member
  std::uint64_t padding_ = 0;  // behind it
  std::uint64_t at_ = 0;       // in the inflated archive
};

}  // namespace accelscope::capture::sources
