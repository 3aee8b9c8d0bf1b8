// Captures that the user has named: a plan under a name, in a project. Retained in one text file that only its owner
// may read, since environments and programs may be private; a token's content is never in it, only the path of its
// file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/persist/persist.h"
#include "capture/client/capture_status.h"
#include "core/base/result.h"

namespace accelscope::app::plan {

struct ConfigurationName {
  std::string project;  // "": of none
  std::string name;
  [[nodiscard]] bool empty() const noexcept { return name.empty(); }
  auto operator<=>(const ConfigurationName&) const = default;
};

struct Configuration {
  ConfigurationName name;
  capture::client::CapturePlan plan;
};

class Configurations {
 public:
  // file: where they are kept; "" keeps them for this run only.
  explicit Configurations(std::string file) : file_(std::move(file)) {}

  Result<void> load();
  [[nodiscard]] const std::vector<Configuration>& list() const noexcept { return list_; }  // by project, then name
  [[nodiscard]] const Configuration* find(const ConfigurationName& name) const noexcept;
  [[nodiscard]] std::vector<std::string> projects() const;  // each once, without ""
  [[nodiscard]] const ConfigurationName& last_used() const noexcept { return last_used_; }

  // Each writes the file, and fails when that fails or the name is not free or not there.
  Result<void> save(Configuration configuration);  // replaces one of the same name
  Result<void> rename(const ConfigurationName& from, const ConfigurationName& to);
  Result<void> duplicate(const ConfigurationName& from, const ConfigurationName& to);
  Result<void> remove(const ConfigurationName& name);
  Result<void> use(const ConfigurationName& name);  // the one that a new form shows

  // A name in the same project that is free: "mlp copy", "mlp copy 2".
  [[nodiscard]] ConfigurationName free_name(const ConfigurationName& like) const;

 private:
  Result<void> write() const;
  void put(Configuration configuration);
  std::string file_;
  std::vector<Configuration> list_;
  ConfigurationName last_used_;
};

// A plan as "key=value" fields, and back; unknown keys are skipped.
[[nodiscard]] persist::TextRecord plan_fields(const capture::client::CapturePlan& plan);
[[nodiscard]] capture::client::CapturePlan plan_from_fields(const persist::TextRecord& fields);

}  // namespace accelscope::app::plan
