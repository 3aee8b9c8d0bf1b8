#include "core/export/dataset/questions.h"

#include <fmt/format.h>

#include <array>

#include "core/base/text.h"
#include "core/export/dataset/dataset.h"

namespace accelscope::exporting {
namespace {

constexpr std::array kQuestions = {
    FleetQuestion{"days", "What was captured, day by day",
                  R"(SELECT CAST(date AS VARCHAR(10)) AS day, count(*) AS sessions,
       count(DISTINCT nullif(host, '')) AS hosts,
       count(DISTINCT job) AS jobs, CAST(sum(events + samples) AS BIGINT) AS events,
       CAST(sum(duration_ns) AS BIGINT) AS total_ns
FROM sessions
GROUP BY date
ORDER BY date DESC
LIMIT {limit})",
                  "the data set holds no session"},
    FleetQuestion{"slower", "Kernels and operations of devices that got slower, by what that costs",
                  R"(WITH spans AS (
  SELECT name, track_kind, CASE WHEN date >= DATE '{since}' THEN 1 ELSE 0 END AS recent,
         CAST(sum(calls) AS DOUBLE) AS calls, CAST(sum(total_ns) AS DOUBLE) AS total_ns
  FROM operations
  WHERE device <> ''
  GROUP BY 1, 2, 3)
SELECT n.name, n.track_kind, o.total_ns / o.calls AS before_ns, n.total_ns / n.calls AS since_ns,
       (n.total_ns / n.calls) / (o.total_ns / o.calls) - 1 AS change_share,
       n.total_ns - n.calls * (o.total_ns / o.calls) AS cost_ns, CAST(n.calls AS BIGINT) AS calls
FROM spans n JOIN spans o ON o.name = n.name AND o.track_kind = n.track_kind
WHERE n.recent = 1 AND o.recent = 0 AND o.total_ns > 0 AND n.total_ns / n.calls > o.total_ns / o.calls
ORDER BY cost_ns DESC, n.name
LIMIT {limit})",
                  "no operation of a device that is there before and since that day takes longer; another day: --since "
                  "30d"},
    FleetQuestion{"stragglers", "Hosts whose devices take longer for the same than the others of their job",
                  R"(WITH parts AS (
  SELECT coalesce(s.job, '') AS job, o.host, o.track_kind, o.name,
         CAST(sum(o.calls) AS DOUBLE) AS calls, CAST(sum(o.total_ns) AS DOUBLE) AS total_ns
  FROM operations o JOIN sessions s ON s.session_id = o.session_id AND s.date = o.date
  WHERE o.device <> '' AND o.date >= DATE '{since}'
  GROUP BY 1, 2, 3, 4),
wholes AS (
  SELECT job, track_kind, name, sum(calls) AS calls, sum(total_ns) AS total_ns
  FROM parts
  GROUP BY 1, 2, 3)
SELECT p.host, p.job, CAST(round(sum(p.total_ns)) AS BIGINT) AS total_ns,
       sum(p.calls * (w.total_ns - p.total_ns) / (w.calls - p.calls)) AS others_ns,
       sum(p.total_ns) / sum(p.calls * (w.total_ns - p.total_ns) / (w.calls - p.calls)) - 1 AS slower_share,
       count(*) AS operations
FROM parts p JOIN wholes w ON w.job = p.job AND w.track_kind = p.track_kind AND w.name = p.name
WHERE p.host <> '' AND w.calls > p.calls AND w.total_ns > p.total_ns
GROUP BY p.host, p.job
ORDER BY slower_share DESC, p.host
LIMIT {limit})",
                  "no job has the same operations on two hosts that are known, since that day: captures know their "
                  "host, files of other tools often do not"},
    FleetQuestion{"utilisation", "How busy the devices of each job were, day by day",
                  R"(SELECT CAST(d.date AS VARCHAR(10)) AS day, coalesce(s.job, '') AS job,
       count(DISTINCT d.session_id) AS sessions, count(DISTINCT nullif(s.host, '')) AS hosts,
       CAST(sum(s.duration_ns) AS BIGINT) AS device_ns,
       CAST(sum(d.active_ns) AS DOUBLE) / sum(s.duration_ns) AS active_share,
       CAST(sum(d.compute_ns) AS DOUBLE) / sum(s.duration_ns) AS compute_share,
       CAST(sum(d.transfer_ns) AS DOUBLE) / sum(s.duration_ns) AS transfer_share,
       CAST(sum(d.collective_ns) AS DOUBLE) / sum(s.duration_ns) AS collective_share
FROM devices d JOIN sessions s ON s.session_id = d.session_id AND s.date = d.date
WHERE d.date >= DATE '{since}' AND s.duration_ns > 0
GROUP BY d.date, coalesce(s.job, '')
ORDER BY d.date DESC, job
LIMIT {limit})",
                  "no session since that day has a device"},
    FleetQuestion{
        "memory", "The highest peaks of each memory, and the session of each",
        R"(SELECT host, name AS memory, count(*) AS sessions, max(value) AS peak_bytes, avg(value) AS mean_bytes,
       max_by(session_id, value) AS session_id
FROM metrics
WHERE name LIKE '%peak_bytes' AND value > 0 AND date >= DATE '{since}'
GROUP BY host, name
ORDER BY peak_bytes DESC, host, memory
LIMIT {limit})",
        "no session since that day states a peak of a memory"},
    FleetQuestion{"growth", "Figures whose mean grew most",
                  R"(WITH spans AS (
  SELECT name, coalesce(unit, '') AS unit, CASE WHEN date >= DATE '{since}' THEN 1 ELSE 0 END AS recent,
         avg(coalesce(value, vendor_value)) AS mean
  FROM metrics
  GROUP BY 1, 2, 3)
SELECT n.name, n.unit, o.mean AS before_mean, n.mean AS since_mean, n.mean / o.mean - 1 AS change_share
FROM spans n JOIN spans o ON o.name = n.name AND o.unit = n.unit
WHERE n.recent = 1 AND o.recent = 0 AND o.mean > 0 AND n.mean > o.mean
ORDER BY change_share DESC, n.name
LIMIT {limit})",
                  "no figure that is there before and since that day grew; another day: --since 30d"},
    FleetQuestion{
        "losses", "What sessions lack, by their data-quality reports",
        R"(SELECT kind, severity, count(DISTINCT session_id) AS sessions, CAST(sum(occurrences) AS BIGINT) AS occurrences,
       CAST(max(date) AS VARCHAR(10)) AS last_day
FROM quality
WHERE date >= DATE '{since}'
GROUP BY kind, severity
ORDER BY occurrences DESC, kind
LIMIT {limit})",
        "no session since that day lacks anything that is known"},
};

[[nodiscard]] std::string_view trino_type(ParquetType type) noexcept {
  switch (type) {
    case ParquetType::text:
      return "VARCHAR";
    case ParquetType::real:
      return "DOUBLE";
    case ParquetType::boolean:
      return "BOOLEAN";
    case ParquetType::int64:
    case ParquetType::uint64:
      break;
  }
  return "BIGINT";
}

[[nodiscard]] std::string filled(std::string text, std::string_view mark, std::string_view value) {
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + value.size()))
    text.replace(at, mark.size(), value);
  return text;
}

}  // namespace

std::span<const FleetQuestion> fleet_questions() noexcept { return kQuestions; }

std::string fleet_sql(const FleetQuestion& question, std::string_view since, std::int64_t limit) {
  return filled(filled(std::string(question.sql), "{since}", since), "{limit}", std::to_string(limit));
}

std::string fleet_tables_sql(SqlEngine engine, std::string_view folder, std::string_view queries) {
  const std::string words = lower_case(queries);
  std::string sql;
  for (const DatasetTable& table : dataset_tables()) {
    if (words.find(table.name) == std::string::npos) continue;
    const std::string place = filled(fmt::format("{}/{}", folder, table.name), "'", "''");
    if (engine == SqlEngine::duckdb) {
      sql += fmt::format(
          "CREATE OR REPLACE VIEW {} AS SELECT * FROM read_parquet('{}/*/*/{}', hive_partitioning = true, hive_types = "
          "{{'date': DATE, 'session_id': VARCHAR}}, union_by_name = true);\n",
          table.name, place, kDatasetFile);
    } else if (engine == SqlEngine::spark) {
      sql += fmt::format("CREATE OR REPLACE TEMPORARY VIEW {} USING parquet OPTIONS (path '{}', mergeSchema 'true');\n",
                         table.name, place);
    } else {
      std::string columns;
      for (const DatasetColumn& column : table.columns)
        columns += fmt::format("{} {}, ", column.field.name, trino_type(column.field.type));
      sql += fmt::format(
          "CREATE TABLE IF NOT EXISTS {} ({}date DATE, session_id VARCHAR) WITH (format = 'PARQUET', external_location "
          "= "
          "'{}', partitioned_by = ARRAY['date', 'session_id']);\n"
          "CALL system.sync_partition_metadata('default', '{}', 'FULL');\n",
          table.name, columns, place, table.name);
    }
  }
  return sql;
}

}  // namespace accelscope::exporting
