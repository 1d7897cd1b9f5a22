// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <string>
#include <string_view>
#include <troupe/base/result.hpp>

/// What has become of a call for an engine, where a stream says more than the status does.
namespace troupe::cuda {

/// A call of the driver failed. `domain` is the library that made it.
error failed_on(CUstream stream, std::string_view domain, const char* call, CUresult status);
inline result<void> done_on(CUstream stream, std::string_view domain, const char* call, CUresult status) {
  if (status == CUDA_SUCCESS) [[likely]]
    return {};
  return failed_on(stream, domain, call, status);
}

/// A call of a vendor's library failed with a status that says what to do: `what_to_do`, because of `meaning`. That
/// holds only while the context is alive and the device has memory left: without, the library answers any status (cuFFT
/// calls a size invalid when it gets no memory).
error library_refused_on(CUstream stream, std::string_view domain, reaction what_to_do, std::int64_t code,
                         std::string text, std::string_view meaning);

/// A call of a vendor's library failed with a status of its own that does not say what to do. `text` says what was
/// called and answered. Sets `handle_is_broken` when the library is to be opened anew.
error library_failed_on(CUstream stream, std::string_view domain, std::string text, std::int64_t code,
                        bool& handle_is_broken);

}  // namespace troupe::cuda
