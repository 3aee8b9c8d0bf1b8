#include "capture/sources/nsys/read/stacks.h"

#include <fmt/format.h>

#include "core/base/text.h"

namespace accelscope::capture::sources::nsys {

Result<void> NsysStacks::open(const sqlite::ForeignDatabase& file, std::string_view table) {
  any_ = false;
  known_.clear();
  if (!file.has_table(table)) return {};
  // Without an index every stack would cost a pass over the table.
  if (!file.has_index(table, "id")) {
    return Error{fmt::format("{} has no index, so that its stacks cannot be found", table)};
  }
  Result<Statement> lookup = file.prepare(fmt::format(
      "SELECT \"symbol\", \"module\" FROM {} WHERE \"id\" = ? ORDER BY \"stackDepth\"", sqlite::quoted_name(table)));
  if (!lookup) return lookup.error();
  lookup_ = std::move(lookup).value();
  any_ = true;
  return {};
}

NsysStacks::Stack NsysStacks::stack(std::int64_t number) {
  if (!any_) return {};
  if (const auto known = known_.find(number); known != known_.end()) return known->second;
  lookup_.reset();
  lookup_.bind(1, number);
  text_.clear();
  Stack stack;
  for (std::size_t depth = 0; depth < kMostFrames; ++depth) {
    const Result<bool> row = lookup_.step();
    if (!row || !row.value()) break;
    ++frames_read_;
    const std::int64_t symbol = lookup_.integer(0);
    const std::int64_t module = lookup_.integer(1);
    if (depth == 0) stack.innermost = strings_.intern(symbol);
    if (!text_.empty()) text_ += '\n';
    const std::string function(strings_.text(symbol));
    const std::string library = file_name(strings_.text(module));
    text_ += function;
    if (!library.empty() && library != function) text_ += fmt::format(" ({})", library);
  }
  if (!text_.empty()) stack.frames = writer_.intern(text_);
  if (known_.size() < kMostRememberedStacks) known_.try_emplace(number, stack);
  return stack;
}

}  // namespace accelscope::capture::sources::nsys
