// The panels, a row each, in the order of their tabs.
#include <array>
#include <type_traits>

#include "app/frame/places.h"
#include "app/panels/collectives/panel.h"
#include "app/panels/compare/panel.h"
#include "app/panels/compilation/panel.h"
#include "app/panels/core_grid/panel.h"
#include "app/panels/details/panel.h"
#include "app/panels/hotspots/panel.h"
#include "app/panels/iterations/panel.h"
#include "app/panels/layers/panel.h"
#include "app/panels/markers/panel.h"
#include "app/panels/memory/panel.h"
#include "app/panels/metrics/panel.h"
#include "app/panels/output/panel.h"
#include "app/panels/quality/panel.h"
#include "app/panels/roofline/panel.h"
#include "app/panels/search/panel.h"
#include "app/panels/selection/panel.h"
#include "app/panels/source/panel.h"
#include "app/panels/sql/panel.h"
#include "app/panels/stack/panel.h"
#include "app/panels/statistics/panel.h"
#include "app/panels/tables/panel.h"
#include "app/panels/warnings/panel.h"
#include "app/panels/why/panel.h"
#include "render/base/icons.h"

namespace accelscope::app {

namespace {

namespace icon = render::icon;

template <typename P>
std::unique_ptr<Panel> make(WorkerPool& pool, QueryHistory& queries, PeakBook& peaks) {
  if constexpr (std::is_constructible_v<P, WorkerPool&, QueryHistory&>) {
    return std::make_unique<P>(pool, queries);
  } else if constexpr (std::is_constructible_v<P, PeakBook&>) {
    return std::make_unique<P>(peaks);
  } else if constexpr (std::is_constructible_v<P, WorkerPool&>) {
    return std::make_unique<P>(pool);
  } else {
    return std::make_unique<P>();
  }
}

constexpr std::string_view kOfSelected = "Not filtered: the selected event with all that it depends on";
constexpr std::array kPanels = std::to_array<PanelInfo>({
    {"source", "Source", Place::right, icon::kFileCode, make<SourcePanel>},
    {"stack", "Stack trace", Place::right, icon::kList, make<StackPanel>, kOfSelected},
    {"core-grid", "Core grid", Place::right, icon::kTh, make<CoreGridPanel>},
    {"details", "Details", Place::bottom, icon::kInfo, make<DetailsPanel>, kOfSelected},
    {"search", "Search", Place::bottom, icon::kList, make<SearchPanel>},
    {"selection", "Selection", Place::bottom, icon::kTable, make<SelectionPanel>},
    {"layers", "Layers", Place::bottom, icon::kSitemap, make<LayersPanel>},
    {"hotspots", "Hotspots", Place::bottom, icon::kChip, make<HotspotsPanel>},
    {"statistics", "Statistics", Place::bottom, icon::kBarChart, make<StatisticsPanel>},
    {"iterations", "Iterations", Place::bottom, icon::kHistory, make<IterationsPanel>},
    {"warnings", "Warnings", Place::bottom, icon::kWarning, make<WarningsPanel>},
    {"why", "Why", Place::bottom, icon::kSearch, make<WhyPanel>},
    {"compilation", "Compilation", Place::bottom, icon::kSettings, make<CompilationPanel>},
    {"collectives", "Collectives", Place::bottom, icon::kBalance, make<CollectivesPanel>},
    {"memory", "Memory", Place::bottom, icon::kAreaChart, make<MemoryPanel>},
    {"roofline", "Roofline", Place::bottom, icon::kLineChart, make<RooflinePanel>},
    {"markers", "Markers", Place::bottom, icon::kFlag, make<MarkersPanel>,
     "Not filtered: markers belong to the whole session"},
    {"quality", "Data quality", Place::bottom, icon::kWarning, make<QualityPanel>,
     "Not filtered: the quality of all data"},
    {"metrics", "Metrics", Place::bottom, icon::kLineChart, make<MetricsPanel>},
    {"tables", "Tables", Place::bottom, icon::kTable, make<TablesPanel>,
     "Not filtered: tables without time belong to the whole session"},
    {"compare", "Compare", Place::bottom, icon::kBalance, make<ComparePanel>, "Not filtered: both sessions as a whole"},
    {"sql", "SQL", Place::bottom, icon::kDatabase, make<SqlPanel>},
    {"output", "Output", Place::bottom, icon::kPrint, make<OutputPanel>, "Not filtered: the output of the whole run"},
});

}  // namespace

std::span<const PanelInfo> all_panels() noexcept { return kPanels; }

}  // namespace accelscope::app
