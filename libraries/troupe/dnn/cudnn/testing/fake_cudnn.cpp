// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A fake cuDNN: the functions of cuDNN that dnn uses. It records calls and returns what a test specifies.
#include "fake_cudnn.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

using troupe::dnn::cudnn::testing::fake_cudnn;

namespace {

struct fake_descriptor {
  cudnnBackendDescriptorType_t type;
  std::vector<void*> pointers = {};
};
fake_cudnn state;
constexpr std::string_view plan_text = "{\"a plan\":1}";

}  // namespace

#define TROUPE_EXPORTED __attribute__((visibility("default")))

extern "C" {
TROUPE_EXPORTED fake_cudnn* troupe_fake_cudnn() { return &state; }

TROUPE_EXPORTED std::size_t cudnnGetVersion() { return 91900; }
TROUPE_EXPORTED const char* cudnnGetErrorString(cudnnStatus_t) { return "CUDNN_STATUS_OF_A_TEST"; }
TROUPE_EXPORTED void cudnnGetLastErrorString(char* text, std::size_t bytes) {
  if (bytes > 0) *text = '\0';
}
TROUPE_EXPORTED cudnnStatus_t cudnnCreate(cudnnHandle_t* out) {
  return *out = reinterpret_cast<cudnnHandle_t>(&state), CUDNN_STATUS_SUCCESS;
}
TROUPE_EXPORTED cudnnStatus_t cudnnDestroy(cudnnHandle_t) { return CUDNN_STATUS_SUCCESS; }
TROUPE_EXPORTED cudnnStatus_t cudnnSetStream(cudnnHandle_t, cudaStream_t) { return CUDNN_STATUS_SUCCESS; }

TROUPE_EXPORTED cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                                           cudnnBackendDescriptor_t* out) {
  return *out = new fake_descriptor{type}, CUDNN_STATUS_SUCCESS;
}
TROUPE_EXPORTED cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t d) {
  return delete static_cast<fake_descriptor*>(d), CUDNN_STATUS_SUCCESS;
}
TROUPE_EXPORTED cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                                                       cudnnBackendAttributeType_t, std::int64_t count,
                                                       const void* values) {
  if (name == CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS) {
    const auto* const first = static_cast<void* const*>(values);
    static_cast<fake_descriptor*>(d)->pointers.assign(first, first + count);
  }
  if (name == CUDNN_ATTR_TENSOR_DATA_TYPE) state.types.push_back(*static_cast<const cudnnDataType_t*>(values));
  return CUDNN_STATUS_SUCCESS;
}
TROUPE_EXPORTED cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t, cudnnBackendAttributeName_t name,
                                                       cudnnBackendAttributeType_t, std::int64_t requested,
                                                       std::int64_t* count, void* values) {
  *count = 0;
  if (name == CUDNN_ATTR_ENGINEHEUR_RESULTS)
    *count = requested == 0 ? state.engines : std::min(state.engines, requested);
  if (name == CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION) {
    *count = plan_text.size();
    std::memcpy(values, plan_text.data(), static_cast<std::size_t>(std::min(*count, requested)));
  }
  return CUDNN_STATUS_SUCCESS;
}
TROUPE_EXPORTED cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t d) {
  switch (static_cast<fake_descriptor*>(d)->type) {
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
      return ++state.searches, state.heuristics;
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
      return state.plans;
    default:
      return CUDNN_STATUS_SUCCESS;
  }
}
TROUPE_EXPORTED cudnnStatus_t cudnnBackendExecute(cudnnHandle_t, cudnnBackendDescriptor_t, cudnnBackendDescriptor_t d) {
  return state.execute(static_cast<fake_descriptor*>(d)->pointers);
}
}
