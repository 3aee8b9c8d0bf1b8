#include "capture/sources/parquet/table_reader.h"

#include <fmt/format.h>

#include <algorithm>

namespace accelscope::capture::sources::parquet {
namespace {

constexpr std::size_t kMostNestedBytes = 16U << 20;  // as rows of JSON may have
constexpr std::size_t kMostProblems = 1000;
// Texts that repeat pack well, but not without end: a damaged file must not become memory without end.
constexpr std::uint64_t kTextPerByte = 4096;
constexpr std::uint64_t kTextOfAnyFile = 256U << 20;

}  // namespace

Result<std::unique_ptr<TableReader>> TableReader::open(std::unique_ptr<RandomBytes> bytes) {
  Result<Footer> footer = Footer::read(*bytes);
  if (!footer) return footer.error();
  return std::make_unique<TableReader>(std::move(bytes), std::move(*footer));
}

TableReader::TableReader(std::unique_ptr<RandomBytes> bytes, Footer footer)
    : bytes_(std::move(bytes)),
      footer_(std::move(footer)),
      nested_(footer_.fields(), columns_),
      text_left_(kTextOfAnyFile + kTextPerByte * bytes_->size()) {
  for (const std::uint32_t column : footer_.columns()) {
    columns_.emplace_back(*bytes_, footer_.fields()[column], scratch_);
  }
  for (const std::uint32_t field : footer_.root().children) tops_.emplace_back().number = field;
}

std::vector<json::JsonField> TableReader::samples() const {
  std::vector<json::JsonField> samples;
  for (const TopField& top : tops_) {
    const Field& field = footer_.fields()[top.number];
    json::JsonField sample{field.name, "0", json::JsonKind::number};
    const bool real = field.type == format::PhysicalType::float32 || field.type == format::PhysicalType::float64 ||
                      field.meaning == Meaning::decimal || field.meaning == Meaning::float16;
    if (!field.is_column || field.repetition == format::Repetition::repeated) {
      sample = {field.name, "[]", json::JsonKind::array};
    } else if (field.type == format::PhysicalType::boolean) {
      sample = {field.name, "true", json::JsonKind::boolean};
    } else if (real) {
      sample.text = "0.5";
    } else if (field.meaning == Meaning::unsigned_number && field.type == format::PhysicalType::int64) {
      sample.text = "18446744073709551615";
    } else if (field.meaning == Meaning::text || field.meaning == Meaning::raw) {
      sample = {field.name, "text", json::JsonKind::string};
    }
    samples.push_back(sample);
  }
  return samples;
}

bool TableReader::begin_group() {
  while (next_group_ < footer_.group_count()) {
    group_rows_ = footer_.rows_of(next_group_);
    row_in_group_ = 0;
    const Result<std::vector<ColumnChunkPlace>> chunks = footer_.chunks_of(next_group_);
    ++next_group_;
    if (!chunks) {
      lose_rest(chunks.message());
      continue;
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) columns_[i].begin((*chunks)[i]);
    for (TopField& top : tops_) {
      top.lost = false;
      const Field& field = footer_.fields()[top.number];
      const bool flat = field.is_column && field.repeated == 0;
      if (flat && !columns_[field.leaf].failed() && (*chunks)[field.leaf].values > group_rows_) {
        problems_.push_back({field.name,
                             fmt::format("states {} values for {} rows; those beyond were not read",
                                         (*chunks)[field.leaf].values, group_rows_),
                             next_group_ - 1, 0});
      }
    }
    if (group_rows_ > 0) return true;
  }
  return false;
}

bool TableReader::next() {
  while (!finished_) {
    if (row_in_group_ == group_rows_ && !begin_group()) break;
    row_.clear();
    bool any_left = false;
    for (TopField& top : tops_) {
      if (top.lost) continue;
      json::JsonField field;
      if (read_field(top, field)) row_.push_back(field);
      any_left = any_left || !top.lost;
    }
    if (!any_left) {
      rows_done_ += group_rows_ - row_in_group_;
      row_in_group_ = group_rows_;
      continue;
    }
    ++row_in_group_;
    ++rows_done_;
    for (const json::JsonField& field : row_) {
      if (field.text.size() <= text_left_) {
        text_left_ -= field.text.size();
        continue;
      }
      finished_ = true;
      lose_rest(fmt::format("unpacks to more than {} times its size; what follows was not read", kTextPerByte));
    }
    return true;
  }
  return false;
}

// False: it is null, or lost.
bool TableReader::read_field(TopField& top, json::JsonField& field) {
  const Field& here = footer_.fields()[top.number];
  if (!here.is_column || here.repeated > 0) return read_nested(top, field);
  ColumnReader& column = columns_[here.leaf];
  ColumnEntry entry;
  if (!column.next(entry)) {
    lose(top);
    return false;
  }
  if (entry.definition < here.definition) return false;
  top.room.mended = false;
  field = field_of(here, entry.value, top.room);
  field.key = here.name;
  mended_values_ += top.room.mended ? 1 : 0;
  return true;
}

bool TableReader::read_nested(TopField& top, json::JsonField& field) {
  top.nested.clear();
  const Field& here = footer_.fields()[top.number];
  // Levels of 0 begin a row in every column of the field, or they have come apart.
  std::vector<std::uint32_t> below = {top.number};
  for (std::size_t i = 0; i < below.size(); ++i) {
    const Field& part = footer_.fields()[below[i]];
    below.insert(below.end(), part.children.begin(), part.children.end());
    if (!part.is_column || columns_[part.leaf].next_repetition() == 0) continue;
    if (!columns_[part.leaf].failed()) columns_[part.leaf].fail("does not end where its rows do");
    lose(top);
    return false;
  }
  const bool whole = nested_.append_row(top.number, top.nested, kMostNestedBytes);
  mended_values_ += nested_.mended() ? 1 : 0;
  if (!whole) {
    lose(top);
    return false;
  }
  if (top.nested == "null") return false;
  field = {here.name, top.nested, top.nested.front() == '{' ? json::JsonKind::object : json::JsonKind::array};
  return true;
}

// The first of the columns below that failed knows why.
std::string TableReader::failure_of(std::uint32_t number) const {
  const Field& field = footer_.fields()[number];
  if (field.is_column) {
    const ColumnReader& column = columns_[field.leaf];
    return column.failed() ? column.problem() : std::string{};
  }
  for (const std::uint32_t child : field.children) {
    if (std::string why = failure_of(child); !why.empty()) return why;
  }
  return {};
}

void TableReader::lose(TopField& top) {
  top.lost = true;
  std::string why = failure_of(top.number);
  if (why.empty()) why = fmt::format("ends after {} of {} rows", row_in_group_, group_rows_);
  if (problems_.size() >= kMostProblems) return;
  problems_.push_back(
      {footer_.fields()[top.number].name, std::move(why), next_group_ - 1, group_rows_ - row_in_group_});
}

void TableReader::lose_rest(std::string what) {
  const std::uint64_t lost = group_rows_ - row_in_group_;
  if (problems_.size() < kMostProblems) problems_.push_back({"", std::move(what), next_group_ - 1, lost});
  rows_done_ += lost;
  row_in_group_ = group_rows_;
}

}  // namespace accelscope::capture::sources::parquet
