// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/jit/cache/builder.hpp>
#include <troupe/jit/cuda/nvrtc/nvrtc.hpp>

namespace troupe::jit {

/// Builds programs with NVRTC, for a GPU engine.
class nvrtc_builder {
 public:
  /// Makes a builder. If `may_compile` is false, it finds only programs that were compiled before: see engine_context.
  nvrtc_builder(nvrtc with, capability gpu, bool may_compile = true);
  nvrtc_builder(const nvrtc_builder&) = delete;
  nvrtc_builder& operator=(const nvrtc_builder&) = delete;

  builder& images() noexcept { return builder_; }
  /// Returns notes for `troupe doctor`.
  std::string notes() const;

 private:
  const nvrtc with_;
  plan::disk_cache disk_;
  builder builder_;
};

}  // namespace troupe::jit
