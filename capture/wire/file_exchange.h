// Files that go with a capture: sent to the agent before a program runs, brought back after it. Both sides take pieces
// into a folder of theirs, which no piece can leave, and send files piece by piece.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "capture/wire/capture_messages.h"
#include "core/base/result.h"

namespace accelscope::capture {

// Pieces of one file come in order; a file is there, under its name, only when it is whole.
class FileReceiver {
 public:
  // Makes the folder when the first piece comes.
  explicit FileReceiver(std::filesystem::path folder, std::uint64_t limit_bytes = 16ULL << 30)
      : folder_(std::move(folder)), limit_bytes_(limit_bytes) {}
  ~FileReceiver();  // removes what is not whole
  FileReceiver(const FileReceiver&) = delete;
  FileReceiver& operator=(const FileReceiver&) = delete;

  Result<void> take(const FilePiece& piece);
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }
  [[nodiscard]] std::uint64_t files() const noexcept { return files_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  Result<void> begin_file(const FilePiece& piece);
  Result<void> end_file(const FilePiece& piece);

  std::filesystem::path folder_;
  std::uint64_t limit_bytes_;
  std::uint64_t files_ = 0;
  std::uint64_t bytes_ = 0;
  std::ofstream file_;
  std::filesystem::path partial_;  // of the file that is being taken; empty: none
  std::string path_;
  std::uint64_t next_offset_ = 0;
};

struct FileToSend {
  std::filesystem::path path;
  std::string name;  // relative, for the other side
  bool operator==(const FileToSend&) const = default;
};

// Paths and patterns ("out/*.npy") relative to the base folder, or absolute. Folders are walked, and keep their name;
// links in them are not followed. `missing`: those that name nothing.
struct FileList {
  std::vector<FileToSend> files;
  std::vector<std::string> missing;
};
[[nodiscard]] FileList list_files(const std::vector<std::string>& patterns, const std::filesystem::path& base);

class FileSender {
 public:
  explicit FileSender(std::vector<FileToSend> files) : files_(std::move(files)) {}
  // Nothing when all was sent. After an error, which names the file, the next call goes on with the next file.
  [[nodiscard]] Result<std::optional<FilePiece>> next();
  [[nodiscard]] std::uint64_t sent_files() const noexcept { return sent_files_; }
  [[nodiscard]] std::uint64_t sent_bytes() const noexcept { return sent_bytes_; }

 private:
  Result<void> open();
  std::vector<FileToSend> files_;
  std::size_t index_ = 0;
  std::ifstream file_;
  FilePiece piece_;  // name, mode and total of the file that is being sent
  std::uint64_t offset_ = 0;
  std::uint64_t sent_files_ = 0;
  std::uint64_t sent_bytes_ = 0;
  bool opened_ = false;
};

}  // namespace accelscope::capture
