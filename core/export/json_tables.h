// A session as JSON tables: {"table": [{row}, ...], ...}, every schema's events with all their columns under the
// source's own field names, ids exact. Streams: a batch of chunks is turned into text by all workers, then written in
// order, lane by lane, so memory does not grow with the session. What a vendor calls its tables and how it writes some
// values is data: JsonForms. A schema without a form becomes a table of its name, with "timestamp", "duration", its
// name and columns, and "track" (and "device" where there are several), which hold what the lanes say.
//
//   JsonExport request{query, forms, range};
//   Result<JsonExportReport> done = export_json(request, [&](std::string_view text) { ...; return Result<void>{}; });
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/scan/chunk_scan.h"

namespace accelscope::exporting {

// How a column's values are written where its type alone does not tell.
enum class JsonForm : std::uint8_t {
  plain,        // numbers as numbers, texts as strings, booleans as true and false
  number_text,  // "15"
  yes_no,       // "yes"
  true_false,   // "true"
  words,        // ["SB"]
  nested,       // [["WEIGHT"]]
  json,         // a text that is JSON already, such as [[256, 128]]
  extent,       // of an address: the block's first and last byte under `key` and `last_key`
  hidden,       // not written: the reader derives it again
};

struct ColumnJson {
  std::string_view column;  // of the schema; the name column too
  JsonForm form = JsonForm::plain;
  bool always = false;        // an absent text is written as ""
  std::string_view key = {};  // "": the column's name
  std::string_view last_key = {};
};

struct TableJson {
  std::string_view schema;
  std::string_view table;  // "": not written
  std::string_view start_key = "timestamp";
  std::string_view duration_key = "duration";
  std::string_view end_key = {};    // written beside the duration where the vendor does
  std::string_view name_key = {};   // "": the schema's name column; without a form and such a column: "name"
  std::string_view constant = {};   // fields that every row has: "\"aggregated\":\"no\""
  std::string_view flows_key = {};  // the list of events that each row depends on, of the schemas of kind flow
  // Where the track's name holds what a field says: only tracks whose name begins so are written, and the rest of the
  // name comes under the key.
  std::string_view track_prefix = {};
  std::string_view track_key = {};
  bool has_name = true;
  std::span<const ColumnJson> columns = {};
  // Of tables that are not written, and of tracks that track_prefix leaves out: what becomes of their events.
  std::string_view left_out = {};
  bool comes_back = false;  // as they were, from what is written of other tables: they are not lost
};

// One-row tables and others that no schema stands for, written first: whole rows of JSON by table.
struct FactTable {
  std::string table;
  std::vector<std::string> rows;
};

struct JsonForms {
  std::vector<TableJson> tables;
  std::vector<FactTable> facts;
  // Flows of these names are derived by the reader from other columns.
  std::span<const std::string_view> derived_flows;
  // Holds a JSON object of the fields that had no column; they become fields of their row again.
  std::string_view spliced_column;
  bool keeps_ticks = false;   // times as the source counted them where a tick is a ns: not moved to the session's start
  bool writes_places = true;  // "track" in rows of tables without a form; "device" in all where there are several
};

struct JsonExport {
  QueryContext query;  // its mask says which events are written
  JsonForms forms;
  TimeRange range;
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};  // in events
};

// Events that no table holds: how many of which table on which tracks, and what that means.
struct JsonLeftOut {
  std::string schema;
  std::uint64_t events = 0;
  std::vector<std::string> tracks;  // at most a few
  std::string_view meaning;         // "readers compute it again from the instructions"
};

struct JsonExportReport {
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
  std::vector<JsonLeftOut> left_out;

  // One sentence about all that was left out, and one for each table; none if nothing was.
  [[nodiscard]] std::vector<std::string> losses() const;
};

using PutText = std::function<Result<void>(std::string_view text)>;

// Fails with the first unreadable chunk, with what `put`
// returns, or when cancelled.
[[nodiscard]] Result<JsonExportReport> export_json(const JsonExport& request, const PutText& put);

}  // namespace accelscope::exporting
