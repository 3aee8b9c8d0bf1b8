#include "capture/sources/nsys/importer.h"

#include <fmt/format.h>

#include <algorithm>

namespace accelscope::capture::sources::nsys {
namespace {

constexpr std::uint64_t kRowsBetweenLooks = 8192;

}  // namespace

NsysImporter::NsysImporter(sqlite::ForeignDatabase file, sqlite::ForeignDatabase events, std::string path,
                           const ImportOptions& options, EventSink& sink)
    : file_(std::move(file)),
      events_(std::move(events)),
      path_(std::move(path)),
      options_(options),
      session_(sink),
      strings_(session_.writer()),
      stacks_(strings_, session_.writer()),
      facts_(file_, strings_),
      rows_(session_, facts_) {}

Result<void> NsysImporter::run() {
  if (file_.is_cut()) {
    session_.report().note("truncated",
                           "the file is shorter than it says it is: rows in what is missing are lost, all others were "
                           "read; copy it again, or export the report anew");
  }
  if (file_.is_damaged()) {
    session_.report().note("salvaged",
                           "what the file says of its tables is damaged: those that can be found were read, others may "
                           "be missing; copy it again, or export the report anew");
  }
  words_.read(file_);
  if (Result<void> done = strings_.open(file_); !done) {
    session_.report().note("unreadable", fmt::format("the table of strings cannot be read: {}", done.message()));
  }
  if (Result<void> done = facts_.read(); !done) {
    session_.report().note("unreadable", fmt::format("of names and facts not all can be read: {}", done.message()));
  }
  payloads_.read(file_);
  count_sources();
  // Devices first: a call that started nothing needs no flow.
  read_kernels();
  read_copies();
  read_sets();
  read_graphs();
  read_device_events();
  read_waits();  // for events of other streams
  read_memory();
  read_memory_pools();
  read_page_faults();
  remember_launched();
  read_calls();
  may_launch_ = {};
  read_ranges();
  read_libraries();
  read_system_calls();
  read_overhead();
  read_cpu_samples();
  read_thread_states();
  read_metrics();
  read_messages();
  close_ranges();
  if (session_.cancelled()) {
    const Result<void> status = session_.status();
    return status ? Error{fmt::format("{}: the import was cancelled", path_)} : status.error();
  }
  tell_unread_tables();
  tell_unread_columns();
  rows_.name_all();
  write_facts();
  write_report();
  return session_.finish(
      {.clock = "session",
       .unix_ns = facts_.unix_ns(),
       .path = path_,
       .unjoined_targets =
           "kernels, copies and graphs have no call that launched them in the file: the capture began later, or only a "
           "part of it was exported"});
}

void NsysImporter::count_sources() {
  for (const std::string& table : file_.tables()) {
    if (table.starts_with("ENUM_") || table.starts_with("META_DATA") || table == "StringIds") continue;
    Result<sqlite::ForeignRows> last =
        file_.select(fmt::format("SELECT max(rowid) FROM {}", sqlite::quoted_name(table)));
    if (last && last->next()) rows_total_ += static_cast<std::uint64_t>(std::max<std::int64_t>(last->integer(0), 0));
  }
}

void NsysImporter::each_row(std::string_view table, std::string_view becomes, Columns columns,
                            const std::function<void(const Row&)>& visit, std::string_view further) {
  if (!file_.has_table(table) || session_.cancelled()) return;
  sqlite::RowsAhead rows(events_, table, columns, further);
  std::uint64_t count = 0;
  const std::uint64_t left_out = counts_.left_out();
  while (const Row* row = rows.next()) {
    visit(*row);
    if (++count % kRowsBetweenLooks != 0) continue;
    if (session_.cancelled()) break;
    if (options_.progress) options_.progress(rows_done_ + count, std::max(rows_total_, rows_done_ + count));
  }
  rows_done_ += count;
  read_tables_[std::string(table)] += count;
  if (count > 0) {
    auto& [all, read] = source_rows_[std::string(becomes)];
    all += count;
    read += count - std::min(count, counts_.left_out() - left_out);
  }
  if (!session_.cancelled() && !rows.status()) {
    session_.report().note("lost_events",
                           fmt::format("table {} is damaged behind its first {} rows, which were read: {}; export the "
                                       "report anew if it is still there",
                                       table, count, rows.status().message()));
  }
}

void NsysImporter::each_row(std::string_view table, NsysTable kind, Columns columns,
                            const std::function<void(const Row&)>& visit, std::string_view further) {
  std::vector<std::string_view> all(columns.begin(), columns.end());
  for (const ColumnSpec& column : nsys_rule(kind).further) all.push_back(column.name);
  each_row(table, nsys_table_name(kind), Columns(all), visit, further);
}

void NsysImporter::set_further(NsysTable kind, const Row& row, std::size_t first) {
  const std::span<const ColumnSpec> further = nsys_rule(kind).further;
  const std::size_t place = nsys_further_place(kind);
  for (std::size_t i = 0; i < further.size(); ++i) {
    if (!row.has_column(first + i)) continue;
    const std::optional<std::int64_t> number = row.number(first + i);
    if (!number) continue;
    if (further[i].type == ColumnType::string) {
      values_.string(place + i, strings_.intern(*number));
    } else {
      values_.integer(place + i, *number);
    }
  }
}

void NsysImporter::set_number(std::size_t column, const Row& row, std::size_t field) {
  if (const auto number = row.number(field)) values_.integer(column, *number);
}

void NsysImporter::set_word(std::size_t column, NsysEnum family, std::int64_t number) {
  const auto [known, added] = interned_words_.try_emplace({family, number}, 0);
  if (added) {
    const std::string_view word = words_.word(family, number);
    known->second = session_.intern(word.empty() ? std::to_string(number) : std::string(word));
  }
  values_.string(column, known->second);
}

}  // namespace accelscope::capture::sources::nsys
