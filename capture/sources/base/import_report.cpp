#include "capture/sources/base/import_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace accelscope::capture::sources {
namespace {

constexpr std::size_t kImportReportMaxEntries = 512;  // a hostile file must not make the report grow without end

[[nodiscard]] std::string in_table(const std::string& table) {
  return table.empty() ? std::string("at the top level") : fmt::format("in table \"{}\"", table.substr(0, 80));
}

[[nodiscard]] std::string first_names(std::span<const std::string> names) {
  constexpr std::size_t kMostNamed = 12;
  const std::string listed = fmt::format("{}", fmt::join(names.first(std::min(names.size(), kMostNamed)), ", "));
  return names.size() <= kMostNamed ? listed : fmt::format("{} and {} more", listed, names.size() - kMostNamed);
}

}  // namespace

std::string hole_in_words(std::uint64_t first_byte) {
  return fmt::format(
      "bytes of zero stand where rows should be, the first at byte {}: that part of the file is damaged, or was never "
      "written to its disk. The rows there are missing, how many cannot be told; copy the file again from where it was "
      "made",
      first_byte);
}

void set_row_counts(SessionWriter& writer, std::string_view table, std::uint64_t in_file, std::uint64_t read) {
  writer.set_meta(fmt::format("source.rows.{}", table.substr(0, 80)), fmt::format("{}", in_file));
  writer.set_meta(fmt::format("source.read.{}", table.substr(0, 80)), fmt::format("{}", read));
}

std::uint64_t ImportReport::skipped_rows(std::string_view table) const {
  std::uint64_t count = 0;
  for (const auto& [key, skipped] : skipped_) count += key.first == table.substr(0, 80) ? skipped.count : 0;
  return count;
}

void ImportReport::note(QualityKind kind, std::string detail, std::uint64_t count) {
  if (count == 0) return;
  QualityEntry entry(kind, count, std::move(detail));
  const auto key = std::pair{entry.kind, entry.detail};
  const auto found = entries_.find(key);
  if (found != entries_.end()) {
    found->second.count += count;
  } else if (entries_.size() < kImportReportMaxEntries) {
    entries_.emplace(key, std::move(entry));
  } else {
    const std::uint64_t before = entries_[{"further_problems", ""}].count;
    entries_[{"further_problems", ""}] = {
        "further_problems", before + count,
        "more kinds of problems than are listed; the file is probably not what it claims to be"};
  }
}

void ImportReport::skipped_row(std::string_view table, std::string_view reason, std::uint64_t offset) {
  const auto key = std::pair{std::string(table.substr(0, 80)), std::string(reason)};
  const auto found = skipped_.find(key);
  if (found != skipped_.end()) {
    ++found->second.count;
  } else if (skipped_.size() < kImportReportMaxEntries) {
    skipped_.emplace(key, Skipped{1, offset});
  } else {
    ++skipped_[{"(further tables)", "for various reasons"}].count;
  }
}

void ImportReport::add(const json::JsonProblem& problem) {
  const std::string where = in_table(problem.table);
  const std::uint64_t at = problem.first_offset;
  switch (problem.kind) {
    case json::JsonProblem::Kind::unclosed:
    case json::JsonProblem::Kind::truncated:
      note("truncated",
           fmt::format("the file ends at byte {} in the middle of a value {}: the rest of that table is missing, and "
                       "every table behind it; what came before was read. Export it again or copy it completely",
                       at, where));
      break;
    case json::JsonProblem::Kind::hole:
      note("file_holes", hole_in_words(at), problem.count);
      break;
    case json::JsonProblem::Kind::unreadable:
      note("unreadable", fmt::format("{} (byte {} of the text, {})", problem.what, at, where));
      break;
    case json::JsonProblem::Kind::stray_bytes:
      note("stray_bytes",
           fmt::format("bytes that are not JSON {}, the first at byte {}, were passed over; check the tool that wrote "
                       "or edited the file",
                       where, at),
           problem.count);
      break;
    case json::JsonProblem::Kind::trailing_bytes:
      note("trailing_bytes",
           fmt::format("bytes after the end of the document, from byte {} on, were ignored; if two files were joined, "
                       "import them one by one",
                       at),
           problem.count);
      break;
    case json::JsonProblem::Kind::oversize_row:
      note(QualityKind("rows_skipped").as(Severity::error),
           fmt::format("a single value {} that begins at byte {} is longer than 16 MiB; is a quote missing there?",
                       where, at),
           problem.count);
      break;
    case json::JsonProblem::Kind::deep_row:
      note("rows_skipped", fmt::format("rows {} are nested too deeply, the first at byte {}", where, at),
           problem.count);
      break;
  }
}

void ImportReport::note_unread(std::string_view where, const std::vector<std::string>& names, std::string_view what) {
  note(what == "columns" ? QualityKind("unknown_columns") : QualityKind("unknown_table"),
       fmt::format("{}: {} that are not read here: {}", where, what, first_names(names)), names.size());
}

void ImportReport::note_columns(std::string_view table, std::span<const std::string> columns) {
  if (columns.size() <= kMostFileColumns) return;
  note(QualityKind("values_left_out").as(Severity::warning),
       fmt::format("\"{}\" has {} columns, and a session holds {} of a table: those behind them were left out: {}",
                   table.substr(0, 80), columns.size(), kMostFileColumns,
                   first_names(columns.subspan(kMostFileColumns))),
       columns.size() - kMostFileColumns);
}

void ImportReport::add(const LineBlocks& blocks, const std::string& file) {
  const std::string of = file.empty() ? file : file + ": ";
  if (blocks.hole_bytes() > 0) note("file_holes", of + hole_in_words(blocks.first_hole()), blocks.hole_bytes());
  if (!blocks.failure().empty())
    return note("unreadable_input", of + blocks.failure() + "; what comes before was read");
  if (blocks.ends_in_line()) note(QualityKind("truncated").as(Severity::warning), of + std::string(kLastLineIsOpen));
}

void ImportReport::write(SessionWriter& writer) const {
  for (const auto& [key, entry] : entries_) writer.add_quality(entry);
  for (const auto& [key, skipped] : skipped_) {
    writer.add_quality({"rows_skipped", skipped.count,
                        fmt::format("{} were skipped: {} (the first at {} {})",
                                    key.first.empty() ? std::string("rows at the top level")
                                                      : fmt::format("rows of \"{}\"", key.first),
                                    key.second, place_word_, skipped.offset)});
  }
}

}  // namespace accelscope::capture::sources
