// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/jit/cache/compiled.hpp>
#include <troupe/jit/cuda/architecture.hpp>

namespace troupe::jit {

/// NVRTC as it is installed.
struct nvrtc {
  std::string version;            ///< "13.0"
  std::string identity;           ///< of its library and headers: part of every key
  std::vector<capability> known;  ///< what it compiles for, in ascending order
  std::string include_folder;     ///< CUDA's own headers; TROUPE_CUDA_INCLUDE, else the toolkit's this was built with

  static result<nvrtc> find();
};

/// What an engine with NVRTC makes code for and with; refuses what it has no use for.
result<compiler> compiler_for(const nvrtc& with, const recipe& r, capability gpu);

/// Compiles for the compiler's architecture. The image has the names of the source behind it.
compiled compile(const nvrtc& with, const compiler& c, const recipe& r, std::int64_t deadline_ns);

}  // namespace troupe::jit
