#include "capture/sources/nsys/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/base/text.h"

namespace accelscope::capture::sources::nsys {
namespace {

constexpr std::size_t kPayloadHeaderBytes = 32;
constexpr std::int64_t kFirstLayout = 1 << 24;     // types from here on are layouts and lists of words
constexpr std::size_t kMostFields = 4096;          // of all layouts: a broken file may hold anything
constexpr std::size_t kMostShownCharacters = 400;  // of a text within a payload
constexpr std::string_view kMessageSize = "Message size";

// Types of fields, as the NVTX extension for payloads numbers them.
enum class FieldShape : std::uint8_t { unknown, character, integer, natural, real };
struct FieldType {
  std::int64_t type;
  FieldShape shape;
  std::size_t bytes;
};
constexpr FieldType kFieldTypes[] = {
    {1, FieldShape::character, 1}, {2, FieldShape::natural, 1},    {3, FieldShape::integer, 2},
    {4, FieldShape::natural, 2},   {5, FieldShape::integer, 4},    {6, FieldShape::natural, 4},
    {7, FieldShape::integer, 8},   {8, FieldShape::natural, 8},    {9, FieldShape::integer, 8},
    {10, FieldShape::natural, 8},  {11, FieldShape::integer, 1},   {12, FieldShape::natural, 1},
    {13, FieldShape::integer, 2},  {14, FieldShape::natural, 2},   {15, FieldShape::integer, 4},
    {16, FieldShape::natural, 4},  {17, FieldShape::integer, 8},   {18, FieldShape::natural, 8},
    {19, FieldShape::real, 4},     {20, FieldShape::real, 8},      {22, FieldShape::natural, 8},
    {23, FieldShape::natural, 8},  {25, FieldShape::character, 1}, {32, FieldShape::natural, 1},
    {33, FieldShape::natural, 1},  {34, FieldShape::natural, 2},   {35, FieldShape::natural, 4},
    {36, FieldShape::natural, 8},
};
constexpr std::int64_t kArrayFlags = 7 << 4;  // of a fixed length, up to a zero, or of a length that another field has
constexpr std::int64_t kFixedArray = 1 << 4;

[[nodiscard]] FieldType field_type(std::int64_t type) noexcept {
  for (const FieldType& each : kFieldTypes) {
    if (each.type == type) return each;
  }
  return {type, FieldShape::unknown, 0};
}

template <typename Number>
[[nodiscard]] Number number_at(ByteView bytes, std::size_t offset) noexcept {
  Number number = 0;
  std::memcpy(&number, bytes.data() + offset, sizeof(number));
  return number;
}

[[nodiscard]] std::uint64_t natural_at(ByteView bytes, std::size_t offset, std::size_t size) noexcept {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data() + offset, size);  // little-endian, as the machines are that nsys runs on
  return number;
}

[[nodiscard]] std::int64_t integer_at(ByteView bytes, std::size_t offset, std::size_t size) noexcept {
  const unsigned unused = static_cast<unsigned>(64 - 8 * size);
  return static_cast<std::int64_t>(natural_at(bytes, offset, size) << unused) >> unused;
}

}  // namespace

void NsysPayloads::read(const sqlite::ForeignDatabase& file) {
  Result<sqlite::ForeignRows> rows =
      file.rows("NVTX_PAYLOAD_SCHEMA_ENTRIES",
                {"domainId", "schemaId", "idx", "flags", "type", "name", "offset", "arrayOrUnionDetail"});
  std::map<LayoutKey, std::map<std::int64_t, Field>> found;  // processes repeat the layouts of a library
  for (std::size_t count = 0; rows && count < kMostFields && rows->next(); ++count) {
    const LayoutKey key{static_cast<std::uint64_t>(rows->integer(0)), static_cast<std::uint64_t>(rows->integer(1))};
    Field field{std::string(rows->text(5)), rows->integer(4), rows->integer(3), 0, rows->integer(7)};
    field.offset = static_cast<std::size_t>(std::clamp<std::int64_t>(rows->integer(6), 0, 1 << 24));
    found[key].try_emplace(rows->integer(2), std::move(field));
  }
  for (auto& [key, fields] : found) {
    for (auto& [index, field] : fields) layouts_[key].push_back(std::move(field));
  }
  Result<sqlite::ForeignRows> words = file.rows("NVTX_PAYLOAD_ENUM_ENTRIES", {"domainId", "schemaId", "value", "name"});
  for (std::size_t count = 0; words && count < kMostFields && words->next(); ++count) {
    const LayoutKey key{static_cast<std::uint64_t>(words->integer(0)), static_cast<std::uint64_t>(words->integer(1))};
    words_[key].try_emplace(words->integer(2), words->text(3));
  }
}

bool NsysPayloads::append_value(const Field& field, std::uint64_t domain, ByteView payload, Payload& into) const {
  FieldType type = field_type(field.type);
  const auto words = words_.find({domain, static_cast<std::uint64_t>(field.type)});
  if (field.type >= kFirstLayout && words != words_.end()) type = {field.type, FieldShape::integer, 4};
  const bool array = (field.flags & kArrayFlags) != 0;
  if (type.shape == FieldShape::unknown || field.offset + type.bytes > payload.size()) return false;
  if (array && (type.shape != FieldShape::character || (field.flags & kArrayFlags) != kFixedArray)) return false;
  std::string value;
  switch (type.shape) {
    case FieldShape::character: {
      const std::size_t length = array ? static_cast<std::size_t>(std::max<std::int64_t>(field.detail, 0)) : 1;
      const auto* text = reinterpret_cast<const char*>(payload.data()) + field.offset;
      const std::string_view all(text, std::min({length, payload.size() - field.offset, kMostShownCharacters}));
      value = all.substr(0, all.find('\0'));
      break;
    }
    case FieldShape::integer:
      value = std::to_string(integer_at(payload, field.offset, type.bytes));
      break;
    case FieldShape::natural:
      value = std::to_string(natural_at(payload, field.offset, type.bytes));
      break;
    case FieldShape::real:
      value = type.bytes == 4 ? fmt::format("{}", number_at<float>(payload, field.offset))
                              : fmt::format("{}", number_at<double>(payload, field.offset));
      break;
    case FieldShape::unknown:
      return false;
  }
  if (words != words_.end()) {
    const auto word = words->second.find(integer_at(payload, field.offset, type.bytes));
    if (word != words->second.end()) value = word->second;
  }
  if (field.name.starts_with(kMessageSize) && type.shape != FieldShape::real && type.shape != FieldShape::character) {
    into.message_bytes = integer_at(payload, field.offset, type.bytes);
  }
  into.text += fmt::format("{}{}={}", into.text.empty() ? "" : ", ", field.name, value);
  return true;
}

std::optional<NsysPayloads::Payload> NsysPayloads::decoded(ByteView data) const {
  if (data.size() < kPayloadHeaderBytes) return std::nullopt;
  const std::uint64_t domain = number_at<std::uint32_t>(data, 0);
  const std::uint64_t layout = number_at<std::uint32_t>(data, 8);
  const std::uint64_t size = number_at<std::uint64_t>(data, 16);
  const auto found = layouts_.find({domain, layout});
  if (found == layouts_.end() || size > data.size() - kPayloadHeaderBytes) return std::nullopt;
  const ByteView payload = data.subspan(kPayloadHeaderBytes, static_cast<std::size_t>(size));
  Payload result;
  bool any = false;
  for (const Field& field : found->second) any = append_value(field, domain, payload, result) || any;
  if (!any) return std::nullopt;
  return result;
}

Result<void> NsysStacks::open(const sqlite::ForeignDatabase& file, std::string_view table) {
  any_ = false;
  known_.clear();
  if (!file.has_table(table)) return {};
  // Without an index every stack would cost a pass over the table.
  if (!file.has_index(table, "id")) {
    return Error{fmt::format("{} has no index, so that its stacks cannot be found", table)};
  }
  Result<Statement> lookup = file.prepare(fmt::format(
      "SELECT \"symbol\", \"module\" FROM {} WHERE \"id\" = ? ORDER BY \"stackDepth\"", sqlite::quoted_name(table)));
  if (!lookup) return lookup.error();
  lookup_ = std::move(lookup).value();
  any_ = true;
  return {};
}

NsysStacks::Stack NsysStacks::stack(std::int64_t number) {
  if (!any_) return {};
  if (const auto known = known_.find(number); known != known_.end()) return known->second;
  lookup_.reset();
  lookup_.bind(1, number);
  text_.clear();
  Stack stack;
  for (std::size_t depth = 0; depth < kMostFrames; ++depth) {
    const Result<bool> row = lookup_.step();
    if (!row || !row.value()) break;
    ++frames_read_;
    const std::int64_t symbol = lookup_.integer(0);
    const std::int64_t module = lookup_.integer(1);
    if (depth == 0) stack.innermost = strings_.intern(symbol);
    if (!text_.empty()) text_ += '\n';
    const std::string function(strings_.text(symbol));
    const std::string library = file_name(strings_.text(module));
    text_ += function;
    if (!library.empty() && library != function) text_ += fmt::format(" ({})", library);
  }
  if (!text_.empty()) stack.frames = writer_.intern(text_);
  if (known_.size() < kMostRememberedStacks) known_.try_emplace(number, stack);
  return stack;
}

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
