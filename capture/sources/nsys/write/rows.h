// The rows of the timeline: which there are, what they are called, in which order they stand. A row begins with its
// first event; it is named at the end, when it is known what else its device or thread has.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/sources/nsys/read/facts.h"
#include "capture/sources/nsys/write/tables.h"
#include "capture/sources/tracks/unordered_session.h"

namespace accelscope::capture::sources::nsys {

// What a stream has rows of.
enum class StreamRow : std::uint8_t { kernels, graphs, collectives, copies, sets, waits, events };
// What a thread has rows of. Libraries come in between, each with a row of its own.
enum class ThreadRow : std::uint8_t { annotations, library, runtime, system, states, samples };

class NsysRows {
 public:
  NsysRows(tracks::UnorderedSession& session, const NsysFacts& facts) : session_(session), facts_(facts) {}

  [[nodiscard]] std::uint32_t stream(StreamRow kind, std::uint64_t process, std::int64_t device, std::int64_t context,
                                     std::int64_t stream);
  // `library`: the table of a library's calls and its name, "" for the others.
  [[nodiscard]] std::uint32_t thread(ThreadRow kind, std::int64_t thread, std::string_view library = {},
                                     std::uint32_t table = kNone);
  [[nodiscard]] std::uint32_t ranges(std::uint64_t process);  // those that are not nested
  [[nodiscard]] std::uint32_t memory(std::int64_t device, bool pools);
  [[nodiscard]] std::uint32_t faults(std::uint64_t process);
  [[nodiscard]] std::uint32_t overhead(std::int64_t thread);
  [[nodiscard]] std::uint32_t messages();
  [[nodiscard]] std::uint32_t metric(std::int64_t type, std::int64_t metric);

  [[nodiscard]] std::string device_label(std::int64_t device) const;
  [[nodiscard]] const std::set<std::int64_t>& devices() const noexcept { return devices_; }

  void name_all();

 private:
  struct StreamKey {
    StreamRow kind = StreamRow::kernels;
    std::uint64_t process = 0;
    std::int64_t device = 0;
    std::int64_t context = 0;
    std::int64_t stream = 0;
    bool operator==(const StreamKey&) const = default;
    auto operator<=>(const StreamKey&) const = default;
  };
  struct StreamHash {
    std::size_t operator()(const StreamKey& key) const noexcept;
  };
  struct ThreadKey {
    ThreadRow kind = ThreadRow::annotations;
    std::uint32_t table = 0;
    std::int64_t thread = 0;
    bool operator==(const ThreadKey&) const = default;
  };
  struct ThreadHash {
    std::size_t operator()(const ThreadKey& key) const noexcept;
  };
  struct ThreadEntry {
    std::uint32_t row = 0;
    std::string label;
    int order = 0;
  };
  [[nodiscard]] std::uint32_t table(NsysTable table);
  void name_streams();
  void name_threads();

  tracks::UnorderedSession& session_;
  const NsysFacts& facts_;
  std::array<std::uint32_t, kNsysTableCount> tables_ = filled();
  static constexpr std::array<std::uint32_t, kNsysTableCount> filled() {
    std::array<std::uint32_t, kNsysTableCount> all{};
    all.fill(kNone);
    return all;
  }
  std::unordered_map<StreamKey, std::uint32_t, StreamHash> streams_;
  std::unordered_map<ThreadKey, std::uint32_t, ThreadHash> thread_rows_;
  std::map<std::int64_t, std::vector<ThreadEntry>> threads_;
  std::set<std::int64_t> launching_;
  std::set<std::int64_t> devices_;
  std::map<std::pair<int, std::int64_t>, std::uint32_t> others_;  // by what and whose
  std::map<std::int64_t, std::vector<std::uint32_t>> metrics_;    // by type and metric
};

}  // namespace accelscope::capture::sources::nsys
