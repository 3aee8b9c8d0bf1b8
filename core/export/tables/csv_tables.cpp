#include "core/export/base/writers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <map>
#include <memory>

#include "core/export/base/event_cells.h"
#include "core/export/base/event_pieces.h"
#include "core/export/base/export_format.h"
#include "core/export/base/flow_ends.h"
#include "core/export/tables/export_tables.h"

namespace accelscope::exporting {
namespace {

constexpr std::uint64_t kCsvPieceEvents = 32U << 10;
constexpr std::size_t kFlowsAtOnce = 32U << 10;

template <typename Number>
void append_csv_number(std::string& out, Number value) {
  char digits[40];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

// Texts of events that are empty are told from those that are missing.
void append_csv_text(std::string& out, std::string_view text) { listing::append_csv_cell(out, text, true); }

// The columns of a file and, for each of them, where a table has it.
struct CsvFile {
  std::string name;
  std::vector<std::string> header;
  std::vector<std::size_t> pieces;
  std::vector<std::size_t> table_of_piece;              // by place in `pieces`
  std::vector<std::vector<const ExportColumn*>> cells;  // by table, then by place in the header; null: it has none
  bool names_table = false;                             // the first column
};

class CsvRows {
 public:
  CsvRows(const ExportRequest& request, const ExportPlan& plan)
      : plan_(plan), snapshot_(*request.query.snapshot), reader_(request.query, request.range) {}

  Result<void> write(const EventPiece& piece, const std::vector<const ExportColumn*>& cells, std::string_view table,
                     std::string& out, std::uint64_t& rows) {
    const ExportTrack& track = plan_.tracks[piece.track];
    if (Result<void> opened = reader_.open(track, piece); !opened) return opened;
    const LaneSnapshot& lane = snapshot_.lanes[piece.lane];
    for (const PieceEvent& event : reader_.events()) {
      if (!table.empty()) {
        append_csv_text(out, table);
        out += ',';
      }
      for (const ExportColumn* cell : cells) {
        if (cell != nullptr) add_cell(event, *cell, *track.snapshot->track, lane, out);
        out += ',';
      }
      out.back() = '\n';
    }
    rows += reader_.events().size();
    return {};
  }

 private:
  void add_cell(const PieceEvent& event, const ExportColumn& cell, const Track& track, const LaneSnapshot& lane,
                std::string& out) {
    switch (cell.field) {
      case TableField::id:
        return append_csv_number(out, reader_.id(event));
      case TableField::track_id:
        return append_csv_number(out, track.number);
      case TableField::track:
        return append_csv_text(out, track.name);
      case TableField::device:
        return append_csv_text(out, track.device);
      case TableField::host:
        return append_csv_text(out, track.host);
      case TableField::lane:
        return append_csv_number(out, lane.data->lane.depth);
      case TableField::begin:
        return append_csv_number(out, reader_.ns(event.begin));
      case TableField::duration:
        return append_csv_number(out, reader_.ns(event.end) - reader_.ns(event.begin));
      case TableField::name:
        return append_csv_text(out, snapshot_.strings->text(reader_.name(event)));
      case TableField::column:
        return add_value(event, cell, out);
    }
  }

  void add_value(const PieceEvent& event, const ExportColumn& cell, std::string& out) {
    const BlockValues values = reader_.at(event).column(cell.column, cell.type);
    const std::uint32_t at = event.row % kBlockEvents;
    if (!values.has(at)) return;
    const std::uint64_t value = values.values[at];
    switch (cell.type) {
      case ColumnType::int64:
        return append_csv_number(out, static_cast<std::int64_t>(value));
      case ColumnType::uint64:
        return append_csv_number(out, value);
      case ColumnType::float64:
        return append_csv_number(out, std::bit_cast<double>(value));
      case ColumnType::boolean:
        out += value != 0 ? "true" : "false";
        return;
      case ColumnType::string:
        return append_csv_text(out, snapshot_.strings->text(static_cast<StringId>(value)));
      case ColumnType::text:
        return append_csv_text(out, reader_.text(event, cell.column));
    }
  }

  const ExportPlan& plan_;
  const Snapshot& snapshot_;
  PieceReader reader_;
};

CsvFile file_of(const ExportTable& table) {
  CsvFile file;
  file.name = table.name + ".csv";
  file.pieces = table.pieces;
  file.table_of_piece.assign(table.pieces.size(), 0);
  file.cells.emplace_back();
  for (const ExportColumn& column : table.columns) {
    file.header.push_back(column.name);
    file.cells.back().push_back(&column);
  }
  return file;
}

// What every event has is one column each, whatever a table calls its names; columns of one name are one.
CsvFile file_of_all(const ExportTables& tables) {
  CsvFile file;
  file.names_table = true;
  constexpr std::array<std::string_view, 9> kCommon = {"id",   "track_id", "track",  "device", "host",
                                                       "lane", "ts_ns",    "dur_ns", "name"};
  file.header.assign(kCommon.begin(), kCommon.end());
  std::map<std::string, std::size_t> places;
  for (const ExportTable& table : tables.tables) {
    for (const ExportColumn& column : table.columns) {
      if (column.always() || places.contains(column.name)) continue;
      places.emplace(column.name, file.header.size());
      const bool taken = std::find(kCommon.begin(), kCommon.end(), column.name) != kCommon.end();
      file.header.push_back(taken ? table.name + "." + column.name : column.name);
    }
  }
  std::vector<std::pair<std::size_t, std::size_t>> pieces;  // of the plan, table
  for (std::size_t t = 0; t < tables.tables.size(); ++t) {
    std::vector<const ExportColumn*>& cells = file.cells.emplace_back(file.header.size(), nullptr);
    for (const ExportColumn& column : tables.tables[t].columns) {
      cells[column.always() ? static_cast<std::size_t>(column.field) : places.at(column.name)] = &column;
    }
    for (const std::size_t piece : tables.tables[t].pieces) pieces.emplace_back(piece, t);
  }
  for (const auto& [piece, table] : pieces) {
    file.pieces.push_back(piece);
    file.table_of_piece.push_back(table);
  }
  return file;
}

class CsvWriter {
 public:
  CsvWriter(const ExportRequest& request, const ExportTables& tables, ExportOutput& output)
      : request_(request), tables_(tables), output_(output), rows_(request.query.pool.concurrency()) {}

  Result<void> write(const CsvFile& file) {
    std::string header = file.names_table ? "table," : "";
    for (const std::string& name : file.header) {
      append_csv_text(header, name);
      header += ',';
    }
    header.back() = '\n';
    if (Result<void> done = put(header); !done) return done;
    std::vector<std::uint64_t> counts(file.pieces.size());
    return write_pieces(
        request_.query, file.pieces.size(),
        [&](std::size_t piece, std::size_t worker, std::string& out) -> Result<void> {
          if (!rows_[worker]) rows_[worker] = std::make_unique<CsvRows>(request_, tables_.plan);
          const std::size_t table = file.table_of_piece[piece];
          return rows_[worker]->write(tables_.plan.pieces[file.pieces[piece]], file.cells[table],
                                      file.names_table ? tables_.tables[table].name : std::string_view{}, out,
                                      counts[piece]);
        },
        [&](std::size_t piece, std::string_view bytes) -> Result<void> {
          report_.rows += counts[piece];
          if (request_.progress) request_.progress(report_.rows, tables_.plan.events);
          return put(bytes);
        });
  }
  Result<void> write_flows(const FlowEnds& flows) {
    std::string text = "src_id,dst_id,kind\n";
    for (const ExportFlow& flow : flows.all()) {
      if (!flow.retained()) continue;
      append_csv_number(text, flow.source);
      text += ',';
      append_csv_number(text, flow.target);
      text += ',';
      append_csv_text(text, request_.query.snapshot->strings->text(flow.kind));
      text += '\n';
      if (text.size() < kFlowsAtOnce * 32) continue;
      if (Result<void> done = put(text); !done) return done;
      text.clear();
    }
    return put(text);
  }
  [[nodiscard]] ExportReport& report() noexcept { return report_; }

 private:
  Result<void> put(std::string_view bytes) {
    report_.bytes += bytes.size();
    return output_.write(bytes);
  }

  const ExportRequest& request_;
  const ExportTables& tables_;
  ExportOutput& output_;
  std::vector<std::unique_ptr<CsvRows>> rows_;  // by worker
  ExportReport report_;
};

}  // namespace

Result<ExportReport> write_csv(const ExportRequest& request, ExportOutput& output) {
  const ExportTables tables = TRY(plan_tables(request, kCsvPieceEvents));
  CsvWriter writer(request, tables, output);
  if (!request.into_folder) {
    TRY(writer.write(file_of_all(tables)));
    writer.report().losses = losses_by_kind(request, {.rows_without_time = false});
    return writer.report();
  }
  for (const ExportTable& table : tables.tables) {
    const CsvFile file = file_of(table);
    TRY(output.begin_file(file.name));
    TRY(writer.write(file));
  }
  const FlowEnds flows = TRY(FlowEnds::build(request, tables.plan));
  if (!flows.all().empty()) {
    TRY(output.begin_file(std::string(kFlowTable) + ".csv"));
    TRY(writer.write_flows(flows));
  }
  writer.report().losses = losses_by_kind(request, {.rows_without_time = false});
  return writer.report();
}

}  // namespace accelscope::exporting
