// Programs: where they come from, and how they are built.
#include <cstring>
#include <string>

#include "capture/probe/bodies.h"
#include "capture/probe/opencl/wrapped_calls.h"

namespace accelscope::probe::opencl {
namespace {

void add_program(cl_program handle, ProgramForm form, std::string_view text) {
  State& now = state();
  auto program = std::make_shared<Program>();
  program->number = now.new_number();
  BodyWriter body;
  body.number(program->number).number(static_cast<std::uint32_t>(form)).text(text);
  layer().channel->define(static_cast<std::uint32_t>(DefinitionType::program), body.bytes());
  now.programs.set(handle, std::move(program));
}

void fill_program_creation(Table& table) {
  created<&Table::clCreateProgramWithSource, "clCreateProgram">(
      table, [](cl_program made, cl_context, cl_uint count, const char** strings, const std::size_t* lengths) {
        std::string source;
        for (cl_uint i = 0; layer().keeps_sources && i < count; ++i) {
          const bool is_terminated = lengths == nullptr || lengths[i] == 0;
          source.append(strings[i], is_terminated ? std::strlen(strings[i]) : lengths[i]);
        }
        add_program(made, ProgramForm::source, source);
      });
  created<&Table::clCreateProgramWithBinary, "clCreateProgram">(
      table, [](cl_program made, cl_context, cl_uint count, const cl_device_id*, const std::size_t* lengths, auto...) {
        add_program(made, ProgramForm::binary, "binary of " + std::to_string(count != 0 ? lengths[0] : 0) + " bytes");
      });
  created<&Table::clCreateProgramWithIL, "clCreateProgram">(
      table, [](cl_program made, cl_context, const void*, std::size_t length) {
        add_program(made, ProgramForm::intermediate, "intermediate language of " + std::to_string(length) + " bytes");
      });
  created<&Table::clCreateProgramWithBuiltInKernels, "clCreateProgram">(
      table, [](cl_program made, cl_context, cl_uint, const cl_device_id*, const char* names) {
        add_program(made, ProgramForm::built_in, names == nullptr ? "" : names);
      });
}

[[nodiscard]] std::string build_text(cl_program program, cl_device_id device, cl_program_build_info what) {
  return text_of([=](std::size_t room, void* to, std::size_t* bytes) {
    return layer().next.clGetProgramBuildInfo(program, device, what, room, to, bytes);
  });
}

// What is known of a build while it runs.
struct Build {
  BuildStep step = BuildStep::build;
  std::uint64_t begin_ticks = 0;
  void(CL_CALLBACK* notify)(cl_program, void*) = nullptr;  // the program's own
  void* user_data = nullptr;
  bool is_reported = false;  // by the call itself or by the callback, whichever comes first
  std::mutex mutex;
};

// One definition for each device; it ends now.
void tell(Build& build, cl_program handle, cl_int result) {
  const std::uint64_t end_ticks = now_ticks();
  {
    const std::lock_guard lock(build.mutex);
    if (build.is_reported) return;
    build.is_reported = true;
  }
  const std::shared_ptr<Program> program = state().programs.find(handle);
  if (program == nullptr || !layer().channel->collecting()) return;
  std::size_t bytes = 0;
  const Table& next = layer().next;
  if (next.clGetProgramInfo(handle, CL_PROGRAM_DEVICES, 0, nullptr, &bytes) != CL_SUCCESS) return;
  std::vector<cl_device_id> devices(bytes / sizeof(cl_device_id));
  if (next.clGetProgramInfo(handle, CL_PROGRAM_DEVICES, bytes, devices.data(), nullptr) != CL_SUCCESS) return;
  for (cl_device_id device : devices) {
    cl_build_status status = CL_BUILD_NONE;
    (void)next.clGetProgramBuildInfo(handle, device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, nullptr);
    if (status == CL_BUILD_NONE && result == CL_SUCCESS) continue;  // it was not built for this one
    BodyWriter body;
    body.number(program->number).number(static_cast<std::uint32_t>(build.step));
    body.number(build.begin_ticks).number(end_ticks);
    body.number(std::int32_t{status == CL_BUILD_ERROR && result == CL_SUCCESS ? CL_BUILD_PROGRAM_FAILURE : result});
    body.text(build_text(handle, device, CL_PROGRAM_BUILD_OPTIONS)).text(device_text(device, CL_DEVICE_NAME));
    body.text(build_text(handle, device, CL_PROGRAM_BUILD_LOG));
    layer().channel->define(static_cast<std::uint32_t>(DefinitionType::build), body.bytes());
  }
}

void CL_CALLBACK notified(cl_program program, void* data) {
  const std::unique_ptr<std::shared_ptr<Build>> build(static_cast<std::shared_ptr<Build>*>(data));
  // A build of intermediate state is told by what it returned.
  if (state().programs.find(program) != nullptr) tell(**build, program, CL_SUCCESS);
  (*build)->notify(program, (*build)->user_data);
}

// Around a build. Without a callback it has ended when the call returns; with one, when that is called.
template <typename Next>
cl_int build(Call call, BuildStep step, cl_program program, void(CL_CALLBACK* notify)(cl_program, void*),
             void* user_data, Next&& next) {
  auto build = std::make_shared<Build>();
  build->step = step;
  build->begin_ticks = now_ticks();
  build->notify = notify;
  build->user_data = user_data;
  auto* retained = notify == nullptr ? nullptr : new std::shared_ptr<Build>(build);
  const cl_int result = next(notify == nullptr ? nullptr : notified, retained);
  record_call(call, build->begin_ticks, result);
  if (notify == nullptr || result != CL_SUCCESS) tell(*build, program, result);
  return result;
}

cl_int CL_API_CALL build_program(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                                 void(CL_CALLBACK* notify)(cl_program, void*), void* user_data) {
  return build("clBuildProgram", BuildStep::build, program, notify, user_data, [&](auto callback, void* data) {
    return layer().next.clBuildProgram(program, count, devices, options, callback,
                                       callback == nullptr ? user_data : data);
  });
}

cl_int CL_API_CALL compile_program(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                                   cl_uint header_count, const cl_program* headers, const char** names,
                                   void(CL_CALLBACK* notify)(cl_program, void*), void* user_data) {
  return build("clCompileProgram", BuildStep::compile, program, notify, user_data, [&](auto callback, void* data) {
    return layer().next.clCompileProgram(program, count, devices, options, header_count, headers, names, callback,
                                         callback == nullptr ? user_data : data);
  });
}

// The linked program is known only by the call's result, so its callback is left alone: a link that goes on after the
// call is told with the time of the call.
cl_program CL_API_CALL link_program(cl_context context, cl_uint count, const cl_device_id* devices, const char* options,
                                    cl_uint program_count, const cl_program* programs,
                                    void(CL_CALLBACK* notify)(cl_program, void*), void* user_data, cl_int* result_ret) {
  Build build;
  build.step = BuildStep::link;
  build.begin_ticks = now_ticks();
  cl_int result = CL_SUCCESS;
  cl_program handle =
      layer().next.clLinkProgram(context, count, devices, options, program_count, programs, notify, user_data, &result);
  record_call("clLinkProgram", build.begin_ticks, result);
  if (handle != nullptr) {
    add_program(handle, ProgramForm::linked, "linked of " + std::to_string(program_count) + " programs");
    tell(build, handle, result);
  }
  if (result_ret != nullptr) *result_ret = result;
  return handle;
}

}  // namespace

void fill_programs(Table& table) {
  fill_program_creation(table);
  put<&Table::clBuildProgram>(table, build_program);
  put<&Table::clCompileProgram>(table, compile_program);
  put<&Table::clLinkProgram>(table, link_program);
  count_references<&Table::clRetainProgram, &Table::clReleaseProgram, &State::programs>(table);
}

}  // namespace accelscope::probe::opencl
