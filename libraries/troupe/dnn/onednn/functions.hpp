// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <oneapi/dnnl/dnnl.h>

#include <string>
#include <troupe/base/linux/unique_handle.hpp>
#include <troupe/base/result.hpp>

namespace troupe::dnn::onednn {

/// The functions of oneDNN that the engine uses. The library is optional: it is loaded when the engine is opened.
struct functions {
  decltype(&::dnnl_version) version;
  decltype(&::dnnl_get_effective_cpu_isa) effective_isa;
  decltype(&::dnnl_engine_create) create_engine;
  decltype(&::dnnl_engine_destroy) destroy_engine;
  decltype(&::dnnl_stream_create) create_stream;
  decltype(&::dnnl_stream_destroy) destroy_stream;
  decltype(&::dnnl_memory_desc_init_by_strides) layout_by_strides;
  decltype(&::dnnl_memory_desc_init_by_tag) layout_by_tag;
  decltype(&::dnnl_memory_desc_get_size) bytes_of_layout;
  decltype(&::dnnl_memory_desc_equal) layouts_equal;
  decltype(&::dnnl_memory_create) create_memory;
  decltype(&::dnnl_memory_destroy) destroy_memory;
  decltype(&::dnnl_dilated_convolution_forward_desc_init) forward;
  decltype(&::dnnl_dilated_convolution_backward_data_desc_init) backward_data;
  decltype(&::dnnl_dilated_convolution_backward_weights_desc_init) backward_weights;
  decltype(&::dnnl_primitive_desc_create) describe;
  decltype(&::dnnl_reorder_primitive_desc_create) describe_reorder;
  decltype(&::dnnl_primitive_desc_destroy) destroy_description;
  decltype(&::dnnl_primitive_desc_query) query;
  decltype(&::dnnl_primitive_desc_query_md) query_layout;
  decltype(&::dnnl_primitive_create) create_primitive;
  decltype(&::dnnl_primitive_destroy) destroy_primitive;
  decltype(&::dnnl_primitive_execute) execute;
  decltype(&::dnnl_primitive_attr_create) create_attributes;
  decltype(&::dnnl_primitive_attr_destroy) destroy_attributes;
  decltype(&::dnnl_primitive_attr_set_scratchpad_mode) set_scratchpad;
  decltype(&::dnnl_primitive_attr_set_post_ops) set_functions;
  decltype(&::dnnl_post_ops_create) create_functions;
  decltype(&::dnnl_post_ops_destroy) destroy_functions;
  decltype(&::dnnl_post_ops_append_eltwise) append_function;
  decltype(&::dnnl_post_ops_append_binary) append_binary;
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
