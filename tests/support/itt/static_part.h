// A static part of ITT, as instrumented programs link it, in the smallest form that a collector can tell apart from no
// other: a list of functions to bind, lists of what was made before, a mutex that is held while it initialises.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "capture/probe/itt/abi.h"

namespace accelscope::test {

using Id = probe::itt::Id;

class StaticPart {
 public:
  StaticPart();
  StaticPart(const StaticPart&) = delete;
  StaticPart& operator=(const StaticPart&) = delete;

  // Made by the part itself, before there is a collector.
  itt_domain* early_domain(const char* name);
  itt_string_handle* early_string(const char* text);
  itt_counter_info* early_counter(const char* name, const char* domain, int type);

  // Loads what INTEL_LIBITTNOTIFY64 names and lets it bind; again if called again. False: there is none.
  bool attach();

  // What the collector has bound; where it bound nothing, a function that does nothing.
  template <typename Function>
  [[nodiscard]] Function* function(const std::string& name) {
    return reinterpret_cast<Function*>(functions_.at("__itt_" + name));
  }

  // What programs call most.
  itt_domain* domain(const char* name) { return function<itt_domain*(const char*)>("domain_create")(name); }
  itt_string_handle* string(const char* text) {
    return function<itt_string_handle*(const char*)>("string_handle_create")(text);
  }
  void begin(itt_domain* domain, itt_string_handle* name, Id id = {}, Id parent = {}) {
    if (domain->flags != 0)
      function<void(itt_domain*, Id, Id, itt_string_handle*)>("task_begin")(domain, id, parent, name);
  }
  void end(itt_domain* domain) {
    if (domain->flags != 0) function<void(itt_domain*)>("task_end")(domain);
  }

 private:
  itt_global global_{};
  std::vector<itt_api_info> apis_;
  std::map<std::string, void*> functions_;
};

}  // namespace accelscope::test
