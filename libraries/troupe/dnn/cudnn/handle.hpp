// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/linux/unique_handle.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/default_stream.hpp>
#include <troupe/dnn/cudnn/functions.hpp>
#include <troupe/dnn/cudnn/status.hpp>

namespace troupe::dnn::cudnn {

struct handle_traits {
  using type = cudnnHandle_t;
  static constexpr type null{};
  static void close(type h) noexcept { (void)calls().destroy(h); }
};
/// A handle of cuDNN for the current context.
using handle = unique_handle<handle_traits>;

inline result<handle> make_handle() {
  cudnnHandle_t made = nullptr;
  if (const cudnnStatus_t s = calls().create(&made); s != CUDNN_STATUS_SUCCESS) return failed("cudnnCreate", s);
  handle out(made);
  TROUPE_TRY(cuda::await_default_stream("dnn"));
  return out;
}

}  // namespace troupe::dnn::cudnn
