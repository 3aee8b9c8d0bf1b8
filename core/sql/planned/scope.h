// Which column a name of a statement means, and the columns that its query reads.
#pragma once

#include <optional>

#include "core/sql/base/tokens.h"
#include "core/sql/planned/query.h"
#include "core/sql/planned/reader.h"

namespace accelscope::sql {

class PlannedScope {
 public:
  PlannedScope(const std::vector<Token>& tokens, const PlannedTables& tables, PlannedQuery& query)
      : tokens_(tokens), tables_(tables), query_(query) {}

  // Tokens [begin, end) after FROM. False if they are more than the events of a table, with their tracks perhaps.
  bool read_from(std::size_t begin, std::size_t end);

  struct Found {
    std::size_t input;
    std::size_t next;  // the token behind it
  };
  [[nodiscard]] std::optional<Found> column(std::size_t at, std::size_t end);
  // A column, or ts_ns + dur_ns and end_ns - ts_ns, which are columns too; in brackets or not.
  [[nodiscard]] std::optional<Found> operand(std::size_t at, std::size_t end);
  // The columns that `*` stands for.
  [[nodiscard]] std::optional<std::vector<std::size_t>> all_columns();
  [[nodiscard]] bool names_column(const Token& token) const;

 private:
  bool read_table(std::size_t& at, std::size_t end);
  bool read_join_condition(std::size_t& at, std::size_t end);
  [[nodiscard]] std::optional<Input> event_column(std::size_t column) const;
  [[nodiscard]] std::optional<Input> find_event_column(const std::string& name) const;
  [[nodiscard]] std::optional<Input> find_track_column(const std::string& name) const;
  [[nodiscard]] std::optional<std::size_t> input_of_field(EventField field);
  std::size_t add(const Input& input);

  const std::vector<Token>& tokens_;
  const PlannedTables& tables_;
  PlannedQuery& query_;
  std::string events_alias_;  // in lower case
  std::string track_alias_;   // empty: no join
};

}  // namespace accelscope::sql
