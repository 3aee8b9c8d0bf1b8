// What the rows of a device log share, each kept once under a number: the processors, the places in the code that left
// markers, the runs they belong to, and texts of meta data. Several parsers add to it at the same time; numbers
// therefore depend on the run, and nothing that a user sees may depend on them. Read it when the parsers are done.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace accelscope::capture::sources::tt_metal {

enum class MarkerKind : std::uint8_t { zone_begin, zone_end, zone_total, ts_data, ts_event, counter, other };

// A RISC processor of a core.
struct LogProcessor {
  std::uint32_t chip = 0;
  std::uint32_t core_x = 0;
  std::uint32_t core_y = 0;
  std::string risc;
};

// A marker of the code. Timer ids are folded hashes and collide; zones are told apart by name, file and line.
struct LogSite {
  MarkerKind kind = MarkerKind::other;
  std::uint8_t rank = 0;   // of zones that begin together, the smaller encloses: firmware 0, kernel 1, others 2
  std::uint32_t zone = 0;  // the same number for begin and end
  std::uint64_t timer_id = 0;
  bool has_timer_id = false;
  std::string type;  // the file's word
  std::string name;
  std::string file;
  std::string line;
};

// Which run of a program a marker belongs to, and the cells of columns that are not known.
struct LogContext {
  enum Id : std::uint8_t { run_id, run_host_id, trace_id, trace_id_counter };
  static constexpr std::size_t kIds = 4;
  std::uint64_t ids[kIds] = {};
  std::uint8_t present = 0;  // a bit per id
  std::vector<std::string> extras;

  [[nodiscard]] bool has(std::size_t id) const noexcept { return (present >> id & 1) != 0; }
  [[nodiscard]] bool same_run(const LogContext& other) const noexcept;
};

class DeviceLogDictionary {
 public:
  // Beyond these the file is hostile or broken: the rest is counted and shares what is left.
  static constexpr std::uint32_t kMaxProcessors = 12'000;
  static constexpr std::uint32_t kMaxSites = 250'000;
  static constexpr std::uint32_t kMaxContexts = 1'000'000;
  static constexpr std::uint32_t kMaxMetaData = 1'000'000;
  static constexpr std::uint32_t kFull = 0xffffffffU;

  DeviceLogDictionary();

  // The number of what is given, new or known; kFull where there is no room for another. Site 0 stands for the
  // markers for which there is none.
  [[nodiscard]] std::uint32_t add_processor(LogProcessor processor);
  [[nodiscard]] std::uint32_t add_site(LogSite site);
  [[nodiscard]] std::uint32_t add_context(LogContext context);
  [[nodiscard]] std::uint32_t add_meta_data(std::string_view text);

  [[nodiscard]] const std::vector<LogProcessor>& processors() const noexcept { return processors_; }
  [[nodiscard]] const LogSite& site(std::uint32_t number) const noexcept { return sites_[number]; }
  [[nodiscard]] const std::vector<LogSite>& sites() const noexcept { return sites_; }
  [[nodiscard]] const LogContext& context(std::uint32_t number) const noexcept { return contexts_[number]; }
  [[nodiscard]] const std::string& meta_data(std::uint64_t number) const noexcept { return meta_data_[number]; }
  [[nodiscard]] const std::vector<std::string>& meta_data() const noexcept { return meta_data_; }
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }  // of sites, contexts, texts

 private:
  using Numbers = std::unordered_map<std::string, std::uint32_t>;
  template <typename T>
  [[nodiscard]] std::uint32_t add(Numbers& numbers, std::string key, std::vector<T>& values, T value,
                                  std::uint32_t most);

  std::mutex mutex_;
  Numbers processor_numbers_;
  Numbers site_numbers_;
  Numbers zone_numbers_;
  Numbers context_numbers_;
  Numbers meta_data_numbers_;
  std::vector<LogProcessor> processors_;
  std::vector<LogSite> sites_;
  std::vector<LogContext> contexts_;    // 0: nothing is known
  std::vector<std::string> meta_data_;  // 0: ""
  std::uint64_t left_out_ = 0;
};

}  // namespace accelscope::capture::sources::tt_metal
