// Whose a folder or a file is. A name that others can plant is not used: a link, what belongs to another user, what
// others can write. Everything is judged by its descriptor, opened without following a link at its end. Root is no
// exception: what belongs to another user is not root's. Errors name the path, what is wrong with it and what to try.
//
// What a folder that is this user's alone to write holds was put there by this user, so that it need not be judged
// file by file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace accelscope {

// What others may do with what is this user's.
enum class Sharing : std::uint8_t {
  none,     // nothing
  reading,  // read it
  group,    // and the group may write it, as folders are made where the umask is 002
};

[[nodiscard]] Result<void> check_own_folder(const std::string& path, Sharing sharing);
// Made with mode 0700 if it is not there, and those above it as the umask says. One that is there keeps its mode.
Result<void> make_own_folder(const std::string& path, Sharing sharing);
// Of an open file or folder; `path` is for messages.
[[nodiscard]] Result<void> check_own(int descriptor, const std::string& path, Sharing sharing);

// The whole file. Fails beyond `most_bytes`.
[[nodiscard]] Result<std::string> read_own_file(const std::string& path, Sharing sharing, std::size_t most_bytes);
// Where a link leads that this user made himself; the path as it is for all else, links of others too.
[[nodiscard]] std::string behind_own_link(const std::string& path);
// Mode 0600, and atomic: others see the old file or the new one. A link at `path` is replaced, not followed.
Result<void> write_own_file(const std::string& path, std::string_view content);
// A descriptor for adding to the file's end, which the caller closes. Made with mode 0600 if it is not there; one with
// a second name is refused, which may be any file of this user's.
[[nodiscard]] Result<int> append_to_own_file(const std::string& path);

// A folder of mode 0700 in the system's folder for temporary files, whose name nobody can know before it is there;
// removed with its content when this object goes.
class OwnTemporaryFolder {
 public:
  // In another folder where one is named, which is made if it is not there.
  [[nodiscard]] static Result<std::shared_ptr<OwnTemporaryFolder>> make(std::string_view purpose,
                                                                        const std::string& parent = "");
  ~OwnTemporaryFolder();
  OwnTemporaryFolder(const OwnTemporaryFolder&) = delete;
  OwnTemporaryFolder& operator=(const OwnTemporaryFolder&) = delete;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }
  void keep() noexcept { path_.clear(); }  // it stays when this object goes

 private:
  explicit OwnTemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// While it lives, files that this process makes are as closed as the inputs: what others may not read of one of them
// they may not read of what is made of it.
class OutputAccess {
 public:
  OutputAccess() noexcept;  // as before
  ~OutputAccess();
  OutputAccess(const OutputAccess&) = delete;
  OutputAccess& operator=(const OutputAccess&) = delete;
  // Files, and folders with what lies in them; those that are there. Until an earlier OutputAccess goes, or for good.
  static void narrow_to(const std::vector<std::string>& inputs);

 private:
  unsigned before_ = 0;
};

}  // namespace accelscope
