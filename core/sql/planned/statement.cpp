#include "core/sql/planned/statement.h"

#include <algorithm>
#include <charconv>

#include "core/base/text.h"
#include "core/sql/base/context.h"

namespace accelscope::sql {
namespace {

bool read_number(const std::string& text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value < (std::uint64_t{1} << 62);
}

}  // namespace

std::optional<PlannedStatement> PlannedStatement::read(std::string_view sql) {
  auto tokens = tokens_of(sql);
  if (!tokens) return std::nullopt;
  PlannedStatement statement;
  statement.tokens_ = std::move(*tokens);
  while (!statement.tokens_.empty() && statement.tokens_.back().is_mark(";")) statement.tokens_.pop_back();
  if (!statement.find_clauses() || !statement.read_items()) return std::nullopt;
  return statement;
}

bool PlannedStatement::find_clauses() {
  if (tokens_.size() < 4 || !tokens_[0].is_word("select")) return false;
  std::size_t depth = 0;
  Clause last = kSelect;
  for (std::size_t i = 1; i < tokens_.size(); ++i) {
    const Token& token = tokens_[i];
    if (token.is_mark("(")) ++depth;
    if (token.is_mark(")") && depth-- == 0) return false;
    if (token.is_word("select")) return false;
    if (depth != 0 || token.kind != TokenKind::word) continue;
    const bool by = i + 1 < tokens_.size() && tokens_[i + 1].is_word("by");
    Clause clause = kSelect;
    if (token.text == "from") clause = kFrom;
    if (token.text == "where") clause = kWhere;
    if (token.text == "group" && by) clause = kGroup;
    if (token.text == "having") clause = kHaving;
    if (token.text == "order" && by) clause = kOrder;
    if (token.text == "limit") clause = kLimit;
    if (clause == kSelect) continue;
    if (clause <= last || (last == kSelect && clause != kFrom)) return false;
    starts_[clause] = i;
    last = clause;
  }
  return depth == 0 && last != kSelect;
}

std::size_t PlannedStatement::end(Clause clause) const noexcept {
  for (std::size_t next = clause + std::size_t{1}; next < kClauses; ++next) {
    if (starts_[next] != 0) return starts_[next];
  }
  return tokens_.size();
}

std::vector<std::size_t> PlannedStatement::part_ends(std::size_t begin, std::size_t end) const {
  std::vector<std::size_t> ends;
  int depth = 0;
  for (std::size_t i = begin; i < end; ++i) {
    if (tokens_[i].is_mark("(")) ++depth;
    if (tokens_[i].is_mark(")")) --depth;
    if (depth == 0 && tokens_[i].is_mark(",")) ends.push_back(i);
  }
  ends.push_back(end);
  return ends;
}

std::size_t PlannedStatement::closing(std::size_t open, std::size_t end) const {
  std::size_t depth = 0;
  for (std::size_t i = open; i < end; ++i) {
    if (tokens_[i].is_mark("(")) ++depth;
    if (tokens_[i].is_mark(")") && --depth == 0) return i;
  }
  return end;
}

bool PlannedStatement::read_items() {
  std::size_t begin = this->begin(kSelect);
  distinct_ = tokens_[begin].is_word("distinct");
  if (distinct_ || tokens_[begin].is_word("all")) ++begin;
  for (const std::size_t end : part_ends(begin, start(kFrom))) {
    if (end <= begin) return false;
    items_.push_back(read_alias(begin, end));
    begin = end + 1;
  }
  return true;
}

PlannedStatement::Item PlannedStatement::read_alias(std::size_t begin, std::size_t end) const {
  if (end - begin < 2) return {begin, end, ""};
  const Token& last = tokens_[end - 1];
  const Token& before = tokens_[end - 2];
  if (!last.is_name() && last.kind != TokenKind::text) return {begin, end, ""};
  if (before.is_word("as")) return {begin, end - 2, lower_case(last.text)};
  const bool operand_ends = before.kind == TokenKind::number || before.kind == TokenKind::text ||
                            before.kind == TokenKind::quoted || before.is_mark(")") || before.is_word("end") ||
                            before.is_word("null") ||
                            (before.kind == TokenKind::word && !contains(kExpressionWords, before.text));
  if (!operand_ends || (last.kind == TokenKind::word && contains(kExpressionWords, last.text))) return {begin, end, ""};
  return {begin, end - 1, lower_case(last.text)};
}

const PlannedStatement::Item* PlannedStatement::item_of_alias(const Token& token) const {
  if (!token.is_name()) return nullptr;
  const std::string name = lower_case(token.text);
  const auto found =
      std::find_if(items_.begin(), items_.end(), [&](const Item& item) { return !name.empty() && item.alias == name; });
  return found == items_.end() ? nullptr : &*found;
}

const PlannedStatement::Item* PlannedStatement::item_of_position(const Token& token) const {
  std::uint64_t position = 0;
  const bool number = token.kind == TokenKind::number && read_number(token.text, position);
  return number && position > 0 && position <= items_.size() ? &items_[position - 1] : nullptr;
}

// LIMIT a, LIMIT a OFFSET b, LIMIT b, a
bool PlannedStatement::read_limit(std::uint64_t& limit, std::uint64_t& offset) const {
  const std::size_t at = begin(kLimit);
  const std::size_t count = end(kLimit) - at;
  if ((count != 1 && count != 3) || !read_number(tokens_[at].text, limit)) return false;
  if (count == 1) return true;
  if (!read_number(tokens_[at + 2].text, offset)) return false;
  if (tokens_[at + 1].is_mark(",")) std::swap(limit, offset);
  return tokens_[at + 1].is_mark(",") || tokens_[at + 1].is_word("offset");
}

}  // namespace accelscope::sql
