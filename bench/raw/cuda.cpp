// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The driver API, cuBLAS and cuFFT, called as one would by hand. Each stream, handle and block is made once and used
// warm.
#include <cublas_v2.h>
#include <cuda.h>
#include <cufft.h>

#include <atomic>
#include <bench/raw/raw.hpp>
#include <troupe/base/cat.hpp>
#include <troupe/base/clock.hpp>
#include <troupe/blas/cuda/handle.hpp>
#include <troupe/cuda/errors.hpp>
#include <troupe/cuda/handles.hpp>
#include <vector>

namespace troupe::bench {
namespace {

void must(CUresult r, const char* call) {
  if (r != CUDA_SUCCESS) throw bad_result(cuda::failed(std::string("raw ") + call, r));
}
void must(cublasStatus_t s, const char* call) {
  if (s != CUBLAS_STATUS_SUCCESS)
    throw bad_result(error(reaction::fatal, "bench", std::string("raw ") + call + ": " + ::cublasGetStatusString(s)));
}

void must(cufftResult s, const char* call) {
  if (s != CUFFT_SUCCESS)
    throw bad_result(error(reaction::fatal, "bench", cat("raw ", call, ": cufftResult ", static_cast<int>(s))));
}

using cuda::code_module, cuda::device_memory, cuda::event, cuda::pinned_memory, cuda::stream;

stream make_stream() {
  CUstream s = nullptr;
  must(::cuStreamCreate(&s, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  return stream(s);
}
event make_event() {
  CUevent e = nullptr;
  must(::cuEventCreate(&e, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  return event(e);
}
device_memory make_memory(std::size_t bytes) {
  CUdeviceptr p = 0;
  must(::cuMemAlloc(&p, bytes), "cuMemAlloc");
  return device_memory(p);
}
pinned_memory make_pinned(std::size_t bytes) {
  void* p = nullptr;
  must(::cuMemHostAlloc(&p, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP), "cuMemHostAlloc");
  return pinned_memory(static_cast<std::byte*>(p));
}
void wait_for(const stream& s) { must(::cuStreamSynchronize(s.get()), "cuStreamSynchronize"); }

code_module load(const void* image) {
  CUmodule m = nullptr;
  must(::cuModuleLoadData(&m, image), "cuModuleLoadData");
  return code_module(m);
}
CUfunction only_kernel_of(const code_module& m) {
  unsigned count = 0;
  must(::cuModuleGetFunctionCount(&count, m.get()), "cuModuleGetFunctionCount");
  if (count != 1) throw bad_result(error(reaction::fatal, "bench", cat("an image with ", count, " kernels, not one")));
  CUfunction f = nullptr;
  must(::cuModuleEnumerateFunctions(&f, 1, m.get()), "cuModuleEnumerateFunctions");
  must(::cuFuncLoad(f), "cuFuncLoad");
  return f;
}

// A word of this process's memory that the GPU writes behind what is on a stream.
class word_behind {
 public:
  word_behind()
      : pinned_(make_pinned(sizeof(std::uint64_t))), word_(reinterpret_cast<volatile std::uint64_t*>(pinned_.get())) {
    *word_ = 0;
    must(::cuMemHostGetDevicePointer(&word_on_gpu_, pinned_.get(), 0), "cuMemHostGetDevicePointer");
  }
  void look(const stream& s) {
    ++sequence_;
    must(::cuStreamWriteValue64(s.get(), word_on_gpu_, sequence_, CU_STREAM_WRITE_VALUE_DEFAULT),
         "cuStreamWriteValue64");
    while (*word_ != sequence_) {
    }
  }

 private:
  pinned_memory pinned_;
  volatile std::uint64_t* word_;
  CUdeviceptr word_on_gpu_ = 0;
  std::uint64_t sequence_ = 0;
};

class kernel final : public raw_kernel {
 public:
  explicit kernel(std::span<const std::byte> image)
      : module_(load(image.data())), function_(only_kernel_of(module_)), stream_(make_stream()) {}
  void launch() override {
    must(::cuLaunchKernel(function_, 1, 1, 1, 1, 1, 1, 0, stream_.get(), nullptr, nullptr), "cuLaunchKernel");
  }
  void look() override { word_.look(stream_); }
  void synchronize() override { wait_for(stream_); }
  void record(int launches, int branches) override {
    CUgraph empty = nullptr;
    must(::cuGraphCreate(&empty, 0), "cuGraphCreate");
    const cuda::graph recorded(empty);
    CUDA_KERNEL_NODE_PARAMS one{};
    one.func = function_;
    one.gridDimX = one.gridDimY = one.gridDimZ = one.blockDimX = one.blockDimY = one.blockDimZ = 1;
    std::vector<CUgraphNode> nodes(static_cast<std::size_t>(launches));
    const auto apart = static_cast<std::size_t>(branches);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      must(::cuGraphAddKernelNode(&nodes[i], empty, i < apart ? nullptr : &nodes[i - apart], i < apart ? 0 : 1, &one),
           "cuGraphAddKernelNode");
    CUgraphExec made = nullptr;
    must(::cuGraphInstantiate(&made, empty, 0), "cuGraphInstantiate");
    recorded_.reset(made);
  }
  void launch_recorded() override { must(::cuGraphLaunch(recorded_.get(), stream_.get()), "cuGraphLaunch"); }

 private:
  code_module module_;
  CUfunction function_;
  stream stream_;
  word_behind word_;
  cuda::executable_graph recorded_;
};

class products final : public raw_products {
 public:
  products(raw_number type, int n, int count, std::span<const std::byte> a, std::span<const std::byte> b)
      : type_(type),
        n_(n),
        bytes_of_one_(static_cast<std::size_t>(n) * static_cast<std::size_t>(n) * (type == raw_number::f32 ? 4 : 2)),
        stream_(make_stream()),
        a_(make_memory(a.size())),
        b_(make_memory(b.size())),
        c_(make_memory(bytes_of_one_ * static_cast<std::size_t>(count))) {
    must(::cuMemcpyHtoD(a_.get(), a.data(), a.size()), "cuMemcpyHtoD");
    must(::cuMemcpyHtoD(b_.get(), b.data(), b.size()), "cuMemcpyHtoD");
    cublasHandle_t h = nullptr;
    must(::cublasCreate(&h), "cublasCreate");
    handle_.reset(h);
    must(::cublasSetStream(h, stream_.get()), "cublasSetStream");
  }
  void multiply(int which) override {
    const auto at = [&](const device_memory& m) {
      return reinterpret_cast<void*>(m.get() + bytes_of_one_ * static_cast<std::size_t>(which));
    };
    const float one = 1, zero = 0;
    if (type_ == raw_number::f32)
      must(::cublasSgemm(handle_.get(), CUBLAS_OP_N, CUBLAS_OP_N, n_, n_, n_, &one, static_cast<const float*>(at(a_)),
                         n_, static_cast<const float*>(at(b_)), n_, &zero, static_cast<float*>(at(c_)), n_),
           "cublasSgemm");
    else
      must(::cublasGemmEx(handle_.get(), CUBLAS_OP_N, CUBLAS_OP_N, n_, n_, n_, &one, at(a_), CUDA_R_16F, n_, at(b_),
                          CUDA_R_16F, n_, &zero, at(c_), CUDA_R_16F, n_, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
           "cublasGemmEx");
  }
  void synchronize() override { wait_for(stream_); }
  void download(int which, std::span<std::byte> c) override {
    synchronize();
    must(::cuMemcpyDtoH(c.data(), c_.get() + bytes_of_one_ * static_cast<std::size_t>(which), c.size()),
         "cuMemcpyDtoH");
  }

 private:
  raw_number type_;
  int n_;
  std::size_t bytes_of_one_;
  stream stream_;
  device_memory a_, b_, c_;
  blas::library_handle handle_;
};

class transforms final : public raw_transforms {
 public:
  transforms(std::span<const int> n, int batch, int count, std::span<const std::byte> one) : stream_(make_stream()) {
    bytes_ = sizeof(cufftComplex) * static_cast<std::size_t>(batch);
    for (const int i : n) bytes_ *= static_cast<std::size_t>(i);
    const std::size_t all = bytes_ * static_cast<std::size_t>(count);
    input_ = make_memory(all);
    output_ = make_memory(all);
    for (std::size_t at = 0; at < all; at += one.size())
      must(::cuMemcpyHtoD(input_.get() + at, one.data(), std::min(one.size(), all - at)), "cuMemcpyHtoD");
    std::vector<int> extents(n.begin(), n.end());
    must(::cufftPlanMany(&plan_, static_cast<int>(extents.size()), extents.data(), nullptr, 1, 0, nullptr, 1, 0,
                         CUFFT_C2C, batch),
         "cufftPlanMany");
    must(::cufftSetStream(plan_, stream_.get()), "cufftSetStream");
  }
  ~transforms() override { (void)::cufftDestroy(plan_); }
  transforms(const transforms&) = delete;
  void run(int which) override {
    const std::size_t at = bytes_ * static_cast<std::size_t>(which);
    must(::cufftExecC2C(plan_, reinterpret_cast<cufftComplex*>(input_.get() + at),
                        reinterpret_cast<cufftComplex*>(output_.get() + at), CUFFT_FORWARD),
         "cufftExecC2C");
  }
  void look() override { word_.look(stream_); }
  void synchronize() override { wait_for(stream_); }
  void download(std::size_t first, std::span<std::byte> elements) override {
    synchronize();
    must(::cuMemcpyDtoH(elements.data(), output_.get() + first * sizeof(cufftComplex), elements.size()),
         "cuMemcpyDtoH");
  }

 private:
  std::size_t bytes_ = 0;
  stream stream_;
  device_memory input_, output_;
  cufftHandle plan_ = 0;
  word_behind word_;
};

class copies final : public raw_copies {
 public:
  explicit copies(std::size_t bytes)
      : bytes_(bytes), stream_(make_stream()), device_(make_memory(bytes)), pinned_(make_pinned(bytes)) {
    std::fill_n(pinned_.get(), bytes, std::byte{1});
  }
  void in() override {
    must(::cuMemcpyHtoDAsync(device_.get(), pinned_.get(), bytes_, stream_.get()), "cuMemcpyHtoDAsync");
    wait_for(stream_);
  }
  void out() override {
    must(::cuMemcpyDtoHAsync(pinned_.get(), device_.get(), bytes_, stream_.get()), "cuMemcpyDtoHAsync");
    wait_for(stream_);
  }
  void in_from(const void* pageable) override { must(::cuMemcpyHtoD(device_.get(), pageable, bytes_), "cuMemcpyHtoD"); }

 private:
  std::size_t bytes_;
  stream stream_;
  device_memory device_;
  pinned_memory pinned_;
};

class pipeline final : public raw_pipeline {
 public:
  pipeline(std::span<const std::byte> image, int chunks, int elements, int block)
      : module_(load(image.data())),
        function_(only_kernel_of(module_)),
        elements_(elements),
        block_(block),
        in_(make_stream()),
        compute_(make_stream()),
        out_(make_stream()) {
    const std::size_t bytes = sizeof(float) * static_cast<std::size_t>(elements);
    for (int i = 0; i < chunks; ++i)
      chunks_.push_back(
          {make_pinned(bytes), make_pinned(bytes), make_memory(bytes), make_memory(bytes), make_event(), make_event()});
  }
  float* input(int i) override { return reinterpret_cast<float*>(at(i).from.get()); }
  const float* output(int i) const override {
    return reinterpret_cast<const float*>(chunks_[static_cast<std::size_t>(i)].to.get());
  }
  void run() override {
    const std::size_t bytes = sizeof(float) * static_cast<std::size_t>(elements_);
    const auto blocks = static_cast<unsigned>((elements_ + block_ - 1) / block_);
    for (chunk& c : chunks_) {
      must(::cuMemcpyHtoDAsync(c.x.get(), c.from.get(), bytes, in_.get()), "cuMemcpyHtoDAsync");
      must(::cuEventRecord(c.is_in.get(), in_.get()), "cuEventRecord");
      must(::cuStreamWaitEvent(compute_.get(), c.is_in.get(), 0), "cuStreamWaitEvent");
      CUdeviceptr x = c.x.get(), y = c.y.get();
      void* arguments[] = {&x, &y, &elements_};
      must(::cuLaunchKernel(function_, blocks, 1, 1, static_cast<unsigned>(block_), 1, 1, 0, compute_.get(), arguments,
                            nullptr),
           "cuLaunchKernel");
      must(::cuEventRecord(c.is_done.get(), compute_.get()), "cuEventRecord");
      must(::cuStreamWaitEvent(out_.get(), c.is_done.get(), 0), "cuStreamWaitEvent");
      must(::cuMemcpyDtoHAsync(c.to.get(), c.y.get(), bytes, out_.get()), "cuMemcpyDtoHAsync");
    }
    wait_for(out_);
  }

 private:
  struct chunk {
    pinned_memory from, to;
    device_memory x, y;
    event is_in, is_done;
  };
  chunk& at(int i) { return chunks_[static_cast<std::size_t>(i)]; }

  code_module module_;
  CUfunction function_;
  int elements_, block_;
  stream in_, compute_, out_;
  std::vector<chunk> chunks_;
};

constexpr const char* wild_pointer = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry wild_pointer() {
  .reg .u64 a; .reg .u32 v;
  mov.u64 a, 16; mov.u32 v, 1;
  st.global.u32 [a], v;
  ret;
}
)";

class gpu final : public raw_gpu {
 public:
  explicit gpu(int ordinal) {
    must(::cuInit(0), "cuInit");
    must(::cuDeviceGet(&device_, ordinal), "cuDeviceGet");
    // Never released: what libraries keep for a context would have to be made again for the next measure.
    CUcontext c = nullptr;
    must(::cuDevicePrimaryCtxRetain(&c, device_), "cuDevicePrimaryCtxRetain");
    must(::cuCtxSetCurrent(c), "cuCtxSetCurrent");
    stream_ = make_stream();
    // Without it the pool gives everything back whenever the stream is idle.
    CUmemoryPool pool = nullptr;
    must(::cuDeviceGetDefaultMemPool(&pool, device_), "cuDeviceGetDefaultMemPool");
    std::uint64_t keeps_all = UINT64_MAX;
    must(::cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keeps_all), "cuMemPoolSetAttribute");
  }
  std::string description() const override {
    char name[128] = "";
    int version = 0;
    must(::cuDeviceGetName(name, sizeof name, device_), "cuDeviceGetName");
    must(::cuDriverGetVersion(&version), "cuDriverGetVersion");
    return std::string(name) + ", driver for CUDA " + cuda::version_text(version);
  }
  std::unique_ptr<raw_kernel> kernel(std::span<const std::byte> image) override {
    return std::make_unique<bench::kernel>(image);
  }
  std::unique_ptr<raw_products> products(raw_number type, int n, int count, std::span<const std::byte> a,
                                         std::span<const std::byte> b) override {
    return std::make_unique<bench::products>(type, n, count, a, b);
  }
  std::unique_ptr<raw_transforms> transforms(std::span<const int> n, int batch, int count,
                                             std::span<const std::byte> one) override {
    return std::make_unique<bench::transforms>(n, batch, count, one);
  }
  std::unique_ptr<raw_copies> copies(std::size_t bytes) override { return std::make_unique<bench::copies>(bytes); }
  std::unique_ptr<raw_pipeline> pipeline(std::span<const std::byte> image, int chunks, int elements,
                                         int block) override {
    return std::make_unique<bench::pipeline>(image, chunks, elements, block);
  }
  void alloc_and_free(std::size_t bytes) override {
    CUdeviceptr p = 0;
    must(::cuMemAllocAsync(&p, bytes, stream_.get()), "cuMemAllocAsync");
    must(::cuMemFreeAsync(p, stream_.get()), "cuMemFreeAsync");
  }
  std::int64_t fault() override {
    const code_module m = load(wild_pointer);
    const CUfunction f = only_kernel_of(m);
    const std::int64_t start = now_ns();
    must(::cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream_.get(), nullptr, nullptr), "cuLaunchKernel");
    CUresult r;
    while ((r = ::cuStreamQuery(stream_.get())) == CUDA_ERROR_NOT_READY) {
    }
    const std::int64_t took = now_ns() - start;
    if (!cuda::is_sticky(r))
      throw bad_result(error(reaction::fatal, "bench", "a wild pointer gave " + cuda::text_of(r)));
    return took;
  }

 private:
  CUdevice device_ = 0;
  stream stream_;
};

}  // namespace
}  // namespace troupe::bench

extern "C" __attribute__((visibility("default"))) troupe::bench::raw_gpu* troupe_bench_raw_gpu(int ordinal) {
  return new troupe::bench::gpu(ordinal);
}
