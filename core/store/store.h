// The store: one session's chunks and definitions in SQLite, in memory (a capture, an import) or in a session
// file opened in place, with the index that everything is drawn and asked from.
//
//   auto store = Store::create();                 // or Store::open(path)
//   store->define(scope, definition);             // before the chunks that use it
//   store->append(scope, std::move(chunk));       // checks, indexes, inserts
//   Snapshot snapshot = store->snapshot();        // immutable; take one per frame or query
//   store->read_chunk(lane, chunk_index);         // bytes of a chunk, for a ChunkView
//   store->save(path, progress);                  // atomic, also while capturing
//
// One connection owns the data; its mutex is held for one chunk or one save step at a time. All functions may be
// called from any thread, except that the define/append calls of one scope come from one thread at a time.
// A chunk that continues its lane's ordinals is taken; one that was taken before is dropped and counted
// (duplicate); a hole in the ordinals is counted as lost.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/file_system.h"
#include "core/base/result.h"
#include "core/chunk/event_sink.h"
#include "core/store/snapshot.h"

namespace accelscope {

class Database;

struct Marker {
  std::int64_t id = 0;
  std::string set_name;
  std::int64_t ts_ns = 0;
  std::optional<std::int64_t> end_ns;  // set: a span
  std::string name;
  std::string note;
};

// The fact of a session that names the program, with its version, that made it.
inline constexpr std::string_view kWrittenByFact = "written_by";

struct StoreOptions {
  // Of memory, for chunks, indexes, names and definitions. Beyond it chunks go to a file without a name: see
  // core/database/chunk_rows.h. 0: no end.
  std::uint64_t memory_budget_bytes = 0;
  std::string spill_directory;  // empty: the system's folder for temporary files
  std::string written_by;       // "accelscope 0.1.0"; empty: the session does not name its program
};

// For captures, which may go on for hours: half of this machine's memory.
[[nodiscard]] std::uint64_t default_memory_budget() noexcept;

// Called with done and total bytes; returning false cancels.
using Progress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

struct StoreStatus {
  bool in_memory = true;
  bool read_only = false;
  std::string path;                // of the session file; the folder of the file without a name; empty in memory
  std::uint64_t file_bytes = 0;    // in the file without a name
  std::uint64_t memory_bytes = 0;  // database pages (in memory), trees, totals, strings
  std::uint64_t chunk_bytes = 0;
  std::uint64_t chunks = 0;
  std::uint64_t duplicates = 0;  // events of chunks that came twice
  std::uint64_t lost = 0;        // events missing between chunks
};

// Whether Store::open() refuses the file for that alone: it is not damaged, this program is too old for it.
[[nodiscard]] bool is_of_newer_version(const std::string& path);

// What a salvage found in a damaged file.
struct SalvageReport {
  std::uint64_t file_bytes = 0;
  std::uint64_t chunks = 0;
  std::uint64_t events = 0;
  std::uint64_t definitions = 0;
  std::uint64_t damaged_chunks = 0;  // found, but cut, with a wrong checksum, or of a lane nothing describes
  std::vector<std::string> missing;  // what is known to be lost, in sentences
};

class RetainedAnswers;  // retained_answers.h

class Store {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Store>> create(StoreOptions options = {});
  // In place and lazily. A read-only file gets its overlay in a sidecar (path + ".overlay").
  [[nodiscard]] static Result<std::unique_ptr<Store>> open(const std::string& path);
  // To look something up: neither the file nor anything beside it is written, and what is kept beside the events is
  // not there.
  [[nodiscard]] static Result<std::unique_ptr<Store>> open_unchanged(const std::string& path);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // A scope for a new source; 0 is the first.
  [[nodiscard]] std::uint32_t new_scope();
  Result<void> define(std::uint32_t scope, const Definition& definition);
  Result<void> append(std::uint32_t scope, SealedChunk chunk);

  [[nodiscard]] std::shared_ptr<const Snapshot> snapshot() const;
  [[nodiscard]] std::uint64_t version() const noexcept;  // rises with every change
  [[nodiscard]] Result<Bytes> read_chunk(const LaneSnapshot& lane, std::uint32_t chunk_index) const;
  [[nodiscard]] RetainedAnswers& retained() const noexcept;  // of analysis, about this session

  // Overlay: short transactions; kept in the session file once there is one.
  [[nodiscard]] std::vector<Marker> markers() const;
  Result<std::int64_t> put_marker(const Marker& marker);  // id 0: a new one; returns its id
  Result<void> remove_marker(std::int64_t id);
  [[nodiscard]] std::string overlay_value(const std::string& key) const;  // tags, view state; "" if absent
  Result<void> set_overlay_value(const std::string& key, const std::string& value);

  // A draft beside the path takes its place once it is whole and on the disk; a link is followed, and a file that is
  // there keeps its mode. The session itself stays as it is, also when this fails.
  Result<void> save(const std::string& path, const Progress& progress = {}, FileAccess access = FileAccess::umask);
  [[nodiscard]] StoreStatus status() const;
  // Known without asking the database: the session file that it was opened in place from ("" if none), and whether that
  // cannot be written.
  [[nodiscard]] const std::string& opened_from() const noexcept;
  [[nodiscard]] bool is_read_only() const noexcept;
  void add_quality(QualityEntry entry);

  // For tests: called before every use of the database, on the thread that waits for it. To be set before any is made.
  void on_database_use(std::function<void()> reported);

 private:
  friend Result<std::unique_ptr<Store>> salvage_session(const std::string& path, SalvageReport& report);
  struct Implementation;
  // save.cpp: how a save may end that does not fail.
  enum class Copied : std::uint8_t { all, cancelled, not_so };
  Result<Copied> copy_pages(Database& out, const Progress& progress) const;
  Result<Copied> copy_rows(Database& out, bool merge, const Progress& progress) const;
  explicit Store(std::unique_ptr<Implementation> impl);
  std::unique_ptr<Implementation> impl_;
};

// From a damaged session file: every chunk and definition whose checksum holds, found in the raw pages, into a
// new in-memory store. The file is not touched. Fails only if nothing at all can be recovered.
[[nodiscard]] Result<std::unique_ptr<Store>> salvage_session(const std::string& path, SalvageReport& report);

// An EventSink that feeds one scope of a store in this process.
class StoreSink final : public EventSink {
 public:
  explicit StoreSink(Store& store) : store_(store), scope_(store.new_scope()) {}
  Result<void> define(const Definition& definition) override { return store_.define(scope_, definition); }
  Result<void> append(SealedChunk chunk) override { return store_.append(scope_, std::move(chunk)); }
  [[nodiscard]] std::uint32_t scope() const noexcept { return scope_; }

 private:
  Store& store_;
  std::uint32_t scope_;
};

}  // namespace accelscope
