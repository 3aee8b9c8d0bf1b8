// What a compiler of NEFFs remembers of its instructions: protobuf files, one for each level of its work, from the
// operations of a framework to the binary instructions of an engine. Each instruction names the one of the level above
// that it was made of.
//
// A file is: 1 what it is, 2 the file of the level above, 3 its instructions, 4 the engine, 5 names of source files,
// 7 names of kernels. An instruction: 1 id, 2 name, 3 ids of the level above, 7 key and value, such as "kernel_line" 58
// and "kernel_file" 0, a place in field 5. In the files of binary instructions (debug_info_asm_*) the instructions have
// no ids: they stand in the order of the binary.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace accelscope::capture::sources::neuron::neff {

struct DebugInstruction {
  std::uint64_t id = 0;
  std::string_view name;                // in the bytes of its DebugInfo
  std::optional<std::uint64_t> parent;  // the first one, in the level above
  std::string_view file, line;          // of the source; "": not known
  std::string_view kernel;
};

class DebugInfo {
 public:
  // Nothing if the bytes are no such file, break off, or hold more than so many instructions.
  [[nodiscard]] static std::optional<DebugInfo> read(std::string bytes, std::size_t most_instructions);

  [[nodiscard]] std::string_view parent_file() const noexcept { return parent_file_; }
  [[nodiscard]] const std::vector<DebugInstruction>& in_order() const noexcept { return in_order_; }
  // Null if no instruction has the id.
  [[nodiscard]] const DebugInstruction* find(std::uint64_t id) const noexcept;

 private:
  [[nodiscard]] bool read_message(std::string_view bytes, std::size_t most_instructions);

  std::unique_ptr<std::string> bytes_;  // stays where it is
  std::string_view parent_file_;
  std::vector<std::string_view> files_, kernels_;
  std::vector<DebugInstruction> in_order_;
  std::vector<std::uint32_t> by_id_;  // places of in_order_
};

}  // namespace accelscope::capture::sources::neuron::neff
