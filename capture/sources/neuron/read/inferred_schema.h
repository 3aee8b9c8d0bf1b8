// A schema for a table that nobody told us about: the names, types and kind are read off its first rows. Later
// values that do not fit go into the schema's "extra" column like everywhere else.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "capture/json/row_parser.h"
#include "core/model/schema.h"

namespace accelscope::capture::sources::neuron {

class SchemaInference final : public json::JsonRowHandler {
 public:
  void on_row(std::span<const json::JsonField> fields, bool is_object, const json::RowPlace& place) override;
  void on_bad_row(std::string_view text, const json::RowPlace& place) override;
  void on_mended_row(const json::RowPlace& place) override;

  // With the extra column.
  [[nodiscard]] Schema schema(std::string_view table) const;

 private:
  struct Seen {
    std::uint64_t integers = 0;
    std::uint64_t wide_integers = 0;  // fit only without a sign
    std::uint64_t reals = 0;
    std::uint64_t booleans = 0;
    std::uint64_t strings = 0;
    std::uint64_t nested = 0;
    std::uint64_t text_bytes = 0;
    std::unordered_set<std::size_t> distinct;  // hashes of strings
  };
  [[nodiscard]] static ColumnType type_of(const Seen& seen);

  std::vector<std::string> order_;
  std::map<std::string, Seen, std::less<>> keys_;
};

// The key of the only field of a row that is not an object.
inline constexpr std::string_view kValueKey = "value";

}  // namespace accelscope::capture::sources::neuron
