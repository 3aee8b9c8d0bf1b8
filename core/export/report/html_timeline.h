// A timeline as the JSON that the script of a page draws:
//
//   {"begin":0,"end":3000,"view":[0,3000],"names":["a"],"rows":[ROW...]}
//   ROW: {"label":"Tensor","indent":1,"lanes":[{"e":[...],"m":[...]}]}, {"label":"Engines","head":1}
//        or {"label":"load","unit":"%","values":[...]}
//
// "e" has four numbers an event: begin, length, name, colour; "m" five for many events drawn as one: begin, length,
// colour, events, per cent busy. "values" has four: begin, length, least, most. Times are ns from the timeline's begin,
// a begin counts from the one before it in its list. Colours are 0xRRGGBB, of waits -1.
#pragma once

#include <string>

#include "core/export/report/report.h"

namespace accelscope {

[[nodiscard]] std::string timeline_json(const ReportTimeline& timeline);

}  // namespace accelscope
