// Which physical core each row of a profile belongs to. A logical core may be made of several physical ones, each of
// which runs a compiled graph of its own: rows name the core (pcore_idx), the graph (subgraph "sg01") or neither, and
// only other tables, which may come later, say which graph ran where. So a row gets a place while the file is read,
// and places become cores at the end. Each core is a device named after its number on the chip ("nc4", "nc5"), and what
// belongs to no single one lies on a device made of all ("nc4+nc5"; core/analysis/time/track_devices.h). A logical core
// of one physical core is one device, whatever graphs ran on it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace accelscope::capture::sources::neuron {

class CorePlan {
 public:
  static constexpr std::int64_t kWhole = -1;  // the place of rows that name nothing, and the core of what all share

  // What a row says of its core; all may be missing.
  struct Named {
    std::optional<std::int64_t> core;    // pcore_idx
    std::string_view graph;              // "sg01"
    std::optional<std::int64_t> number;  // of the core on its chip: nc, nc_idx
    std::string_view device = {};        // as our own export of several devices writes it; goes before the others
  };
  [[nodiscard]] std::int64_t place(const Named& named);

  // Once every row is read: `stated_cores` is the metadata's number of physical cores, `number` what it says of the
  // (first) core's number on the chip.
  void settle(std::optional<std::int64_t> stated_cores, std::int64_t number);

  [[nodiscard]] std::int64_t core_of(
      std::int64_t place) const;  // 0 .. count() - 1, or kWhole; kWhole where there is one
  [[nodiscard]] std::size_t count() const noexcept { return numbers_.size(); }
  [[nodiscard]] std::string device(std::int64_t core) const;                           // "nc5"; of kWhole "nc4+nc5"
  [[nodiscard]] std::optional<std::int64_t> core_numbered(std::int64_t number) const;  // by its number on the chip

 private:
  static constexpr std::int64_t kMostCores = 64;  // real ones have two; a broken file may state anything
  [[nodiscard]] std::int64_t core_of_graph(const std::string& graph) const;
  [[nodiscard]] std::int64_t place_of_device(std::string_view device);

  std::vector<std::string> graphs_;   // by place
  std::vector<std::string> devices_;  // likewise
  std::size_t last_graph_ = 0;
  std::map<std::string, std::int64_t, std::less<>> place_of_graph_;
  std::map<std::string, std::int64_t, std::less<>> core_of_graph_;    // learnt from rows that name both
  std::map<std::string, std::int64_t, std::less<>> number_of_graph_;  // likewise
  std::int64_t most_core_ = -1;
  std::vector<std::int64_t> numbers_ = {0};  // of each core on the chip
};

}  // namespace accelscope::capture::sources::neuron
