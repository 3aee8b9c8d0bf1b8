// Writes compiled programs of Neuron devices (NEFF): the header, the tar, and in it what a compiler puts there.
//
//   std::string file = neff_file(tar_file(small_program()));          // not packed
//   std::string packed = neff_file(gzip_of(tar_file(small_program())));
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/xspace.h"

namespace accelscope::test {

struct TarMember {
  std::string name;
  std::string content;
  char type = '0';
  std::string size = {};  // as the header states it; "": of the content
};

[[nodiscard]] inline std::string tar_file(const std::vector<TarMember>& members, bool has_end = true) {
  std::string tar;
  for (const TarMember& member : members) {
    std::string block(512, '\0');
    const auto put = [&](std::size_t at, std::string_view text) { block.replace(at, text.size(), text); };
    put(0, std::string_view(member.name).substr(0, 100));
    put(100, "0000664");
    put(124, member.size.empty() ? fmt::format("{:011o}", member.content.size()) : member.size);
    put(136, "00000000000");
    put(148, "        ");
    block[156] = member.type;
    put(257, std::string_view("ustar\00000", 8));
    unsigned sum = 0;
    for (const char byte : block) sum += static_cast<unsigned char>(byte);
    put(148, fmt::format("{:06o}", sum));
    block[154] = '\0';
    tar += block + member.content;
    tar.append((512 - member.content.size() % 512) % 512, '\0');
  }
  if (has_end) tar.append(1024, '\0');
  return tar;
}

struct NeffFields {
  std::uint64_t package_version = 2;
  std::uint64_t data_size = UINT64_MAX;  // that of the payload
  std::uint64_t features = 0xc00;
  std::string hash = {};  // 16 bytes
  std::size_t padding = 0;
};

[[nodiscard]] inline std::string neff_file(const std::string& payload, const NeffFields& fields = {}) {
  std::string header(1024, '\0');
  const auto number = [&](std::size_t at, auto value) { std::memcpy(header.data() + at, &value, sizeof value); };
  number(0x00, fields.package_version);
  number(0x08, std::uint64_t{1024});
  number(0x10, fields.data_size == UINT64_MAX ? payload.size() + fields.padding : fields.data_size);
  number(0x18, std::uint64_t{2});
  number(0xa8, std::uint32_t{1});
  header.replace(0xac, fields.hash.size(), fields.hash);
  header.replace(0xcc, 16, "\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef");
  header.replace(0xdc, 9, "file.neff");
  number(0x1dc, std::uint32_t{1});
  number(0x220, fields.features);
  number(0x228, std::uint32_t{2});
  return header + payload + std::string(fields.padding, '\0');
}

struct NeffInstruction {
  std::uint8_t opcode = 0;
  int waits_for = -1;  // semaphore
  std::uint32_t value = 0;
  int signals = -1;
};

[[nodiscard]] inline std::string instruction_stream(std::initializer_list<NeffInstruction> instructions) {
  std::string stream;
  for (const NeffInstruction& each : instructions) {
    std::string record(64, '\0');
    record[0] = static_cast<char>(each.opcode);
    record[1] = 16;
    if (each.waits_for >= 0) record.replace(4, 2, {'\x05', static_cast<char>(each.waits_for)});
    if (each.signals >= 0) record.replace(6, 2, {'\x13', static_cast<char>(each.signals)});
    std::memcpy(record.data() + 8, &each.value, 4);
    stream += record;
  }
  return stream;
}

// An instruction of debug information; fields that are "" or 0 are left out.
[[nodiscard]] inline std::string debug_instruction(
    std::uint64_t id, std::string_view name, std::uint64_t parent,
    std::initializer_list<std::pair<const char*, const char*>> facts = {}) {
  Message message;
  if (id != 0) message.number(1, id);
  if (!name.empty()) message.bytes(2, name);
  // A list of one number: only those below 128 are written by this.
  if (parent != 0) message.bytes(3, std::string(1, static_cast<char>(parent)));
  for (const auto& [key, value] : facts) message.bytes(7, Message().bytes(1, key).bytes(2, value).bytes());
  return message.bytes();
}

[[nodiscard]] inline std::string debug_file(std::string_view parent_file, const std::vector<std::string>& instructions,
                                            std::string_view source_file = {}, std::string_view kernel = {}) {
  Message message;
  message.bytes(1, "Debug info");
  if (!parent_file.empty()) message.bytes(2, parent_file);
  for (const std::string& each : instructions) message.bytes(3, each);
  message.number(4, 1);
  if (!source_file.empty()) message.bytes(5, source_file);
  if (!kernel.empty()) message.bytes(7, kernel);
  return message.bytes();
}

// One subgraph: a product of two tensors with a constant, on the tensor and the vector engine, all levels of debug
// information above, lines of gemm.py.
[[nodiscard]] inline std::vector<TarMember> small_program() {
  const std::string matmuls = instruction_stream({{0xb1}, {0x01, 24, 16}, {0x02, -1, 0, 5}, {0x02, 5, 1, 5}});
  const std::string copies = instruction_stream({{0x46, 5, 2, 6}, {0xf7}});
  return {
      {"debug_info/debug_info_hlo.dbg_sg000000",
       debug_file("debug_info_pttf.dbg", {debug_instruction(2, "%op0 = dot(%x, %y)", 5,
                                                            {{"source_file", "gemm.py"}, {"source_line", "58"}})})},
      {"debug_info/debug_info_penguin.dbg_sg000000",
       debug_file("debug_info_hlo.dbg",
                  {debug_instruction(72, "float32<128 x 64> $72", 2, {{"kernel_name", "0"}}),
                   debug_instruction(74, "float16<128 x 64> $74", 2)},
                  {}, "gemm_kernel")},
      {"debug_info/debug_info_pttf.dbg_sg000000", debug_file({}, {debug_instruction(5, "hlo__dot_op0", 0)})},
      {"hlo_stats.json", R"({"HloMacCount":4194304,"HloInputCount":-1,"Traffic":262144})"},
      {"info.json", R"({"tool_version":"2.23.6484.0+3b612583","kelp_version":"Dynamic","name":"file.neff"})"},
      {"kelf-0.json", R"({"graphs":[{"definition":"sg00/def.json","name":"sg00"}],"version":"0.5","target":"cayman"})"},
      {"sg00/DVE.bin", copies},
      {"sg00/DVE.json", R"({"dma":[],"instr":"DVE.bin","name":"DVE.json"})"},
      {"sg00/PE.bin", matmuls},
      {"sg00/PE.json", R"({"dma":[{"queue":"q"}],"instr":"PE.bin","name":"PE.json"})"},
      {"sg00/debug_info_asm_PE.dbg",
       debug_file("debug_info_backend_PE.dbg",
                  {"", debug_instruction(0, {}, 20), debug_instruction(0, {}, 21), debug_instruction(0, {}, 22)})},
      {"sg00/debug_info_backend_PE.dbg",
       debug_file("debug_info_penguin.dbg",
                  {debug_instruction(20, "I-72-0", 72, {{"kernel_file", "0"}, {"kernel_line", "57"}}),
                   debug_instruction(21, "I-72-1", 72), debug_instruction(22, "I-74-0", 74)},
                  "kernels/gemm_kernel.py")},
      {"sg00/def.json",
       R"({"dma_queue":{"qPoolDynamic":{"fabric_path":"main","num_queues":16,"owner":"pool","semaphore_set":[24,25],
"type":"dynamic"}},"dve":"DVE.json","dve_instr":"DVE.bin","neff_features":["neff_feature_vnc"],"pe":"PE.json",
"pe_asm_dbg":["debug_info_asm_PE.dbg"],"pe_dbg":["debug_info_backend_PE.dbg"],"pe_instr":"PE.bin",
"runtime_event_count":12,"runtime_semaphore_count":3,"var":{"SB":{"type":"state-buffer","var_id":0},
"identity_82":{"file_name":"value_82.npy","size":32768,"type":"file","var_id":3},
"output0":{"size":16384,"type":"output","var_id":2},"x":{"size":65536,"type":"input","var_id":1}},"version":"0.6"})"},
      {"sg00/default_opcode_table.bin", std::string(100, '\x07')},
      {"sg00/tensor_map.json",
       R"({"output0":{"dtype":"float16","sim_format":"NC","sim_shape":[128,64],"tf_file":"value_output0.npy"},
"sg0000_82":{"dtype":"float16","sim_format":"CRSM","sim_shape":[128,128,1,1],"tf_file":"value_82.npy"},
"x":{"dtype":"float16","sim_format":"NC","sim_shape":[128,256],"tf_file":"value_x.npy"}})"},
      {"sg00/value_82.npy", std::string(200, 'v')},
      {"neff.json", R"({"nodes":[]})"},
  };
}

}  // namespace accelscope::test
