// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/files/bytes.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/fft/internal/callback_recipe.hpp>

namespace troupe::fft {
namespace {

const char* cuda_type_name(dtype t) noexcept {
  switch (t) {
    case dtype::f64:
      return "double";
    case dtype::c64:
      return "float2";
    case dtype::c128:
      return "double2";
    default:
      return "float";
  }
}

// Returns a call of the user's function, which must have exactly this type.
std::string load_call(const std::string& load, const std::string& in) {
  return cat("static_cast<", in, " (*)(const ", in, "*, unsigned long long, const void*)>(", load, ")");
}
std::string store_call(const std::string& store, const std::string& out) {
  return cat("static_cast<void (*)(", out, "*, unsigned long long, ", out, ", void*)>(", store, ")");
}

// Maps the dense index i to the position of element i in the layout. The batch is the first axis.
constexpr const char* host_places = R"(
#ifdef __TROUPE_HOST__
struct troupe_fft_places {
  unsigned long long n[4], step[4];
};
static __device__ unsigned long long troupe_fft_place(const troupe_fft_places& p, unsigned long long i) {
  unsigned long long at = 0;
  for (int d = 3; d >= 0; --d) {
    at += i % p.n[d] * p.step[d];
    i /= p.n[d];
  }
  return at;
}
static __device__ unsigned long long troupe_fft_count(const troupe_fft_places& p) {
  return p.n[0] * p.n[1] * p.n[2] * p.n[3];
}
#endif
)";

}  // namespace

std::string wrapper(const std::string& load, const std::string& store, dtype in, dtype out) {
  const std::string from = cuda_type_name(in), to = cuda_type_name(out);
  std::string text = cat("\n#line 1 \"the functions around the callbacks\"\n", host_places);
  if (!load.empty())
    text += cat(R"(#ifdef __TROUPE_HOST__
extern "C" __global__ void troupe_fft_load(const )",
                from, "* input, ", from, R"(* into, troupe_fft_places p, const void* data) {
  const unsigned long long count = troupe_fft_count(p), step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
    into[i] = )",
                load_call(load, from), R"((input, troupe_fft_place(p, i), data);
}
#else
__device__ )",
                from, R"( troupe_fft_load(void* input, unsigned long long at, void* info, void*) {
  return )",
                load_call(load, from), "(static_cast<const ", from,
                R"(*>(input), at, *static_cast<const void* const*>(info));
}
#endif
)");
  if (!store.empty())
    text += cat(R"(#ifdef __TROUPE_HOST__
extern "C" __global__ void troupe_fft_store(const )",
                to, "* from, ", to, R"(* output, troupe_fft_places p, void* data) {
  const unsigned long long count = troupe_fft_count(p), step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
    )",
                store_call(store, to), R"((output, troupe_fft_place(p, i), from[i], data);
}
#else
__device__ void troupe_fft_store(void* output, unsigned long long at, )",
                to, R"( value, void* info, void*) {
  )",
                store_call(store, to), "(static_cast<", to, R"(*>(output), at, value, *static_cast<void* const*>(info));
}
#endif
)");
  return text;
}

std::string forwarder(dtype out) {
  const std::string to = cuda_type_name(out);
  return cat("extern __device__ void ", store_function, "(void*, unsigned long long, ", to, ", void*, void*);\n",
             "__device__ void ", forwarding_function, "(void* output, unsigned long long at, ", to,
             " value, void* info, void* shared) {\n  ", store_function, "(output, at, value, info, shared);\n}\n");
}

std::string encode(const callback_recipe& r) {
  byte_writer to;
  to.value(r.loads);
  to.value(r.stores);
  to.value(r.in);
  to.value(r.out);
  to.raw(r.encoded.data(), r.encoded.size());
  return std::move(to).bytes();
}

std::optional<callback_recipe> decode_callbacks(std::string_view bytes) {
  byte_reader from(bytes);
  callback_recipe r{};
  r.loads = from.value<bool>();
  r.stores = from.value<bool>();
  r.in = from.value<dtype>();
  r.out = from.value<dtype>();
  if (!from.sound()) return std::nullopt;
  r.encoded = from.rest();
  return r;
}

}  // namespace troupe::fft
