// The queries that a user has run and those that they have named, kept in one small text file for all sessions; and
// a few to begin with.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace accelscope::app {

struct NamedQuery {
  std::string name;
  std::string sql;
  bool operator==(const NamedQuery&) const = default;
};

[[nodiscard]] std::span<const NamedQuery> example_queries();

class QueryHistory {
 public:
  static constexpr std::size_t kMostHistory = 200;

  // file: where they are kept; "" keeps them for this run only.
  explicit QueryHistory(std::string file) : file_(std::move(file)) {}

  Result<void> load();
  Result<void> remember(const std::string& sql);  // newest first, the same text once
  Result<void> save(NamedQuery query);            // replaces one of the same name
  Result<void> forget(std::string_view name);

  [[nodiscard]] const std::vector<std::string>& history() const noexcept { return history_; }
  [[nodiscard]] const std::vector<NamedQuery>& saved() const noexcept { return saved_; }  // by name

 private:
  Result<void> write() const;
  std::string file_;
  std::vector<std::string> history_;
  std::vector<NamedQuery> saved_;
};

}  // namespace accelscope::app
