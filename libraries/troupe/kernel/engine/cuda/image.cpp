// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/errors.hpp>
#include <troupe/kernel/engine/cuda/container.hpp>
#include <troupe/kernel/engine/cuda/demangle.hpp>
#include <troupe/kernel/engine/cuda/image.hpp>
#include <troupe/kernel/engine/cuda/names.hpp>
#include <troupe/kernel/find_named.hpp>

namespace troupe::kernel {
namespace {

error refuse(reaction r, CUresult code, const std::string& name, const std::string& what) {
  return error(error::details{.reaction = r,
                              .domain = "kernel",
                              .code = static_cast<std::int64_t>(code),
                              .text = "image '" + name + "' " + what});
}

error cannot_load(CUresult r, const std::string& name, const std::string& log) {
  const std::string why = "cannot be loaded: " + cuda::text_of(r) + (log.empty() ? "" : "\n" + log);
  switch (r) {
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_INVALID_SOURCE:
    case CUDA_ERROR_INVALID_VALUE:
      return refuse(reaction::caller_bug, r, name, why);
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
      return refuse(reaction::unsupported, r, name,
                    why + "; it has no code for this GPU: compile it for this GPU's capability");
    default:
      return refuse(cuda::reaction_to(r), r, name, why);
  }
}

class jit_options {
 public:
  void add(CUjit_option name, void* value) noexcept {
    names_[count_] = name;
    values_[count_++] = value;
  }
  // The driver expects the value of an integer option as the value of the pointer.
  void add(CUjit_option name, std::uintptr_t value) noexcept { add(name, reinterpret_cast<void*>(value)); }
  // The driver's optimization levels go up to 4, its default, which corresponds to level 3 of the compilers.
  void add(const ptx_options& how) noexcept {
    if (how.optimisation < 3) add(CU_JIT_OPTIMIZATION_LEVEL, std::uintptr_t{how.optimisation});
    if (how.max_registers != 0) add(CU_JIT_MAX_REGISTERS, std::uintptr_t{how.max_registers});
    if (how.debug_information)
      add(CU_JIT_GENERATE_DEBUG_INFO, 1);
    else if (how.line_information)
      add(CU_JIT_GENERATE_LINE_INFO, 1);
  }
  CUresult load(CUmodule* out, const void* image) noexcept {
    return ::cuModuleLoadDataEx(out, image, count_, names_, values_);
  }

 private:
  static constexpr std::size_t most = 8;
  CUjit_option names_[most] = {};
  void* values_[most] = {};
  unsigned count_ = 0;
};

// Returns the parameters' sizes as the driver reports them, with the types from the mangled name where both agree.
std::vector<parameter_attributes> parameters_of(CUfunction f, const std::string& mangled) {
  std::vector<std::uint64_t> sizes;
  for (std::size_t offset = 0, bytes = 0; ::cuFuncGetParamInfo(f, sizes.size(), &offset, &bytes) == CUDA_SUCCESS;)
    sizes.push_back(bytes);
  std::vector<parameter_attributes> out;
  if (auto known = demangle_kernel(mangled); known && known->parameters.size() == sizes.size())
    out = std::move(known->parameters);
  out.resize(sizes.size(), {.passing = passing::unknown});
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    parameter_attributes& p = out[i];
    const bool pointer = p.passing == passing::pointer || p.passing == passing::const_pointer;
    if (pointer ? sizes[i] != sizeof(void*) : p.bytes != 0 && p.bytes != sizes[i]) p = {.passing = passing::unknown};
    if (p.passing == passing::unknown || p.passing == passing::value) p.bytes = sizes[i];
  }
  return out;
}

}  // namespace

result<gpu_limits> gpu_limits::of(int ordinal) {
  CUdevice device = 0;
  if (const CUresult r = ::cuDeviceGet(&device, ordinal); r != CUDA_SUCCESS) return cuda::failed("cuDeviceGet", r);
  const auto attribute = [device](CUdevice_attribute a) {
    int value = 0;
    (void)::cuDeviceGetAttribute(&value, a, device);
    return value;
  };
  gpu_limits out;
  out.shared_bytes = static_cast<std::uint64_t>(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  out.multiprocessors = static_cast<std::uint32_t>(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  out.cooperative = attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) != 0;
  out.major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  out.minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  if (out.major == 0)
    return error(reaction::fatal, "kernel",
                 cat("GPU ", ordinal, ": the driver does not report its compute capability; check it with nvidia-smi"));
  return out;
}

result<gpu_image> gpu_image::load(const std::string& bytes, const std::string& name, const gpu_limits& limits,
                                  const ptx_options& how) {
  const image_format format = inspect_image(bytes);
  if (!format.wrong.empty()) return refuse(reaction::caller_bug, CUDA_SUCCESS, name, format.wrong);
  std::array<char, 4096> log{};
  jit_options options;
  options.add(CU_JIT_ERROR_LOG_BUFFER, log.data());
  options.add(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, log.size() - 1);
  if (format.is == container::ptx) options.add(how);
  CUmodule loaded = nullptr;
  if (const CUresult r = options.load(&loaded, bytes.c_str()); r != CUDA_SUCCESS) {
    // Drivers refuse an image without code, such as that of a source with template kernels of which the recipe names
    // none.
    if (r == CUDA_ERROR_INVALID_VALUE && !may_have_code(bytes)) return none();
    return cannot_load(r, name, log.data());
  }
  gpu_image out;
  out.module_.reset(loaded);
  TROUPE_TRY(out.read_kernels(bytes, name, limits));
  for (const auto& [source, own] : names_in(bytes).globals)
    if (out.find_global(source) == nullptr) {
      CUdeviceptr at = 0;
      std::size_t size = 0;
      if (::cuModuleGetGlobal(&at, &size, loaded, own.c_str()) == CUDA_SUCCESS)
        out.globals_->all.push_back({source, reinterpret_cast<void*>(at), size});
    }
  return out;
}

result<void> gpu_image::read_kernels(const std::string& bytes, const std::string& name, const gpu_limits& limits) {
  unsigned count = 0;
  if (const CUresult r = ::cuModuleGetFunctionCount(&count, module_.get()); r != CUDA_SUCCESS)
    return cannot_load(r, name, "");
  std::vector<CUfunction> all(count);
  if (const CUresult r = ::cuModuleEnumerateFunctions(all.data(), count, module_.get()); r != CUDA_SUCCESS)
    return cannot_load(r, name, "");
  const image_names named = names_in(bytes);
  for (const CUfunction f : all) {
    const char* given = nullptr;
    // Loads the function now; otherwise its first launch would wait for all running work.
    CUresult r = ::cuFuncLoad(f);
    if (r == CUDA_SUCCESS) r = ::cuFuncGetName(&given, f);
    const auto attribute = [&](CUfunction_attribute a) {
      int value = 0;
      if (r == CUDA_SUCCESS) r = ::cuFuncGetAttribute(&value, a, f);
      return static_cast<std::uint32_t>(value);
    };
    gpu_kernel k{{.max_threads = attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
                  .static_shared_bytes = attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
                  .local_bytes = attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
                  .registers = attribute(CU_FUNC_ATTRIBUTE_NUM_REGS),
                  .constant_bytes = attribute(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES),
                  .execution = "on the GPU"},
                 f};
    // Allows all of the shared memory once; each launch then chooses how much it uses.
    if (r == CUDA_SUCCESS && k.static_shared_bytes < limits.shared_bytes)
      r = ::cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                               static_cast<int>(limits.shared_bytes - k.static_shared_bytes));
    // Allows all cluster sizes; the size in a launch is checked before the launch is sent.
    if (r == CUDA_SUCCESS && limits.major >= 9)
      r = ::cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    if (r != CUDA_SUCCESS) return cannot_load(r, name, given != nullptr ? std::string("kernel ") + given : "");
    const std::string own = given;
    k.parameters = parameters_of(f, own);
    for (const auto& [source, mangled] : named.kernels)
      if (mangled == own) {
        k.name = source;
        kernels_.push_back(k);
      }
    if (!k.name.empty()) continue;
    const auto known = demangle_kernel(own);
    k.name = known ? known->name : own;
    kernels_.push_back(std::move(k));
  }
  return {};
}

std::deque<gpu_global> gpu_image::globals() const {
  const std::scoped_lock guard(globals_->lock);
  return globals_->all;
}

const gpu_kernel* gpu_image::find_kernel(std::string_view name) const { return find_named(kernels_, name); }

const gpu_global* gpu_image::find_global(std::string_view name) const {
  const std::scoped_lock guard(globals_->lock);
  if (const gpu_global* known = find_named(globals_->all, name)) return known;
  if (!module_) return nullptr;
  CUdeviceptr at = 0;
  std::size_t bytes = 0;
  std::string plain(name);
  std::erase(plain, ' ');
  if (::cuModuleGetGlobal(&at, &bytes, module_.get(), mangle_variable(plain).c_str()) != CUDA_SUCCESS) return nullptr;
  return &globals_->all.emplace_back(gpu_global{plain, reinterpret_cast<void*>(at), bytes});
}

}  // namespace troupe::kernel
