// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/shared_libraries/library_functions.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/onednn/functions.hpp>

namespace troupe::dnn::onednn {
namespace {

functions loaded;

std::string find_all() {
  library_functions library({"libdnnl.so.2"});
  library.find(loaded.version, "dnnl_version");
  library.find(loaded.effective_isa, "dnnl_get_effective_cpu_isa");
  library.find(loaded.create_engine, "dnnl_engine_create");
  library.find(loaded.destroy_engine, "dnnl_engine_destroy");
  library.find(loaded.create_stream, "dnnl_stream_create");
  library.find(loaded.destroy_stream, "dnnl_stream_destroy");
  library.find(loaded.layout_by_strides, "dnnl_memory_desc_init_by_strides");
  library.find(loaded.layout_by_tag, "dnnl_memory_desc_init_by_tag");
  library.find(loaded.bytes_of_layout, "dnnl_memory_desc_get_size");
  library.find(loaded.layouts_equal, "dnnl_memory_desc_equal");
  library.find(loaded.create_memory, "dnnl_memory_create");
  library.find(loaded.destroy_memory, "dnnl_memory_destroy");
  library.find(loaded.forward, "dnnl_dilated_convolution_forward_desc_init");
  library.find(loaded.backward_data, "dnnl_dilated_convolution_backward_data_desc_init");
  library.find(loaded.backward_weights, "dnnl_dilated_convolution_backward_weights_desc_init");
  library.find(loaded.describe, "dnnl_primitive_desc_create");
  library.find(loaded.describe_reorder, "dnnl_reorder_primitive_desc_create");
  library.find(loaded.destroy_description, "dnnl_primitive_desc_destroy");
  library.find(loaded.query, "dnnl_primitive_desc_query");
  library.find(loaded.query_layout, "dnnl_primitive_desc_query_md");
  library.find(loaded.create_primitive, "dnnl_primitive_create");
  library.find(loaded.destroy_primitive, "dnnl_primitive_destroy");
  library.find(loaded.execute, "dnnl_primitive_execute");
  library.find(loaded.create_attributes, "dnnl_primitive_attr_create");
  library.find(loaded.destroy_attributes, "dnnl_primitive_attr_destroy");
  library.find(loaded.set_scratchpad, "dnnl_primitive_attr_set_scratchpad_mode");
  library.find(loaded.set_functions, "dnnl_primitive_attr_set_post_ops");
  library.find(loaded.create_functions, "dnnl_post_ops_create");
  library.find(loaded.destroy_functions, "dnnl_post_ops_destroy");
  library.find(loaded.append_function, "dnnl_post_ops_append_eltwise");
  library.find(loaded.append_binary, "dnnl_post_ops_append_binary");
  // Functions of OpenMP, in GNU's runtime, with which oneDNN was linked. Other runtimes have not been checked.
  library.find(loaded.set_threads, "omp_set_num_threads");
  library.find(loaded.binding, "omp_get_proc_bind");
  library.find(loaded.thread_number, "omp_get_thread_num");
  library.find(loaded.run_in_parallel, "GOMP_parallel");
  return library.missing();
}

}  // namespace

result<void> load() {
  static const std::string why_not = find_all();
  if (why_not.empty()) return {};
  return error(reaction::unsupported, "dnn", cat("oneDNN is not used: ", why_not));
}

const functions& calls() noexcept { return loaded; }

}  // namespace troupe::dnn::onednn
