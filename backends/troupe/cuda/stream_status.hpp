// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <string>
#include <string_view>
#include <troupe/base/result.hpp>

/// Makes errors of calls of the driver and of vendors' libraries. The stream's state tells more about a failure than
/// the call's status alone.
namespace troupe::cuda {

/// Makes the error of a failed driver call. `domain` is the library that made the call.
error failed_on(CUstream stream, std::string_view domain, const char* call, CUresult status);
inline result<void> done_on(CUstream stream, std::string_view domain, const char* call, CUresult status) {
  if (status == CUDA_SUCCESS) [[likely]]
    return {};
  return failed_on(stream, domain, call, status);
}

/// Makes the error of a library call whose status determines the reaction: `what_to_do`, because of `meaning`, which is
/// appended to `text`. If the context is lost or the device's memory is full, the error says so instead, because the
/// library then returns misleading statuses (cuFFT calls a size invalid if it gets no memory).
error library_refused_on(CUstream stream, std::string_view domain, reaction what_to_do, std::int64_t code,
                         std::string text, std::string_view meaning);

/// Makes the error of a library call whose status does not determine the reaction. `text` names the call and its
/// status. Sets `handle_is_broken` if the library must be opened again.
error library_failed_on(CUstream stream, std::string_view domain, std::string text, std::int64_t code,
                        bool& handle_is_broken);

}  // namespace troupe::cuda
