// A kind's tables of events as constants, and their numbers in a session.
//
//   enum class Table : std::size_t { kernels, copies };
//   constexpr TableSpec kTables[] = {{{"kernel", EventKind::slice, "kernel", "Its name."}, kKernelColumns}, ...};
//   Tables<Table> tables(writer, kTables);
//   ... writer.add_track({.name = "queue", .schema = tables[Table::kernels]});
#pragma once

#include <span>
#include <vector>

#include "core/chunk/session_writer.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::kinds {

struct TableSpec {
  SchemaSpec schema;
  std::span<const ColumnSpec> columns;
};

template <typename Table>
class Tables {
 public:
  Tables(SessionWriter& writer, std::span<const TableSpec> tables)
      : writer_(writer), tables_(tables), numbers_(tables.size(), kNone) {}

  // Defined when it is first asked for, so that a session has no tables that its programs do not use.
  [[nodiscard]] SchemaNumber operator[](Table table) {
    SchemaNumber& number = numbers_[static_cast<std::size_t>(table)];
    const TableSpec& spec = tables_[static_cast<std::size_t>(table)];
    if (number == kNone) number = writer_.add_schema(make_schema(spec.schema, spec.columns));
    return number;
  }
  void define_all() {
    for (std::size_t i = 0; i < tables_.size(); ++i) (void)(*this)[static_cast<Table>(i)];
  }

 private:
  SessionWriter& writer_;
  std::span<const TableSpec> tables_;
  std::vector<SchemaNumber> numbers_;
};

}  // namespace accelscope::capture::kinds
