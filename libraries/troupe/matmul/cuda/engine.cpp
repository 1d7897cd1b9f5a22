// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <troupe/base/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/matmul/cuda/engine.hpp>
#include <troupe/matmul/cuda/kernel_arguments.hpp>
#include <troupe/matmul/cuda/status.hpp>
#include <troupe/worker/engine.hpp>

namespace troupe::matmul {
namespace {

using cuda::kernel, epilogue::tree, epilogue::tree_memory;

// A factor in the type in which cuBLASLt computes.
struct alignas(16) number {
  std::byte value[16];
};
number number_of(double x, dtype sums) noexcept {
  number out{};
  const auto put = [&](auto v) { std::memcpy(out.value, &v, sizeof v); };
  switch (sums) {
    case dtype::f64:
    case dtype::c128:
      put(x);
      break;
    case dtype::i32:
      put(static_cast<std::int32_t>(x));
      break;
    default:
      put(static_cast<float>(x));
  }
  return out;
}

const void* address_of(operand_index i, const tree& t) noexcept {
  return i == none ? nullptr : reinterpret_cast<const void*>(t.memory()[static_cast<std::size_t>(i)].address);
}

product_arguments arguments_of(const fused_form& f, const tree& t) noexcept {
  const auto first_of = [&t](operand_index one, operand_index other) {
    return address_of(one != none ? one : other, t);
  };
  product_arguments a{};
  a.c = address_of(f.c, t);
  a.bias = first_of(f.bias, f.bias_gradient);
  a.aux = first_of(f.aux, f.derivative_at);
  a.a_scale = first_of(f.a_scale, f.row_scales), a.b_scale = first_of(f.b_scale, f.column_scales);
  a.d_scale = address_of(f.d_scale, t), a.amax = address_of(f.amax, t);
  return a;
}

// Returns the number's address in memory, or where the GPU can read the one that was given by value.
result<const void*> number_for_gpu(const number& by_value, operand_index in_memory, const tree& t, lane& on) {
  if (in_memory != none) return address_of(in_memory, t);
  std::byte* const place = TROUPE_TRY(on.memory().claim(sizeof by_value));
  std::memcpy(place, &by_value, sizeof by_value);
  return static_cast<const void*>(place);
}

result<chip> chip_of(CUdevice device, std::size_t library) {
  chip out;
  const auto attribute = [&](CUdevice_attribute which) -> result<int> {
    int value = 0;
    TROUPE_TRY(cuda::done_on(nullptr, "matmul", "cuDeviceGetAttribute", ::cuDeviceGetAttribute(&value, which, device)));
    return value;
  };
  const int major = TROUPE_TRY(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)),
            minor = TROUPE_TRY(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  out.capability = major * 10 + minor;
  out.multiprocessors = TROUPE_TRY(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  out.name = cat("a GPU of capability ", major, ".", minor, " with ", out.multiprocessors,
                 " multiprocessors and cuBLASLt ", library);
  return out;
}

}  // namespace

result<std::unique_ptr<cublaslt>> cublaslt::make(const engine_context& context) {
  auto kernels = TROUPE_TRY(load_kernels());
  auto lanes = TROUPE_TRY(cuda::per_lane<lane>::make(context.lanes));
  cublasLtHandle_t handle = nullptr;
  if (const cublasStatus_t s = ::cublasLtCreate(&handle); s != CUBLAS_STATUS_SUCCESS)
    return failed("cublasLtCreate", s);
  library owned(handle);
  const std::size_t version = ::cublasLtGetVersion();
  auto on = TROUPE_TRY(chip_of(static_cast<CUdevice>(context.device), version));
  std::unique_ptr<cublaslt> out(new cublaslt(std::move(owned), std::move(kernels), std::move(lanes), std::move(on)));
  out->version_ = cat("cuBLASLt ", version / 10000, ".", version / 100 % 100, ".", version % 100);
  return out;
}

std::string cublaslt::notes() const {
  return cat("plans: ", routes_.count().plans, "\nworkspace: ", lane::workspace_bytes >> 20, " MiB for each lane\n",
             plan::notes_of(disk_));
}

template <class A>
result<void> cublaslt::launch(cuda::kernel_id which, cuda::grid blocks, cuda::grid threads, CUstream stream,
                              const A& arguments) const {
  const CUkernel found = kernels_.find(which);
  if (found == nullptr) [[unlikely]]
    return error(reaction::fatal, "matmul", "there is no kernel " + std::string(which.name));
  return cuda::done_on(stream, "matmul", "cuLaunchKernel", cuda::launch(found, blocks, threads, stream, arguments));
}

result<std::shared_ptr<const route>> cublaslt::route_of(const multiplication& r, const problem& p, lane& on) {
  thread_local std::string key;
  write_key(key, r, p);
  if (on.last_route != nullptr && on.last_key == key) [[likely]]
    return on.last_route;
  std::shared_ptr<const route> found =
      TROUPE_TRY(routes_.get(key, [&] { return find_route(library_.get(), r, p, &disk_, chip_); }));
  on.last_key = key;
  on.last_route = found;
  return found;
}

result<outcome> cublaslt::run(const multiplication& r, call& c) {
  const tree& t = r.epilogue.seen();
  if (t.empty()) return error(reaction::fatal, "matmul", "matmul.multiplication: the epilogue is damaged");
  lane* const on = TROUPE_TRY(lanes_.of(c));
  const problem p = problem_of(r);
  const auto way = TROUPE_TRY(route_of(r, p, *on));
  std::optional<cuda::scratch> scratch;
  if (way->scratch_bytes() != 0) {
    auto made = TROUPE_TRY(cuda::scratch::make(c, "matmul", way->scratch_bytes()));
    scratch.emplace(std::move(made));
  }
  const std::uint64_t memory = scratch ? scratch->address() : 0;
  if (way->multiplies) TROUPE_TRY(multiply(r, p, *way, memory, *on, c));
  if (way->pass) {
    const std::uint64_t sums = memory + way->bytes_a + way->bytes_b;
    TROUPE_TRY(
        way->pass->enqueue(t, {way->aside ? sums : p.d.address, p.d.address, sums + way->bytes_sums},
                           [&](cuda::kernel_id which, cuda::grid blocks, cuda::grid threads, const auto& arguments) {
                             return launch(which, blocks, threads, on->stream(), arguments);
                           }));
  }
  return outcome{.fused = way->fused || !way->multiplies};
}

result<void> cublaslt::arrange(const stored_matrix& m, bool terms_are_rows, std::int64_t lines, const problem& p,
                               const route& way, std::uint64_t to, CUstream stream) const {
  const std::int64_t count = m.stride == 0 ? 1 : p.batch;
  const kernel_arguments::arranging a{.from = reinterpret_cast<const void*>(m.address),
                                      .to = reinterpret_cast<void*>(to),
                                      .lines = lines,
                                      .length = p.k,
                                      .padded = way.k,
                                      .along = terms_are_rows ? 1 : m.ld,
                                      .across = terms_are_rows ? m.ld : 1,
                                      .batch = count,
                                      .from_stride = m.stride};
  constexpr std::int64_t tile = 32, most = 65535;
  const cuda::grid blocks{cuda::at_most((way.k + tile - 1) / tile, 0x7fffffff),
                          cuda::at_most((lines + tile - 1) / tile, most), cuda::at_most(count, most)};
  const cuda::kernel_id which = way.arranged == route::arrangement::bytes ? kernel<"arrange", std::uint8_t>
                                : m.type == dtype::f8e4m3                 ? kernel<"arrange", float8_e4m3>
                                                                          : kernel<"arrange", float8_e5m2>;
  return launch(which, blocks, {tile, 8, 1}, stream, a);
}

result<void> cublaslt::multiply(const multiplication& r, const problem& p, const route& way, std::uint64_t memory,
                                lane& on, call& c) {
  // The form has this request's numbers; the route's those of the first of its kind.
  const fused_form f = way.fused ? match(r.epilogue.seen(), p, way.sums).form : fused_form{};
  const number alpha = number_of(f.alpha, way.sums), beta = number_of(f.beta, way.sums);
  product_arguments a = arguments_of(f, r.epilogue.seen());
  a.alpha = &alpha, a.beta = &beta;
  if (f.alpha_in_memory != none || f.beta_in_memory != none) {
    a.alpha = TROUPE_TRY(number_for_gpu(alpha, f.alpha_in_memory, r.epilogue.seen(), on));
    a.beta = TROUPE_TRY(number_for_gpu(beta, f.beta_in_memory, r.epilogue.seen(), on));
  }
  if (a.amax != nullptr)
    TROUPE_TRY(cuda::done_on(on.stream(), "matmul", "cuMemsetD32Async",
                             ::cuMemsetD32Async(reinterpret_cast<CUdeviceptr>(a.amax), 0, 1, on.stream())));
  std::uint64_t from_a = p.a.address, from_b = p.b.address;
  if (way.copies_a) TROUPE_TRY(arrange(p.a, p.a.transposed, p.m, p, way, from_a = memory, on.stream()));
  if (way.copies_b) TROUPE_TRY(arrange(p.b, !p.b.transposed, p.n, p, way, from_b = memory + way.bytes_a, on.stream()));
  a.a = reinterpret_cast<const void*>(from_a), a.b = reinterpret_cast<const void*>(from_b);
  a.d = reinterpret_cast<void*>(way.aside ? memory + way.bytes_a + way.bytes_b : p.d.address);
  if (a.c == nullptr) a.c = a.d;
  const cublasStatus_t s = way.plan->enqueue(library_.get(), a, on.memory().workspace(), on.stream());
  if (s == CUBLAS_STATUS_SUCCESS) [[likely]]
    return {};
  return failed("cublasLtMatmul", s, on.stream(), c.library_is_broken);
}

}  // namespace troupe::matmul

using namespace troupe::matmul;
TROUPE_ENGINE(cublaslt, "matmul", "cuda", all_requests)
