// What makes the panels, one of each for a session. Nobody else knows their classes.
#pragma once

#include <memory>

#include "app/panels/context.h"
#include "app/persist/persist.h"

namespace accelscope::app {

using PanelMaker = std::unique_ptr<Panel>(WorkerPool& pool, QueryHistory& queries, PeakBook& peaks);
PanelMaker make_collectives_panel, make_compare_panel, make_compilation_panel, make_core_grid_panel, make_details_panel,
    make_hotspots_panel, make_iterations_panel, make_layers_panel, make_markers_panel, make_memory_panel,
    make_metrics_panel, make_output_panel, make_quality_panel, make_roofline_panel, make_search_panel,
    make_selection_panel, make_source_panel, make_sql_panel, make_stack_panel, make_statistics_panel, make_tables_panel,
    make_warnings_panel, make_why_panel;

}  // namespace accelscope::app
