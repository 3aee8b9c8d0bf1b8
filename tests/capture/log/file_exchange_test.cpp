// Files that go with a capture arrive as they were, and only where they may.
#include "capture/log/file_exchange.h"

#include <doctest/doctest.h>

#include <iterator>

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;

struct TwoFolders {
  TwoFolders() {
    std::string pattern = (fs::temp_directory_path() / "accelscope-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    root = pattern;
    from = root / "from";
    to = root / "to";
    fs::create_directories(from);
  }
  ~TwoFolders() { fs::remove_all(root); }
  void write(const std::string& name, std::size_t bytes) {
    fs::create_directories((from / name).parent_path());
    std::ofstream file(from / name, std::ios::binary);
    for (std::size_t i = 0; i < bytes; ++i) file.put(static_cast<char>(i * 31 + i / 256));
  }
  static std::string content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    REQUIRE(file);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  fs::path root;
  fs::path from;
  fs::path to;
};

std::vector<std::string> names(const log::FileList& list) {
  std::vector<std::string> names;
  for (const log::FileToSend& file : list.files) names.push_back(file.name);
  return names;
}

TEST_CASE("files arrive as they were, whatever their size") {
  TwoFolders folders;
  const std::vector<std::size_t> sizes = {0, 1, wire::kFilePieceBytes - 1, wire::kFilePieceBytes,
                                          wire::kFilePieceBytes * 2 + 5};
  for (std::size_t i = 0; i < sizes.size(); ++i) folders.write("out/" + std::to_string(i) + ".npy", sizes[i]);
  fs::permissions(folders.from / "out/1.npy", fs::perms::owner_all);
  log::FileSender sender(log::list_files({"out"}, folders.from).files);
  log::FileReceiver receiver(folders.to, {.keeps_mode = true});
  for (;;) {
    const Result<std::optional<wire::FilePiece>> piece = sender.next();
    REQUIRE(piece.ok());
    if (!piece.value()) break;
    REQUIRE(receiver.take(*piece.value()).ok());
  }
  CHECK(receiver.files() == sizes.size());
  CHECK(sender.sent_bytes() == receiver.bytes());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::string name = "out/" + std::to_string(i) + ".npy";
    CHECK(TwoFolders::content(folders.to / name) == TwoFolders::content(folders.from / name));
  }
  CHECK(fs::status(folders.to / "out/1.npy").permissions() == fs::perms::owner_all);
}

TEST_CASE("patterns and folders name the files that they should, and what is missing is said") {
  TwoFolders folders;
  for (const char* name : {"a.npy", "b.npy", "c.txt", "deep/er/d.npy"}) folders.write(name, 3);
  fs::create_symlink("/etc/passwd", folders.from / "deep" / "link");
  CHECK(names(log::list_files({"*.npy"}, folders.from)) == std::vector<std::string>{"a.npy", "b.npy"});
  CHECK(names(log::list_files({"deep", "a.npy", "a.npy"}, folders.from)) ==
        std::vector<std::string>{"a.npy", "deep/er/d.npy"});
  CHECK(names(log::list_files({(folders.from / "deep").string()}, folders.root / "elsewhere")) ==
        std::vector<std::string>{"deep/er/d.npy"});
  const log::FileList none = log::list_files({"*.bin", "a.npy"}, folders.from);
  CHECK(none.missing == std::vector<std::string>{"*.bin"});
  CHECK(names(none) == std::vector<std::string>{"a.npy"});
}

TEST_CASE("a file that is not whole does not appear, and pieces out of order are refused") {
  TwoFolders folders;
  {
    log::FileReceiver receiver(folders.to);
    CHECK(receiver.take({"a", 0644, 0, 6, "abc"}).ok());
    CHECK_FALSE(receiver.take({"a", 0644, 4, 6, "ef"}).ok());
    CHECK_FALSE(receiver.take({"b", 0644, 0, 1, "x"}).ok());
    CHECK_FALSE(receiver.take({"../b", 0644, 0, 1, "x"}).ok());
    CHECK(receiver.files() == 0);
  }
  CHECK(fs::is_empty(folders.to));
  log::FileReceiver small(folders.to, {.limit_bytes = 4});
  CHECK(small.take({"a", 0644, 0, 3, "abc"}).ok());
  CHECK(small.take({"b", 0644, 0, 3, "abc"}).message().find("send fewer") != std::string::npos);
}

TEST_CASE(
    "a size or a count that is not true is told, and a file that is shorter or longer than it was said to be is not "
    "kept") {
  TwoFolders folders;
  log::FileReceiver receiver(folders.to);
  CHECK(receiver.take({"a", 0644, 0, 3, "abc"}).ok());
  CHECK(receiver.take({"empty", 0644, 0, 0, ""}).ok());
  CHECK(receiver.compare(2, 3) == "");
  CHECK(receiver.compare(3, 3) != "");
  CHECK(receiver.compare(2, 4) != "");
  CHECK(receiver.take({"short", 0644, 0, std::uint64_t{1} << 63U, "x"}).ok());
  CHECK(receiver.compare(3, 4).find("short") != std::string::npos);
  receiver.start_over();
  CHECK(receiver.compare(0, 0) == "");
  CHECK(receiver.take({"long", 0644, 0, 2, "abc"}).message().find("longer") != std::string::npos);
  receiver.start_over();
  CHECK(fs::exists(folders.to / "a"));
  CHECK_FALSE(fs::exists(folders.to / "short"));
  CHECK_FALSE(fs::exists(folders.to / "long"));
}

TEST_CASE("only what was asked for is taken, only below the folder, and nothing that is there is touched") {
  TwoFolders folders;
  fs::create_directories(folders.to / "out");
  fs::create_directory(folders.root / "outside");
  fs::create_symlink(folders.root / "outside", folders.to / "out" / "link");
  std::ofstream(folders.to / "out" / "mine.npy") << "mine";
  std::ofstream(folders.root / "target") << "target";
  fs::create_symlink(folders.root / "target", folders.to / "out" / "pointer.npy");
  const log::FileReceiverOptions options{.asked = std::vector<std::string>{"out/*.npy", "/data/run/logs", "out/link"}};
  const auto takes = [&](const std::string& name) {
    return log::FileReceiver(folders.to, options).take({name, 0777, 0, 1, "x"});
  };
  CHECK(takes("out/a.npy").ok());
  CHECK(takes("logs/deep/b.txt").ok());
  CHECK(takes("run/logs/c.txt").ok());
  CHECK((fs::status(folders.to / "out/a.npy").permissions() & fs::perms::all) ==
        (fs::perms::owner_read | fs::perms::owner_write));
  for (const char* name : {".bashrc", "out/a.txt", "out/.hidden.npy", "other/a.npy", "a.npy.exe", "run/other"}) {
    CAPTURE(name);
    CHECK(takes(name).message().find("nobody asked for this file") != std::string::npos);
    CHECK_FALSE(fs::exists(folders.to / name));
  }
  CHECK_FALSE(takes("out/link/x.npy").ok());  // not through it
  CHECK(fs::is_empty(folders.root / "outside"));
  log::FileReceiver receiver(folders.to, options);
  CHECK(receiver.take({"out/mine.npy", 0644, 0, 1, "x"}).ok());
  CHECK(receiver.take({"out/pointer.npy", 0644, 0, 1, "x"}).ok());
  CHECK(receiver.take({"out/b.npy", 0644, 0, 1, "x"}).ok());
  CHECK(receiver.take({"out/b.npy", 0644, 0, 1, "y"}).ok());  // sent again after a break
  CHECK(receiver.problems().find("mine.npy: is there already") != std::string::npos);
  CHECK(TwoFolders::content(folders.to / "out/mine.npy") == "mine");
  CHECK(TwoFolders::content(folders.root / "target") == "target");
  CHECK(TwoFolders::content(folders.to / "out/b.npy") == "y");
  log::FileReceiver over(folders.to, {.asked = options.asked, .replaces = true});
  CHECK(over.take({"out/mine.npy", 0644, 0, 1, "x"}).ok());
  CHECK(over.take({"out/pointer.npy", 0644, 0, 1, "x"}).ok());
  CHECK(TwoFolders::content(folders.to / "out/mine.npy") == "x");
  CHECK(TwoFolders::content(folders.root / "target") == "target");  // the link itself was replaced
  std::size_t parts = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folders.to)) parts += entry.path().extension() == ".part";
  CHECK(parts == 0);
}

TEST_CASE("a file that cannot be read is named, and the others are sent") {
  TwoFolders folders;
  folders.write("b", 2);
  log::FileSender sender({{folders.from / "missing", "missing"}, {folders.from / "b", "b"}});
  const Result<std::optional<wire::FilePiece>> first = sender.next();
  REQUIRE_FALSE(first.ok());
  CHECK(first.message().find("missing") != std::string::npos);
  const Result<std::optional<wire::FilePiece>> second = sender.next();
  REQUIRE(second.ok());
  CHECK(second.value()->path == "b");
  CHECK_FALSE(sender.next().value());
}

}  // namespace
}  // namespace accelscope::capture
