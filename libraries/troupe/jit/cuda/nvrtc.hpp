// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <troupe/jit/cuda/architecture.hpp>
#include <troupe/jit/cuda/linker.hpp>
#include <troupe/jit/cuda/precompiled.hpp>

namespace troupe::jit {

/// NVRTC as it is installed, and what goes with it.
struct nvrtc {
  std::string version;            ///< "13.0"
  std::string identity;           ///< of its library and headers: part of every key
  std::vector<capability> known;  ///< what it compiles for, in ascending order
  std::string cuda_version;       ///< "13000", as CUDA_VERSION has it
  std::string own_headers;        ///< folder of what stands for the headers of C and C++
  std::string include_folder;     ///< CUDA's own headers; TROUPE_CUDA_INCLUDE, else the toolkit's this was built with
  std::shared_ptr<linker> links;
  std::shared_ptr<precompiled> headers;  ///< what was read before

  static result<nvrtc> find();
};

}  // namespace troupe::jit
