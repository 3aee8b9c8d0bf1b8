// The style of a report's page. Colours are those of the viewer's two themes, by what the reader's system prefers.
#include "core/export/report/report_pages.h"

namespace accelscope::exporting {
namespace {

constexpr std::string_view kStyle = R"css(
:root {
  color-scheme: dark light;
  --bg0: #0E1114; --bg1: #14181C; --bg2: #191E23; --bg3: #20262C; --bg4: #2B323A;
  --line1: #242A31; --line2: #3A434D;
  --text1: #E6EAEE; --text2: #B1BAC4; --text3: #929DA9;
  --accent: #93A8FF; --accent-bg: #2A3150;
  --warning: #F5B83D; --warning-bg: #3A2E14; --error: #FF7B6E; --error-bg: #3E1F1E; --good: #63C99A;
  --hatch: #343D46; --hatch-bg: #171C21; --ink: #0E1216;
}
@media (prefers-color-scheme: light) {
  :root {
    --bg0: #DEE3E8; --bg1: #FFFFFF; --bg2: #F8F9FB; --bg3: #EBEEF2; --bg4: #DCE1E7;
    --line1: #E6EAEE; --line2: #BCC5CE;
    --text1: #14191E; --text2: #3F4953; --text3: #56616C;
    --accent: #3D57D6; --accent-bg: #DDE3FC;
    --warning: #8A5200; --warning-bg: #FCEFD2; --error: #B3261E; --error-bg: #FBE3E0; --good: #17704A;
    --hatch: #D3DAE1; --hatch-bg: #FAFBFC; --ink: #0E1216;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 1600px; padding: 0 24px 48px; background: var(--bg1); color: var(--text1);
  font: 13px/20px Inter, system-ui, sans-serif; overflow-wrap: anywhere;
}
header { padding: 24px 0 8px; }
h1 { margin: 0 0 8px; font-size: 22px; line-height: 28px; font-weight: 600; }
h2 { display: inline; margin: 0; font-size: 15px; font-weight: 600; }
h3 { margin: 12px 0 4px; font-size: 12px; font-weight: 600; color: var(--text2); }
p { margin: 4px 0; }
.verdict { padding: 8px 12px; border-left: 2px solid var(--accent); background: var(--bg3); font-size: 15px; font-weight: 600; }
.verdict.warning { border-color: var(--warning); background: var(--warning-bg); }
.verdict.error { border-color: var(--error); background: var(--error-bg); }
.verdict.good { border-color: var(--good); }
dl { margin: 0; }
dt { color: var(--text3); font-size: 12px; }
dd { margin: 0; }
.facts { display: flex; flex-wrap: wrap; gap: 4px 24px; margin-top: 12px; }
.facts dd { white-space: pre-wrap; }
.section { margin-top: 16px; border-top: 1px solid var(--line2); padding-top: 8px; }
summary { cursor: pointer; padding: 4px 0; }
.note { color: var(--text3); font-size: 12px; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(200px, 1fr)); gap: 1px; }
.figures > div { background: var(--bg2); padding: 6px 12px; outline: 1px solid var(--line1); }
.figures dd { font: 600 13px/20px "JetBrains Mono", ui-monospace, monospace; }
.lines { margin: 0; padding-left: 20px; }
.lines .warning { color: var(--warning); } .lines .error { color: var(--error); } .lines .good { color: var(--good); }
.findings { margin: 0; padding-left: 24px; }
.findings li { margin: 8px 0; }
.findings dl { display: flex; flex-wrap: wrap; gap: 2px 24px; }
.findings dl div { display: flex; gap: 8px; align-items: baseline; }
.saving { color: var(--warning); font: 12px "JetBrains Mono", ui-monospace, monospace; padding-left: 8px; }
.wide { overflow-x: auto; max-height: 640px; overflow-y: auto; border: 1px solid var(--line1); }
table { border-collapse: collapse; min-width: 100%; }
th { position: sticky; top: 0; z-index: 1; background: var(--bg3); padding: 0; text-align: left; white-space: nowrap; }
th button { all: unset; cursor: pointer; padding: 2px 12px; font-size: 12px; font-weight: 600; color: var(--text2); width: 100%; box-sizing: border-box; }
th.number button { text-align: right; }
th button:focus-visible, .tools button:focus-visible, canvas:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
th[aria-sort="ascending"] button::after { content: " \25B2"; color: var(--accent); }
th[aria-sort="descending"] button::after { content: " \25BC"; color: var(--accent); }
td { padding: 1px 12px; border-top: 1px solid var(--line1); vertical-align: top; white-space: nowrap; overflow-wrap: normal; }
td.long { min-width: 360px; max-width: 640px; white-space: normal; overflow-wrap: anywhere; }
td.number { text-align: right; white-space: nowrap; font: 12px/20px "JetBrains Mono", ui-monospace, monospace;
  background: linear-gradient(var(--accent-bg), var(--accent-bg)) no-repeat 0 / var(--bar, 0%) 100%; }
tbody tr:hover td { background-color: var(--bg3); }
.part { margin: 8px 0 12px; }
.bar { display: flex; height: 16px; border-radius: 2px; overflow: hidden;
  background: repeating-linear-gradient(135deg, var(--hatch) 0 1px, var(--hatch-bg) 1px 5px); }
.bar i { display: block; height: 100%; }
.legend span { display: inline-block; margin-right: 16px; color: var(--text2); font-size: 12px; }
.legend b { color: var(--text1); font: 12px "JetBrains Mono", ui-monospace, monospace; }
.legend i { display: inline-block; width: 10px; height: 10px; margin-right: 6px; border-radius: 2px; }
.legend i.idle { background: repeating-linear-gradient(135deg, var(--hatch) 0 1px, var(--hatch-bg) 1px 4px); border: 1px solid var(--line2); }
.timeline { position: relative; }
.tools { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; padding: 4px 0 8px; }
.tools button { border: 1px solid var(--line2); border-radius: 4px; background: var(--bg4); color: var(--text1); font: inherit; min-width: 26px; height: 26px; cursor: pointer; }
.hint { color: var(--text3); font-size: 12px; }
.span { margin-left: auto; color: var(--text2); font: 12px "JetBrains Mono", ui-monospace, monospace; }
canvas { display: block; width: 100%; cursor: crosshair; touch-action: pan-y; border: 1px solid var(--line1); }
.card { position: absolute; z-index: 2; max-width: 420px; padding: 6px 10px; border: 1px solid var(--line2); border-radius: 4px; background: var(--bg4); pointer-events: none; font-size: 12px; white-space: pre-line; }
.card[hidden] { display: none; }
@media print { .timeline .tools { display: none; } .wide { max-height: none; overflow: visible; } }
)css";

}  // namespace

std::string_view report_style() noexcept { return kStyle; }

}  // namespace accelscope::exporting
