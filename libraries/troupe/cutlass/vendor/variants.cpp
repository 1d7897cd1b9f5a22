// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <sstream>
#include <troupe/base/files/kept_file.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/vendor/variants.hpp>

namespace troupe::cutlass::vendor {

result<kernel_variants> kernel_variants::load(const std::string& file) {
  const auto path = path_of_kept_file(file, "cutlass");
  void* const library = path ? ::dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (library == nullptr)
    return error(reaction::unsupported, "cutlass",
                 cat("the CUTLASS plug-in cannot be loaded: ", path ? std::string(::dlerror()) : path.error().text(),
                     "; run scripts/setup cutlass and rebuild Troupe"));
  const auto get = reinterpret_cast<get_table>(::dlsym(library, table_symbol));
  if (get == nullptr)
    return error(reaction::fatal, "cutlass",
                 cat(file, " has no symbol ", table_symbol, "; expected a CUTLASS plug-in of Troupe"));
  return make(get());
}

result<kernel_variants> kernel_variants::make(const table* t) {
  if (t->version != interface_version || t->variant_bytes != sizeof(kernel_variant) ||
      t->launch_bytes != sizeof(launch))
    return error(reaction::unsupported, "cutlass",
                 cat("the CUTLASS plug-in is from another build (interface ", t->version, ", expected ",
                     interface_version, "; sizes ", t->variant_bytes, "/", t->launch_bytes, ", expected ",
                     sizeof(kernel_variant), "/", sizeof(launch), "): rebuild Troupe"));
  return kernel_variants(t);
}

const kernel_variant* kernel_variants::find(std::string_view name) const noexcept {
  for (const kernel_variant* c : all())
    if (name == c->name) return c;
  return nullptr;
}

std::vector<std::string> kernel_variants::notes() const {
  std::string tested, compiled;
  for (const kernel_variant* c : all()) {
    std::string& names = runs_on(*c, tested_capability) ? tested : compiled;
    names += cat(names.empty() ? "" : ", ", c->name);
  }
  std::vector<std::string> notes = {cat("CUTLASS: ", table_->cutlass_version, ", ", table_->count, " kernels")};
  if (!tested.empty()) notes.push_back(cat("kernels of CUTLASS that were tested on a GPU: ", tested));
  if (!compiled.empty()) notes.push_back(cat("kernels of CUTLASS that were only compiled, and never run: ", compiled));
  return notes;
}

bool runs_on(const kernel_variant& c, int capability) {
  std::istringstream names(c.machine_code);
  for (std::string name; names >> name;) {
    const bool exactly = name.ends_with('a');
    const int made_for = std::atoi(name.c_str() + 3);  // sm_90a
    if (exactly ? made_for == capability : made_for / 10 == capability / 10 && made_for <= capability) return true;
  }
  return false;
}

result<void> compare_parameters(const kernel_variant& c) {
  unsigned device_bytes = 0;
  if (c.read_parameter_bytes(&device_bytes) != accepted)
    return error(reaction::fatal, "cutlass",
                 cat(c.name, ": the size of the kernel's parameters could not be read from the device"));
  if (device_bytes != c.parameter_bytes)
    return error(
        reaction::fatal, "cutlass",
        cat(c.name, ": the kernel has ", device_bytes, " bytes of parameters; the host fills ", c.parameter_bytes,
            ": nvcc and its host compiler disagree, so the kernel is not launched; rebuild the plug-in with "
            "another host compiler"));
  return {};
}

result<void> enqueue(const kernel_variant& c, const launch& l, void* workspace, long long bytes, void* stream) {
  switch (c.enqueue(&l, workspace, bytes, stream)) {
    case accepted:
      return {};
    case rejected:
    case misaligned:
      return error(
          reaction::fatal, "cutlass",
          cat(c.name, ": the kernel refused a launch that its check had accepted; report this defect of Troupe"));
    case no_workspace:
      return error(reaction::caller_bug, "cutlass",
                   cat(c.name, ": workspace is ", bytes, " bytes; expected at least ", c.workspace_bytes(&l),
                       ", the result of workspace_bytes"));
    case cuda_failed:
      return error(reaction::fatal, "cutlass", cat(c.name, ": CUDA refused the launch"));
    default:
      return error(reaction::fatal, "cutlass", cat(c.name, ": the launch failed"));
  }
}

result<run_time_source> source_for_nvrtc(const kernel_variants& from, const kernel_variant& c,
                                         std::string_view architecture, std::string_view headers,
                                         std::string_view cuda_headers) {
  if (c.source == nullptr)
    return error(reaction::unsupported, "cutlass",
                 cat(c.name, " cannot be compiled at run time; expected a kernel of the 2.x style"));
  run_time_source s;
  s.header_name = "troupe_vendor/kernels_2x.cuh";
  s.header = from.contents().kernels_header;
  s.text = cat("#include <", s.header_name, ">\n", R"(using namespace troupe_vendor;
using kernel = )",
               c.source, R"(;
extern "C" __constant__ unsigned troupe_parameter_bytes = sizeof(kernel::Params);
static_assert(sizeof(kernel::Params) == )",
               c.parameter_bytes, R"(, "the host fills parameters of another size");
extern "C" __global__ void __launch_bounds__(kernel::kThreadCount) troupe_vendor_variant(const __grid_constant__ kernel::Params parameters) {
  extern __shared__ __align__(128) unsigned char shared[];
  kernel k;
  k(parameters, *reinterpret_cast<kernel::SharedStorage*>(shared));
}
)");
  s.options = {cat("-arch=", architecture),
               "-std=c++17",
               "-DNDEBUG",
               "-default-device",
               "-w",
               cat("-I", headers),
               cat("-I", cuda_headers),
               cat("-I", cuda_headers, "/cccl")};
  return s;
}

}  // namespace troupe::cutlass::vendor
