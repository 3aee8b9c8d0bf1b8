// The source file of the simulated kernels (assets/demo/transformer_layer.py, embedded by the build) and the places
// in it that operations come from. Lines are found by their text, so that editing the file moves them along.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace accelscope::capture::sim {

inline constexpr std::string_view kDemoFile = "transformer_layer.py";

[[nodiscard]] std::string_view demo_source();

enum class Site : std::uint8_t {
  none,
  transpose_matmul,
  transpose_copy,
  load_bias,
  load_x,
  transpose_x,
  load_w1,
  up_matmul,
  gelu,
  transpose_a,
  load_w2,
  down_matmul,
  add_bias,
  store_y,
  reduce_y,
  load_queries,
  load_keys,
  load_values,
  mask,
  scores,
  top,
  softmax,
  scale,
  transpose_p,
  values_matmul,
  apply_scale,
  save_part,
  reload_part,
  store_o,
  reduce_o,
};
inline constexpr std::size_t kSiteCount = 29;

struct SitePlace {
  int line = 0;          // from 1; 0: none
  std::string location;  // "transformer_layer.py:37"
  std::string_view function;
};

// Indexed by Site.
[[nodiscard]] std::vector<SitePlace> find_sites(std::string_view source);

}  // namespace accelscope::capture::sim
