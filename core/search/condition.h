// The terms of a search as conditions on the events of one schema.
#pragma once

#include <optional>
#include <vector>

#include "core/scan/predicate.h"
#include "core/search/search.h"

namespace accelscope {

// Fails if the expression is wrong.
[[nodiscard]] Result<TextTest> text_test(const SearchTerm& term);

// The string and text terms of a query are tested once and shared by all schemas.
class ConditionBuilder {
 public:
  explicit ConditionBuilder(const StringPool& strings) : strings_(strings) {}
  // Nothing: the schema has no such column. An error: the term is wrong for this column.
  [[nodiscard]] Result<std::optional<Condition>> build(const SearchTerm& term, const Schema& schema);

 private:
  [[nodiscard]] Result<std::optional<Condition>> build_text(const SearchTerm& term, const ValuePlace& place);
  struct Known {
    const SearchTerm* term;
    std::shared_ptr<const StringTest> test;
  };
  const StringPool& strings_;
  std::vector<Known> known_;
};

}  // namespace accelscope
