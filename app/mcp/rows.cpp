#include "app/mcp/rows.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/utf8.h"

namespace accelscope::app {
namespace {

std::string hexadecimal(std::string_view bytes) {
  std::string digits;
  for (const char byte : bytes) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return digits;
}

std::string cut_text(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  const std::string_view front = utf8_front(text, most);
  return fmt::format("{} ... ({} more bytes)", front, text.size() - front.size());
}

struct CellJson {
  std::size_t most;
  std::string operator()(std::monostate) const { return "null"; }
  // Beyond 2^53 clients that read numbers as doubles would round it.
  std::string operator()(std::int64_t value) const {
    constexpr std::int64_t kExact = std::int64_t{1} << 53;
    const std::string digits = std::to_string(value);
    return value > kExact || value < -kExact ? json_quote(digits) : digits;
  }
  std::string operator()(double value) const {
    if (std::isinf(value)) return value > 0 ? "1e999" : "-1e999";
    return json_number(value);
  }
  std::string operator()(const std::string& value) const { return json_quote(cut_text(value, most)); }
  std::string operator()(const SqlBlob& value) const { return json_quote(cut_text(hexadecimal(value.bytes), most)); }
};

}  // namespace

bool LimitedRows::columns(const std::vector<std::string>& names) {
  columns_ = json_texts(names);
  return true;
}

bool LimitedRows::row(const std::vector<SqlValue>& values) {
  if (++seen_ > limits_.counted) {
    counted_all_ = false;
    return false;
  }
  if (kept_ + 1 < seen_ || kept_ >= limits_.rows) return true;  // a limit was reached before
  JsonList cells;
  for (const SqlValue& value : values) cells.raw(std::visit(CellJson{limits_.cell_bytes}, value));
  const std::string json = cells.done();
  if (kept_ > 0 && bytes_ + json.size() > limits_.bytes) return true;
  bytes_ += json.size();
  ++kept_;
  rows_.raw(json);
  return true;
}

void LimitedRows::add_to(JsonObject& answer) const {
  answer.raw("columns", columns_).raw("rows", rows_.done());
  if (seen_ == kept_) return;
  const std::string total = counted_all_ ? std::to_string(seen_) : fmt::format("more than {}", limits_.counted);
  const bool by_bytes = kept_ < limits_.rows;
  answer.text("left_out", fmt::format("{} of {} rows are shown; {}, or ask for less", kept_, total,
                                      by_bytes ? "raise max_bytes" : "raise max_rows"));
}

}  // namespace accelscope::app
