// Files that go with a capture: sent to the agent before a program runs, brought back after it. Both sides take pieces
// into a folder of theirs, which no piece can leave, and send files piece by piece.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "capture/log/frame_segment.h"
#include "capture/wire/messages.h"
#include "core/base/result.h"

namespace accelscope::capture::log {

struct FileReceiverOptions {
  std::uint64_t limit_bytes = 16ULL << 30;
  // Paths and patterns as list_files() takes them: a file that is not of theirs is refused. None: any is taken.
  std::optional<std::vector<std::string>> asked;
  bool keeps_mode = false;  // less the umask; else every file is 0600
  bool replaces = false;    // files that were there before
};

// Pieces of one file come in order; a file is there, under its name, only when it is whole. Nothing is written outside
// of the folder, nor through a link below it.
class FileReceiver {
 public:
  // Makes the folder when the first piece comes.
  explicit FileReceiver(std::filesystem::path folder, FileReceiverOptions options = {})
      : folder_(std::move(folder)), options_(std::move(options)) {}
  ~FileReceiver();  // removes what is not whole
  FileReceiver(const FileReceiver&) = delete;
  FileReceiver& operator=(const FileReceiver&) = delete;

  // An error ends the exchange. A file that is there already is left alone, named in problems(), and the next one
  // taken.
  Result<void> take(const wire::FilePiece& piece);
  void start_over();  // all files will be sent again
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }
  [[nodiscard]] std::uint64_t files() const noexcept { return written_.size(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] const std::string& problems() const noexcept { return problems_; }
  // What does not agree with the totals that the other side states at its end, in a sentence; "" if nothing.
  [[nodiscard]] std::string compare(std::uint64_t files, std::uint64_t bytes) const;

 private:
  Result<void> begin_file(const wire::FilePiece& piece);
  Result<void> end_file();
  Result<system::Descriptor> open_parent(const std::filesystem::path& parent);

  std::filesystem::path folder_;
  FileReceiverOptions options_;
  std::set<std::string> written_;
  std::uint64_t bytes_ = 0;
  std::uint64_t whole_files_ = 0;  // since the other side began, those included that were left as they are
  std::uint64_t came_bytes_ = 0;   // likewise
  std::string problems_;
  system::Descriptor parent_;  // folder of the file that is being taken
  system::Descriptor file_;    // none: its pieces are passed over
  std::string partial_;        // its name until it is whole; "": no file is being taken
  std::string path_;
  std::uint64_t next_offset_ = 0;
};

// Whether list_files() could give a file this name for one of the patterns.
[[nodiscard]] bool was_asked_for(const std::vector<std::string>& patterns, const std::string& name);

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
  [[nodiscard]] Result<std::optional<wire::FilePiece>> next();
  [[nodiscard]] std::uint64_t sent_files() const noexcept { return sent_files_; }
  [[nodiscard]] std::uint64_t sent_bytes() const noexcept { return sent_bytes_; }

 private:
  Result<void> open();
  std::vector<FileToSend> files_;
  std::size_t index_ = 0;
  std::ifstream file_;
  wire::FilePiece piece_;  // name, mode and total of the file that is being sent
  std::uint64_t offset_ = 0;
  std::uint64_t sent_files_ = 0;
  std::uint64_t sent_bytes_ = 0;
  bool opened_ = false;
};

}  // namespace accelscope::capture::log
