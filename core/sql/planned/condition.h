// Reads a WHERE clause that is a list of comparisons of columns with constants.
#pragma once

#include "core/sql/planned/scope.h"

namespace accelscope::sql {

class PlannedConditionReader {
 public:
  PlannedConditionReader(std::string_view sql, const std::vector<Token>& tokens, const PlannedTables& tables,
                         PlannedScope& scope, PlannedQuery& query)
      : sql_(sql), tokens_(tokens), tables_(tables), scope_(scope), query_(query) {}

  // Tokens [begin, end) after WHERE. False if not all of them were understood.
  bool read(std::size_t begin, std::size_t end);

 private:
  bool read_term(std::size_t begin, std::size_t end);
  bool read_test(std::size_t input, std::size_t at, std::size_t end);
  bool read_comparison(std::size_t input, std::string_view op, std::size_t at, std::size_t end);
  bool read_between(std::size_t input, bool negated, std::size_t at, std::size_t end);
  bool read_list(std::size_t input, bool negated, std::size_t at, std::size_t end);
  bool read_pattern(std::size_t input, bool negated, std::string_view op, std::size_t at, std::size_t end);
  bool read_regexp_call(std::size_t begin, std::size_t end);
  bool add_comparison(std::size_t input, std::string_view op, const Constant& constant);
  bool add_strings(std::size_t input, bool negated, int op, std::vector<std::string> operands);
  // The constant that begins at `at`, which is moved behind it.
  [[nodiscard]] std::optional<Constant> constant(std::size_t& at, std::size_t end) const;
  [[nodiscard]] bool is_word(std::size_t at, std::size_t end, std::string_view word) const {
    return at < end && tokens_[at].is_word(word);
  }

  std::string_view sql_;
  const std::vector<Token>& tokens_;
  const PlannedTables& tables_;
  PlannedScope& scope_;
  PlannedQuery& query_;
};

}  // namespace accelscope::sql
