// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <troupe/jit/cuda/architecture.hpp>
#include <troupe/jit/cuda/linker.hpp>
#include <troupe/jit/cuda/nvrtc/precompiled.hpp>

namespace troupe::jit {

/// The installed NVRTC and the files that it needs.
struct nvrtc {
  std::string version;            ///< "13.0"
  std::string identity;           ///< identifies the library and its headers exactly: part of every key
  std::vector<capability> known;  ///< the capabilities that NVRTC compiles for, in ascending order
  std::string cuda_version;       ///< the value of CUDA_VERSION, such as "13000"
  std::string own_headers;        ///< folder of our headers that replace those of C and C++
  /// Folder of CUDA's own headers: TROUPE_CUDA_INCLUDE, or the folder of the toolkit with which this was built.
  std::string include_folder;
  std::shared_ptr<linker> links;
  std::shared_ptr<precompiled> headers;  ///< precompiled headers of this process

  static result<nvrtc> find();
};

}  // namespace troupe::jit
