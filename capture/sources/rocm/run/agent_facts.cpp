#include "capture/sources/rocm/run/records.h"
#include "capture/sources/rocm/run/run.h"

#include <algorithm>
#include <array>

#include "capture/json/json_cursor.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::rocm {
namespace {

struct AgentFactRow {
  std::string_view name;  // in lower case: tables of text write "Cu_Count"
  std::string_view fact;
};
constexpr std::array kAgentFacts = {
    AgentFactRow{"cu_count", "numSms"},
    AgentFactRow{"wave_front_size", "warpSize"},
    AgentFactRow{"max_engine_clk_fcompute", "maxEngineClockMHz"},
    AgentFactRow{"gfx_target_version", "gfxTargetVersion"},
    AgentFactRow{"lds_size_in_kb", "ldsSizeKiB"},
    AgentFactRow{"simd_per_cu", "simdPerCu"},
    AgentFactRow{"max_waves_per_simd", "maxWavesPerSimd"},
    AgentFactRow{"num_xcc", "numXcc"},
    AgentFactRow{"num_sdma_engines", "numSdmaEngines"},
    AgentFactRow{"workgroup_max_size", "maxThreadsPerBlock"},
};

// The device's own memory is the first bank.
void add_memory_size(std::string_view banks, RocmAgent& agent) {
  (void)json::each_element(banks, [&](const json::JsonField& bank) {
    (void)json::each_member(bank.text, [&](const json::JsonField& field) {
      const auto bytes = json::to_uint64(field);
      if (field.key == "size_in_bytes" && bytes.value_or(0) > 0) {
        agent.facts.emplace("totalGlobalMem", std::to_string(*bytes));
      }
      return true;
    });
    return false;
  });
}

}  // namespace

void add_agent_fact(std::string_view name, std::string_view value, RocmAgent& agent) {
  const std::string lower = lower_case(name);
  const auto row = std::find_if(kAgentFacts.begin(), kAgentFacts.end(),
                                [&](const AgentFactRow& each) { return each.name == lower; });
  if (row != kAgentFacts.end() && !value.empty() && value != "0") {
    agent.facts.emplace(std::string(row->fact), std::string(value));
  }
}

void add_agent_field(const json::JsonField& field, RocmAgent& agent) {
  if (field.key == "mem_banks" && field.kind == json::JsonKind::array) {
    add_memory_size(field.text, agent);
  } else if (field.kind == json::JsonKind::number) {
    add_agent_fact(field.key, field.text, agent);
  }
}

void add_agent_facts(std::string_view object, RocmAgent& agent) {
  (void)json::each_member(object, [&](const json::JsonField& field) {
    add_agent_field(field, agent);
    return true;
  });
}

}  // namespace accelscope::capture::sources::rocm
