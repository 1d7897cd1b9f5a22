// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/cuda/errors.hpp>
#include <troupe/cuda/stream_status.hpp>

namespace troupe::cuda {
namespace {

// With less free memory, a vendor's library can no longer allocate memory for a kernel's code or a table.
constexpr std::size_t too_little_memory = 32 << 20;

struct stream_state {
  // CUDA_SUCCESS, or the status with which every call in this process fails from now on
  CUresult lost = CUDA_SUCCESS;
  CUstreamCaptureStatus records = CU_STREAM_CAPTURE_STATUS_NONE;
};

// Queries the stream, unless it is being captured: a query would fail and invalidate the capture.
stream_state state_of(CUstream stream) noexcept {
  stream_state now;
  if (const CUresult asked = ::cuStreamIsCapturing(stream, &now.records); asked != CUDA_SUCCESS)
    return {is_sticky(asked) ? asked : CUDA_SUCCESS};
  if (now.records != CU_STREAM_CAPTURE_STATUS_NONE) return now;
  if (const CUresult asked = ::cuStreamQuery(stream); asked != CUDA_ERROR_NOT_READY) now.lost = asked;
  return now;
}

error error_with(reaction what_to_do, std::string_view domain, std::int64_t code, std::string text) {
  return error(
      error::details{.reaction = what_to_do, .domain = std::string(domain), .code = code, .text = std::move(text)});
}

error of_lost_context(CUresult lost, std::string_view domain, const std::string& text) {
  return error_with(reaction::context_lost, domain, static_cast<std::int64_t>(lost), cat(text, ": ", text_of(lost)));
}

bool memory_is_full() noexcept {
  std::size_t free = 0, total = 0;
  return ::cuMemGetInfo(&free, &total) == CUDA_SUCCESS && free < too_little_memory;
}

error of_full_memory(std::string_view domain, std::int64_t code, const std::string& text) {
  return error_with(reaction::retry_later, domain, code, text + ": the device's memory is full");
}

}  // namespace

error failed_on(CUstream stream, std::string_view domain, const char* call, CUresult status) {
  reaction what_to_do = reaction_to(status);
  if (what_to_do == reaction::fatal && state_of(stream).lost != CUDA_SUCCESS) what_to_do = reaction::context_lost;
  return error_with(what_to_do, domain, static_cast<std::int64_t>(status), cat(call, ": ", text_of(status)));
}

error library_refused_on(CUstream stream, std::string_view domain, reaction what_to_do, std::int64_t code,
                         std::string text, std::string_view meaning) {
  const auto [lost, records] = state_of(stream);
  if (lost != CUDA_SUCCESS) return of_lost_context(lost, domain, text);
  if (records == CU_STREAM_CAPTURE_STATUS_NONE && memory_is_full()) return of_full_memory(domain, code, text);
  return error_with(what_to_do, domain, code, cat(text, meaning));
}

error library_failed_on(CUstream stream, std::string_view domain, std::string text, std::int64_t code,
                        bool& handle_is_broken) {
  const auto [lost, records] = state_of(stream);
  if (lost != CUDA_SUCCESS) return of_lost_context(lost, domain, text);
  if (records == CU_STREAM_CAPTURE_STATUS_INVALIDATED)
    return error_with(reaction::unsupported, domain, code,
                      text + ": this request cannot be recorded into a graph; send it outside the recording");
  if (records == CU_STREAM_CAPTURE_STATUS_NONE && memory_is_full()) return of_full_memory(domain, code, text);
  handle_is_broken = true;
  return error_with(reaction::fatal, domain, code, text + "; the library is reopened for the next request");
}

}  // namespace troupe::cuda
