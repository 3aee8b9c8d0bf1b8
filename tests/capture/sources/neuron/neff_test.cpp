// Compiled programs without a trace: what a user reads of one, and that no file of bytes does harm.
#include <doctest/doctest.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "capture/sources/neuron/neff/instruction_words.h"
#include "core/export/formats/formats.h"
#include "tests/capture/imported.h"
#include "tests/support/files.h"
#include "tests/support/neuron/neff.h"

namespace accelscope::capture {
namespace {

using sources::neuron::import_neff;
using test::neff_file;
using test::small_program;
using test::tar_file;
using test::TarMember;

[[nodiscard]] Imported imported_neff(const std::string& bytes, const sources::ImportOptions& options = {}) {
  return Imported::by(
      [&](EventSink& sink) { return import_neff(json::ByteSource::from_memory(bytes), "kernel.neff", options, sink); });
}

// "": it was read.
[[nodiscard]] std::string failure_of_neff(const std::string& bytes) {
  std::unique_ptr<Store> store = std::move(Store::create().value());
  StoreSink sink(*store);
  const Result<void> done = import_neff(json::ByteSource::from_memory(bytes), "kernel.neff", {}, sink);
  return done.ok() ? std::string() : done.message();
}

[[nodiscard]] std::string md5_of(const std::string& bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  REQUIRE(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_md5(), nullptr) == 1);
  return {reinterpret_cast<const char*>(digest.data()), size};
}

[[nodiscard]] EventValues row_of(const Imported& session, std::string_view table, std::string_view name) {
  for (EventValues& row : session.events(table)) {
    if (row.name == name) return row;
  }
  FAIL("no row " << std::string(name) << " in " << std::string(table));
  return {};
}

}  // namespace

TEST_CASE("a program without a trace shows its header, tensors, queues, streams and files") {
  const Imported session = imported_neff(neff_file(gzip_of(tar_file(small_program()))));
  CHECK(session.snapshot().meta_value("compiler_version") == "2.23.6484.0+3b612583");
  CHECK(session.snapshot().meta_value("neff.target") == "cayman");
  CHECK(session.snapshot().meta_value("source.format") == "neuron-neff");
  CHECK(session.snapshot().meta_value("name") == "file.neff (kernel.neff)");
  const EventValues header = row_of(session, "neff_header", "file.neff");
  CHECK(header.string("uuid") == "0123456789abcdef0123456789abcdef");
  CHECK(header.string("enabled_features") == "virtual-core, v3-2x-4x-dve-perf-mode");
  CHECK(header.integer("major_version") == 2);
  CHECK(header.integer("number_of_logical_neuroncores") == 1);
  CHECK(header.integer("number_of_neuroncores_per_lnc") == 2);

  CHECK(session.count("neff_node") == 4);
  const EventValues constant = row_of(session, "neff_node", "identity_82");
  CHECK(constant.string("type") == "WEIGHT");
  CHECK(constant.string("dtype") == "float16");
  CHECK(constant.string("shape") == "[128 128 1 1]");
  CHECK(constant.string("file") == "sg00/value_82.npy");
  CHECK(constant.integer("size") == 32768);
  CHECK(row_of(session, "neff_node", "x").string("type") == "IN");
  CHECK(row_of(session, "neff_node", "output0").string("type") == "OUT");
  CHECK(row_of(session, "neff_node", "SB").string("type") == "state-buffer");

  const EventValues queue = row_of(session, "neff_dma_queue", "qPoolDynamic");
  CHECK(queue.string("owner") == "GpSimd");
  CHECK(queue.integer("queues") == 16);
  CHECK(queue.integer("semaphores") == 2);
  const EventValues graph = row_of(session, "neff_subgraph", "sg00");
  CHECK(graph.integer("instructions") == 6);
  CHECK(graph.integer("tensors") == 4);
  CHECK(graph.integer("runtime_events") == 12);
  CHECK(graph.string("features") == "neff_feature_vnc");
  const EventValues stream = row_of(session, "neff_stream", "Tensor");
  CHECK(stream.integer("instructions") == 4);
  CHECK(stream.integer("bytes") == 256);
  CHECK(stream.integer("named") == 3);
  CHECK(stream.integer("dma_blocks") == 1);

  CHECK(session.count("neff_file") == small_program().size());
  CHECK(row_of(session, "neff_file", "sg00/value_82.npy").string("kind") == "constant");
  CHECK(row_of(session, "neff_file", "sg00/default_opcode_table.bin").string("kind") == "engine table");
  CHECK(row_of(session, "neff_file", "sg00/PE.bin").integer("read") == 1);
  CHECK(session.metric("tensor_engine_instruction_count")->value == 4);
  CHECK(session.metric("constant_bytes")->value == 32768);
  CHECK(session.metric("HloMacCount")->value == 4194304);
  CHECK(session.metric("HloInputCount") == nullptr);  // -1: not known
  REQUIRE(session.quality("program_without_trace") != nullptr);
  CHECK(
      session.quality("program_without_trace")->detail.find("neuron-explorer capture -n kernel.neff -s kernel.ntff") !=
      std::string::npos);
  CHECK(session.quality("program_without_trace")->severity == Severity::note);
}

TEST_CASE("instructions of a program have what they wait for and signal, the compiler's names, and their lines") {
  const Imported session = imported_neff(neff_file(tar_file(small_program())));  // not packed
  std::vector<EventValues> rows = session.events("neff_instruction");
  REQUIRE(rows.size() == 6);
  CHECK(rows[0].name == "SET_ORDERING_MODE");
  CHECK(rows[0].string("waits_for").empty());
  CHECK(rows[0].string("bir_instruction_name").empty());
  CHECK(rows[1].name == "LDWEIGHTS");
  CHECK(rows[1].string("engine") == "Tensor");
  CHECK(rows[1].string("waits_for") == "S[24]>=16");
  CHECK(rows[1].string("bir_instruction_name") == "I-72-0");
  CHECK(rows[1].integer("raw_bir_id") == 20);
  CHECK(rows[1].string("penguin") == "float32<128 x 64> $72");
  CHECK(rows[1].string("hlo_name") == "%op0 = dot(%x, %y)");
  CHECK(rows[1].string("layer") == "hlo__dot_op0");
  CHECK(rows[1].string("kernel") == "gemm_kernel");
  CHECK(rows[1].string("source_location") == "kernels/gemm_kernel.py:57");  // its own line goes before those above
  CHECK(rows[2].string("source_location") == "gemm.py:58");
  CHECK(rows[3].name == "MATMUL");
  CHECK(rows[3].integer("index") == 3);
  CHECK(rows[3].string("waits_for") == "S[5]>=1");
  CHECK(rows[3].string("signals") == "S[5]++");
  CHECK(rows[4].name == "COPY");
  CHECK(rows[5].name == "0xf7");  // a code that is in no table
  const EventValues opcode = row_of(session, "neff_opcode", "MATMUL");
  CHECK(opcode.integer("instructions") == 2);
  CHECK(opcode.integer("bytes") == 128);
}

TEST_CASE("formats that hold nothing but times refuse a program without a trace, and name those that hold it") {
  const Imported session = imported_neff(neff_file(gzip_of(tar_file(small_program()))));
  for (const exporting::ExportFormat& format : exporting::export_formats()) {
    CAPTURE(format.name);
    const Result<void> good = exporting::check_export(format, session.snapshot());
    CHECK((good.ok() == !format.needs_times));
    if (!good) CHECK(good.message().find("write csv, parquet, db") != std::string::npos);
  }
  CHECK(exporting::find_export_format("perfetto")->needs_times);
  CHECK_FALSE(exporting::find_export_format("csv")->needs_times);
}

TEST_CASE("the lines of a program are shown where their files are, and its descriptions as texts") {
  const test::TemporaryFolder folder;
  test::write_file(folder.file("gemm.py"), "import nki\n");
  const Imported session = imported_neff(neff_file(tar_file(small_program())), {.source_roots = {folder.path()}});
  const auto& files = session.snapshot().sources;
  const auto has = [&](std::string_view path, std::string_view text) {
    return std::any_of(files.begin(), files.end(), [&](const auto& file) {
      return file->path == path && file->content.find(text) != std::string::npos;
    });
  };
  CHECK(has("gemm.py", "import nki"));
  CHECK(has("sg00/def.json", "qPoolDynamic"));
  REQUIRE(session.quality("source_files_missing") != nullptr);
  CHECK(session.quality("source_files_missing")->detail.find("kernels/gemm_kernel.py") != std::string::npos);
}

TEST_CASE("a program is recognised by its head, and with its trace beside it the trace is opened") {
  const test::TemporaryFolder folder;
  const std::string program = neff_file(gzip_of(tar_file(small_program())));
  const std::string path = folder.file("run.neff");
  test::write_file(path, program);
  const auto format_of = [](const std::string& file) { return std::string(sources::recognise(file).name()); };
  CHECK(format_of(path) == "neuron-neff");
  test::write_file(folder.file("no_ending"), program);
  CHECK(format_of(folder.file("no_ending")) == "neuron-neff");
  test::write_file(folder.file("other.neff"), program);
  test::write_file(folder.file("other.ntff"), "\x01\x02raw");
  CHECK(format_of(folder.file("other.neff")) == "ntff");
  CHECK(format_of(path) == "neuron-neff");  // the trace is of the other one
  test::write_file(folder.file("run.ntff"), "\x01\x02raw");
  CHECK(format_of(path) == "ntff");
}

TEST_CASE("a program that was changed after it was compiled says so, and one that was not does not") {
  const std::string payload = gzip_of(tar_file(small_program()));
  const std::string padded = payload + std::string(300, '\0');
  const std::string digest = md5_of(padded);
  std::string reversed;  // word by word, as newer compilers store it
  for (auto end = digest.begin(); end != digest.end();) {
    end += 4;
    reversed.append(std::make_reverse_iterator(end), std::make_reverse_iterator(end - 4));
  }
  for (const std::string& hash : {digest, reversed}) {
    CHECK(imported_neff(neff_file(payload, {.hash = hash, .padding = 300})).quality("damaged_definitions") == nullptr);
    CHECK(imported_neff(neff_file(payload, {.hash = hash})).quality("damaged_definitions") != nullptr);
  }
}

TEST_CASE("a program that is cut shows what came before, or says where it ends") {
  const std::string whole = neff_file(gzip_of(tar_file(small_program())));
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    CAPTURE(size);
    const std::string cut = whole.substr(0, size);
    const std::string failure = failure_of_neff(cut);
    if (!failure.empty()) {
      CHECK(failure.starts_with("kernel.neff: "));
      CHECK(failure.find("byte") != std::string::npos);
    } else {
      CHECK(imported_neff(cut).quality("truncated") != nullptr);
    }
  }
  CHECK(failure_of_neff(std::string(2000, '\x01')).find("no header of a NEFF") != std::string::npos);
}

TEST_CASE("sizes that lie, names that point elsewhere and members that are no files do no harm") {
  const auto of = [](const std::vector<TarMember>& members) { return neff_file(tar_file(members)); };
  std::vector<TarMember> members = small_program();
  SUBCASE("a member that claims more than there is") {
    members.back().size = "77777777777";
    CHECK(imported_neff(of(members)).quality("truncated") != nullptr);
  }
  SUBCASE("a size that is none, of a first member") {
    members.front().size = "zzz";
    CHECK(failure_of_neff(of(members)).find("byte") != std::string::npos);
  }
  SUBCASE("a size of 2^63 in binary") {
    members.front().size = std::string("\x80\0\0\0\x80\0\0\0\0\0\0\0", 12);
    CHECK(failure_of_neff(of(members)).find("byte") != std::string::npos);
  }
  SUBCASE("extended headers of any kind") {
    const std::string path = "long/" + std::string(200, 'n') + ".json";
    const std::string record = fmt::format("{} path={}\n", path.size() + 10, path);
    members.insert(members.begin(), {{"x", record, 'x'},
                                     {"short", "{}"},
                                     {"g", "garbage", 'g'},
                                     {"L", "named.json", 'L'},
                                     {"y", "{}"},
                                     {"x", "99999999999999999999999 path=q\n", 'x'}});
    const Imported session = imported_neff(of(members));
    CHECK(row_of(session, "neff_file", path).integer("bytes") == 2);
    CHECK(row_of(session, "neff_file", "named.json").integer("bytes") == 2);
    CHECK(session.count("neff_file") == small_program().size() + 2);
  }
  SUBCASE("an extended size beyond everything") {
    members.insert(members.begin(), {"x", "29 size=18446744073709551615\n", 'x'});
    CHECK(failure_of_neff(of(members)).find("size") != std::string::npos);
  }
  SUBCASE("paths out of the archive, links and folders are rows at most") {
    const test::TemporaryFolder folder;
    members.push_back({"../../escape.json", "{}"});
    members.push_back({"/etc/absolute.json", "{}"});
    members.push_back({"link.json", "", '2'});
    members.push_back({"sg00", "", '5'});
    const Imported session = imported_neff(of(members));
    CHECK(session.count("neff_file") == small_program().size() + 3);
    CHECK(row_of(session, "neff_file", "link.json").string("kind") == "link");
    CHECK_FALSE(std::filesystem::exists("../../escape.json"));
  }
  SUBCASE("a definition that names streams elsewhere") {
    for (TarMember& member : members) {
      if (member.name == "sg00/def.json")
        member.content = R"({"pe_instr":"../../../etc/passwd","var":7,"dma_queue":[]})";
    }
    const Imported session = imported_neff(of(members));
    CHECK(session.count("neff_instruction") == 0);
    CHECK(session.quality("table_unreadable") != nullptr);
  }
  SUBCASE("a header that states too little or too much") {
    const std::string tar = tar_file(members);
    CHECK(imported_neff(neff_file(tar, {.data_size = tar.size() + 5000})).quality("truncated") != nullptr);
    CHECK(imported_neff(neff_file(tar, {.data_size = tar.size() - 3000})).quality("truncated") != nullptr);
    CHECK(failure_of_neff(neff_file(tar, {.data_size = 0})).empty());
    CHECK(imported_neff(neff_file(tar) + "more").quality("trailing_bytes")->count == 4);
  }
}

TEST_CASE("a record of a stream is an instruction by its length alone, and modes that are not known are numbers") {
  std::string record(64, '\0');
  record[0] = '\x02';
  record[1] = '\x10';
  record[4] = '\x05';
  record[5] = '\x09';
  record[6] = '\x13';
  record[7] = '\x0a';
  record[9] = '\x01';
  const auto known = sources::neuron::neff::decode_record(record);
  REQUIRE(known);
  CHECK(sources::neuron::neff::opcode_name(known->opcode) == "MATMUL");
  CHECK(sources::neuron::neff::wait_text(*known) == "S[9]>=256");
  CHECK(sources::neuron::neff::signal_text(*known) == "S[10]++");
  record[6] = '\x14';
  CHECK(sources::neuron::neff::signal_text(*sources::neuron::neff::decode_record(record)) == "mode 0x14 S[10]");
  CHECK(sources::neuron::neff::opcode_name(0x99) == "0x99");
  CHECK_FALSE(sources::neuron::neff::decode_record(std::string_view(record).substr(0, 63)));
  record[1] = '\x08';
  CHECK_FALSE(sources::neuron::neff::decode_record(record));
}

TEST_CASE("a stream of another encoding is counted in bytes and records, and named so") {
  std::vector<TarMember> members = small_program();
  for (TarMember& member : members) {
    if (member.name == "sg00/PE.bin") member.content = member.content.substr(0, 128) + std::string(90, '\x20');
  }
  const Imported session = imported_neff(neff_file(tar_file(members)));
  const EventValues stream = row_of(session, "neff_stream", "Tensor");
  CHECK(stream.integer("instructions") == 2);
  CHECK(stream.integer("unread_bytes") == 90);
  REQUIRE(session.quality("rows_skipped") != nullptr);
  CHECK(session.quality("rows_skipped")->count == 2);
  CHECK(session.quality("unmatched_ends") != nullptr);  // the debug information is of four
}

TEST_CASE("a small file that unpacks to gigabytes is read in bounded memory") {
  constexpr std::size_t kZeros = std::size_t{192} << 20;
  std::string stated = fmt::format("{:011o}", kZeros);
  std::string tar = tar_file({{"weights.npy", "", '0', stated}}, false);
  tar.append(kZeros, '\0');
  tar += tar_file(small_program());
  const std::string packed = gzip_of(tar);
  REQUIRE(packed.size() < (std::size_t{1} << 20));
  tar.clear();
  tar.shrink_to_fit();
  const Imported session = imported_neff(neff_file(packed));
  CHECK(session.count("neff_file") == small_program().size() + 1);
  CHECK(row_of(session, "neff_file", "weights.npy").integer("bytes") == static_cast<std::int64_t>(kZeros));
  CHECK(session.count("neff_instruction") == 6);
}

TEST_CASE("any byte of a program may be another one") {
  const std::string whole = neff_file(tar_file(small_program()));
  for (std::size_t at = 0; at < whole.size(); at += 13) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    CAPTURE(at);
    const std::string failure = failure_of_neff(changed);
    if (!failure.empty()) CHECK(failure.starts_with("kernel.neff: "));
  }
}

// Counted by hand in the unpacked files; the names of opcodes and semaphores are those of the trace of the first one.
TEST_CASE("real programs without their traces") {
  const char* folder = std::getenv("ACCELSCOPE_REAL_DATA");
  if (folder == nullptr) return;
  struct Known {
    const char* file;
    std::size_t files, instructions, tensors, lines;
    std::int64_t matmuls, bytes;  // of one subgraph; of its streams
  };
  constexpr std::array kKnown = {
      Known{"allenkchau__fused_bf16_s512.neff", 67, 168, 15, 0, 56, 10112},
      Known{"nkipy__matmul_small.neff", 72, 58, 12, 20, 4, 1856},
      Known{"nkipy__matmul_large.neff", 72, 59590, 44, 57454, 16640, 1906880},
  };
  for (const Known& known : kKnown) {
    CAPTURE(known.file);
    const std::string path = (std::filesystem::path(folder) / "neuron" / known.file).string();
    if (!std::filesystem::exists(path)) continue;
    const Imported session =
        Imported::by([&](EventSink& sink) { return sources::import_file(import_neff, path, {}, sink); });
    CHECK(session.count("neff_file") == known.files);
    CHECK(session.count("neff_instruction") == known.instructions);
    CHECK(session.count("neff_node") == known.tensors);
    CHECK(row_of(session, "neff_subgraph", "sg00").integer("instruction_bytes") == known.bytes);
    CHECK(row_of(session, "neff_opcode", "MATMUL").integer("instructions") == known.matmuls);
    const std::vector<EventValues> rows = session.events("neff_instruction");
    CHECK(std::size_t(std::count_if(rows.begin(), rows.end(), [](const EventValues& row) {
            return !row.string("source_location").empty();
          })) == known.lines);
    CHECK(std::none_of(rows.begin(), rows.end(), [](const EventValues& row) { return row.name.starts_with("0x"); }));
    for (const QualityEntry& entry : session.snapshot().quality) {
      CAPTURE(entry.kind);
      CHECK(entry.severity == Severity::note);
    }
  }
}

}  // namespace accelscope::capture
