#include "core/export/base/writers.h"

#include <memory>

#include "core/base/text.h"
#include "core/export/base/event_pieces.h"
#include "core/export/base/export_format.h"
#include "core/export/base/flow_ends.h"
#include "core/export/base/track_groups.h"
#include "core/export/tables/export_tables.h"
#include "core/export/tables/parquet_file.h"
#include "core/sql/base/sql.h"

namespace accelscope::exporting {
namespace {

[[nodiscard]] ParquetType parquet_type(ColumnType type) noexcept {
  switch (type) {
    case ColumnType::uint64:
      return ParquetType::uint64;
    case ColumnType::float64:
      return ParquetType::real;
    case ColumnType::boolean:
      return ParquetType::boolean;
    case ColumnType::string:
    case ColumnType::text:
      return ParquetType::text;
    case ColumnType::int64:
      break;
  }
  return ParquetType::int64;
}

// Texts of a Parquet file are UTF-8.
template <typename Take>
void with_utf8(std::string_view text, Take&& take) {
  if (is_well_formed_utf8(text)) {
    take(text);
  } else {
    take(std::string_view(repaired_utf8(text)));
  }
}

// By which tables of several sessions are told apart once they lie in one data frame.
const ParquetField kSessionField{"session", ParquetType::text, false, true};

[[nodiscard]] std::string session_name(const ExportRequest& request) {
  const std::string_view name = request.query.snapshot->meta_value("name");
  const std::string text = !request.title.empty() ? request.title : std::string(name);
  return repaired_utf8(text.empty() ? "session" : text);
}

// Makes the row groups of one thread.
class GroupWriter {
 public:
  GroupWriter(const ExportRequest& request, const ExportPlan& plan, std::string_view session)
      : plan_(plan), snapshot_(*request.query.snapshot), session_(session), reader_(request.query, request.range) {}

  Result<ParquetGroup> write(const ExportTable& table, const EventPiece& piece, std::string& out) {
    const ExportTrack& track = plan_.tracks[piece.track];
    ParquetGroup group;
    TRY(reader_.open(track, piece));
    group.rows = static_cast<std::int64_t>(reader_.events().size());
    if (group.rows == 0) return group;
    ParquetColumn session(ParquetType::text, false, true);
    for (std::int64_t row = 0; row < group.rows; ++row) session.add_known(0, [&] { return session_; });
    group.columns.push_back(session.finish(out));
    for (const ExportColumn& column : table.columns) {
      ParquetColumn values(parquet_type(column.type), !column.always(), column.type == ColumnType::string);
      add(column, *track.snapshot->track, snapshot_.lanes[piece.lane], values);
      group.columns.push_back(values.finish(out));
    }
    return group;
  }

 private:
  void add(const ExportColumn& column, const Track& track, const LaneSnapshot& lane, ParquetColumn& values) {
    const auto same = [&](const std::string& text) {
      for (std::size_t i = 0; i < reader_.events().size(); ++i) {
        values.add_known(0, [&]() -> std::string_view { return text; });
      }
    };
    switch (column.field) {
      case TableField::track:
        return same(track.name);
      case TableField::device:
        return same(track.device);
      case TableField::host:
        return same(track.host);
      case TableField::column:
        for (const PieceEvent& event : reader_.events()) add_value(event, column, values);
        return;
      default:
        for (const PieceEvent& event : reader_.events()) add_own(event, column.field, lane, values);
    }
  }

  void add_own(const PieceEvent& event, TableField field, const LaneSnapshot& lane, ParquetColumn& values) {
    if (field == TableField::id) {
      values.add_word(reader_.id(event));
    } else if (field == TableField::track_id) {
      values.add_int64(lane.track);
    } else if (field == TableField::lane) {
      values.add_int64(lane.data->lane.depth);
    } else if (field == TableField::begin) {
      values.add_int64(reader_.ns(event.begin));
    } else if (field == TableField::duration) {
      values.add_int64(reader_.ns(event.end) - reader_.ns(event.begin));
    } else {
      add_string(reader_.name(event), values);
    }
  }

  void add_string(StringId id, ParquetColumn& values) {
    values.add_known(id, [&]() -> std::string_view {
      with_utf8(snapshot_.strings->text(id), [&](std::string_view text) { text_ = text; });
      return text_;
    });
  }

  void add_value(const PieceEvent& event, const ExportColumn& column, ParquetColumn& values) {
    const BlockValues found = reader_.at(event).column(column.column, column.type);
    const std::uint32_t at = event.row % kBlockEvents;
    if (!found.has(at)) return values.add_null();
    switch (column.type) {
      case ColumnType::boolean:
        return values.add_boolean(found.values[at] != 0);
      case ColumnType::string:
        return add_string(static_cast<StringId>(found.values[at]), values);
      case ColumnType::text:
        return with_utf8(reader_.text(event, column.column), [&](std::string_view text) { values.add_text(text); });
      default:
        return values.add_word(found.values[at]);
    }
  }

  const ExportPlan& plan_;
  const Snapshot& snapshot_;
  std::string_view session_;
  PieceReader reader_;
  std::string text_;
};

class ParquetWriter {
 public:
  ParquetWriter(const ExportRequest& request, const ExportTables& tables, ExportOutput& output)
      : request_(request),
        tables_(tables),
        output_(output),
        facts_(session_facts(*request.query.snapshot)),
        session_(session_name(request)),
        writers_(request.query.pool.concurrency()) {
    for (auto& [key, value] : facts_) value = repaired_utf8(value);
  }

  Result<void> write(const ExportTable& table) {
    std::vector<ParquetField> fields = {kSessionField};
    for (const ExportColumn& column : table.columns) {
      fields.push_back({repaired_utf8(column.name), parquet_type(column.type), !column.always()});
    }
    ParquetFile file(output_, std::move(fields), facts_);
    TRY(file.begin(table.name));
    std::vector<ParquetGroup> made(table.pieces.size());
    const Result<void> written = write_pieces(
        request_.query, table.pieces.size(),
        [&](std::size_t piece, std::size_t worker, std::string& out) -> Result<void> {
          if (!writers_[worker]) writers_[worker] = std::make_unique<GroupWriter>(request_, tables_.plan, session_);
          auto group = TRY(writers_[worker]->write(table, tables_.plan.pieces[table.pieces[piece]], out));
          made[piece] = std::move(group);
          return {};
        },
        [&](std::size_t piece, std::string_view bytes) -> Result<void> {
          report_.rows += static_cast<std::uint64_t>(made[piece].rows);
          if (request_.progress) request_.progress(report_.rows, tables_.plan.events);
          return file.add(std::move(made[piece]), bytes);
        });
    if (!written) return written;
    TRY(file.finish());
    report_.bytes += file.bytes();
    return {};
  }

  Result<void> write_flows(const FlowEnds& flows) {
    const StringPool& strings = *request_.query.snapshot->strings;
    ParquetFile file(output_,
                     {kSessionField,
                      {"src_id", ParquetType::int64, false},
                      {"dst_id", ParquetType::int64, false},
                      {"kind", ParquetType::text, false, true}},
                     facts_);
    TRY(file.begin(std::string(kFlowTable)));
    ParquetRows rows(file);
    for (const ExportFlow& flow : flows.all()) {
      if (!flow.retained()) continue;
      if (!rows.row({session_, static_cast<std::int64_t>(flow.source), static_cast<std::int64_t>(flow.target),
                     std::string(strings.text(flow.kind))}))
        break;
    }
    TRY(rows.finish());
    report_.bytes += file.bytes();
    return {};
  }

  // What SQL answers of a table that holds no events.
  Result<void> write_rows(const std::string& table) {
    sql::Session sql(request_.query.store, request_.query.snapshot, request_.query.pool, request_.query.mask);
    const listing::SqlResult found = TRY(sql.run("SELECT * FROM " + table, {}, request_.query.control));
    std::vector<ParquetField> fields = {kSessionField};
    for (std::size_t column = 0; column < found.columns.size(); ++column)
      fields.push_back({found.columns[column], type_of(found, column), true});
    ParquetFile file(output_, std::move(fields), facts_);
    TRY(file.begin(table));
    ParquetRows rows(file);
    const auto width = static_cast<std::ptrdiff_t>(found.columns.size());
    for (auto cell = found.cells.begin(); cell != found.cells.end(); cell += width) {
      std::vector<listing::SqlValue> cells = {session_};
      cells.insert(cells.end(), cell, cell + width);
      if (!rows.row(cells)) break;
    }
    TRY(rows.finish());
    report_.bytes += file.bytes();
    return {};
  }
  [[nodiscard]] ExportReport& report() noexcept { return report_; }

 private:
  // Numbers where all cells are; texts else.
  [[nodiscard]] static ParquetType type_of(const listing::SqlResult& rows, std::size_t column) {
    bool real = false;
    bool any = false;
    for (std::size_t row = 0; row < rows.row_count(); ++row) {
      const listing::SqlValue& cell = rows.at(row, column);
      if (std::holds_alternative<std::monostate>(cell)) continue;
      any = true;
      real = real || std::holds_alternative<double>(cell);
      if (!std::holds_alternative<double>(cell) && !std::holds_alternative<std::int64_t>(cell))
        return ParquetType::text;
    }
    return !any ? ParquetType::text : real ? ParquetType::real : ParquetType::int64;
  }

  const ExportRequest& request_;
  const ExportTables& tables_;
  ExportOutput& output_;
  ParquetFile::Facts facts_;
  std::string session_;
  std::vector<std::unique_ptr<GroupWriter>> writers_;  // by worker
  ExportReport report_;
};

}  // namespace

Result<ExportReport> write_parquet(const ExportRequest& request, ExportOutput& output) {
  const ExportTables tables = TRY(plan_tables(request, kParquetGroupRows));
  ParquetWriter writer(request, tables, output);
  for (const ExportTable& table : tables.tables) {
    TRY(writer.write(table));
  }
  for (const char* table : {"track", "meta", "metric"}) {
    TRY(writer.write_rows(table));
  }
  const FlowEnds flows = TRY(FlowEnds::build(request, tables.plan));
  if (!flows.all().empty()) {
    TRY(writer.write_flows(flows));
  }
  writer.report().losses = losses_by_kind(request, {.rows_without_time = false});
  return writer.report();
}

}  // namespace accelscope::exporting
