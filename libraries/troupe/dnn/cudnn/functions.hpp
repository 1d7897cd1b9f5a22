// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cudnn_graph.h>

#include <string>
#include <troupe/base/result.hpp>

namespace troupe::dnn::cudnn {

/// The functions of cuDNN that the engine uses. The library is optional. It is searched for when the engine is opened,
/// in the same places as the toolkit's other libraries.
struct functions {
  decltype(&::cudnnGetVersion) version;
  decltype(&::cudnnGetErrorString) text_of_status;
  decltype(&::cudnnGetLastErrorString) last_text;
  decltype(&::cudnnCreate) create;
  decltype(&::cudnnDestroy) destroy;
  decltype(&::cudnnSetStream) set_stream;
  decltype(&::cudnnBackendCreateDescriptor) create_descriptor;
  decltype(&::cudnnBackendDestroyDescriptor) destroy_descriptor;
  decltype(&::cudnnBackendSetAttribute) set_attribute;
  decltype(&::cudnnBackendGetAttribute) get_attribute;
  decltype(&::cudnnBackendFinalize) finalize;
  decltype(&::cudnnBackendExecute) execute;
};

/// Loads the library that TROUPE_CUDNN names, or libcudnn.so.9; later calls do nothing. The library stays loaded.
result<void> load();
/// Returns the loaded functions. Precondition: `load` succeeded.
const functions& calls() noexcept;

}  // namespace troupe::dnn::cudnn
