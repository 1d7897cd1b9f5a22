// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <troupe/base/cat.hpp>
#include <troupe/dnn/onednn/functions.hpp>
#include <type_traits>

namespace troupe::dnn::onednn {
namespace {

functions loaded;

std::string find_all() {
  constexpr const char* file = "libdnnl.so.2";
  void* const library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const said = ::dlerror();
    return said != nullptr ? said : cat(file, " cannot be loaded");
  }
  std::string missing;
  const auto find = [&](auto& call, const char* name) {
    call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(::dlsym(library, name));
    if (call == nullptr) missing = name;
  };
  find(loaded.version, "dnnl_version");
  find(loaded.processor, "dnnl_get_effective_cpu_isa");
  find(loaded.create_engine, "dnnl_engine_create");
  find(loaded.destroy_engine, "dnnl_engine_destroy");
  find(loaded.create_stream, "dnnl_stream_create");
  find(loaded.destroy_stream, "dnnl_stream_destroy");
  find(loaded.layout_by_strides, "dnnl_memory_desc_init_by_strides");
  find(loaded.layout_by_tag, "dnnl_memory_desc_init_by_tag");
  find(loaded.bytes_of_layout, "dnnl_memory_desc_get_size");
  find(loaded.are_equal, "dnnl_memory_desc_equal");
  find(loaded.create_memory, "dnnl_memory_create");
  find(loaded.destroy_memory, "dnnl_memory_destroy");
  find(loaded.forward, "dnnl_dilated_convolution_forward_desc_init");
  find(loaded.backward_data, "dnnl_dilated_convolution_backward_data_desc_init");
  find(loaded.backward_weights, "dnnl_dilated_convolution_backward_weights_desc_init");
  find(loaded.describe, "dnnl_primitive_desc_create");
  find(loaded.describe_reorder, "dnnl_reorder_primitive_desc_create");
  find(loaded.destroy_description, "dnnl_primitive_desc_destroy");
  find(loaded.query, "dnnl_primitive_desc_query");
  find(loaded.layout_in, "dnnl_primitive_desc_query_md");
  find(loaded.create_primitive, "dnnl_primitive_create");
  find(loaded.destroy_primitive, "dnnl_primitive_destroy");
  find(loaded.execute, "dnnl_primitive_execute");
  find(loaded.create_attributes, "dnnl_primitive_attr_create");
  find(loaded.destroy_attributes, "dnnl_primitive_attr_destroy");
  find(loaded.set_scratchpad, "dnnl_primitive_attr_set_scratchpad_mode");
  find(loaded.set_functions, "dnnl_primitive_attr_set_post_ops");
  find(loaded.create_functions, "dnnl_post_ops_create");
  find(loaded.destroy_functions, "dnnl_post_ops_destroy");
  find(loaded.append_function, "dnnl_post_ops_append_eltwise");
  find(loaded.append_binary, "dnnl_post_ops_append_binary");
  // Of the OpenMP that oneDNN was linked with. One with threads of another kind is not known to be right here.
  find(loaded.set_threads, "omp_set_num_threads");
  return missing.empty() ? "" : cat(file, " has no ", missing);
}

}  // namespace

result<void> load() {
  static const std::string why_not = find_all();
  if (why_not.empty()) return {};
  return error(reaction::unsupported, "dnn", cat("oneDNN is not used: ", why_not));
}

const functions& calls() noexcept { return loaded; }

}  // namespace troupe::dnn::onednn
