#include "core/listing/base/write.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <utility>

#include "core/base/format.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/names/short_names.h"

namespace accelscope::listing {

std::size_t display_width(std::string_view text) noexcept {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::string table_line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                       const std::vector<CellAlign>& alignment) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t width = display_width(cells[i]);
    const std::string padding(widths[i] > width ? widths[i] - width : 0, ' ');
    if (i > 0) line += "  ";
    line += alignment[i] == CellAlign::right ? padding + cells[i] : cells[i] + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

void TextTable::row(std::vector<std::string> cells) {
  cells.resize(std::min(cells.size(), columns_.size()));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] = plain_text(cells[i]);  // names come from files
    widths_[i] = std::max(widths_[i], std::min(display_width(cells[i]), kWidest));
  }
  entries_.push_back({"", std::move(cells)});
}

void TextTable::line(std::string text) { entries_.push_back({std::move(text), {}}); }

void TextTable::print(std::ostream& out) const {
  for (const Entry& entry : entries_) {
    if (entry.cells.empty()) {
      out << entry.text << '\n';
    } else {
      out << indent_ << table_line(entry.cells, widths_, columns_) << '\n';
    }
  }
}

std::string TextTable::markdown(std::string (*escape)(std::string_view), std::string_view around) const {
  std::string out;
  for (const Entry& entry : entries_) {
    out += '|';
    for (const std::string& cell : entry.cells) out += fmt::format(" {} |", escape(cell));
    out += '\n';
    if (&entry != &entries_.front()) continue;
    out += '|';
    for (const CellAlign align : columns_)
      out += fmt::format("{0}{1}{0}|", around, align == CellAlign::left ? "---" : "---:");
    out += '\n';
  }
  return out;
}

void append_csv_cell(std::string& out, std::string_view text, bool quote_empty) {
  if ((!text.empty() || !quote_empty) && text.find_first_of(",\"\n\r") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

namespace {

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

// Shortest form that reads back as the same number, and still looks like one that is not an integer.
std::string real_text(double value) {
  std::string text = fmt::format("{}", value);
  if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string value_text(const SqlValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* real = std::get_if<double>(&value)) return real_text(*real);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* blob = std::get_if<SqlBlob>(&value)) return hex(blob->bytes);
  return {};
}

// Lines end as everywhere here.
class CsvOutput final : public QueryOutput {
 public:
  explicit CsvOutput(std::ostream& out) : out_(out) {}
  bool columns(const std::vector<std::string>& names) override {
    for (std::size_t i = 0; i < names.size(); ++i) field(i, names[i]);
    out_ << '\n';
    return out_.good();
  }
  bool row(const std::vector<SqlValue>& values) override {
    for (std::size_t i = 0; i < values.size(); ++i) field(i, value_text(values[i]));
    out_ << '\n';
    return out_.good();
  }
  void finish() override { out_.flush(); }

 private:
  void field(std::size_t index, std::string_view text) {
    line_.assign(index > 0 ? "," : "");
    append_csv_cell(line_, text);
    out_ << line_;
  }
  std::ostream& out_;
  std::string line_;
};

// SQLite makes NULL of what is not a number, and columns may be named alike, which the keys of an object should not be.
class JsonOutput final : public QueryOutput {
 public:
  explicit JsonOutput(std::ostream& out) : out_(out) { json_.begin_array(); }
  bool columns(const std::vector<std::string>& names) override {
    keys_ = distinct(names);
    return out_.good();
  }
  bool row(const std::vector<SqlValue>& values) override {
    json_.begin_object();
    for (std::size_t i = 0; i < values.size(); ++i) json_.add(keys_[i], value_of(values[i]));
    out_ << json_.end().take();
    return out_.good();
  }
  void finish() override { out_ << json_.done() << '\n' << std::flush; }

 private:
  JsonValue value_of(const SqlValue& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
    if (const auto* real = std::get_if<double>(&value)) return JsonValue::real(*real);
    if (const auto* blob = std::get_if<SqlBlob>(&value)) return digits_ = hex(blob->bytes);
    return {};
  }
  // id, id_2.
  static std::vector<std::string> distinct(const std::vector<std::string>& names) {
    std::vector<std::string> keys;
    for (const std::string& name : names) {
      std::string key = name;
      const auto is_free = [&] {
        const auto same = [&](const std::string& other) { return other == key; };
        return std::none_of(keys.begin(), keys.end(), same) &&
               (key == name || std::none_of(names.begin(), names.end(), same));
      };
      for (int number = 2; !is_free(); ++number) key = fmt::format("{}_{}", name, number);
      keys.push_back(std::move(key));
    }
    return keys;
  }
  std::ostream& out_;
  JsonWriter json_{JsonLayout::rows};
  std::vector<std::string> keys_;
  std::string digits_;  // of a blob
};

class TableOutput final : public QueryOutput {
 public:
  TableOutput(std::ostream& out, bool cuts) : out_(out), cuts_(cuts) {}
  void units(std::vector<std::string> of_columns) override { units_ = std::move(of_columns); }
  [[nodiscard]] bool for_people() const noexcept override { return true; }
  bool columns(const std::vector<std::string>& names) override {
    for (const std::string& name : names) names_.push_back(plain_text(name));
    units_.resize(names_.size());
    alignment_.assign(names.size(), CellAlign::right);
    return true;
  }
  bool row(const std::vector<SqlValue>& values) override {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < values.size(); ++i) cells.push_back(cell_text(values[i], units_[i]));
    if (head_printed_) {
      print(cells);
      return out_.good();
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool number = std::holds_alternative<std::int64_t>(values[i]) || std::holds_alternative<double>(values[i]);
      if (!number && !std::holds_alternative<std::monostate>(values[i])) alignment_[i] = CellAlign::left;
    }
    sampled_.push_back(std::move(cells));
    if (sampled_.size() >= kSampledRows) print_sampled();
    return out_.good();
  }
  void finish() override {
    if (!head_printed_ && !names_.empty()) print_sampled();
    out_.flush();
  }

 private:
  // On one line, and on a screen no wider than that.
  [[nodiscard]] std::string cell_text(const SqlValue& value, const std::string& unit) const {
    if (std::holds_alternative<std::monostate>(value)) return "NULL";
    const auto* real = std::get_if<double>(&value);
    if (real != nullptr && std::isfinite(*real)) return format_value(*real, unit);
    // A number without a unit may be an id, which one copies.
    const auto* integer = std::get_if<std::int64_t>(&value);
    if (integer != nullptr && !unit.empty()) return format_value(static_cast<double>(*integer), unit);
    const bool is_blob = std::holds_alternative<SqlBlob>(value);
    const std::string text = is_blob ? "x'" + value_text(value) + "'" : plain_text(value_text(value));
    return cuts_ ? shorten_middle(text, kMostOnScreen) : text;
  }
  void print_sampled() {
    for (const std::string& name : names_) widths_.push_back(display_width(name));
    for (const auto& cells : sampled_) {
      for (std::size_t i = 0; i < cells.size(); ++i) widths_[i] = std::max(widths_[i], display_width(cells[i]));
    }
    print(names_);
    std::vector<std::string> rule;
    for (const std::size_t width : widths_) rule.emplace_back(width, '-');
    print(rule);
    for (const auto& cells : sampled_) print(cells);
    sampled_.clear();
    head_printed_ = true;
  }
  void print(const std::vector<std::string>& cells) { out_ << table_line(cells, widths_, alignment_) << '\n'; }

  static constexpr std::size_t kMostOnScreen = 100;
  std::ostream& out_;
  bool cuts_;
  std::vector<std::string> names_, units_;
  std::vector<CellAlign> alignment_;  // numbers to the right
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> sampled_;
  bool head_printed_ = false;
};

}  // namespace

std::unique_ptr<QueryOutput> make_query_output(std::string_view format, std::ostream& out, bool on_screen) {
  if (format == "csv") return std::make_unique<CsvOutput>(out);
  if (format == "json") return std::make_unique<JsonOutput>(out);
  return std::make_unique<TableOutput>(out, on_screen);
}

void visit_listing(const Listing& listing, SqlRowVisitor& visitor, bool shortens, std::size_t most) {
  const SqlResult& all = listing.rows;
  if (!visitor.columns(all.columns)) return;
  ShortNames names;
  const auto name_in = [&](std::size_t row, std::size_t i) {
    return shortens && row < most && listing.columns[i].look.names ? std::get_if<std::string>(&all.at(row, i))
                                                                   : nullptr;
  };
  for (std::size_t row = 0; row < std::min(most, all.row_count()); ++row) {
    for (std::size_t i = 0; i < all.columns.size(); ++i) {
      if (const std::string* name = name_in(row, i)) names.add(*name);
    }
  }
  for (std::size_t row = 0; row < all.row_count(); ++row) {
    std::vector<SqlValue> cells;
    for (std::size_t i = 0; i < all.columns.size(); ++i) {
      const std::string* name = name_in(row, i);
      cells.push_back(name == nullptr ? all.at(row, i) : SqlValue(names.usual(*name)));
    }
    if (!visitor.row(cells)) return;
  }
}

void print_listing(const Listing& listing, QueryOutput& output) {
  std::vector<std::string> units;
  for (const ListingColumn& column : listing.columns) units.push_back(column.unit);
  output.units(std::move(units));
  visit_listing(listing, output, output.for_people());
}

}  // namespace accelscope::listing
