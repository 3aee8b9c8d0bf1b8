// The columns of one table. A first reading of the file shows every stat to it; then it has the columns for all of
// them, of the types that fit every value, and binds the values of events.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "capture/sources/tracks/event_values.h"
#include "capture/sources/xplane/read/records.h"
#include "capture/sources/xplane/tables.h"

namespace accelscope::capture::sources::xplane {

class StatTable {
 public:
  static constexpr std::uint32_t kNoField = ~std::uint32_t{0};
  explicit StatTable(XTable table) : table_(table) {}

  // First reading. The number of a stat for this table; kNoField: it has no column.
  [[nodiscard]] std::uint32_t field(std::string_view stat, Stat known);
  // `text`: of a text. Those of metadata recur.
  void see(std::uint32_t field, const StatValue& value, std::string_view text, bool recurs);
  void see(OwnColumn column) noexcept { own_seen_[static_cast<std::size_t>(column)] = true; }
  [[nodiscard]] bool has_seen(OwnColumn column) const noexcept { return own_seen_[static_cast<std::size_t>(column)]; }
  void add_wait_name(std::string_view name);
  void add_event() noexcept { ++events_; }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }

  // Ends the first reading.
  [[nodiscard]] Schema make_schema();
  // Stats that are no column: there are more than a table has room for. By occurrence.
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }

  // Second reading. Where the field's column stands; kNoField: it has none.
  [[nodiscard]] std::uint32_t column(std::uint32_t field) const noexcept {
    return field == kNoField ? kNoField : fields_[field].column;
  }
  [[nodiscard]] std::uint32_t column(OwnColumn column) const noexcept { return own_[static_cast<std::size_t>(column)]; }
  using Intern = std::function<StringId(std::string_view)>;
  // Of a field with a column. `known`: the text's number where that is known, else 0.
  void bind(std::uint32_t field, const StatValue& value, std::string_view text, StringId known, const Intern& intern,
            tracks::EventValues& values) const;

 private:
  static constexpr std::size_t kMostDistinct = 4096;
  struct Field {
    std::string name;
    bool real = false, negative = false, above_int64 = false, number = false, text = false;
    std::uint64_t texts = 0;  // that need not recur
    std::uint64_t texts_until_many = 0;
    std::unordered_set<std::size_t> distinct;
    std::uint32_t column = kNoField;
    ColumnType type = ColumnType::int64;
  };
  [[nodiscard]] static ColumnType type_of(const Field& field) noexcept;

  XTable table_;
  std::vector<Field> fields_;
  std::map<std::string, std::uint32_t, std::less<>> numbers_;
  std::array<bool, kOwnColumnCount> own_seen_{};
  std::array<std::uint32_t, kOwnColumnCount> own_{};
  std::unordered_set<std::string> wait_names_;
  std::uint64_t events_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace accelscope::capture::sources::xplane
