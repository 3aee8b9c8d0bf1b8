// The tracks of a Chrome JSON trace: one per thread and table, so that what a device did never lies on a host thread's
// track even where both have the same pid and tid, and one per counter series, asynchronous category and memory pool.
// Names come from metadata events, which may be anywhere in the file, so tracks are described at the end.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/sources/chrome/read/row_reader.h"
#include "capture/sources/chrome/read/tables.h"
#include "capture/sources/chrome/write/flow_binder.h"
#include "capture/sources/tracks/gpu_tables.h"
#include "capture/sources/tracks/track_events.h"
#include "core/model/track_kinds.h"

namespace accelscope::capture::sources::chrome {

struct ChromeSchema {
  SchemaNumber number = kNone;
  const Schema* schema = nullptr;
};

class ChromeTracks {
 public:
  ChromeTracks(tracks::TrackEvents& events, const ChromeVocabulary& vocabulary)
      : events_(events), vocabulary_(vocabulary) {}

  // Numbers are those of TrackEvents; kNone: no event of that thread and table has come yet.
  [[nodiscard]] std::uint32_t known(std::uint32_t thread, ChromeTable table) const noexcept {
    const std::size_t place = std::size_t{thread} * kChromeTableCount + static_cast<std::size_t>(table);
    return place < by_thread_.size() ? by_thread_[place] : kNone;
  }
  // `on_device`: the first event tells of a device or stream.
  [[nodiscard]] std::uint32_t of_thread(std::uint32_t thread, ChromeTable table, const ChromeSchema& schema,
                                        bool on_device);
  // Kernels of collectives have a row of their own beside the stream's.
  [[nodiscard]] std::uint32_t of_collective_kernels(std::uint32_t thread, const ChromeSchema& schema);
  // Kernels and copies of a tool that tells the stream in the event alone, and not by its thread.
  [[nodiscard]] std::uint32_t of_stream(std::uint32_t thread, ChromeTable table, std::int64_t stream,
                                        const ChromeSchema& schema);
  // The profiler writes frames of threads that it does not know to one thread 0: `slot` tells them apart.
  [[nodiscard]] std::uint32_t of_unknown_thread(std::uint32_t thread, std::size_t slot, const ChromeSchema& schema);
  [[nodiscard]] std::uint32_t of_async(std::uint32_t thread, StringId category, const ChromeSchema& schema);
  [[nodiscard]] std::uint32_t of_counter(std::uint32_t thread, std::string_view name, const ChromeSchema& schema);
  // Of the process that tells of it: ranks have pools of one name each.
  [[nodiscard]] std::uint32_t of_pool(std::uint32_t thread, std::string_view pool, const ChromeSchema& schema);
  [[nodiscard]] std::uint32_t of_pool_counter(std::uint32_t thread, std::string_view pool, std::string_view name,
                                              const ChromeSchema& schema);
  [[nodiscard]] std::uint32_t of_flows(const ChromeSchema& schema);

  // Events that share a track because there are too many threads or counters for one each.
  [[nodiscard]] std::uint64_t merged() const noexcept { return merged_; }

  // A metadata event; false if it is none about processes and threads.
  [[nodiscard]] bool add_metadata(std::string_view name, std::uint32_t thread, std::string_view args);

  // Of tracks of a session that was exported: which of their events' arguments are what of an allocation.
  [[nodiscard]] const AllocationColumns& allocation_columns() const noexcept { return allocation_columns_; }

  // What events say of their process: its rank, and the device's number there. Asked for until it is known.
  [[nodiscard]] bool wants_facts(std::uint32_t thread) noexcept;
  void add_facts(std::uint32_t thread, std::optional<std::int64_t> rank, std::optional<std::int64_t> device);
  // Before bound_tracks() and define_all(): which processes are of which rank, where a tool merged several into one
  // file.
  void find_ranks(bool has_devices);

  // By the number that TrackEvents has for them.
  [[nodiscard]] std::vector<tracks::TrackEvents::TimeUse> time_uses() const;
  [[nodiscard]] FlowBinder::Tracks bound_tracks() const;  // of all events of threads, asynchronous ones too
  // What the file calls processes beside their names, by pid: "GPU 0", "tab title".
  void for_each_label(const std::function<void(const std::string& pid, const std::string& labels)>& visit) const;
  // Defines every track, in the order in which people look for them.
  // Threads are called as the tracks of the session are that the trace was exported from.
  void keep_names() noexcept { own_ = true; }
  Result<void> define_all(EventSink& sink, SessionWriter& writer, ClockNumber clock, bool kineto) const;

 private:
  enum class Sort : std::uint8_t { thread, async, counter, pool, pool_counter, flow };
  struct Planned {
    Sort sort = Sort::thread;
    std::uint32_t events_track = 0;
    std::uint32_t thread = 0;
    ChromeTable table = ChromeTable::event;
    SchemaNumber schema = kNone;
    std::string name;  // of all but a thread's
    bool on_device = false;
    bool collective = false;             // kernels of collectives
    std::optional<std::int64_t> stream;  // that the events tell in place of the thread
    std::size_t slot = 0;                // from 1: a thread that the profiler does not know
  };
  struct Names {
    std::string name;
    std::string labels;
    std::optional<std::int64_t> order;
    std::optional<TrackWords> words;  // of a session that was exported
  };
  // A process of a merged file: "rank 3" of "[TP03] 83", whose own number is 83.
  struct Rank {
    std::string label, pid;
    std::uint32_t number = 0;  // from 1, as the labels come
    std::optional<std::int64_t> device;
  };
  struct EventFacts {
    std::optional<std::int64_t> rank, device;
  };
  [[nodiscard]] const Rank* rank_of(const std::string& pid) const;
  // One thread that stands for all of its process; 0 for that of the first process with pools.
  [[nodiscard]] std::uint32_t pool_thread(std::uint32_t thread);
  void describe_pool(const Planned& planned, bool kineto, Track& track) const;
  // Half of what a writer can number: tracks out of order are written anew.
  static constexpr std::size_t kMostTracks = 6000;
  [[nodiscard]] std::uint32_t add(Planned planned, const ChromeSchema& schema);
  [[nodiscard]] std::uint32_t named(Sort sort, std::uint32_t thread, std::string_view name, const ChromeSchema& schema);
  // A track beside those of its thread; the name only tells it apart.
  [[nodiscard]] std::uint32_t beside(Planned planned, std::string name, const ChromeSchema& schema);
  [[nodiscard]] Track describe(const Planned& planned, bool kineto) const;
  // Several rows of one thread lie below a track of its name; "" for others.
  [[nodiscard]] std::string common_name(const Planned& planned, bool kineto) const;
  [[nodiscard]] std::string thread_title(const ThreadName& thread, bool kineto) const;
  [[nodiscard]] bool launches(std::uint32_t thread) const;
  [[nodiscard]] bool is_device_track(const Planned& planned, bool kineto) const;
  void describe_on_device(const Planned& planned, Track& track) const;
  void describe_in_words(const Planned& planned, Track& track) const;
  void describe_on_host(const Planned& planned, bool kineto, Track& track) const;
  // What the names of its process and thread say that it is; nothing: a row of the host, or one that its table places.
  [[nodiscard]] std::optional<tracks::DeviceRow> named_device(const Planned& planned) const;
  [[nodiscard]] std::string_view place_kind(const Planned& planned) const;
  [[nodiscard]] std::string process_label(const std::string& pid) const;
  [[nodiscard]] std::string host_label(const std::string& pid, bool kineto) const;
  [[nodiscard]] std::string own_name(const ThreadName& thread) const;
  [[nodiscard]] std::string thread_label(const ThreadName& thread) const;
  [[nodiscard]] ThreadName thread_name(std::uint32_t thread) const;
  [[nodiscard]] std::vector<std::size_t> in_order(bool kineto) const;

  tracks::TrackEvents& events_;
  const ChromeVocabulary& vocabulary_;
  std::uint64_t merged_ = 0;
  std::vector<Planned> planned_;
  std::vector<std::uint32_t> by_thread_;  // thread * kChromeTableCount + table -> TrackEvents' number, kNone
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> by_name_;
  std::unordered_map<std::string, Names> processes_;
  std::unordered_map<std::string, EventFacts> reported_;         // by pid
  std::vector<std::uint8_t> asked_;                              // by thread: how many events were asked
  std::unordered_map<std::string, Rank> ranks_;                  // by pid
  std::unordered_map<std::string, std::uint32_t> pool_threads_;  // by pid
  std::string first_pool_pid_;
  std::unordered_map<std::string, Names> threads_;  // by thread_key
  AllocationColumns allocation_columns_;
  bool own_ = false;
};

}  // namespace accelscope::capture::sources::chrome
