// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cudnn_graph.h>

#include <string>
#include <troupe/base/result.hpp>

namespace troupe::dnn::cudnn {

/// The functions that are loaded: FUNCTION(name of the pointer, name in the library).
#define TROUPE_CUDNN_FUNCTIONS(FUNCTION)                      \
  FUNCTION(version, cudnnGetVersion)                          \
  FUNCTION(text_of_status, cudnnGetErrorString)               \
  FUNCTION(last_text, cudnnGetLastErrorString)                \
  FUNCTION(create, cudnnCreate)                               \
  FUNCTION(destroy, cudnnDestroy)                             \
  FUNCTION(set_stream, cudnnSetStream)                        \
  FUNCTION(create_descriptor, cudnnBackendCreateDescriptor)   \
  FUNCTION(destroy_descriptor, cudnnBackendDestroyDescriptor) \
  FUNCTION(set_attribute, cudnnBackendSetAttribute)           \
  FUNCTION(get_attribute, cudnnBackendGetAttribute)           \
  FUNCTION(finalize, cudnnBackendFinalize)                    \
  FUNCTION(execute, cudnnBackendExecute)

/// The functions of cuDNN that the engine uses. The library is optional. It is searched for when the engine is opened,
/// in the same places as the toolkit's other libraries.
struct functions {
#define TROUPE_FUNCTION(NAME, SYMBOL) decltype(&::SYMBOL) NAME;
  TROUPE_CUDNN_FUNCTIONS(TROUPE_FUNCTION)
#undef TROUPE_FUNCTION
};

/// Loads the library that TROUPE_CUDNN names, or libcudnn.so.9; later calls do nothing. The library stays loaded.
result<void> load();
/// Returns the loaded functions. Precondition: `load` succeeded.
const functions& calls() noexcept;

}  // namespace troupe::dnn::cudnn
