// Tables of a Neuron profile whose rows say more of its instructions: the frames of stacks, the calls and loops of
// kernels, the names that the compiler's levels give. Rows come before or after the instructions that refer to them, so
// they are kept and asked at the end; texts become strings of the session once.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/json/row_parser.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::sources::neuron {

[[nodiscard]] bool is_joined_table(std::string_view table) noexcept;  // one of those below

// The frame tables, normalised by the vendor into ids of ids.
class StackFrames {
 public:
  struct Texts {
    std::string stack;    // "function (file:line)" per frame, innermost first, one per line
    StringId others = 0;  // the innermost frames of further stacks, one per line
  };
  // True if the table is one of the four.
  [[nodiscard]] static bool is_frame_table(std::string_view table) noexcept;
  void add(std::string_view table, std::span<const json::JsonField> fields);

  [[nodiscard]] bool empty() const noexcept { return frames_.empty(); }
  // Of a list of frame ids: a stack of which each frame is the next one's caller, in either order; else each is the
  // innermost of a stack of its own.
  [[nodiscard]] Texts resolve(std::string_view frame_ids, SessionWriter& writer) const;
  void collect_files(std::set<std::string>& files) const;

 private:
  struct Frame {
    std::string location;
    std::string parent;
  };
  struct Location {
    std::string file;
    std::string function;
    std::string line;
  };
  void append_frame(std::string& out, const Frame& frame) const;

  std::unordered_map<std::string, Frame> frames_;
  std::unordered_map<std::string, Location> locations_;
  std::unordered_map<std::string, std::string> files_;
  std::unordered_map<std::string, std::string> functions_;
};

// KernelInstructions, KernelStackFrames and KernelIterationVariables: through which calls of a kernel's own functions
// an instruction came about, and in which turn of its loops. A frame states where its function is defined, the
// instruction which line of the innermost one it is from.
class KernelCalls {
 public:
  static constexpr std::int64_t kNoCore = -1;
  struct Texts {
    std::string stack;                          // likewise
    StringId loop_variables = 0, location = 0;  // "i=0, j=2"; "file:line"
  };
  [[nodiscard]] static bool is_kernel_table(std::string_view table) noexcept;
  void add(std::string_view table, std::span<const json::JsonField> fields, SessionWriter& writer);

  [[nodiscard]] bool empty() const noexcept { return instructions_.empty(); }
  // By kernel_instruction_name and pcore_idx. Rows without a core are of all.
  [[nodiscard]] const Texts& of_instruction(StringId name, std::int64_t core, SessionWriter& writer);
  void collect_files(std::set<std::string>& files) const;

 private:
  struct Linked {
    std::string text, location, parent;  // a function or "i=3"; "file:line"; the id of the one around it
  };
  struct Instruction {
    std::string frame, variable, location;  // ids of the innermost
    Texts texts = {};
    bool is_resolved = false;
  };
  using ById = std::map<std::pair<std::int64_t, std::string>, Linked>;  // by core and id
  // From the innermost on.
  [[nodiscard]] static std::vector<const Linked*> chain(const ById& links, std::int64_t core, const std::string& id);

  ById frames_, variables_;
  std::map<std::pair<std::int64_t, StringId>, Instruction> instructions_;  // by core and name
  std::set<std::string> files_;
};

// FrameworkInstruction, HloInstruction, PenguinInstruction and BirInstruction: what the raw ids of an instruction are
// called on each level of the compiler.
class CompilerLevels {
 public:
  enum class Level : std::uint8_t { framework, hlo, penguin, bir };

  [[nodiscard]] static bool is_level_table(std::string_view table) noexcept;
  void add(std::string_view table, std::span<const json::JsonField> fields, SessionWriter& writer);

  [[nodiscard]] bool empty() const noexcept { return names_.empty() && framework_names_.empty(); }
  [[nodiscard]] StringId name(Level level, std::int64_t raw_id) const;  // 0: it has none
  [[nodiscard]] StringId framework_name(StringId raw_id) const;         // by the id as a text

 private:
  std::map<std::pair<Level, std::int64_t>, StringId> names_;
  std::unordered_map<StringId, StringId> framework_names_;
};

}  // namespace accelscope::capture::sources::neuron
