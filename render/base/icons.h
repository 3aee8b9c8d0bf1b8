// The icons in use, as UTF-8 text of the Fork Awesome font. Draw them with an icon text style (render/base/fonts.h).
#pragma once

namespace accelscope::render::icon {

inline constexpr const char* kSearch = "\uf002";
inline constexpr const char* kStar = "\uf005";
inline constexpr const char* kCheck = "\uf00c";
inline constexpr const char* kClose = "\uf00d";     // times
inline constexpr const char* kSettings = "\uf013";  // cog
inline constexpr const char* kFile = "\uf016";
inline constexpr const char* kClock = "\uf017";
inline constexpr const char* kDownload = "\uf019";
inline constexpr const char* kLock = "\uf023";
inline constexpr const char* kFlag = "\uf024";
inline constexpr const char* kTag = "\uf02b";
inline constexpr const char* kPrint = "\uf02f";
inline constexpr const char* kList = "\uf03a";
inline constexpr const char* kEdit = "\uf040";  // pencil
inline constexpr const char* kPlay = "\uf04b";
inline constexpr const char* kPause = "\uf04c";
inline constexpr const char* kStop = "\uf04d";
inline constexpr const char* kChevronLeft = "\uf053";
inline constexpr const char* kChevronRight = "\uf054";
inline constexpr const char* kCheckCircle = "\uf058";
inline constexpr const char* kInfo = "\uf05a";
inline constexpr const char* kArrowLeft = "\uf060";
inline constexpr const char* kArrowRight = "\uf061";
inline constexpr const char* kArrowUp = "\uf062";
inline constexpr const char* kArrowDown = "\uf063";
inline constexpr const char* kExpand = "\uf065";
inline constexpr const char* kPlus = "\uf067";
inline constexpr const char* kMinus = "\uf068";
inline constexpr const char* kError = "\uf06a";    // exclamation-circle
inline constexpr const char* kWarning = "\uf071";  // exclamation-triangle
inline constexpr const char* kEye = "\uf06e";
inline constexpr const char* kFolder = "\uf07b";
inline constexpr const char* kFolderOpen = "\uf07c";
inline constexpr const char* kKey = "\uf084";
inline constexpr const char* kFilter = "\uf0b0";
inline constexpr const char* kMaximise = "\uf2d0";  // window-maximize
inline constexpr const char* kRestore = "\uf2d2";
inline constexpr const char* kCopy = "\uf0c5";
inline constexpr const char* kSave = "\uf0c7";
inline constexpr const char* kTable = "\uf0ce";
inline constexpr const char* kTh = "\uf00a";  // nine cells
inline constexpr const char* kCaretDown = "\uf0d7";
inline constexpr const char* kCaretUp = "\uf0d8";
inline constexpr const char* kCaretRight = "\uf0da";
inline constexpr const char* kUndo = "\uf0e2";
inline constexpr const char* kLaptop = "\uf109";
inline constexpr const char* kCircle = "\uf111";
inline constexpr const char* kMenu = "\uf142";  // ellipsis-v
inline constexpr const char* kSun = "\uf185";   // sun-o
inline constexpr const char* kMoon = "\uf186";  // moon-o
inline constexpr const char* kDatabase = "\uf1c0";
inline constexpr const char* kFileCode = "\uf1c9";
inline constexpr const char* kHistory = "\uf1da";
inline constexpr const char* kPlug = "\uf1e6";
inline constexpr const char* kSitemap = "\uf0e8";
inline constexpr const char* kTrash = "\uf1f8";
inline constexpr const char* kBarChart = "\uf080";
inline constexpr const char* kAreaChart = "\uf1fe";
inline constexpr const char* kLineChart = "\uf201";
inline constexpr const char* kBalance = "\uf24e";
inline constexpr const char* kChip = "\uf2db";  // microchip
inline constexpr const char* kPin = "\uf08d";   // thumb-tack

}  // namespace accelscope::render::icon
