// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <oneapi/dnnl/dnnl.h>

#include <string>
#include <troupe/base/linux/unique_handle.hpp>
#include <troupe/base/result.hpp>

namespace troupe::dnn::onednn {

/// The functions that are loaded: FUNCTION(name of the pointer, name in the library).
#define TROUPE_ONEDNN_FUNCTIONS(FUNCTION)                                         \
  FUNCTION(version, dnnl_version)                                                 \
  FUNCTION(effective_isa, dnnl_get_effective_cpu_isa)                             \
  FUNCTION(create_engine, dnnl_engine_create)                                     \
  FUNCTION(destroy_engine, dnnl_engine_destroy)                                   \
  FUNCTION(create_stream, dnnl_stream_create)                                     \
  FUNCTION(destroy_stream, dnnl_stream_destroy)                                   \
  FUNCTION(layout_by_strides, dnnl_memory_desc_init_by_strides)                   \
  FUNCTION(layout_by_tag, dnnl_memory_desc_init_by_tag)                           \
  FUNCTION(bytes_of_layout, dnnl_memory_desc_get_size)                            \
  FUNCTION(layouts_equal, dnnl_memory_desc_equal)                                 \
  FUNCTION(create_memory, dnnl_memory_create)                                     \
  FUNCTION(destroy_memory, dnnl_memory_destroy)                                   \
  FUNCTION(forward, dnnl_dilated_convolution_forward_desc_init)                   \
  FUNCTION(backward_data, dnnl_dilated_convolution_backward_data_desc_init)       \
  FUNCTION(backward_weights, dnnl_dilated_convolution_backward_weights_desc_init) \
  FUNCTION(describe, dnnl_primitive_desc_create)                                  \
  FUNCTION(describe_reorder, dnnl_reorder_primitive_desc_create)                  \
  FUNCTION(destroy_description, dnnl_primitive_desc_destroy)                      \
  FUNCTION(query, dnnl_primitive_desc_query)                                      \
  FUNCTION(query_layout, dnnl_primitive_desc_query_md)                            \
  FUNCTION(create_primitive, dnnl_primitive_create)                               \
  FUNCTION(destroy_primitive, dnnl_primitive_destroy)                             \
  FUNCTION(execute, dnnl_primitive_execute)                                       \
  FUNCTION(create_attributes, dnnl_primitive_attr_create)                         \
  FUNCTION(destroy_attributes, dnnl_primitive_attr_destroy)                       \
  FUNCTION(set_scratchpad, dnnl_primitive_attr_set_scratchpad_mode)               \
  FUNCTION(set_functions, dnnl_primitive_attr_set_post_ops)                       \
  FUNCTION(create_functions, dnnl_post_ops_create)                                \
  FUNCTION(destroy_functions, dnnl_post_ops_destroy)                              \
  FUNCTION(append_function, dnnl_post_ops_append_eltwise)                         \
  FUNCTION(append_binary, dnnl_post_ops_append_binary)

/// The functions of oneDNN that the engine uses. The library is optional: it is loaded when the engine is opened.
struct functions {
#define TROUPE_FUNCTION(NAME, SYMBOL) decltype(&::SYMBOL) NAME;
  TROUPE_ONEDNN_FUNCTIONS(TROUPE_FUNCTION)
#undef TROUPE_FUNCTION
  // Functions of OpenMP. They affect computations that the calling thread starts.
  void (*set_threads)(int);
  int (*binding)();        ///< the environment's policy for binding threads to processors
  int (*thread_number)();  ///< index of the calling thread in `run_in_parallel`
  void (*run_in_parallel)(void (*)(void*), void*, unsigned threads, unsigned flags);
};

/// The result of `functions::binding` if threads are not bound to processors: omp_proc_bind_false.
constexpr int omp_unbound = 0;

/// Loads the library; later calls do nothing. The library stays loaded.
result<void> load();
/// Returns the loaded functions. Precondition: `load` succeeded.
const functions& calls() noexcept;

/// The traits of a handle that is destroyed by the function `Destroy` of `functions`.
template <class Type, auto Destroy>
struct handle_traits {
  using type = Type;
  static constexpr type null{};
  static void close(type h) noexcept { (void)(calls().*Destroy)(h); }
};
using engine = unique_handle<handle_traits<dnnl_engine_t, &functions::destroy_engine>>;
using stream = unique_handle<handle_traits<dnnl_stream_t, &functions::destroy_stream>>;
using memory = unique_handle<handle_traits<dnnl_memory_t, &functions::destroy_memory>>;
using description = unique_handle<handle_traits<dnnl_primitive_desc_t, &functions::destroy_description>>;
using primitive = unique_handle<handle_traits<dnnl_primitive_t, &functions::destroy_primitive>>;
using attributes = unique_handle<handle_traits<dnnl_primitive_attr_t, &functions::destroy_attributes>>;
using post_operations = unique_handle<handle_traits<dnnl_post_ops_t, &functions::destroy_functions>>;

}  // namespace troupe::dnn::onednn
