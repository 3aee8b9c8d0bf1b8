// Kernels and their arguments.
#include <algorithm>
#include <cstring>

#include "capture/probe/bodies.h"
#include "capture/probe/opencl/wrapped_calls.h"

namespace accelscope::probe::opencl {
namespace {

[[nodiscard]] std::string argument_text(cl_kernel kernel, cl_uint index, cl_kernel_arg_info what) {
  const Table& next = layer().next;
  if (next.clGetKernelArgInfo == nullptr) return {};
  return text_of([&](std::size_t size, void* value, std::size_t* size_ret) {
    return next.clGetKernelArgInfo(kernel, index, what, size, value, size_ret);
  });
}

[[nodiscard]] std::uint32_t define_kernel(cl_kernel handle, std::uint32_t program, const std::string& name,
                                          cl_uint arguments) {
  const std::uint32_t number = state().new_number();
  BodyWriter body;
  body.number(number).number(program).text(name).number(arguments);
  for (cl_uint i = 0; i < arguments; ++i) {
    body.text(argument_text(handle, i, CL_KERNEL_ARG_TYPE_NAME)).text(argument_text(handle, i, CL_KERNEL_ARG_NAME));
  }
  layer().channel->define(static_cast<std::uint32_t>(DefinitionType::kernel), body.bytes());
  return number;
}

// A kernel of a program that is made again and again, by several threads, keeps its number.
[[nodiscard]] std::uint32_t number_of_kernel(cl_kernel handle, Program* program, const std::string& name,
                                             cl_uint arguments) {
  if (program == nullptr) return define_kernel(handle, 0, name, arguments);
  const std::lock_guard lock(program->mutex);
  std::uint32_t& number = program->kernels[name];
  if (number == 0) number = define_kernel(handle, program->number, name, arguments);
  return number;
}

void add_kernel(cl_kernel handle, const std::vector<ArgumentRecord>& arguments = {}) {
  const Table& next = layer().next;
  const std::string name = text_of([&](std::size_t size, void* value, std::size_t* size_ret) {
    return next.clGetKernelInfo(handle, CL_KERNEL_FUNCTION_NAME, size, value, size_ret);
  });
  cl_uint count = 0;
  (void)next.clGetKernelInfo(handle, CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr);
  cl_program program = nullptr;
  (void)next.clGetKernelInfo(handle, CL_KERNEL_PROGRAM, sizeof(void*), &program, nullptr);
  auto kernel = std::make_shared<Kernel>();
  kernel->program = state().programs.find(program);
  kernel->number = number_of_kernel(handle, kernel->program.get(), name, count);
  kernel->arguments = arguments;
  kernel->arguments.resize(count);
  state().kernels.set(handle, std::move(kernel));
}

cl_int CL_API_CALL create_all(cl_program program, cl_uint room, cl_kernel* kernels, cl_uint* count_ret) {
  cl_uint count = 0;
  const cl_int result = layer().next.clCreateKernelsInProgram(program, room, kernels, &count);
  if (count_ret != nullptr && result == CL_SUCCESS) *count_ret = count;
  for (cl_uint i = 0; result == CL_SUCCESS && kernels != nullptr && i < count; ++i) add_kernel(kernels[i]);
  return result;
}

void keep(cl_kernel handle, cl_uint index, const ArgumentRecord& argument) {
  const std::shared_ptr<Kernel> kernel = state().kernels.find(handle);
  if (kernel != nullptr && index < kernel->arguments.size()) kernel->arguments[index] = argument;
}

// Handles look like any value of their size; those that are known are memory.
[[nodiscard]] ArgumentRecord argument_of(std::size_t bytes, const void* value) {
  ArgumentRecord argument{};
  argument.bytes = static_cast<std::uint32_t>(bytes);
  argument.kind = value == nullptr ? ArgumentKind::local : ArgumentKind::value;
  if (value == nullptr) return argument;
  std::memcpy(&argument.value, value, std::min(bytes, sizeof argument.value));
  if (bytes != sizeof(cl_mem)) return argument;
  const std::shared_ptr<Memory> memory = state().memories.find(reinterpret_cast<cl_mem>(argument.value));
  if (memory == nullptr) return argument;
  argument.kind = ArgumentKind::memory;
  argument.value = memory->number;
  return argument;
}

}  // namespace

void fill_kernels(Table& table) {
  created<&Table::clCreateKernel, "clCreateKernel">(table, [](cl_kernel made, auto...) { add_kernel(made); });
  put<&Table::clCreateKernelsInProgram>(table, create_all);
  after<&Table::clCloneKernel>(table, [](cl_kernel made, cl_kernel source, cl_int*) {
    if (made == nullptr) return;
    const std::shared_ptr<Kernel> known = state().kernels.find(source);
    add_kernel(made, known == nullptr ? std::vector<ArgumentRecord>{} : known->arguments);
  });
  count_references<&Table::clRetainKernel, &Table::clReleaseKernel, &State::kernels>(table);
  after<&Table::clSetKernelArg>(
      table, [](cl_int result, cl_kernel kernel, cl_uint index, std::size_t bytes, const void* value) {
        if (result == CL_SUCCESS && layer().keeps_arguments) keep(kernel, index, argument_of(bytes, value));
      });
  after<&Table::clSetKernelArgSVMPointer>(table,
                                          [](cl_int result, cl_kernel kernel, cl_uint index, const void* pointer) {
                                            if (result != CL_SUCCESS || !layer().keeps_arguments) return;
                                            ArgumentRecord argument{};
                                            argument.kind = ArgumentKind::shared_pointer;
                                            argument.bytes = sizeof pointer;
                                            argument.value = reinterpret_cast<std::uintptr_t>(pointer);
                                            keep(kernel, index, argument);
                                          });
}

}  // namespace accelscope::probe::opencl
