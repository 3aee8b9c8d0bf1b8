#include <algorithm>
#include <array>
#include <cassert>

#include "capture/sim/kernel/demo_source.h"

namespace accelscope::capture::sim {
namespace {

struct SiteText {
  std::string_view text;  // occurs once in the source, except where `function` says which one is meant
  std::string_view function;
};

// In the order of Site.
constexpr std::array<SiteText, kSiteCount + 1> kSites = {{
    {"", ""},
    {"t = nisa.nc_transpose(src, identity)", "transpose"},
    {"dst[...] = nisa.tensor_copy(t)", "transpose"},
    {"bias = nl.load(b2)", "mlp"},
    {"rows = nl.load(x[m])", "mlp"},
    {"transpose(xT[k], rows[:, k], identity)", "mlp"},
    {"w = nl.load(w1[k, h]", "mlp"},
    {"ps += nisa.nc_matmul(xT[k], w)", "mlp"},
    {"a = nisa.activation(nl.gelu, ps)", "mlp"},
    {"transpose(aT, a[:, j], identity)", "mlp"},
    {"w = nl.load(w2[h * F // P + j, n]", "mlp"},
    {"acc[:, n] += nisa.nc_matmul(aT, w)", "mlp"},
    {"out = nisa.tensor_tensor(acc, bias", "mlp"},
    {"nl.store(y[m], out)", "mlp"},
    {"cc.all_reduce(y[m]", "mlp"},
    {"queries = nl.load(qT[head])", "attention"},
    {"keys = nl.load(kT[", "attention"},
    {"values = nl.load(v[", "attention"},
    {"mask = nisa.iota(m", "attention"},
    {"scores = nisa.nc_matmul(queries[:, m], keys)", "attention"},
    {"top = nisa.tensor_reduce(nl.max, scores", "attention"},
    {"p, total = nisa.activation(nl.exp", "attention"},
    {"scale = nisa.reciprocal(total)", "attention"},
    {"transpose(pT, p[:, j], identity)", "attention"},
    {"acc += nisa.nc_matmul(pT, values[j])", "attention"},
    {"part = nisa.tensor_tensor(acc, scale", "attention"},
    {"nl.store(spill[head, m], part)", "attention"},
    {"whole = nl.load(spill[:, m])", "attention"},
    {"nl.store(o[m], whole)", "attention"},
    {"cc.all_reduce(o, op", "attention"},
}};

}  // namespace

std::vector<SitePlace> find_sites(std::string_view source) {
  std::vector<SitePlace> places(kSites.size());
  for (std::size_t index = 1; index < kSites.size(); ++index) {
    const std::size_t at = source.find(kSites[index].text);
    assert(at != std::string_view::npos && "the demo source lost a line that the simulator reports");
    SitePlace& place = places[index];
    place.line =
        static_cast<int>(1 + std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    place.location = std::string(kDemoFile) + ":" + std::to_string(place.line);
    place.function = kSites[index].function;
  }
  return places;
}

}  // namespace accelscope::capture::sim
