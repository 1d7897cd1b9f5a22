// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/cuda/stream_status.hpp>
#include <troupe/dnn/cudnn/functions.hpp>
#include <troupe/dnn/cudnn/status.hpp>

namespace troupe::dnn::cudnn {

std::string text_of(cudnnStatus_t status) {
  char text[512] = {};
  calls().last_text(text, sizeof text);
  text[sizeof text - 1] = '\0';
  const std::string_view name = calls().text_of_status(status);
  return text[0] == '\0' ? std::string(name) : cat(name, " (", static_cast<const char*>(text), ")");
}

bool is_refusal(cudnnStatus_t status) noexcept {
  switch (CUDNN_STATUS_CATEGORY(static_cast<int>(status))) {
    case CUDNN_STATUS_NOT_SUPPORTED:
    // cuDNN returns BAD_PARAM also for parameters that it does not support, such as a shape of a scale.
    case CUDNN_STATUS_BAD_PARAM:
      return true;
    default:
      return status == CUDNN_STATUS_LICENSE_ERROR || status == CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED;
  }
}

bool is_permanent(cudnnStatus_t status) noexcept {
  switch (status) {
    case CUDNN_STATUS_LICENSE_ERROR:
    case CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED:
    case CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER:
    case CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDART:
    case CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING:
    case CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE:
      return false;
    default:
      return is_refusal(status);
  }
}

namespace {

bool is_out_of_memory(cudnnStatus_t status) noexcept {
  return status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
         status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
}

error refusal(std::string_view call, cudnnStatus_t status, CUstream stream) {
  return cuda::library_refused_on(stream, "dnn", reaction::unsupported, static_cast<std::int64_t>(status),
                                  cat(call, " returned ", text_of(status)),
                                  ": cuDNN cannot do this with these types, sizes, strides and alignments on this GPU");
}

}  // namespace

bool is_engine_failure(cudnnStatus_t status) noexcept {
  const bool is_internal = CUDNN_STATUS_CATEGORY(static_cast<int>(status)) == CUDNN_STATUS_INTERNAL_ERROR;
  return is_refusal(status) || (is_internal && !is_out_of_memory(status));
}

error failed(std::string_view call, cudnnStatus_t status, CUstream stream, bool& handle_is_broken) {
  if (is_refusal(status)) return refusal(call, status, stream);
  const auto code = static_cast<std::int64_t>(status);
  std::string text = cat(call, " returned ", text_of(status));
  if (is_out_of_memory(status))
    return cuda::library_refused_on(stream, "dnn", reaction::retry_later, code, std::move(text),
                                    status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED
                                        ? ": the worker's memory on the host is full"
                                        : ": the device's memory is full");
  return cuda::library_failed_on(stream, "dnn", std::move(text), code, handle_is_broken);
}

error failed(std::string_view call, cudnnStatus_t status) {
  bool broken = false;
  return failed(call, status, nullptr, broken);
}

error refused(std::string_view call, cudnnStatus_t status) {
  if (is_permanent(status)) return refusal(call, status, nullptr);
  if (!is_engine_failure(status)) return failed(call, status);
  return cuda::library_refused_on(nullptr, "dnn", reaction::retry_later, static_cast<std::int64_t>(status),
                                  cat(call, " returned ", text_of(status)), ": cuDNN may succeed later");
}

}  // namespace troupe::dnn::cudnn
