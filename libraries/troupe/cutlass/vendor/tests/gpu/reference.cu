// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "reference.hpp"

namespace troupe::cutlass::vendor::reference {
namespace {

void must(int code, const char* what) {
  if (code == 0) return;
  std::printf("%s failed with %d: %s\n", what, code, cudaGetErrorString(cudaError_t(code)));
  std::fflush(stdout);
  std::abort();
}
#define MUST(call) must(int(call), #call)

enum kind_of_type : int { f32, f16, bf16, e4m3 };
kind_of_type type_of(const std::string& name) {
  return name == "f16" ? f16 : name == "bf16" ? bf16 : name == "e4m3" ? e4m3 : f32;
}

__device__ double load(const void* at, long long i, int type) {
  switch (type) {
    case f16:
      return double(float(static_cast<const __half*>(at)[i]));
    case bf16:
      return double(float(static_cast<const __nv_bfloat16*>(at)[i]));
    case e4m3:
      return double(float(static_cast<const __nv_fp8_e4m3*>(at)[i]));
    default:
      return double(static_cast<const float*>(at)[i]);
  }
}
__device__ void store(void* at, long long i, int type, float x) {
  switch (type) {
    case f16:
      static_cast<__half*>(at)[i] = x;
      break;
    case bf16:
      static_cast<__nv_bfloat16*>(at)[i] = x;
      break;
    case e4m3:
      static_cast<__nv_fp8_e4m3*>(at)[i] = __nv_fp8_e4m3(x);
      break;
    default:
      static_cast<float*>(at)[i] = x;
  }
}
int bytes_of(int type) { return type == f32 ? 4 : type == e4m3 ? 1 : 2; }

__global__ void fill_with(void* at, long long count, int type, unsigned seed) {
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < count; i += gridDim.x * 256ll) {
    unsigned z = unsigned(i) * 2654435761u + seed * 40503u;
    z ^= z >> 15, z *= 2246822519u, z ^= z >> 13, z *= 3266489917u, z ^= z >> 16;
    store(at, i, type, float(int(z % 1025u) - 512) / 512);  // 10 bits, the precision of tf32
  }
}

// A launch to compare with its definition, and the properties of its kernel.
struct comparison {
  launch l;
  int a, b, d;  // types
  long long a_row, a_column, b_row, b_column;
  bool gelu, fast;
};

struct tolerances {
  double sum;     // rounding of sums, relative to the sum of magnitudes
  double result;  // rounding of the result, relative to the result
};
__device__ tolerances tolerances_of(const comparison& q, double terms) {
  const double rounding = q.d == f16 ? 1.0 / 2048 : q.d == bf16 ? 1.0 / 256 : q.d == e4m3 ? 1.0 / 16 : 1.0 / (1 << 23);
  // Tensor cores truncate each sum of 8 or more terms to 23 bits; sums of fp8 to 13 bits.
  const double sums = q.a == e4m3 ? 1.0 / (1 << 12) : (terms / 8 + 4) / (1 << 23);
  return {sums, rounding};
}

__device__ double relative_error(const comparison& q, double sum, double magnitudes, double terms, double c,
                                 double bias, double got) {
  double wanted = q.l.alpha * sum + (q.l.beta != 0 ? q.l.beta * c : 0) + bias;
  const tolerances a = tolerances_of(q, terms);
  double tolerance = fabs(double(q.l.alpha)) * magnitudes * a.sum +
                     (fabs(q.l.alpha * sum) + fabs(q.l.beta * c) + fabs(bias)) / (1 << 22);
  if (q.gelu) {
    tolerance = tolerance * 1.13 + fabs(wanted) / 1024;  // gelu's steepest slope, and the hardware's tanh of 11 bits
    wanted = 0.5 * wanted * (1 + tanh(0.79788456080286535588 * (wanted + 0.044715 * wanted * wanted * wanted)));
  }
  tolerance += fabs(wanted) * a.result + 1e-7;  // 1e-7: for values below f16's normal numbers
  const double w = fabs(got - wanted) / tolerance;
  return w == w ? w : 1e30;
}

__device__ void record(double w, double* worst) {
  atomicMax(reinterpret_cast<unsigned long long*>(worst),
            __double_as_longlong(w));  // the bits of positive doubles are ordered
}

__global__ void check_product(comparison q, double* worst, unsigned long long* touched) {
  const int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
  const launch& l = q.l;
  if (i >= l.m || j >= l.d_line) return;
  for (int z = 0; z < l.batch; ++z) {
    const long long at = z * l.d_batch + (long long)i * l.d_line + j;
    if (j >= l.n) {
      const unsigned char* const bytes = static_cast<const unsigned char*>(l.d) + at * (q.d == f32 ? 4 : 2);
      if (i < l.m - 1 && bytes[0] != 0xff) atomicAdd(touched, 1ull);
      continue;
    }
    double sum = 0, magnitudes = 0;
    for (int t = 0; t < l.k; ++t) {
      const double x = load(l.a, z * l.a_batch + i * q.a_row + t * q.a_column, q.a) *
                       load(l.b, z * l.b_batch + t * q.b_row + j * q.b_column, q.b);
      sum += x, magnitudes += fabs(x);
    }
    const double c = l.beta != 0 ? load(l.c, z * l.c_batch + (long long)i * l.c_line + j, q.d) : 0;
    const double bias = l.bias != nullptr ? load(l.bias, j, q.d) : 0;
    record(relative_error(q, sum, magnitudes, l.k, c, bias, load(l.d, at, q.d)), worst);
  }
}

struct sums {
  double sum = 0, magnitudes = 0;
  __device__ void add(double x) { sum += x, magnitudes += fabs(x); }
};

// Returns the sum of element i of d, by definition.
__device__ sums convolve(const comparison& q, int kind, long long i, int p_count, int q_count) {
  const launch& l = q.l;
  const auto image = [&](const void* of, int n, int y, int x, int ch) {
    if (y < 0 || y >= l.height || x < 0 || x >= l.width) return 0.0;
    return load(of, (((long long)n * l.height + y) * l.width + x) * l.channels + ch, q.a);
  };
  const auto result = [&](const void* of, int n, int y, int x, int f) {
    return load(of, (((long long)n * p_count + y) * q_count + x) * l.filters + f, q.a);
  };
  const auto filter = [&](int f, int r, int s, int ch) {
    return load(l.b, (((long long)f * l.filter_height + r) * l.filter_width + s) * l.channels + ch, q.a);
  };
  sums out;
  if (kind == conv_forward) {
    const int f = int(i % l.filters), x = int(i / l.filters % q_count), y = int(i / l.filters / q_count % p_count),
              n = int(i / l.filters / q_count / p_count);
    for (int r = 0; r < l.filter_height; ++r)
      for (int s = 0; s < l.filter_width; ++s)
        for (int ch = 0; ch < l.channels; ++ch)
          out.add(image(l.a, n, y * l.stride_height - l.pad_height + r * l.dilation_height,
                        x * l.stride_width - l.pad_width + s * l.dilation_width, ch) *
                  filter(f, r, s, ch));
  } else if (kind == conv_data_gradient) {
    const int ch = int(i % l.channels), x = int(i / l.channels % l.width), y = int(i / l.channels / l.width % l.height),
              n = int(i / l.channels / l.width / l.height);
    for (int r = 0; r < l.filter_height; ++r)
      for (int s = 0; s < l.filter_width; ++s) {
        const int py = y + l.pad_height - r * l.dilation_height, px = x + l.pad_width - s * l.dilation_width;
        if (py < 0 || px < 0 || py % l.stride_height != 0 || px % l.stride_width != 0 ||
            py / l.stride_height >= p_count || px / l.stride_width >= q_count)
          continue;
        for (int f = 0; f < l.filters; ++f)
          out.add(result(l.a, n, py / l.stride_height, px / l.stride_width, f) * filter(f, r, s, ch));
      }
  } else {
    const int ch = int(i % l.channels), s = int(i / l.channels % l.filter_width),
              r = int(i / l.channels / l.filter_width % l.filter_height),
              f = int(i / l.channels / l.filter_width / l.filter_height);
    for (int n = 0; n < l.images; ++n)
      for (int y = 0; y < p_count; ++y)
        for (int x = 0; x < q_count; ++x)
          out.add(result(l.a, n, y, x, f) * image(l.b, n, y * l.stride_height - l.pad_height + r * l.dilation_height,
                                                  x * l.stride_width - l.pad_width + s * l.dilation_width, ch));
  }
  return out;
}

__global__ void check_convolution(comparison q, int kind, long long count, int p_count, int q_count, double* worst) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i >= count) return;
  const sums s = convolve(q, kind, i, p_count, q_count);
  const double terms = kind == conv_weight_gradient ? double(q.l.images) * p_count * q_count
                                                    : double(q.l.filter_height) * q.l.filter_width *
                                                          (kind == conv_forward ? q.l.channels : q.l.filters);
  record(relative_error(q, s.sum, s.magnitudes, terms, q.l.beta != 0 ? load(q.l.c, i, q.d) : 0, 0, load(q.l.d, i, q.d)),
         worst);
}

comparison comparison_of(const kernel_variant& c, const launch& l) {
  comparison q{};
  q.l = l, q.a = type_of(c.a), q.b = type_of(c.b), q.d = type_of(c.d);
  const bool a_rows = std::strcmp(c.a_layout, "row") == 0, b_rows = std::strcmp(c.b_layout, "row") == 0;
  q.a_row = a_rows ? l.a_line : 1, q.a_column = a_rows ? 1 : l.a_line;
  q.b_row = b_rows ? l.b_line : 1, q.b_column = b_rows ? 1 : l.b_line;
  q.gelu = std::strncmp(c.epilogue, "gelu", 4) == 0;
  return q;
}

// The results of the kernels that compare.
struct report {
  double* worst = nullptr;
  report() {
    MUST(cudaMalloc(&worst, 16));
    MUST(cudaMemset(worst, 0, 16));
  }
  ~report() { cudaFree(worst); }
  unsigned long long* touched() const { return reinterpret_cast<unsigned long long*>(worst + 1); }
  difference read() const {
    difference d;
    MUST(cudaMemcpy(&d.worst, worst, 8, cudaMemcpyDeviceToHost));
    MUST(cudaMemcpy(&d.touched, touched(), 8, cudaMemcpyDeviceToHost));
    return d;
  }
};

}  // namespace

memory::memory(std::size_t bytes) : bytes_(bytes) { MUST(cudaMalloc(&at_, bytes)); }
memory::~memory() { cudaFree(at_); }

void fill(const memory& m, const std::string& type, unsigned seed) {
  const int t = type_of(type);
  fill_with<<<1024, 256>>>(m.at(), (long long)(m.bytes() / bytes_of(t)), t, seed);
  MUST(cudaGetLastError());
}
void poison(const memory& m) { MUST(cudaMemset(m.at(), 0xff, m.bytes())); }
void copy_in(const memory& to, const void* from, std::size_t bytes) {
  MUST(cudaMemcpy(to.at(), from, bytes, cudaMemcpyHostToDevice));
}
int capability() {
  int major = 0, minor = 0;
  MUST(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  MUST(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
  return 10 * major + minor;
}
std::string device_name() {
  cudaDeviceProp p;
  MUST(cudaGetDeviceProperties(&p, 0));
  return p.name;
}
int multiprocessors() {
  int n = 0;
  MUST(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, 0));
  return n;
}
void synchronize() { MUST(cudaDeviceSynchronize()); }

difference compare(const kernel_variant& c, const launch& l) {
  const report r;
  check_product<<<dim3(unsigned(l.d_line + 15) / 16, unsigned(l.m + 15) / 16), dim3(16, 16)>>>(comparison_of(c, l),
                                                                                               r.worst, r.touched());
  MUST(cudaGetLastError());
  return r.read();
}

difference compare_convolution(const kernel_variant& c, const launch& l) {
  const report r;
  const auto out = [](int size, int pad, int filter, int dilation, int stride) {
    return (size + 2 * pad - ((filter - 1) * dilation + 1)) / stride + 1;
  };
  const int p = out(l.height, l.pad_height, l.filter_height, l.dilation_height, l.stride_height);
  const int q = out(l.width, l.pad_width, l.filter_width, l.dilation_width, l.stride_width);
  const long long count = c.kind == conv_forward ? (long long)l.images * p * q * l.filters
                          : c.kind == conv_data_gradient
                              ? (long long)l.images * l.height * l.width * l.channels
                              : (long long)l.filters * l.filter_height * l.filter_width * l.channels;
  check_convolution<<<unsigned((count + 255) / 256), 256>>>(comparison_of(c, l), c.kind, count, p, q, r.worst);
  MUST(cudaGetLastError());
  return r.read();
}

image::image(const std::string& file) {
  CUmodule m;
  CUfunction f;
  MUST(cudaFree(nullptr));
  MUST(cuModuleLoad(&m, file.c_str()));
  MUST(cuModuleGetFunction(&f, m, "troupe_vendor_variant"));
  module_ = m, kernel_ = f;
}
image::~image() { cuModuleUnload(static_cast<CUmodule>(module_)); }
unsigned image::parameter_bytes() const {
  CUdeviceptr at;
  std::size_t bytes;
  unsigned n = 0;
  MUST(cuModuleGetGlobal(&at, &bytes, static_cast<CUmodule>(module_), "troupe_parameter_bytes"));
  MUST(cuMemcpyDtoH(&n, at, sizeof n));
  return n;
}
void image::run(const grid& g, const void* parameters, std::size_t) const {
  const auto f = static_cast<CUfunction>(kernel_);
  MUST(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, int(g.shared_bytes)));
  void* all[] = {const_cast<void*>(parameters)};
  MUST(cuLaunchKernel(f, g.x, g.y, g.z, g.threads, 1, 1, g.shared_bytes, nullptr, all, nullptr));
}

}  // namespace troupe::cutlass::vendor::reference
