// The kinds of capture, in the order in which they are shown: a line each, so that changes do not meet. Each is made by
// its folder.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "capture/request/kind.h"
#include "core/chunk/session_writer.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::kinds {

// clang-format off
namespace program   { request::CaptureKind program_kind(); }     // any program: what it prints and what it uses
namespace itt       { request::CaptureKind itt_kind(); }         // what programs tell of themselves
namespace python    { request::CaptureKind python_kind(); }      // functions and lines, signposts, tests
namespace simulate  { request::CaptureKind simulate_kind(); }    // the simulated accelerator
namespace replay    { request::CaptureKind replay_kind(); }      // files, played as if they were captured now
namespace neuron    { request::CaptureKind neuron_kind(); }      // devices, by the vendor's tool
namespace tt_metal  { request::CaptureKind tt_metal_kind(); }    // the device's log, while it is written
namespace tt_metal  { request::CaptureKind tt_profile_kind(); }  // a command run twice, as profile_this.py does
namespace unitrace  { request::CaptureKind unitrace_kind(); }    // programs under Intel's unitrace
namespace torch     { request::CaptureKind torch_kind(); }       // programs under torch.profiler
namespace opencl    { request::CaptureKind opencl_kind(); }      // programs that use OpenCL, through a layer
namespace cuda      { request::CaptureKind cuda_kind(); }        // programs that use CUDA, through CUPTI
namespace rocm      { request::CaptureKind rocm_kind(); }        // programs that use ROCm, through rocprofiler-sdk
// clang-format on

inline constexpr request::CaptureKind (*kKinds[])() = {
    program::program_kind,   itt::itt_kind,       python::python_kind,     simulate::simulate_kind,
    replay::replay_kind,     neuron::neuron_kind, tt_metal::tt_metal_kind, tt_metal::tt_profile_kind,
    unitrace::unitrace_kind, torch::torch_kind,   opencl::opencl_kind,     cuda::cuda_kind,
    rocm::rocm_kind,
};

// What a session says was left out or shown otherwise than it happened.

// Those that happened. `whose` stands before each: "python3 (1234): ".
inline void tell(SessionWriter& writer, const std::string& whose, std::initializer_list<QualityEntry> findings) {
  for (QualityEntry finding : findings) {
    if (finding.count == 0) continue;
    finding.detail = whose + finding.detail;
    writer.add_quality(std::move(finding));
  }
}

// A kind's tables of events as constants, and their numbers in a session.
//
//   enum class Table : std::size_t { kernels, copies };
//   constexpr TableSpec kTables[] = {{{"kernel", EventKind::slice, "kernel", "Its name."}, kKernelColumns}, ...};
//   Tables<Table> tables(writer, kTables);
//   ... writer.add_track({.name = "queue", .schema = tables[Table::kernels]});
struct TableSpec {
  SchemaSpec schema;
  std::span<const ColumnSpec> columns;
};

template <typename Table>
class Tables {
 public:
  Tables(SessionWriter& writer, std::span<const TableSpec> tables)
      : writer_(writer), tables_(tables), numbers_(tables.size(), kNone) {}

  // Defined when it is first asked for, so that a session has no tables that its programs do not use.
  [[nodiscard]] SchemaNumber operator[](Table table) {
    SchemaNumber& number = numbers_[static_cast<std::size_t>(table)];
    const TableSpec& spec = tables_[static_cast<std::size_t>(table)];
    if (number == kNone) number = writer_.add_schema(make_schema(spec.schema, spec.columns));
    return number;
  }
  void define_all() {
    for (std::size_t i = 0; i < tables_.size(); ++i) (void)(*this)[static_cast<Table>(i)];
  }

 private:
  SessionWriter& writer_;
  std::span<const TableSpec> tables_;
  std::vector<SchemaNumber> numbers_;
};

}  // namespace accelscope::capture::kinds
