// NVTX: ranges that are pushed and popped lie on their thread, those that are started and ended on a row of their
// process, since they need not nest.
#include <fmt/format.h>

#include <array>

#include "capture/sources/nsys/importer.h"
#include "capture/sources/tracks/gpu_tables.h"

namespace accelscope::capture::sources::nsys {
namespace {

using tracks::NvtxColumns;

enum RangeField : std::size_t {
  kRangeStart,
  kRangeEnd,
  kRangeType,
  kRangeThread,
  kRangeText,
  kRangeTextId,
  kRangeDomain,
  kRangeCategory,
  kRangeUnsigned64,
  kRangeSigned64,
  kRangeDouble,
  kRangeUnsigned32,
  kRangeSigned32,
  kRangeFloat,
  kRangeJsonId,
  kRangeJson,
  kRangeBinary,
  kRangeFields
};
constexpr std::array<std::string_view, kRangeFields> kRangeFieldNames = {
    "start",      "end",        "eventType",   "globalTid",  "text",        "textId",
    "domainId",   "category",   "uint64Value", "int64Value", "doubleValue", "uint32Value",
    "int32Value", "floatValue", "jsonTextId",  "jsonText",   "binaryData"};

// What rows of NVTX are, by their type.
enum class RangeSort : std::uint8_t { nested, free, mark, naming, unknown };
struct RangeType {
  std::int64_t type;
  RangeSort sort;
  std::string_view word;
};
constexpr RangeType kRangeTypes[] = {
    {59, RangeSort::nested, "push/pop"}, {60, RangeSort::free, "start/end"}, {34, RangeSort::mark, "mark"},
    {70, RangeSort::nested, "push/pop"}, {71, RangeSort::free, "start/end"}, {65, RangeSort::mark, "mark"},
    {33, RangeSort::naming, "category"}, {39, RangeSort::naming, "thread"},  {64, RangeSort::naming, "category"},
    {72, RangeSort::naming, "thread"},   {73, RangeSort::naming, "process"}, {74, RangeSort::naming, "file"},
    {75, RangeSort::naming, "domain"},   {76, RangeSort::naming, "domain"},  {97, RangeSort::naming, "device"},
    {98, RangeSort::naming, "context"},  {99, RangeSort::naming, "stream"},
};

[[nodiscard]] RangeType range_type(std::int64_t type) noexcept {
  for (const RangeType& each : kRangeTypes) {
    if (each.type == type) return each;
  }
  return {type, RangeSort::unknown, ""};
}

}  // namespace

void NsysImporter::read_ranges() {
  each_row("NVTX_EVENTS", NsysTable::nvtx, kRangeFieldNames, [&](const Row& row) { write_range(row); });
}

void NsysImporter::write_range(const Row& row) {
  const RangeType type = range_type(row.integer(kRangeType));
  if (type.sort == RangeSort::naming || type.sort == RangeSort::unknown) {
    ++(type.sort == RangeSort::naming ? counts_.naming_ranges : counts_.unknown_ranges);
    return;
  }
  const auto start = row.number(kRangeStart);
  if (!start) {
    ++counts_.missing_times;
    return;
  }
  const std::int64_t thread = row.integer(kRangeThread);
  const std::int64_t domain = row.integer(kRangeDomain);
  values_.clear();
  StringId name = 0;
  const std::string_view text = row.text(kRangeText);
  if (!text.empty() || !row.has(kRangeTextId)) {
    const std::string_view shown = name_in_form(text, NsysNameForm::range);
    name = session_.intern(shown);
    if (shown.size() < text.size()) values_.text(NvtxOwnColumns::message, text);
  } else {
    const std::string_view registered = strings_.text(row.integer(kRangeTextId));
    const std::string_view shown = name_in_form(registered, NsysNameForm::range);
    name = session_.intern(shown);
    if (shown.size() < registered.size()) values_.text(NvtxOwnColumns::message, registered);
  }
  if (const std::string_view of = facts_.domain(thread, domain); !of.empty()) {
    values_.string(NvtxColumns::domain, session_.intern(of));
  }
  if (row.has(kRangeCategory) && row.integer(kRangeCategory) != 0) {
    const std::string_view known = facts_.category(thread, domain, row.integer(kRangeCategory));
    values_.string(NvtxColumns::category,
                   session_.intern(known.empty() ? std::to_string(row.integer(kRangeCategory)) : std::string(known)));
  }
  set_payload(row);
  values_.string(NvtxColumns::kind, session_.intern(type.word));
  set_further(NsysTable::nvtx, row, kRangeFields);
  const std::uint32_t to = type.sort == RangeSort::free ? rows_.ranges(process_key_of(thread))
                                                        : rows_.thread(ThreadRow::annotations, thread);
  const auto end = row.number(kRangeEnd);
  if (!end && type.sort != RangeSort::mark) {
    ++counts_.open_ranges;
    open_ranges_.push_back({to, *start, name, values_});
    return;
  }
  saw(end.value_or(*start));
  session_.write(to, *start, end ? *end - *start : 0, name, values_);
}

// One of a union's members.
void NsysImporter::set_payload(const Row& row) {
  if (row.has(kRangeJson)) return values_.text(NvtxColumns::payload, row.text(kRangeJson));
  if (row.has(kRangeJsonId)) return values_.text(NvtxColumns::payload, strings_.text(row.integer(kRangeJsonId)));
  if (row.has(kRangeBinary)) {
    const auto payload = payloads_.decoded(row.blob(kRangeBinary));
    if (!payload) {
      ++counts_.unread_payloads;
      return;
    }
    values_.text(NvtxColumns::payload, payload->text);
    if (payload->message_bytes) values_.integer(NvtxOwnColumns::bytes, *payload->message_bytes);
    return;
  }
  for (const std::size_t field : {kRangeUnsigned64, kRangeSigned64, kRangeUnsigned32, kRangeSigned32}) {
    if (!row.has(field)) continue;
    const std::int64_t value = row.integer(field);
    return values_.text(NvtxColumns::payload, field == kRangeUnsigned64
                                                  ? std::to_string(static_cast<std::uint64_t>(value))
                                                  : std::to_string(value));
  }
  for (const std::size_t field : {kRangeDouble, kRangeFloat}) {
    if (row.has(field)) return values_.text(NvtxColumns::payload, fmt::format("{}", row.real(field)));
  }
}

void NsysImporter::close_ranges() {
  for (const OpenRange& range : open_ranges_) {
    session_.write(range.row, range.start, std::max<std::int64_t>(last_ - range.start, 0), range.name, range.values);
  }
  open_ranges_ = {};
}

}  // namespace accelscope::capture::sources::nsys
