// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "fake_driver.hpp"

#include <cstdlib>

namespace troupe::graph {

fake_driver driver;

namespace {

std::deque<fake_graph> graphs;
std::deque<std::vector<CUgraph>> body_lists;

std::vector<fake_node*> list_of(const CUgraphNode* first, std::size_t count) {
  std::vector<fake_node*> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(reinterpret_cast<fake_node*>(first[i]));
  return out;
}

}  // namespace
}  // namespace troupe::graph

using namespace troupe::graph;

extern "C" {
CUresult cuGraphCreate(CUgraph* out, unsigned) {
  return *out = reinterpret_cast<CUgraph>(&graphs.emplace_back()), CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph) { return CUDA_SUCCESS; }
CUresult cuGraphExecDestroy(CUgraphExec) { return CUDA_SUCCESS; }
CUresult cuStreamDestroy(CUstream) { return CUDA_SUCCESS; }
CUresult cuEventDestroy(CUevent) { return CUDA_SUCCESS; }
CUresult cuLibraryUnload(CUlibrary) { return CUDA_SUCCESS; }
CUresult cuMemAlloc(CUdeviceptr* out, std::size_t bytes) {
  ++driver.device_pieces;
  return *out = reinterpret_cast<CUdeviceptr>(std::malloc(bytes)), CUDA_SUCCESS;
}
CUresult cuMemFree(CUdeviceptr p) {
  --driver.device_pieces;
  return std::free(reinterpret_cast<void*>(p)), CUDA_SUCCESS;
}
CUresult cuMemHostAlloc(void** out, std::size_t bytes, unsigned) {
  ++driver.pinned_pieces;
  return *out = std::malloc(bytes), CUDA_SUCCESS;
}
CUresult cuMemFreeHost(void* p) {
  --driver.pinned_pieces;
  return std::free(p), CUDA_SUCCESS;
}
CUresult cuEventCreate(CUevent* out, unsigned) {
  if (!driver.makes_events) return CUDA_ERROR_OUT_OF_MEMORY;
  return *out = reinterpret_cast<CUevent>(1), CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent, CUstream) { return CUDA_SUCCESS; }
CUresult cuEventQuery(CUevent) { return driver.is_done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY; }
CUresult cuGraphInstantiateWithParams(CUgraphExec* out, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS*) {
  ++driver.graphs_made_executable;
  return *out = reinterpret_cast<CUgraphExec>(1), CUDA_SUCCESS;
}
CUresult cuGraphExecUpdate(CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo*) {
  if (!driver.takes_updates) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  ++driver.updates;
  return CUDA_SUCCESS;
}
CUresult cuGraphLaunch(CUgraphExec, CUstream) { return CUDA_SUCCESS; }
CUresult cuGetErrorName(CUresult, const char** out) { return *out = "CUDA_ERROR", CUDA_SUCCESS; }
CUresult cuGetErrorString(CUresult, const char** out) { return *out = "an error", CUDA_SUCCESS; }
CUresult cuLibraryLoadData(CUlibrary* out, const void*, CUjit_option*, void**, unsigned, CUlibraryOption*, void**,
                           unsigned) {
  ++driver.kernels_loaded;
  return *out = reinterpret_cast<CUlibrary>(1), CUDA_SUCCESS;
}
CUresult cuLibraryGetKernel(CUkernel* out, CUlibrary, const char*) {
  return *out = reinterpret_cast<CUkernel>(1), CUDA_SUCCESS;
}
CUresult cuStreamBeginCaptureToGraph(CUstream, CUgraph g, const CUgraphNode* before, const CUgraphEdgeData*,
                                     std::size_t count, CUstreamCaptureMode mode) {
  EXPECT_EQ(driver.stream.into, nullptr) << "it records already";
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
  driver.stream = {reinterpret_cast<fake_graph*>(g), list_of(before, count), false};
  return CUDA_SUCCESS;
}
CUresult cuStreamGetCaptureInfo_v3(CUstream, CUstreamCaptureStatus* status, cuuint64_t*, CUgraph*,
                                   const CUgraphNode** last, const CUgraphEdgeData**, std::size_t* count) {
  *status = driver.stream.invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  *last = reinterpret_cast<const CUgraphNode*>(driver.stream.last.data());
  *count = driver.stream.last.size();
  return CUDA_SUCCESS;
}
CUresult cuStreamUpdateCaptureDependencies_v2(CUstream, CUgraphNode* more, const CUgraphEdgeData*, std::size_t count,
                                              unsigned) {
  for (fake_node* n : list_of(more, count)) driver.stream.last.push_back(n);
  return CUDA_SUCCESS;
}
CUresult cuStreamEndCapture(CUstream, CUgraph*) {
  driver.stream.into = nullptr;
  return driver.stream.invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}
CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* out, CUgraph, CUcontext, unsigned, unsigned) {
  static CUgraphConditionalHandle last = 0;
  return *out = ++last, CUDA_SUCCESS;
}
CUresult cuGraphAddNode_v2(CUgraphNode* out, CUgraph g, const CUgraphNode* before, const CUgraphEdgeData*,
                           std::size_t count, CUgraphNodeParams* how) {
  const bool decides = how->type == CU_GRAPH_NODE_TYPE_KERNEL;
  std::string what = how->conditional.type == CU_GRAPH_COND_TYPE_WHILE ? "while" : "if";
  if (decides) what = "decide";
  fake_node* const made = reinterpret_cast<fake_graph*>(g)->add(what, list_of(before, count));
  *out = reinterpret_cast<CUgraphNode>(made);
  if (decides) return CUDA_SUCCESS;
  std::vector<CUgraph>& bodies = body_lists.emplace_back();
  for (unsigned i = 0; i < how->conditional.size; ++i) {
    made->bodies.push_back(&graphs.emplace_back());
    bodies.push_back(reinterpret_cast<CUgraph>(made->bodies.back()));
  }
  how->conditional.phGraph_out = bodies.data();
  return CUDA_SUCCESS;
}
}
