// The timeline that tt-npe writes: transfers by their routes, and the links' demand in equal steps of time.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "capture/json/json_cursor.h"
#include "capture/json/table_reader.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/tt_noc/chip_rows.h"
#include "capture/sources/tt_noc/source.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::sources::tt_noc {
namespace {

using namespace columns;
using tracks::EventValues;
using tracks::UnorderedSession;

constexpr ColumnSpec kTransferColumns[] = {
    {"total_bytes", kInt, "B", kTransfer, "Bytes", "Bytes of the transfer, told once: of the first part of its route.",
     Role::bytes},
    {"id", kInt, "", kIds, "", "Number of the transfer in the file."},
    {"dst", kString, "", kTransfer, "To", "Where it goes: chip, row, column."},
    {"noc_type", kString, "", kTransfer, "Network", "Which of the chip's networks."},
    {"injection_rate", kReal, "B/cycle", kTransfer, "Injection rate", "Bytes that the core sends in a cycle."},
    {"links", kString, "", kTransfer, "Links", "The links of its route, as JSON."},
    {"part", kInt, "", kTransfer, "Part", "Of a transfer over several chips: which part of its route, from 0."},
    {"part_bytes", kInt, "B", kTransfer, "Part's bytes", "Bytes that go over this part of the route."},
};
constexpr ColumnSpec kLinkColumns[] = {
    {"demand", kReal, "%", "Utilisation", "Demand", "Of what the link can carry; beyond 100 % transfers wait."},
};

struct NominalClock {
  std::string_view arch;
  double cycles_per_ns;
};
constexpr std::array kNominalClocks = {NominalClock{"wormhole", 1.0}, NominalClock{"blackhole", 1.35},
                                       NominalClock{"grayskull", 1.2}};

struct Figure {
  std::string_view key;
  std::string_view unit;
};
constexpr std::array kFigures = {Figure{"avg_link_demand", "%"}, Figure{"avg_link_util", "%"},
                                 Figure{"max_link_demand", "%"}, Figure{"avg_noc_link_demand", "%"}};

// [chip, row, column, ...]
[[nodiscard]] std::optional<CorePlace> place_of_list(std::string_view list) {
  std::array<std::optional<std::int64_t>, 3> parts;
  std::size_t count = 0;
  (void)json::each_element(list, [&](const json::JsonField& value) {
    if (count < parts.size()) parts[count] = json::to_int64(value);
    return ++count < parts.size();
  });
  if (!parts[0] || !parts[1] || !parts[2]) return std::nullopt;
  return CorePlace{*parts[0], *parts[2], *parts[1]};
}

class NpeTimelineImport {
 public:
  NpeTimelineImport(const std::string& name, const ImportOptions& options, EventSink& sink)
      : name_(name), options_(options), session_(sink), rows_(session_) {}

  Result<void> run(std::unique_ptr<json::ByteSource> bytes);

 private:
  struct Part {
    std::optional<std::int64_t> begin, end, bytes, id;
    std::optional<CorePlace> source;
    std::optional<double> rate;
    std::string type, destination, noc, links, route;
  };
  [[nodiscard]] bool read_part(std::string_view row, Part& part);
  void add_unread(std::string_view table, std::string_view field);
  [[nodiscard]] bool take_transfer(std::string_view row);
  [[nodiscard]] bool write_part(const Part& part, std::int64_t number, std::optional<std::int64_t> transfer_bytes);
  [[nodiscard]] bool take_step(std::string_view row);
  void take_links(std::string_view links, std::int64_t begin, std::int64_t end);
  void take_figures(std::string_view figures, std::string_view of, std::int64_t begin);
  void take_info(std::string_view info);

  std::string name_;
  const ImportOptions& options_;
  UnorderedSession session_;
  ChipRows rows_;
  EventValues values_;
  std::uint32_t transfers_ = kNone;
  std::uint32_t links_ = kNone;
  std::set<std::string, std::less<>> unread_;  // "TABLE.FIELD"
  std::uint64_t transfer_count_ = 0;
  std::uint64_t step_count_ = 0;
  std::uint64_t bad_links_ = 0;
  double cycles_per_ns_ = 1;
  bool clock_known_ = false;
};

Result<void> NpeTimelineImport::run(std::unique_ptr<json::ByteSource> bytes) {
  transfers_ = session_.add_table(make_schema(
      {"noc_transfer", EventKind::slice, "noc_event_type", "What was asked of the network."}, kTransferColumns));
  links_ =
      session_.add_table(make_schema({"link_demand", EventKind::slice, "link", "The link of the core."}, kLinkColumns));
  json::JsonTableReader reader(std::move(bytes), {});
  json::JsonWindow window;
  while (reader.next(window)) {
    for (std::size_t i = 0; i < window.rows.size(); ++i) {
      const std::string_view row = window.row(i);
      bool taken = true;
      if (window.table == "noc_transfers") {
        taken = take_transfer(row);
      } else if (window.table == "timestep_data") {
        taken = take_step(row);
      } else if (window.table == "common_info") {
        take_info(row);
      } else {
        unread_.insert(window.table);
      }
      if (!taken) {
        session_.report().skipped_row(window.table, "it has no begin, end or place", window.rows[i].offset);
      }
    }
    if (session_.cancelled()) return Error{fmt::format("{}: the import was cancelled", name_)};
    if (options_.progress) options_.progress(reader.bytes_read(), reader.bytes_read());
  }
  for (const json::JsonProblem& problem : reader.problems()) session_.report().add(problem);
  if (transfer_count_ + step_count_ == 0) return Error{fmt::format("{}: holds no transfers of a network", name_)};
  session_.report().note("rows_skipped", "demands of links without a place or a value were skipped", bad_links_);
  session_.writer().set_meta("source_format", "tt-npe timeline");
  session_.report().note_unread("the timeline", {unread_.begin(), unread_.end()});
  const std::uint64_t skipped = session_.report().skipped_rows("noc_transfers");
  set_row_counts(session_.writer(), "noc_transfer", transfer_count_ + skipped, transfer_count_);
  const std::uint64_t steps = step_count_ + session_.report().skipped_rows("timestep_data");
  if (steps > 0) set_row_counts(session_.writer(), "timestep_data", steps, step_count_);
  if (!clock_known_) {
    session_.report().note("frequency_missing",
                           "the timeline counts cycles of a chip that is not known: a cycle is shown as 1 ns");
  }
  return session_.finish({.clock = "cycles", .ticks_per_ns = cycles_per_ns_, .path = name_});
}

bool NpeTimelineImport::read_part(std::string_view row, Part& part) {
  return json::each_member(row, [&](const json::JsonField& field) {
    if (field.key == "start_cycle") part.begin = json::to_int64(field);
    if (field.key == "end_cycle") part.end = json::to_int64(field);
    if (field.key == "total_bytes") part.bytes = json::to_int64(field);
    if (field.key == "id") part.id = json::to_int64(field);
    if (field.key == "src") part.source = place_of_list(field.text);
    if (field.key == "injection_rate") part.rate = json::to_double(field);
    if (field.key == "noc_event_type") part.type = field.text;
    if (field.key == "dst") part.destination = field.text;
    if (field.key == "noc_type") part.noc = field.text;
    if (field.key == "links") part.links = field.text;
    if (field.key == "route") part.route = field.text;
    constexpr std::string_view kRead[] = {"start_cycle", "end_cycle",      "total_bytes", "id",
                                          "src",         "injection_rate", "dst",         "noc_event_type",
                                          "noc_type",    "links",          "route"};
    if (std::find(std::begin(kRead), std::end(kRead), field.key) == std::end(kRead))
      add_unread("noc_transfers", field.key);
    return true;
  });
}

void NpeTimelineImport::add_unread(std::string_view table, std::string_view field) {
  constexpr std::size_t kMostUnread = 64;
  if (unread_.size() < kMostUnread) unread_.insert(fmt::format("{}.{}", table, field));
}

// A transfer, by the parts of its route where it has any.
bool NpeTimelineImport::take_transfer(std::string_view row) {
  Part whole;
  if (!read_part(row, whole)) return false;
  std::int64_t number = 0;
  bool written = true;
  (void)json::each_element(whole.route, [&](const json::JsonField& element) {
    Part part = whole;
    part.route.clear();
    written = read_part(element.text, part) && write_part(part, number, whole.bytes) && written;
    ++number;
    return true;
  });
  if (number == 0) written = write_part(whole, 0, whole.bytes);
  transfer_count_ += written ? 1 : 0;
  return written;
}

bool NpeTimelineImport::write_part(const Part& part, std::int64_t number, std::optional<std::int64_t> transfer_bytes) {
  if (!part.begin || !part.end || !part.source || *part.begin < 0 || *part.end < *part.begin) return false;
  values_.clear();
  const std::optional<std::int64_t> bytes = transfer_bytes ? transfer_bytes : part.bytes;
  if (bytes && number == 0) values_.integer(0, *bytes);
  if (part.bytes) values_.integer(7, *part.bytes);
  if (part.id) values_.integer(1, *part.id);
  if (!part.destination.empty()) values_.string(2, session_.intern(part.destination));
  if (!part.noc.empty()) values_.string(3, session_.intern(part.noc));
  if (part.rate) values_.real(4, *part.rate);
  if (!part.links.empty()) values_.string(5, session_.intern(part.links));
  values_.integer(6, number);
  session_.write(rows_.of_core(*part.source, "network", transfers_, "dma_queue"), *part.begin, *part.end - *part.begin,
                 session_.intern(part.type), values_);
  return true;
}

bool NpeTimelineImport::take_step(std::string_view row) {
  std::optional<std::int64_t> begin, end;
  std::string links, networks;
  const bool whole = json::each_member(row, [&](const json::JsonField& field) {
    if (field.key == "start_cycle") begin = json::to_int64(field);
    if (field.key == "end_cycle") end = json::to_int64(field);
    if (field.key == "link_demand") links = field.text;
    if (field.key == "noc") networks = field.text;
    constexpr std::string_view kRead[] = {"start_cycle", "end_cycle", "link_demand", "noc"};
    const bool figure =
        std::any_of(kFigures.begin(), kFigures.end(), [&](const Figure& each) { return each.key == field.key; });
    if (!figure && std::find(std::begin(kRead), std::end(kRead), field.key) == std::end(kRead))
      add_unread("timestep_data", field.key);
    return true;
  });
  if (!whole || !begin || !end || *begin < 0 || *end < *begin) return false;
  ++step_count_;
  take_figures(row, "", *begin);
  (void)json::each_member(networks, [&](const json::JsonField& network) {
    take_figures(network.text, network.key, *begin);
    return true;
  });
  take_links(links, *begin, *end);
  return true;
}

// Of all chips together: the file does not tell them apart.
void NpeTimelineImport::take_figures(std::string_view figures, std::string_view of, std::int64_t begin) {
  (void)json::each_member(figures, [&](const json::JsonField& field) {
    for (const Figure& figure : kFigures) {
      const std::optional<double> value = figure.key == field.key ? json::to_double(field) : std::nullopt;
      if (!value) continue;
      const std::string name = of.empty() ? std::string(figure.key) : fmt::format("{} {}", of, figure.key);
      session_.sample(rows_.counter(0, name, std::string(figure.unit)), begin, *value);
    }
    return true;
  });
}

// [[chip, row, column, "NOC1_NORTH", percent], ...]
void NpeTimelineImport::take_links(std::string_view links, std::int64_t begin, std::int64_t end) {
  (void)json::each_element(links, [&](const json::JsonField& link) {
    const std::optional<CorePlace> place = place_of_list(link.text);
    std::string name;
    std::optional<double> demand;
    (void)json::each_element(link.text, [&](const json::JsonField& part) {
      if (part.kind == json::JsonKind::string) name = part.text;
      if (!name.empty() && part.kind == json::JsonKind::number) demand = json::to_double(part);
      return true;
    });
    if (!place || !demand) {
      ++bad_links_;
      return true;
    }
    values_.clear();
    values_.real(0, *demand);
    session_.write(rows_.of_core(*place, "links", links_, "layer"), begin, end - begin, session_.intern(name), values_);
    return true;
  });
}

void NpeTimelineImport::take_info(std::string_view info) {
  (void)json::each_member(info, [&](const json::JsonField& field) {
    if (field.key == "arch") {
      for (const NominalClock& clock : kNominalClocks) {
        if (!field.text.starts_with(clock.arch)) continue;
        cycles_per_ns_ = clock.cycles_per_ns;
        clock_known_ = true;
      }
    }
    if (const auto value = field.kind == json::JsonKind::number ? json::to_double(field) : std::nullopt) {
      session_.writer().add_metric({.name = std::string(field.key), .group = "Network", .value = *value});
    } else if (field.kind == json::JsonKind::string) {
      session_.writer().set_meta("npe." + std::string(field.key), std::string(field.text));
    }
    return true;
  });
}

}  // namespace

int probe_npe_timeline(std::string_view head, const std::string& /*path*/) {
  constexpr int kLikely = 90;
  const auto has = [&](std::string_view word) { return head.find(word) != std::string_view::npos; };
  return has("\"common_info\"") && (has("\"cycles_per_timestep\"") || has("\"congestion_model_name\"")) ? kLikely : 0;
}

Result<void> import_npe_timeline(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                                 const ImportOptions& options, EventSink& sink) {
  AsyncSink receiver(sink);
  if (Result<void> done = NpeTimelineImport(name, options, receiver).run(std::move(bytes)); !done) return done;
  return receiver.finish();
}

Result<void> import_npe_timeline(const std::string& path, const ImportOptions& options, EventSink& sink) {
  Result<std::unique_ptr<json::ByteSource>> source = json::ByteSource::open(path);
  if (!source) return source.error();
  return import_npe_timeline(std::move(source).value(), path, options, sink);
}

}  // namespace accelscope::capture::sources::tt_noc
