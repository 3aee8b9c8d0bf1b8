// Compiled programs of Neuron devices by themselves (NEFF, archive.h): what would run, without times.
//
// The archive holds neff.json (the graph), kelf-*.json (its subgraphs, one for each physical core), info.json and
// hlo_stats.json (of the compiler), and for each subgraph a folder: def.json (tensors, DMA queues, which file is what),
// tensor_map.json (shapes and types), for each engine a stream of instructions (instruction_words.h), a JSON file and
// debug information (debug_info.h), tables of the engines, constants as .npy. debug_info/ holds the levels above the
// engines'.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "capture/json/json_cursor.h"
#include "capture/sources/base/import_report.h"
#include "capture/sources/base/importers.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/base/source_finder.h"
#include "capture/sources/neuron/neff/archive.h"
#include "capture/sources/neuron/neff/debug_info.h"
#include "capture/sources/neuron/neff/instruction_words.h"
#include "capture/sources/neuron/read/table_rules.h"
#include "capture/sources/neuron/tool.h"
#include "capture/system/shown_command.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::sources::neuron::neff {
namespace {

namespace fs = std::filesystem;
using namespace columns;

constexpr std::uint64_t kMostRecords = 4'000'000;  // of all streams; 12 bytes of memory each
constexpr std::size_t kMostNames = 4'000'000;      // of all debug information; some 100 bytes each
constexpr std::size_t kMostSubgraphs = 256;
constexpr std::uint64_t kMostText = std::uint64_t{512} << 20;  // JSON and debug information together
constexpr std::size_t kMostFiles = 100'000;
constexpr std::size_t kMostShownText = 1U << 20;  // of a file that is shown as source text
constexpr std::size_t kMostShownTexts = 16U << 20;
constexpr std::size_t kMostShownTensors = 24;  // among the figures; the table has all

// The two that the vendor's tool names of a program with these bits; others are shown by their number.
[[nodiscard]] std::string feature_names(std::uint64_t bits) {
  std::string names;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((bits >> bit & 1U) == 0) continue;
    const std::string name = bit == 10   ? "virtual-core"
                             : bit == 11 ? "v3-2x-4x-dve-perf-mode"
                                         : fmt::format("bit {}", bit);
    names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

constexpr ColumnSpec kSubgraphColumns[] = {
    {"instructions", kInt, "", kOperation, "Instructions", "Of all engines' streams."},
    {"instruction_bytes", kInt, "B", kMemory, "Instruction bytes", "Bytes of these streams."},
    {"tensors", kInt, "", kOperation, "Tensors", "Variables that it defines."},
    {"dma_queues", kInt, "", kOperation, "DMA queues", "Groups of queues that it defines."},
    {"features", kString, "", kDetails, "Features", "What the runtime must know, as the definition names it."},
    {"runtime_events", kInt, "", kDetails, "Runtime events", "Events that the runtime has for itself."},
    {"runtime_semaphores", kInt, "", kDetails, "Runtime semaphores", "Semaphores that the runtime has for itself."},
    {"definition", kString, "", kIds, "Definition", "File of the archive that defines it."},
    {"version", kString, "", kIds, "Version", "Of the definition."},
};
constexpr ColumnSpec kTensorColumns[] = {
    {"type", kString, "", kOperation, "Kind", "IN, OUT or WEIGHT; other variables as the program calls them."},
    {"dtype", kString, "", kOperation, "Type", "Of its elements."},
    {"shape", kString, "", kOperation, "Shape", "Extent of each dimension."},
    {"format", kString, "", kOperation, "Format", "Order of the dimensions."},
    {"size", kInt, "B", kMemory, "Size", "Bytes of the tensor."},
    {"sg_name", kString, "", kIds, "Subgraph", "Compiled graph that it belongs to."},
    {"var_id", kInt, "", kIds, "Variable", "Its number in the subgraph."},
    {"file", kString, "", kIds, "File", "File of the archive that holds its values."},
};
constexpr ColumnSpec kStreamColumns[] = {
    {"subgraph", kString, "", kIds, "Subgraph", "Compiled graph that it belongs to."},
    {"instructions", kInt, "", kOperation, "Instructions", "Records of the stream."},
    {"bytes", kInt, "B", kMemory, "Bytes", "Of the stream."},
    {"unread_bytes", kInt, "B", kMemory, "Unread bytes",
     "From the first record on that is no instruction of 64 bytes."},
    {"named", kInt, "", kSource, "Named", "Instructions of which the debug information has a name."},
    {"dma_blocks", kInt, "", kTransfer, "DMA blocks", "Blocks of descriptors that the engine's description lists."},
    {"file", kString, "", kIds, "File", "File of the archive."},
};
constexpr ColumnSpec kOpcodeColumns[] = {
    {"engine", kString, "", kOperation, "Engine", "Engine that executes it."},
    {"instructions", kInt, "", kOperation, "Instructions", "How many of them the stream has."},
    {"bytes", kInt, "B", kMemory, "Bytes", "Of these instructions."},
    {"code", kInt, "", kIds, "Code", "Number of the opcode."},
    {"subgraph", kString, "", kIds, "Subgraph", "Compiled graph that it belongs to."},
};
constexpr ColumnSpec kInstructionColumns[] = {
    {"engine", kString, "", kOperation, "Engine", "Engine that executes it."},
    {"index", kInt, "", kIds, "Index",
     "Place in the engine's stream from 0. A trace's PC is greater: the runtime puts instructions of its own before."},
    {"waits_for", kString, "", kOperation, "Waits for", "Semaphore and the least value that it must have."},
    {"signals", kString, "", kOperation, "Signals", "Semaphore that is changed when it completes."},
    {"bir_instruction_name", kText, "", kIds, "BIR name", "Name in the compiler's last representation."},
    {"raw_bir_id", kInt, "", kIds, "Raw BIR", "Number in that representation; a trace has the same."},
    {"penguin", kString, "", kLayerAndSource, "Tensor expression", "What it computes in the compiler's middle level."},
    {"hlo_name", kString, "", kLayerAndSource, "HLO", "Operation of the compiler's input graph."},
    {"layer", kString, "", kLayerAndSource, "Layer", "The framework's operation."},
    {"kernel", kString, "", kLayerAndSource, "Kernel", "Kernel that it is part of."},
    {"source_location", kString, "", kLayerAndSource, "Source", "Line that it was made of.", Role::source_location},
    {"code", kInt, "", kIds, "Code", "Number of the opcode."},
    {"subgraph", kString, "", kIds, "Subgraph", "Compiled graph that it belongs to."},
};
constexpr ColumnSpec kQueueColumns[] = {
    {"type", kString, "", kOperation, "Type",
     "Dynamic queues get descriptors from instructions while the program runs."},
    {"owner", kString, "", kOperation, "Engine", "Engine that feeds it."},
    {"queues", kInt, "", kOperation, "Queues", "How many queues, each on a DMA engine of its own."},
    {"semaphores", kInt, "", kOperation, "Semaphores", "How many semaphores its transfers signal."},
    {"fabric_path", kString, "", kDetails, "Fabric", "Path of the chip's interconnect."},
    {"subgraph", kString, "", kIds, "Subgraph", "Compiled graph that uses it."},
};
constexpr ColumnSpec kFileColumns[] = {
    {"kind", kString, "", kOperation, "Kind", "What the file is to the program."},
    {"bytes", kInt, "B", kMemory, "Bytes", "Its size, unpacked."},
    {"read", kFlag, "", kDetails, "Read", "Whether this session holds what is in it; else its size alone."},
};

// Places of the columns above.
template <std::size_t kCount>
[[nodiscard]] constexpr std::size_t place_of(const ColumnSpec (&specs)[kCount], std::string_view name) {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (specs[i].name == name) return i;
  }
  std::abort();  // does not compile where the name is known
}

// A table without times, and the pen for its rows.
template <std::size_t kCount>
class TableWriter {
 public:
  TableWriter(SessionWriter& writer, std::string_view schema, std::string_view name_column, std::string_view title,
              const ColumnSpec (&columns)[kCount])
      : writer_(writer), columns_(columns) {
    const SchemaNumber number = writer.add_schema(make_schema({schema, EventKind::table, name_column}, columns));
    track_ = writer.add_track({.name = std::string(title), .kind = "table", .schema = number});
  }
  TableWriter& row(std::string_view name) {
    row_.emplace(writer_.begin_event(track_, 0, 0, writer_.intern(name)));
    ++rows_;
    return *this;
  }
  TableWriter& set(std::string_view column, std::string_view value) {
    if (value.empty()) return *this;
    const std::size_t place = place_of(columns_, column);
    if (columns_[place].type == kText) {
      row_->text(place, value);
    } else {
      row_->string(place, writer_.intern(value));
    }
    return *this;
  }
  TableWriter& set(std::string_view column, std::uint64_t value) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 62U;  // a size beyond it is a lie
    row_->integer(place_of(columns_, column), static_cast<std::int64_t>(std::min(value, kMost)));
    return *this;
  }
  void flag(std::string_view column, bool value) { row_->boolean(place_of(columns_, column), value); }
  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }

 private:
  SessionWriter& writer_;
  const ColumnSpec (&columns_)[kCount];
  TrackNumber track_;
  std::optional<Row> row_;
  std::uint64_t rows_ = 0;
};

struct Stream {
  std::uint64_t bytes = 0;
  std::vector<InstructionRecord> records;
  std::uint64_t unread_bytes = 0;
  bool over_limit = false;
};

struct ArchiveFile {
  std::string path;
  std::uint64_t bytes = 0;
  std::string kind;
  bool read = false;
};

// What def.json says of an engine.
struct EngineFiles {
  std::string description, instructions;
  std::vector<std::string> assembly_debug, debug;
};

struct Subgraph {
  std::string name;
  std::string definition;  // path
  std::string folder;
  std::array<EngineFiles, kEngines.size()> engines;
};

void append_texts(const json::JsonField& field, std::vector<std::string>& texts) {
  (void)json::each_element(field.text, [&](const json::JsonField& each) {
    texts.emplace_back(each.text);
    return true;
  });
}

[[nodiscard]] std::string member_text(std::string_view object, std::string_view key) {
  std::string text;
  (void)json::each_member(object, [&](const json::JsonField& field) {
    if (field.key == key && field.kind != json::JsonKind::null) text = field.text;
    return true;
  });
  return text;
}

[[nodiscard]] std::uint64_t element_count(std::string_view list) {
  std::uint64_t count = 0;
  (void)json::each_element(list, [&](const json::JsonField&) { return ++count > 0; });
  return count;
}

[[nodiscard]] std::string shape_text(std::string_view list) {
  std::vector<std::string> extents;
  append_texts({.key = {}, .text = list, .kind = json::JsonKind::array}, extents);
  return extents.empty() ? std::string() : fmt::format("[{}]", fmt::join(extents, " "));
}

struct TensorShape {
  std::string dtype, shape, format;
};

class NeffImport {
 public:
  NeffImport(std::string name, const ImportOptions& options, EventSink& sink)
      : name_(std::move(name)), options_(options), writer_(sink) {}

  Result<void> run(std::unique_ptr<json::ByteSource> bytes);

 private:
  Result<void> read_members(NeffArchive& archive);
  Result<void> read_member(NeffArchive& archive, ArchiveFile& file);
  Result<void> read_stream(NeffArchive& archive, Stream& stream);
  Result<void> pass_over(NeffArchive& archive);
  void find_subgraphs();
  void read_definition(Subgraph& subgraph);
  [[nodiscard]] const DebugInfo* debug_of(const std::string& folder, const std::vector<std::string>& files) const;
  // The level above, in the folder that all subgraphs share. Null: not there, or there in several parts.
  [[nodiscard]] const DebugInfo* shared_debug(std::string_view file) const;

  void write_header(const NeffHeader& header);
  void write_compiler_facts();
  void write_subgraphs();
  void write_tensors();
  void write_queues();
  void write_streams();
  using InstructionTable = TableWriter<std::size(kInstructionColumns)>;
  // How many of them have a name.
  std::uint64_t write_instructions(InstructionTable& table, const Subgraph& subgraph, std::size_t engine,
                                   const Stream& stream);
  void write_files();
  void write_texts();
  void write_figures(const NeffHeader& header);
  void add_figure(std::string name, std::string group, std::uint64_t value, std::string unit = {}) {
    writer_.add_metric({std::move(name), std::move(group), static_cast<double>(value), std::move(unit), {}, {}});
  }
  void add_words(std::string name, std::string group, std::string text) {
    if (text.empty()) return;
    writer_.add_metric({std::move(name), std::move(group), 0, {}, std::move(text), {}});
  }

  std::string name_;
  const ImportOptions& options_;
  SessionWriter writer_;
  ImportReport report_;
  std::vector<ArchiveFile> files_;
  std::map<std::string, std::string> texts_;  // JSON and assembly, by path
  std::map<std::string, DebugInfo> debug_;    // by path
  std::map<std::string, Stream> streams_;     // by path: files of which some are no streams
  std::uint64_t text_bytes_ = 0, records_ = 0;
  std::size_t names_ = 0;  // in debug_
  std::uint64_t unlisted_files_ = 0, further_records_ = 0;
  std::vector<Subgraph> subgraphs_;
  std::set<std::string> source_names_;
  std::map<std::string, std::string, std::less<>> roles_;  // what a file of the archive is, by path
  std::array<std::uint64_t, kEngines.size()> engine_counts_{};
  std::map<std::pair<std::size_t, std::string>, std::uint64_t> opcode_counts_;  // by engine and name
  std::vector<std::pair<std::string, std::string>> shown_tensors_;  // of the first subgraph: "IN x", what it is
  std::map<std::string, std::uint64_t> tensor_bytes_;               // by kind
};

Result<void> NeffImport::read_stream(NeffArchive& archive, Stream& stream) {
  std::array<char, kRecordBytes * 512> part{};
  for (;;) {
    std::size_t filled = 0;
    while (filled < part.size()) {
      const std::size_t count = TRY(archive.read(std::span(part).subspan(filled)));
      if (count == 0) break;
      filled += count;
    }
    if (filled == 0) return {};
    for (std::size_t at = 0; at < filled; at += kRecordBytes) {
      const std::size_t size = std::min<std::size_t>(kRecordBytes, filled - at);
      const auto record = decode_record({part.data() + at, size});
      if (stream.unread_bytes > 0 || !record) {
        stream.unread_bytes += size;
      } else if (records_ >= kMostRecords) {
        stream.over_limit = true;
        ++further_records_;
      } else {
        ++records_;
        stream.records.push_back(*record);
      }
    }
    if (writer_.cancelled()) return {};
  }
}

// Constants may be gigabytes.
Result<void> NeffImport::pass_over(NeffArchive& archive) {
  std::array<char, 64U << 10> part{};
  while (!writer_.cancelled()) {
    const std::size_t count = TRY(archive.read(part));
    if (count == 0) break;
    if (options_.progress) options_.progress(archive.file_bytes_read(), archive.file_bytes());
  }
  return {};
}

Result<void> NeffImport::read_member(NeffArchive& archive, ArchiveFile& file) {
  const std::string ending = fs::path(file.path).extension().string();
  const bool is_debug = ending.starts_with(".dbg");  // debug_info_hlo.dbg_sg000000
  if (ending == ".bin") {
    Stream& stream = streams_[file.path];
    stream = {.bytes = file.bytes, .records = {}, .unread_bytes = 0, .over_limit = false};
    return read_stream(archive, stream);
  }
  if (ending != ".json" && ending != ".asm" && !is_debug) return pass_over(archive);
  file.kind = is_debug ? "debug information" : ending == ".asm" ? "assembly" : "description";
  if (file.bytes > kMostText - text_bytes_) {
    report_.note("values_left_out",
                 fmt::format("{} and files behind it were not read: texts and debug information of a program have "
                             "{} MiB at most here",
                             file.path, kMostText >> 20U));
    return {};
  }
  std::string text = TRY(archive.content());
  text_bytes_ += text.size();
  file.read = true;
  if (!is_debug) {
    texts_[file.path] = std::move(text);
    return {};
  }
  if (auto info = DebugInfo::read(std::move(text), kMostNames - names_)) {
    names_ += info->in_order().size();
    debug_.insert_or_assign(file.path, std::move(*info));
  } else {
    file.read = false;
    report_.note("table_unreadable", fmt::format("{} is no debug information of the kind that is known: instructions "
                                                 "have no names and lines of it",
                                                 file.path));
  }
  return {};
}

Result<void> NeffImport::read_members(NeffArchive& archive) {
  ArchiveMember member;
  for (;;) {
    if (options_.progress) options_.progress(archive.file_bytes_read(), archive.file_bytes());
    if (writer_.cancelled()) return {};
    const bool more = TRY(archive.next(member));
    if (!more) return {};
    if (files_.size() >= kMostFiles) {
      ++unlisted_files_;
      continue;
    }
    files_.push_back({member.path, member.size, member.is_file ? "other" : "link", false});
    if (member.is_file) TRY(read_member(archive, files_.back()));
  }
}

void NeffImport::find_subgraphs() {
  for (const auto& [path, text] : texts_) {
    if (!fs::path(path).filename().string().starts_with("kelf")) continue;
    const std::string graphs = member_text(text, "graphs");
    (void)json::each_element(graphs, [&](const json::JsonField& graph) {
      Subgraph found;
      found.name = member_text(graph.text, "name");
      found.definition = member_text(graph.text, "definition");
      if (!found.definition.empty()) subgraphs_.push_back(std::move(found));
      return true;
    });
  }
  if (subgraphs_.empty()) {
    for (const auto& [path, text] : texts_) {
      if (!path.ends_with("/def.json")) continue;
      Subgraph found;
      found.name = fs::path(path).parent_path().string();
      found.definition = path;
      subgraphs_.push_back(std::move(found));
    }
  }
  // One that is listed again is the same.
  std::set<std::string> known;
  std::erase_if(subgraphs_, [&](const Subgraph& each) { return !known.insert(each.definition).second; });
  if (subgraphs_.size() > kMostSubgraphs) {
    report_.note("rows_left_out", fmt::format("subgraphs beyond the first {} were not read", kMostSubgraphs),
                 subgraphs_.size() - kMostSubgraphs);
    subgraphs_.resize(kMostSubgraphs);
  }
  for (Subgraph& subgraph : subgraphs_) {
    subgraph.folder = fs::path(subgraph.definition).parent_path().string();
    if (!subgraph.folder.empty()) subgraph.folder += '/';
    if (texts_.contains(subgraph.definition)) {
      read_definition(subgraph);
    } else {
      report_.note(
          "table_unreadable",
          fmt::format("subgraphs whose definition is not in the archive, such as {} of {}: nothing is known of "
                      "them",
                      subgraph.definition, subgraph.name));
    }
  }
}

void NeffImport::read_definition(Subgraph& subgraph) {
  const std::string& text = texts_.find(subgraph.definition)->second;
  const bool whole = json::each_member(text, [&](const json::JsonField& field) {
    for (std::size_t i = 0; i < kEngines.size(); ++i) {
      if (!field.key.starts_with(kEngines[i].key)) continue;
      const std::string_view what = field.key.substr(kEngines[i].key.size());
      EngineFiles& files = subgraph.engines[i];
      if (what.empty()) files.description = subgraph.folder + std::string(field.text);
      if (what == "_instr") files.instructions = subgraph.folder + std::string(field.text);
      if (what == "_asm_dbg") append_texts(field, files.assembly_debug);
      if (what == "_dbg") append_texts(field, files.debug);
    }
    return true;
  });
  if (!whole) {
    report_.note("broken_args", fmt::format("descriptions that are no JSON, or break off, such as {}: what stands "
                                            "before the break was read",
                                            subgraph.definition));
  }
  for (EngineFiles& files : subgraph.engines) {
    const auto description = texts_.find(files.description);
    if (!files.instructions.empty() || description == texts_.end()) continue;
    const std::string stream = member_text(description->second, "instr");
    if (!stream.empty()) files.instructions = subgraph.folder + stream;
  }
}

const DebugInfo* NeffImport::debug_of(const std::string& folder, const std::vector<std::string>& files) const {
  if (files.size() != 1) return nullptr;
  const auto found = debug_.find(folder + files.front());
  return found == debug_.end() ? nullptr : &found->second;
}

const DebugInfo* NeffImport::shared_debug(std::string_view file) const {
  if (file.empty()) return nullptr;
  const std::string prefix = fmt::format("debug_info/{}_sg", file);
  const DebugInfo* found = nullptr;
  for (auto info = debug_.lower_bound(prefix); info != debug_.end() && info->first.starts_with(prefix); ++info) {
    if (found != nullptr) return nullptr;
    found = &info->second;
  }
  return found;
}

void NeffImport::write_header(const NeffHeader& header) {
  const std::string features = feature_names(header.features);
  Row row = [&] {
    const SchemaNumber schema = writer_.add_schema(neuron_schema(NeuronTable::neff_header));
    const TrackNumber track = writer_.add_track({.name = "Program", .kind = "table", .schema = schema});
    return writer_.begin_event(track, 0, 0, writer_.intern(header.network_name));
  }();
  const auto text = [&](const char* column, const std::string& value) {
    writer_.set_meta(fmt::format("neff_header.{}", column), value);
    if (!value.empty()) row.string(neuron_column(NeuronTable::neff_header, column), writer_.intern(value));
  };
  const auto number = [&](const char* column, std::uint64_t value) {
    writer_.set_meta(fmt::format("neff_header.{}", column), fmt::format("{}", value));
    row.integer(neuron_column(NeuronTable::neff_header, column), static_cast<std::int64_t>(value));
  };
  writer_.set_meta("neff_header.network_name", header.network_name);
  text("uuid", header.uuid);
  text("hash", header.hash);
  text("build_version", header.build_version);
  text("enabled_features", features);
  number("major_version", header.major_version);
  number("minor_version", header.minor_version);
  number("package_version", header.package_version);
  number("header_size", header.header_size);
  number("data_size", header.data_size);
  if (header.logical_cores > 0) number("number_of_logical_neuroncores", header.logical_cores);
  if (header.cores_per_logical_core > 0) number("number_of_neuroncores_per_lnc", header.cores_per_logical_core);
}

void NeffImport::write_compiler_facts() {
  for (const auto& [path, text] : texts_) {
    const std::string file = fs::path(path).filename().string();
    if (path == "info.json") {
      writer_.set_meta("compiler_version", member_text(text, "tool_version"));
      add_words("compiler_version", "program", member_text(text, "tool_version"));
    }
    if (file.starts_with("kelf")) {
      writer_.set_meta("neff.target", member_text(text, "target"));
      add_words("target", "program", member_text(text, "target"));
    }
    if (path != "hlo_stats.json") continue;
    (void)json::each_member(text, [&](const json::JsonField& field) {
      const auto value = json::to_double(field);
      if (value && *value > 0) writer_.add_metric({std::string(field.key), "compiler", *value, {}, {}, {}});
      return true;
    });
  }
}

void NeffImport::write_subgraphs() {
  TableWriter table(writer_, "neff_subgraph", "name", "Subgraphs", kSubgraphColumns);
  for (const Subgraph& subgraph : subgraphs_) {
    const auto text = texts_.find(subgraph.definition);
    if (text == texts_.end()) continue;
    table.row(subgraph.name).set("definition", subgraph.definition);
    (void)json::each_member(text->second, [&](const json::JsonField& field) {
      if (field.key == "version") table.set("version", field.text);
      if (field.key == "var" || field.key == "dma_queue") {
        std::uint64_t count = 0;
        (void)json::each_member(field.text, [&](const json::JsonField&) { return ++count > 0; });
        table.set(field.key == "var" ? "tensors" : "dma_queues", count);
      }
      if (field.key == "neff_features") {
        std::vector<std::string> names;
        append_texts(field, names);
        table.set("features", fmt::format("{}", fmt::join(names, ", ")));
      }
      const auto number = json::to_uint64(field);
      if (number && field.key == "runtime_event_count") table.set("runtime_events", *number);
      if (number && field.key == "runtime_semaphore_count") table.set("runtime_semaphores", *number);
      return true;
    });
    std::uint64_t instructions = 0;
    std::uint64_t bytes = 0;
    for (const EngineFiles& files : subgraph.engines) {
      const auto stream = streams_.find(files.instructions);
      if (stream == streams_.end()) continue;
      instructions += stream->second.records.size();
      bytes += stream->second.bytes;
    }
    table.set("instructions", instructions).set("instruction_bytes", bytes);
  }
}

void NeffImport::write_tensors() {
  TableWriter table(writer_, "neff_node", "variable_name", "Tensors", kTensorColumns);
  std::set<std::pair<std::string, std::string>> counted;  // what all subgraphs share
  for (const Subgraph& subgraph : subgraphs_) {
    const auto definition = texts_.find(subgraph.definition);
    if (definition == texts_.end() || writer_.cancelled()) continue;
    std::map<std::string, TensorShape, std::less<>> by_name, by_file;
    if (const auto shapes = texts_.find(subgraph.folder + "tensor_map.json"); shapes != texts_.end()) {
      (void)json::each_member(shapes->second, [&](const json::JsonField& tensor) {
        const TensorShape shape{member_text(tensor.text, "dtype"), shape_text(member_text(tensor.text, "sim_shape")),
                                member_text(tensor.text, "sim_format")};
        by_name.insert_or_assign(std::string(tensor.key), shape);
        by_file.insert_or_assign(member_text(tensor.text, "tf_file"), shape);
        return true;
      });
    }
    const std::string variables = member_text(definition->second, "var");
    (void)json::each_member(variables, [&](const json::JsonField& variable) {
      const std::string type = member_text(variable.text, "type");
      const std::string file = member_text(variable.text, "file_name");
      const std::string kind = type == "input" ? "IN" : type == "output" ? "OUT" : type == "file" ? "WEIGHT" : type;
      table.row(variable.key).set("type", kind).set("sg_name", subgraph.name);
      const auto number = [&](const char* column, const std::string& text) -> std::optional<std::uint64_t> {
        const auto value = json::to_uint64({.key = {}, .text = text, .kind = json::JsonKind::number});
        if (value && !text.empty()) table.set(column, *value);
        return text.empty() ? std::nullopt : value;
      };
      const auto size = number("size", member_text(variable.text, "size"));
      (void)number("var_id", member_text(variable.text, "var_id"));
      if (!file.empty()) {
        table.set("file", subgraph.folder + file);
        roles_[subgraph.folder + file] = "constant";
      }
      const auto& shapes = file.empty() ? by_name : by_file;
      const auto shape = shapes.find(file.empty() ? variable.key : std::string_view(file));
      const bool crosses = kind == "IN" || kind == "OUT" || kind == "WEIGHT";
      if (crosses && &subgraph == subgraphs_.data() && shown_tensors_.size() < kMostShownTensors) {
        const TensorShape known = shape == shapes.end() ? TensorShape{} : shape->second;
        shown_tensors_.emplace_back(fmt::format("{} {}", kind, variable.key),
                                    fmt::format("{} {}", known.dtype, known.shape));
      }
      if (shape != shapes.end()) {
        table.set("dtype", shape->second.dtype).set("shape", shape->second.shape).set("format", shape->second.format);
      }
      if (size && counted.emplace(kind, variable.key).second) tensor_bytes_[kind] += *size;
      return true;
    });
  }
}

void NeffImport::write_queues() {
  TableWriter table(writer_, "neff_dma_queue", "q_name", "DMA queues", kQueueColumns);
  for (const Subgraph& subgraph : subgraphs_) {
    const auto definition = texts_.find(subgraph.definition);
    if (definition == texts_.end() || writer_.cancelled()) continue;
    (void)json::each_member(member_text(definition->second, "dma_queue"), [&](const json::JsonField& queue) {
      table.row(queue.key).set("subgraph", subgraph.name);
      (void)json::each_member(queue.text, [&](const json::JsonField& field) {
        if (field.key == "type" || field.key == "fabric_path") table.set(field.key, field.text);
        if (field.key == "semaphore_set") table.set("semaphores", element_count(field.text));
        if (const auto count = json::to_uint64(field); field.key == "num_queues" && count) table.set("queues", *count);
        if (field.key != "owner") return true;
        const auto* const engine = std::find_if(kEngines.begin(), kEngines.end(),
                                                [&](const EngineWords& each) { return each.key == field.text; });
        table.set("owner", engine == kEngines.end() ? field.text : engine->name);
        return true;
      });
      return true;
    });
  }
}

void NeffImport::write_streams() {
  TableWriter streams(writer_, "neff_stream", "engine", "Instruction streams", kStreamColumns);
  TableWriter opcodes(writer_, "neff_opcode", "opcode", "Opcodes", kOpcodeColumns);
  TableWriter instructions(writer_, "neff_instruction", "opcode", "Instructions", kInstructionColumns);
  std::uint64_t in_file = 0;
  for (const Subgraph& subgraph : subgraphs_) {
    for (std::size_t i = 0; i < kEngines.size() && !writer_.cancelled(); ++i) {
      const EngineFiles& files = subgraph.engines[i];
      const auto found = streams_.find(files.instructions);
      if (found == streams_.end()) {
        if (!files.instructions.empty()) {
          report_.note("table_unreadable",
                       fmt::format("streams of instructions that are named and not in the archive, such as {}",
                                   files.instructions));
        }
        continue;
      }
      const Stream& stream = found->second;
      if (!roles_.emplace(found->first, "instructions").second) continue;  // of another subgraph already
      engine_counts_[i] += stream.records.size();
      in_file += (stream.bytes + kRecordBytes - 1) / kRecordBytes;
      std::array<std::uint64_t, 256> counts{};
      for (const InstructionRecord& record : stream.records) ++counts[record.opcode];
      for (std::size_t code = 0; code < counts.size(); ++code) {
        if (counts[code] == 0) continue;
        opcode_counts_[{i, opcode_name(static_cast<unsigned char>(code))}] += counts[code];
        opcodes.row(opcode_name(static_cast<unsigned char>(code)));
        opcodes.set("engine", kEngines[i].name).set("instructions", counts[code]).set("code", code);
        opcodes.set("bytes", counts[code] * kRecordBytes).set("subgraph", subgraph.name);
      }
      const std::uint64_t named = write_instructions(instructions, subgraph, i, stream);
      streams.row(kEngines[i].name).set("subgraph", subgraph.name).set("file", found->first);
      streams.set("instructions", std::uint64_t{stream.records.size()}).set("bytes", stream.bytes);
      streams.set("unread_bytes", stream.unread_bytes).set("named", named);
      const auto description = texts_.find(files.description);
      if (description != texts_.end())
        streams.set("dma_blocks", element_count(member_text(description->second, "dma")));
      report_.note(
          "rows_skipped",
          fmt::format("records of {} bytes from the first on that is no instruction of that length, such as in "
                      "{}: the encoding of this program is another one, so they are counted and not read",
                      kRecordBytes, found->first),
          (stream.unread_bytes + kRecordBytes - 1) / kRecordBytes);
    }
  }
  set_row_counts(writer_, "neff_instruction", in_file, instructions.rows());
  report_.note("rows_left_out",
               fmt::format("instructions beyond the first {} of the program were counted and not read", kMostRecords),
               further_records_);
}

std::uint64_t NeffImport::write_instructions(InstructionTable& table, const Subgraph& subgraph, std::size_t engine,
                                             const Stream& stream) {
  const EngineFiles& files = subgraph.engines[engine];
  const DebugInfo* assembly = debug_of(subgraph.folder, files.assembly_debug);
  const DebugInfo* backend = debug_of(subgraph.folder, files.debug);
  if (assembly != nullptr && assembly->in_order().size() != stream.bytes / kRecordBytes) {
    report_.note("unmatched_ends",
                 fmt::format("debug information that names another number of instructions than the stream has, such as "
                             "of {}: the instructions have no names and lines of it",
                             files.instructions));
    assembly = nullptr;
  }
  const DebugInfo* penguin = backend == nullptr ? nullptr : shared_debug(backend->parent_file());
  const DebugInfo* hlo = penguin == nullptr ? nullptr : shared_debug(penguin->parent_file());
  const DebugInfo* framework = hlo == nullptr ? nullptr : shared_debug(hlo->parent_file());
  const auto above = [](const DebugInfo* level, const DebugInstruction* of) {
    return level == nullptr || of == nullptr || !of->parent ? nullptr : level->find(*of->parent);
  };
  std::uint64_t named = 0;
  for (std::size_t i = 0; i < stream.records.size() && !writer_.cancelled(); ++i) {
    const InstructionRecord& record = stream.records[i];
    table.row(opcode_name(record.opcode)).set("engine", kEngines[engine].name).set("index", std::uint64_t{i});
    table.set("waits_for", wait_text(record)).set("signals", signal_text(record));
    table.set("code", std::uint64_t{record.opcode}).set("subgraph", subgraph.name);
    const DebugInstruction* const bir = above(backend, assembly == nullptr ? nullptr : &assembly->in_order()[i]);
    if (bir == nullptr) continue;
    ++named;
    const DebugInstruction* const expression = above(penguin, bir);
    const DebugInstruction* const operation = above(hlo, expression);
    const DebugInstruction* const layer = above(framework, operation);
    table.set("bir_instruction_name", json::repair_utf8(bir->name)).set("raw_bir_id", bir->id);
    if (expression != nullptr) table.set("penguin", json::repair_utf8(expression->name));
    if (operation != nullptr) table.set("hlo_name", json::repair_utf8(operation->name));
    if (layer != nullptr) table.set("layer", json::repair_utf8(layer->name));
    bool has_line = false;
    bool has_kernel = false;
    for (const DebugInstruction* level : {bir, expression, operation}) {
      if (level == nullptr) continue;
      if (!has_kernel && !level->kernel.empty()) table.set("kernel", json::repair_utf8(level->kernel));
      has_kernel = has_kernel || !level->kernel.empty();
      if (has_line || level->file.empty() || level->line.empty()) continue;
      const std::string file = json::repair_utf8(level->file);
      table.set("source_location", fmt::format("{}:{}", file, json::repair_utf8(level->line)));
      source_names_.insert(file);
      has_line = true;
    }
  }
  return named;
}

void NeffImport::write_files() {
  TableWriter table(writer_, "neff_file", "path", "Files", kFileColumns);
  std::uint64_t unread = 0;
  std::uint64_t unread_bytes = 0;
  for (ArchiveFile& file : files_) {
    const auto role = roles_.find(file.path);
    if (role != roles_.end()) file.kind = role->second;
    if (streams_.contains(file.path) && role == roles_.end()) file.kind = "engine table";
    file.read = file.read || file.kind == "instructions";
    table.row(file.path).set("kind", file.kind).set("bytes", file.bytes);
    table.flag("read", file.read);
    unread += file.read ? 0 : 1;
    unread_bytes += file.read ? 0 : file.bytes;
  }
  set_row_counts(writer_, "neff_file", files_.size() + unlisted_files_, files_.size());
  report_.note("rows_left_out", "files beyond those that the table of files lists", unlisted_files_);
  report_.note("facts_left_out",
               fmt::format("files of the program are listed with their sizes alone, {} bytes together: values of "
                           "constants and tables of engines",
                           unread_bytes),
               unread);
}

// Descriptions, each once, behind the sources of the user.
void NeffImport::write_texts() {
  std::set<std::string_view> shown;
  std::size_t bytes = 0;
  for (const auto& [path, text] : texts_) {
    if (text.size() > kMostShownText || bytes + text.size() > kMostShownTexts || !shown.insert(text).second) continue;
    bytes += text.size();
    writer_.add_source_file(path, json::repair_utf8(text));
  }
}

// What a summary of the session shows.
void NeffImport::write_figures(const NeffHeader& header) {
  add_words("network_name", "program", header.network_name);
  add_words("uuid", "program", header.uuid);
  add_words("hash", "program", header.hash);
  add_words("enabled_features", "program", feature_names(header.features));
  add_words("format_version", "program", fmt::format("{}.{}", header.major_version, header.minor_version));
  if (header.logical_cores > 0) add_figure("logical_core_count", "program", header.logical_cores);
  if (header.cores_per_logical_core > 0) add_figure("cores_per_logical_core", "program", header.cores_per_logical_core);
  add_figure("subgraph_count", "program", subgraphs_.size());
  for (std::size_t i = 0; i < kEngines.size(); ++i)
    add_figure(std::string(kEngines[i].metric), "instructions", engine_counts_[i]);
  add_figure("instruction_count", "instructions",
             std::accumulate(engine_counts_.begin(), engine_counts_.end(), std::uint64_t{0}));
  for (const auto& [opcode, count] : opcode_counts_)
    add_figure(fmt::format("{} {}", kEngines[opcode.first].name, opcode.second), "opcodes", count);
  for (const auto& [tensor, text] : shown_tensors_) add_words(tensor, "tensors", text);
  for (const auto& [kind, name] :
       {std::pair{"IN", "input_bytes"}, {"OUT", "output_bytes"}, {"WEIGHT", "constant_bytes"}})
    add_figure(name, "tensors", tensor_bytes_[kind], "B");
}

Result<void> NeffImport::run(std::unique_ptr<json::ByteSource> bytes) {
  const std::unique_ptr<NeffArchive> archive = TRY(NeffArchive::open(std::move(bytes), name_));
  const NeffHeader& header = archive->header();
  const Result<void> read = read_members(*archive);
  if (writer_.cancelled()) return Error{fmt::format("{}: the import was cancelled", name_)};
  if (!read && files_.empty()) return read;
  if (!read) report_.note("truncated", read.message() + "; what came before was read");
  if (read) {
    const Result<NeffArchive::Check> check = archive->check();
    if (!check) report_.note("truncated", check.message());
    if (check && check->missing_bytes > 0) {
      report_.note("truncated",
                   fmt::format("the file ends {} bytes before the end that its header states: it was cut; copy it "
                               "completely",
                               check->missing_bytes));
    }
    if (check) report_.note("trailing_bytes", "bytes behind the program's end were not read", check->further_bytes);
    if (check && check->hash_differs) {
      report_.note("damaged_definitions",
                   "the program is not the one that its header's checksum is of: it was changed or damaged after the "
                   "compiler wrote it; what is shown may be wrong, and a trace may not fit");
    }
  }
  const std::string file = fs::path(name_).filename().string();
  writer_.set_meta("name", header.network_name.empty() || header.network_name == file
                               ? file
                               : fmt::format("{} ({})", header.network_name, file));
  writer_.set_meta("source.format", "neuron-neff");
  writer_.set_meta("source.file", file);
  find_subgraphs();
  write_header(header);
  write_compiler_facts();
  write_subgraphs();
  write_tensors();
  write_queues();
  write_streams();
  write_files();
  write_figures(header);
  if (subgraphs_.empty()) {
    report_.note("no_rows",
                 "no subgraph is described in the program (kelf-*.json, sg00/def.json), so that only its files are "
                 "listed");
  }
  add_source_files(source_names_, options_.source_roots, "the program", writer_);
  write_texts();
  const std::string trace = fs::path(name_).replace_extension(".ntff").string();
  report_.note(
      "program_without_trace",
      fmt::format("a compiled program alone says what would run, and has no times; a trace beside it (NTFF) adds "
                  "when each instruction, transfer and semaphore ran, what waited, and how much memory was in "
                  "use. Record one where the device is with: {}, and open {}",
                  system::shell_command({"neuron-explorer", "capture", "-n", name_, "-s", trace}), trace));
  report_.write(writer_);
  return writer_.finish();
}

}  // namespace
}  // namespace accelscope::capture::sources::neuron::neff

namespace accelscope::capture::sources::neuron {

int probe_neff(std::string_view head, const std::string& path) {
  constexpr int kCertain = 95;
  constexpr int kBehindItsTrace = 50;  // with its trace it is opened as that
  if (!neff::read_neff_header(head)) return 0;
  const bool has_trace = std::filesystem::path(path).extension() == ".neff" && !find_ntff(path).empty();
  return has_trace ? kBehindItsTrace : kCertain;
}

Result<void> import_neff(std::unique_ptr<json::ByteSource> bytes, const std::string& name, const ImportOptions& options,
                         EventSink& sink) {
  return neff::NeffImport(name, options, sink).run(std::move(bytes));
}

}  // namespace accelscope::capture::sources::neuron
