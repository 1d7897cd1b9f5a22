// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "fake_driver.hpp"

#include <cstdio>
#include <cstring>
#include <utility>

namespace troupe::cuda::testing {

fake_driver& driver() {
  static fake_driver one;
  return one;
}

}  // namespace troupe::cuda::testing

using namespace troupe::cuda::testing;

namespace {

std::deque<fake_graph> graphs;
std::deque<fake_executable> executables;
std::deque<std::vector<CUgraph>> body_lists;

std::vector<fake_node*> list_of(const CUgraphNode* first, std::size_t count) {
  std::vector<fake_node*> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(reinterpret_cast<fake_node*>(first[i]));
  return out;
}
fake_kernel* named(std::string_view name) {
  for (fake_kernel& k : driver().kernels)
    if (k.name == name) return &k;
  return &driver().kernels.emplace_back(fake_kernel{std::string(name)});
}
bool is_possible(extents blocks, extents threads) {
  const unsigned all = threads.x * threads.y * threads.z;
  return blocks.y <= 65535 && blocks.z <= 65535 && all <= 1024 && blocks.x * blocks.y * blocks.z * all != 0;
}
// Returns a function that runs the kernel with a copy of its arguments.
std::function<void()> work_of(const fake_kernel& kernel, extents blocks, extents threads, void** parameters) {
  if (!driver().computes || !kernel.run) return nullptr;
  const auto* const first = static_cast<const std::byte*>(parameters[0]);
  return [=, &kernel, copy = std::vector(first, first + kernel.argument_bytes)] {
    kernel.run(blocks, threads, copy.data());
  };
}
std::uint64_t& number_of(CUevent event) { return *reinterpret_cast<std::uint64_t*>(event); }
template <class T>
std::function<void()> filling(CUdeviceptr to, T value, std::size_t count) {
  if (!driver().computes) return nullptr;
  return [=] { std::fill_n(reinterpret_cast<T*>(to), count, value); };
}
// Returns true for options that set the buffer for the compiler's messages; such options are not recorded.
bool is_about_messages(CUjit_option o) {
  return o == CU_JIT_ERROR_LOG_BUFFER || o == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES || o == CU_JIT_INFO_LOG_BUFFER ||
         o == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES;
}

}  // namespace

// Defines a call that is only recorded, and fails if the test says so.
#define NOTED(CALL, PARAMETERS, ...) \
  CUresult CALL PARAMETERS { return static_cast<CUresult>(driver().called(__VA_ARGS__)); }
// Begins every other call: records it, and returns early if the test says that it fails.
#define NOTE(...) \
  if (const int failure = driver().called(__VA_ARGS__); failure != 0) return static_cast<CUresult>(failure)

extern "C" {
__attribute__((visibility("default"))) fake_driver* troupe_fake_driver() { return &driver(); }

// -- errors and the device

CUresult cuGetErrorName(CUresult, const char** out) { return *out = "CUDA_ERROR", CUDA_SUCCESS; }
CUresult cuGetErrorString(CUresult, const char** out) { return *out = "an error", CUDA_SUCCESS; }
CUresult cuDriverGetVersion(int* out) { return *out = CUDA_VERSION, CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice* out, int number) {
  NOTE("cuDeviceGet", number);
  return *out = number, CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* out, CUdevice_attribute which, CUdevice) {
  NOTE("cuDeviceGetAttribute", which);
  const auto found = driver().attributes.find(which);
  return *out = found == driver().attributes.end() ? 0 : found->second, CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* out, int bytes, CUdevice) {
  std::snprintf(out, static_cast<std::size_t>(bytes), "%s", driver().name.c_str());
  return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem(std::size_t* out, CUdevice) { return *out = driver().memory, CUDA_SUCCESS; }

CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned* flags, int* active) {
  NOTE("cuDevicePrimaryCtxGetState");
  return *flags = 0, *active = driver().primary_is_active ? 1 : 0, CUDA_SUCCESS;
}

// -- memory

NOTED(cuPointerGetAttribute, (void*, CUpointer_attribute which, CUdeviceptr), "cuPointerGetAttribute", which)
CUresult cuMemHostAlloc(void** out, std::size_t bytes, unsigned) {
  NOTE("cuMemHostAlloc", bytes);
  return driver().allocate(true, out, bytes);
}
CUresult cuMemFreeHost(void* memory) {
  NOTE("cuMemFreeHost");
  return driver().free(true, memory);
}
CUresult cuMemAlloc(CUdeviceptr* out, std::size_t bytes) {
  NOTE("cuMemAlloc", bytes);
  return driver().allocate(false, reinterpret_cast<void**>(out), bytes);
}
CUresult cuMemFree(CUdeviceptr memory) {
  NOTE("cuMemFree");
  return driver().free(false, reinterpret_cast<void*>(memory));
}
CUresult cuMemAllocAsync(CUdeviceptr* out, std::size_t bytes, CUstream) {
  NOTE("cuMemAllocAsync", bytes);
  return driver().allocate(false, reinterpret_cast<void**>(out), bytes);
}
CUresult cuMemFreeAsync(CUdeviceptr memory, CUstream) {
  return driver().enqueue([=] { (void)driver().free(false, reinterpret_cast<void*>(memory)); }, "cuMemFreeAsync");
}
CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = driver().free_memory, *total = driver().memory;
  return static_cast<CUresult>(driver().called("cuMemGetInfo"));
}
NOTED(cuCtxSetCurrent, (CUcontext), "cuCtxSetCurrent")
CUresult cuCtxSynchronize() {
  driver().go_on();
  return static_cast<CUresult>(driver().called("cuCtxSynchronize"));
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return ::cuMemcpyAsync(to, from, bytes, stream);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  return ::cuMemcpyAsync(to, reinterpret_cast<CUdeviceptr>(from), bytes, stream);
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  NOTE("cuMemcpyDtoH", bytes);
  if (driver().computes) std::memcpy(to, reinterpret_cast<void*>(from), bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream) {
  std::function<void()> work;
  if (driver().computes) work = [=] { std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes); };
  return driver().enqueue(work, "cuMemcpyAsync", "to " + std::to_string(to), "from " + std::to_string(from), bytes);
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* how, CUstream) {
  if (how->srcPitch > INT32_MAX || how->dstPitch > INT32_MAX) return CUDA_ERROR_INVALID_VALUE;
  std::function<void()> work;
  if (driver().computes)
    work = [h = *how] {
      for (std::size_t i = 0; i < h.Height; ++i)
        std::memcpy(reinterpret_cast<void*>(h.dstDevice + i * h.dstPitch),
                    reinterpret_cast<void*>(h.srcDevice + i * h.srcPitch), h.WidthInBytes);
    };
  const auto side = [](const char* which, CUdeviceptr at, std::size_t pitch) {
    return which + std::to_string(at) + " by " + std::to_string(pitch);
  };
  return driver().enqueue(work, "cuMemcpy2DAsync", side("to ", how->dstDevice, how->dstPitch),
                          side("from ", how->srcDevice, how->srcPitch),
                          std::to_string(how->Height) + " rows of " + std::to_string(how->WidthInBytes));
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream) {
  return driver().enqueue(filling(to, value, count), "cuMemsetD8Async", +value, count);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream) {
  return driver().enqueue(filling(to, value, count), "cuMemsetD32Async", value, count);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width, std::size_t height,
                            CUstream) {
  std::function<void()> work;
  if (driver().computes)
    work = [=] {
      for (std::size_t i = 0; i < height; ++i) std::fill_n(reinterpret_cast<unsigned*>(to + i * pitch), width, value);
    };
  return driver().enqueue(work, "cuMemsetD2D32Async", value, width, height);
}

// -- streams and events

CUresult cuStreamCreate(CUstream* out, unsigned) {
  NOTE("cuStreamCreate");
  static char one;  // all streams have this handle
  return *out = reinterpret_cast<CUstream>(&one), CUDA_SUCCESS;
}
NOTED(cuStreamDestroy, (CUstream), "cuStreamDestroy")
CUresult cuStreamSynchronize(CUstream stream) {
  NOTE(stream == nullptr ? "cuStreamSynchronize of the default stream" : "cuStreamSynchronize");
  if (stream == nullptr) return CUDA_SUCCESS;  // all work is in other streams
  return driver().pass(driver().enqueued()), CUDA_SUCCESS;
}
CUresult cuStreamQuery(CUstream) {
  fake_capture& records = driver().capture;
  if (records.status != CU_STREAM_CAPTURE_STATUS_NONE) {
    records.status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  NOTE("cuStreamQuery");
  return driver().has_passed(driver().enqueued()) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
// Writes at once: there is no queue.
CUresult cuStreamWriteValue64(CUstream, CUdeviceptr to, cuuint64_t value, unsigned) {
  NOTE("cuStreamWriteValue64", value);
  if (driver().computes) std::memcpy(reinterpret_cast<void*>(to), &value, sizeof value);
  return CUDA_SUCCESS;
}
CUresult cuStreamIsCapturing(CUstream, CUstreamCaptureStatus* out) {
  NOTE("cuStreamIsCapturing");
  return *out = driver().capture.status, CUDA_SUCCESS;
}
CUresult cuEventCreate(CUevent* out, unsigned) {
  NOTE("cuEventCreate");
  return *out = reinterpret_cast<CUevent>(new std::uint64_t(0)), CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent event) {
  NOTE("cuEventDestroy");
  return delete &number_of(event), CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream) {
  NOTE("cuEventRecord");
  return number_of(event) = driver().enqueued(), CUDA_SUCCESS;
}
CUresult cuEventQuery(CUevent event) {
  NOTE("cuEventQuery");
  return driver().has_passed(number_of(event)) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
CUresult cuEventSynchronize(CUevent event) {
  NOTE("cuEventSynchronize");
  return driver().pass(number_of(event)), CUDA_SUCCESS;
}
CUresult cuEventElapsedTime(float* ms, CUevent, CUevent) {
  NOTE("cuEventElapsedTime");
  auto& times = driver().elapsed_ms;
  *ms = times.empty() ? 1 : times.front();
  if (!times.empty()) times.pop_front();
  return CUDA_SUCCESS;
}

// -- images and kernels: each image has all of `driver().kernels`

CUresult cuLibraryLoadData(CUlibrary* out, const void*, CUjit_option*, void**, unsigned, CUlibraryOption*, void**,
                           unsigned) {
  NOTE("cuLibraryLoadData");
  return *out = reinterpret_cast<CUlibrary>(1), CUDA_SUCCESS;
}
NOTED(cuLibraryUnload, (CUlibrary), "cuLibraryUnload")
CUresult cuLibraryGetKernel(CUkernel* out, CUlibrary, const char* name) {
  NOTE("cuLibraryGetKernel", name);
  return *out = reinterpret_cast<CUkernel>(named(name)), CUDA_SUCCESS;
}
CUresult cuLibraryGetGlobal(CUdeviceptr* out, std::size_t* bytes, CUlibrary, const char* name) {
  NOTE("cuLibraryGetGlobal", name);
  const auto found = driver().globals.find(name);
  if (found == driver().globals.end()) return CUDA_ERROR_NOT_FOUND;
  *out = reinterpret_cast<CUdeviceptr>(found->second.data()), *bytes = found->second.size();
  return CUDA_SUCCESS;
}
NOTED(cuKernelSetAttribute, (CUfunction_attribute which, int value, CUkernel, CUdevice), "cuKernelSetAttribute", which,
      value)
CUresult cuKernelGetFunction(CUfunction* out, CUkernel kernel) {
  NOTE("cuKernelGetFunction");
  return *out = reinterpret_cast<CUfunction>(kernel), CUDA_SUCCESS;
}
CUresult cuLibraryGetKernelCount(unsigned* out, CUlibrary) {
  NOTE("cuLibraryGetKernelCount");
  return *out = static_cast<unsigned>(driver().kernels.size()), CUDA_SUCCESS;
}
CUresult cuLibraryEnumerateKernels(CUkernel* out, unsigned count, CUlibrary) {
  NOTE("cuLibraryEnumerateKernels", count);
  for (unsigned i = 0; i < count; ++i) out[i] = reinterpret_cast<CUkernel>(&driver().kernels[i]);
  return CUDA_SUCCESS;
}
CUresult cuKernelGetName(const char** out, CUkernel kernel) {
  return *out = reinterpret_cast<const fake_kernel*>(kernel)->name.c_str(), CUDA_SUCCESS;
}
CUresult cuModuleLoadDataEx(CUmodule* out, const void*, unsigned count, CUjit_option* options, void** values) {
  std::map<CUjit_option, std::uintptr_t> noted;
  for (unsigned i = 0; i < count; ++i)
    if (!is_about_messages(options[i])) noted[options[i]] = reinterpret_cast<std::uintptr_t>(values[i]);
  std::string list;
  for (const auto& [option, value] : noted)
    list += (list.empty() ? "" : ", ") + std::to_string(option) + " = " + std::to_string(value);
  NOTE("cuModuleLoadDataEx", list);
  return *out = reinterpret_cast<CUmodule>(1), CUDA_SUCCESS;
}
NOTED(cuModuleUnload, (CUmodule), "cuModuleUnload")
CUresult cuModuleGetGlobal(CUdeviceptr*, std::size_t*, CUmodule, const char* name) {
  NOTE("cuModuleGetGlobal", name);
  return CUDA_ERROR_NOT_FOUND;
}
CUresult cuModuleGetFunctionCount(unsigned* out, CUmodule) {
  NOTE("cuModuleGetFunctionCount");
  return *out = static_cast<unsigned>(driver().kernels.size()), CUDA_SUCCESS;
}
CUresult cuModuleEnumerateFunctions(CUfunction* out, unsigned count, CUmodule) {
  NOTE("cuModuleEnumerateFunctions", count);
  for (unsigned i = 0; i < count; ++i) out[i] = reinterpret_cast<CUfunction>(&driver().kernels[i]);
  return CUDA_SUCCESS;
}
NOTED(cuFuncLoad, (CUfunction), "cuFuncLoad")
CUresult cuFuncGetName(const char** out, CUfunction f) { return cuKernelGetName(out, reinterpret_cast<CUkernel>(f)); }
CUresult cuFuncGetAttribute(int* out, CUfunction_attribute which, CUfunction) {
  NOTE("cuFuncGetAttribute", which);
  const auto set = driver().function_attributes.find(which);
  return *out = set == driver().function_attributes.end() ? 0 : set->second, CUDA_SUCCESS;
}
NOTED(cuFuncSetAttribute, (CUfunction, CUfunction_attribute which, int value), "cuFuncSetAttribute", which, value)
CUresult cuFuncGetParamInfo(CUfunction f, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  *offset = 0, *bytes = reinterpret_cast<const fake_kernel*>(f)->argument_bytes;
  return index == 0 && *bytes != 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuLaunchKernel(CUfunction f, unsigned bx, unsigned by, unsigned bz, unsigned tx, unsigned ty, unsigned tz,
                        unsigned, CUstream, void** parameters, void**) {
  const auto& kernel = *reinterpret_cast<const fake_kernel*>(f);
  const extents blocks{bx, by, bz}, threads{tx, ty, tz};
  if (!is_possible(blocks, threads)) return CUDA_ERROR_INVALID_VALUE;
  return driver().enqueue(work_of(kernel, blocks, threads, parameters), "cuLaunchKernel", kernel.name, blocks, threads);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* how, CUfunction f, void** parameters, void** extra) {
  NOTE("cuLaunchKernelEx");
  return cuLaunchKernel(f, how->gridDimX, how->gridDimY, how->gridDimZ, how->blockDimX, how->blockDimY, how->blockDimZ,
                        how->sharedMemBytes, how->hStream, parameters, extra);
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* out, CUfunction, int, std::size_t) {
  NOTE("cuOccupancyMaxActiveBlocksPerMultiprocessor");
  return *out = 1, CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveClusters(int* out, CUfunction, const CUlaunchConfig* how) {
  NOTE("cuOccupancyMaxActiveClusters");
  return *out = static_cast<int>(how->gridDimX / how->attrs->value.clusterDim.x), CUDA_SUCCESS;
}
NOTED(cuOccupancyMaxPotentialBlockSize, (int*, int*, CUfunction, CUoccupancyB2DSize, std::size_t, int),
      "cuOccupancyMaxPotentialBlockSize")
NOTED(cuOccupancyMaxPotentialClusterSize, (int*, CUfunction, const CUlaunchConfig*),
      "cuOccupancyMaxPotentialClusterSize")
NOTED(cuTensorMapEncodeIm2col,
      (CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*, const int*,
       const int*, cuuint32_t, cuuint32_t, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
       CUtensorMapL2promotion, CUtensorMapFloatOOBfill),
      "cuTensorMapEncodeIm2col")
NOTED(cuTensorMapEncodeTiled,
      (CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
       const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill),
      "cuTensorMapEncodeTiled")

// -- graphs

CUresult cuGraphCreate(CUgraph* out, unsigned) {
  NOTE("cuGraphCreate");
  return *out = reinterpret_cast<CUgraph>(&graphs.emplace_back()), CUDA_SUCCESS;
}
NOTED(cuGraphDestroy, (CUgraph), "cuGraphDestroy")
CUresult cuGraphInstantiateWithParams(CUgraphExec* out, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS*) {
  NOTE("cuGraphInstantiateWithParams");
  fake_executable& made = executables.emplace_back();
  for (const fake_node& n : reinterpret_cast<const fake_graph*>(g)->nodes) made.steps.emplace_back(&n, n.work);
  return *out = reinterpret_cast<CUgraphExec>(&made), CUDA_SUCCESS;
}
CUresult cuGraphAddKernelNode(CUgraphNode* out, CUgraph g, const CUgraphNode* before, std::size_t count,
                              const CUDA_KERNEL_NODE_PARAMS* how) {
  const auto& kernel = *reinterpret_cast<const fake_kernel*>(how->func);
  const extents blocks{how->gridDimX, how->gridDimY, how->gridDimZ},
      threads{how->blockDimX, how->blockDimY, how->blockDimZ};
  NOTE("cuGraphAddKernelNode", kernel.name, blocks, threads);
  if (!is_possible(blocks, threads)) return CUDA_ERROR_INVALID_VALUE;
  fake_node* const made = reinterpret_cast<fake_graph*>(g)->add(kernel.name, list_of(before, count));
  made->work = work_of(kernel, blocks, threads, how->kernelParams);
  return *out = reinterpret_cast<CUgraphNode>(made), CUDA_SUCCESS;
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec e, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* how) {
  NOTE("cuGraphExecKernelNodeSetParams");
  for (auto& [of, work] : reinterpret_cast<fake_executable*>(e)->steps)
    if (of == reinterpret_cast<const fake_node*>(node))
      return work = work_of(*reinterpret_cast<const fake_kernel*>(how->func),
                            {how->gridDimX, how->gridDimY, how->gridDimZ},
                            {how->blockDimX, how->blockDimY, how->blockDimZ}, how->kernelParams),
             CUDA_SUCCESS;
  return CUDA_ERROR_INVALID_VALUE;
}
NOTED(cuGraphExecUpdate, (CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo*), "cuGraphExecUpdate")
NOTED(cuGraphExecDestroy, (CUgraphExec), "cuGraphExecDestroy")
CUresult cuGraphLaunch(CUgraphExec e, CUstream) {
  return driver().enqueue(
      [steps = reinterpret_cast<const fake_executable*>(e)->steps] {
        for (const auto& [of, work] : steps)
          if (work) work();
      },
      "cuGraphLaunch");
}
CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* out, CUgraph, CUcontext, unsigned, unsigned) {
  NOTE("cuGraphConditionalHandleCreate");
  static CUgraphConditionalHandle last = 0;
  return *out = ++last, CUDA_SUCCESS;
}
CUresult cuGraphAddNode_v2(CUgraphNode* out, CUgraph g, const CUgraphNode* before, const CUgraphEdgeData*,
                           std::size_t count, CUgraphNodeParams* how) {
  const bool is_kernel = how->type == CU_GRAPH_NODE_TYPE_KERNEL;
  std::string what = how->conditional.type == CU_GRAPH_COND_TYPE_WHILE ? "while" : "if";
  if (is_kernel) what = reinterpret_cast<const fake_kernel*>(how->kernel.kern)->name;
  NOTE("cuGraphAddNode", what);
  fake_node* const made = reinterpret_cast<fake_graph*>(g)->add(what, list_of(before, count));
  *out = reinterpret_cast<CUgraphNode>(made);
  if (is_kernel) return CUDA_SUCCESS;
  std::vector<CUgraph>& bodies = body_lists.emplace_back();
  for (unsigned i = 0; i < how->conditional.size; ++i) {
    made->bodies.push_back(&graphs.emplace_back());
    bodies.push_back(reinterpret_cast<CUgraph>(made->bodies.back()));
  }
  how->conditional.phGraph_out = bodies.data();
  return CUDA_SUCCESS;
}
CUresult cuStreamBeginCaptureToGraph(CUstream, CUgraph g, const CUgraphNode* before, const CUgraphEdgeData*,
                                     std::size_t count, CUstreamCaptureMode mode) {
  NOTE("cuStreamBeginCaptureToGraph", mode);
  if (driver().capture.into != nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  driver().capture = {reinterpret_cast<fake_graph*>(g), list_of(before, count), CU_STREAM_CAPTURE_STATUS_ACTIVE, mode};
  return CUDA_SUCCESS;
}
CUresult cuStreamGetCaptureInfo_v3(CUstream, CUstreamCaptureStatus* status, cuuint64_t*, CUgraph*,
                                   const CUgraphNode** last, const CUgraphEdgeData**, std::size_t* count) {
  NOTE("cuStreamGetCaptureInfo");
  *status = driver().capture.status;
  *last = reinterpret_cast<const CUgraphNode*>(driver().capture.last.data());
  *count = driver().capture.last.size();
  return CUDA_SUCCESS;
}
CUresult cuStreamUpdateCaptureDependencies_v2(CUstream, CUgraphNode* more, const CUgraphEdgeData*, std::size_t count,
                                              unsigned) {
  NOTE("cuStreamUpdateCaptureDependencies");
  for (fake_node* n : list_of(more, count)) driver().capture.last.push_back(n);
  return CUDA_SUCCESS;
}
CUresult cuStreamEndCapture(CUstream, CUgraph*) {
  NOTE("cuStreamEndCapture");
  fake_capture& c = driver().capture;
  c.into = nullptr;
  const bool spoiled = std::exchange(c.status, CU_STREAM_CAPTURE_STATUS_NONE) != CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return spoiled ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

}  // extern "C"
