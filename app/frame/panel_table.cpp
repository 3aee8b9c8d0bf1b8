// The panels, a row each, in the order of their tabs.
#include <array>

#include "app/frame/places.h"
#include "app/panels/panels.h"
#include "render/base/icons.h"

namespace accelscope::app {

namespace {

namespace icon = render::icon;

constexpr std::string_view kOfSelected = "Not filtered: the selected event with all that it depends on";
constexpr std::array kPanels = std::to_array<PanelInfo>({
    {"source", "Source", Place::right, icon::kFileCode, make_source_panel},
    {"stack", "Stack trace", Place::right, icon::kList, make_stack_panel, kOfSelected},
    {"core-grid", "Core grid", Place::right, icon::kTh, make_core_grid_panel},
    {"details", "Details", Place::bottom, icon::kInfo, make_details_panel, kOfSelected},
    {"search", "Search", Place::bottom, icon::kList, make_search_panel},
    {"selection", "Selection", Place::bottom, icon::kTable, make_selection_panel},
    {"layers", "Layers", Place::bottom, icon::kSitemap, make_layers_panel},
    {"hotspots", "Hotspots", Place::bottom, icon::kChip, make_hotspots_panel},
    {"statistics", "Statistics", Place::bottom, icon::kBarChart, make_statistics_panel},
    {"iterations", "Iterations", Place::bottom, icon::kHistory, make_iterations_panel},
    {"warnings", "Warnings", Place::bottom, icon::kWarning, make_warnings_panel},
    {"why", "Why", Place::bottom, icon::kSearch, make_why_panel},
    {"compilation", "Compilation", Place::bottom, icon::kSettings, make_compilation_panel},
    {"collectives", "Collectives", Place::bottom, icon::kBalance, make_collectives_panel},
    {"memory", "Memory", Place::bottom, icon::kAreaChart, make_memory_panel},
    {"roofline", "Roofline", Place::bottom, icon::kLineChart, make_roofline_panel},
    {"markers", "Markers", Place::bottom, icon::kFlag, make_markers_panel,
     "Not filtered: markers belong to the whole session"},
    {"quality", "Data quality", Place::bottom, icon::kWarning, make_quality_panel,
     "Not filtered: the quality of all data"},
    {"metrics", "Metrics", Place::bottom, icon::kLineChart, make_metrics_panel},
    {"tables", "Tables", Place::bottom, icon::kTable, make_tables_panel,
     "Not filtered: tables without time belong to the whole session"},
    {"compare", "Compare", Place::bottom, icon::kBalance, make_compare_panel, "Not filtered: both sessions as a whole"},
    {"sql", "SQL", Place::bottom, icon::kDatabase, make_sql_panel},
    {"output", "Output", Place::bottom, icon::kPrint, make_output_panel, "Not filtered: the output of the whole run"},
});

}  // namespace

std::span<const PanelInfo> all_panels() noexcept { return kPanels; }

}  // namespace accelscope::app
