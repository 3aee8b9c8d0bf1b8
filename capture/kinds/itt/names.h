// What a process has named through its probe, as events need it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "capture/probe/bodies.h"
#include "capture/probe/host/reader.h"
#include "capture/probe/itt/records.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::kinds::itt {

struct IttSite {
  StringId name = 0;
  StringId domain = 0;
  StringId function = 0;
  StringId place = 0;  // "step.cpp:33"
  std::uint32_t domain_id = 0;
  std::uint32_t colour = 0;
  std::string text;  // the name
};
struct IttCounter {
  std::string name;  // with its domain
  probe::itt::CounterType type = probe::itt::CounterType::unsigned_integer;
  probe::itt::CounterFormat format = probe::itt::CounterFormat::number;
};
struct IttLock {
  StringId name = 0;
  StringId place = 0;
  bool declared = false;  // by the program's own marks, which tell of every release
};

class IttNames {
 public:
  IttNames(SessionWriter& writer, const probes::ProbeProcess& process);

  // False: it breaks the rules.
  [[nodiscard]] bool define(std::uint32_t type, std::string_view body);

  [[nodiscard]] const IttSite& site(std::uint32_t id) const { return id < sites_.size() ? sites_[id] : sites_[0]; }
  [[nodiscard]] StringId domain(std::uint32_t id) const { return id < domains_.size() ? domains_[id] : 0; }
  [[nodiscard]] const IttCounter* counter(std::uint32_t id) const;  // null: not defined
  [[nodiscard]] const IttLock& lock(std::uint64_t number);          // of one without a name: its address
  // Facts of the whole process, in their order.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& facts() const noexcept { return facts_; }

 private:
  [[nodiscard]] bool define_domain(probe::BodyReader& body);
  [[nodiscard]] bool define_site(probe::BodyReader& body);
  [[nodiscard]] bool define_counter(probe::BodyReader& body);
  [[nodiscard]] bool define_lock(probe::BodyReader& body);
  [[nodiscard]] bool define_fact(probe::BodyReader& body);
  [[nodiscard]] StringId place_of(const std::string& file, std::uint32_t line);  // 0: not known
  void keep_source(const std::string& path);
  [[nodiscard]] std::string find_source(const std::string& path) const;  // "": it is not on this host

  SessionWriter& writer_;
  std::vector<std::string> folders_;  // from which relative paths of sources may start
  std::vector<StringId> domains_ = {0};
  std::vector<std::string> domain_names_ = {""};
  std::vector<IttSite> sites_ = {{}};
  std::unordered_map<std::uint32_t, IttCounter> counters_;
  std::unordered_map<std::uint64_t, IttLock> locks_;
  std::vector<std::pair<std::string, std::string>> facts_;
  std::unordered_set<std::string> sources_;  // that were looked for
};

// LLVM's and Intel's OpenMP runtimes pack a place in the source into their names:
//   "main$omp$parallel:3@/src/step.cpp:6:9"    a region with three threads, lines 6 to 9
//   "OMP Barrier ;/src/step.cpp;main;6;9;;"    an object of theirs; what is not known is "unknown"
struct OpenMpName {
  std::string name;  // "omp parallel in main, 3 threads", "OMP Barrier in main"
  std::string file;  // "": not known
  std::uint32_t line = 0;
};

// Nothing if it is no such name.
[[nodiscard]] std::optional<OpenMpName> parse_openmp_name(std::string_view text);

}  // namespace accelscope::capture::kinds::itt
