// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <troupe/base/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/default_stream.hpp>
#include <troupe/cuda/gpu_identity.hpp>
#include <troupe/matmul/cuda/engine.hpp>
#include <troupe/matmul/cuda/kernel_arguments.hpp>
#include <troupe/matmul/cuda/rehearsal.hpp>
#include <troupe/matmul/cuda/status.hpp>
#include <troupe/worker/engine.hpp>

namespace troupe::matmul {
namespace {

using cuda::kernel, epilogue::tree, epilogue::tree_memory;

const void* address_of(operand_index i, const tree& t) noexcept {
  return i == none ? nullptr : reinterpret_cast<const void*>(t.memory()[static_cast<std::size_t>(i)].address);
}

// The form with this request's numbers: the route's has those of the first of its kind.
fused_form form_of(const multiplication& r, const problem& p, const route& way) {
  return way.fused ? match(r.epilogue.encoded(), p, way.sums).form : fused_form{};
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

cuda::grid tiles(std::int64_t length, std::int64_t lines, std::int64_t count) noexcept {
  constexpr std::int64_t tile = 32, most = 65535;
  return {cuda::at_most((length + tile - 1) / tile, 0x7fffffff), cuda::at_most((lines + tile - 1) / tile, most),
          cuda::at_most(count, most)};
}

// The first search of a process takes cuBLASLt a tenth of a second: not while a request waits.
void warm_up(cublasLtHandle_t library) {
  constexpr std::int64_t n = 256;
  const product_spec::matrix any{CUDA_R_16BF, n, n, n, 0, 256};
  product_spec s{};
  s.a = s.b = s.c = s.d = any;
  s.transpose_a = 1, s.batch = 1;
  s.compute = CUBLAS_COMPUTE_32F, s.scale = CUDA_R_32F, s.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  (void)product_plan::search(library, s, 1);
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
  out.name = cat(TROUPE_TRY(cuda::gpu_identity(device, "matmul")), ", cuBLASLt ", library);
  return out;
}

}  // namespace

result<std::unique_ptr<cublaslt>> cublaslt::make(const engine_context& context) {
  auto kernels = TROUPE_TRY(load_kernels());
  cublasLtHandle_t handle = nullptr;
  if (const cublasStatus_t s = ::cublasLtCreate(&handle); s != CUBLAS_STATUS_SUCCESS)
    return failed("cublasLtCreate", s);
  library owned(handle);
  warm_up(owned.get());
  TROUPE_TRY(cuda::await_default_stream("matmul"));
  auto lanes = TROUPE_TRY(cuda::per_lane<lane>::make(context.lanes));
  const std::size_t version = ::cublasLtGetVersion();
  auto on = TROUPE_TRY(chip_of(static_cast<CUdevice>(context.device), version));
  std::unique_ptr<cublaslt> out(
      new cublaslt(std::move(owned), std::move(kernels), std::move(lanes), std::move(on), context));
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
  return cuda::launch(kernels_, which, blocks, threads, stream, "matmul", arguments);
}

result<std::shared_ptr<const route>> cublaslt::route_of(const multiplication& r, const problem& p, lane& on) {
  std::string& key = on.next_key;
  write_key(key, r, p);
  const std::uint64_t now = replaced_.load(std::memory_order_acquire);
  if (on.last_route != nullptr && on.known_since == now && on.last_key == key) [[likely]]
    return on.last_route;
  const choosing how = choosing_with_disk();
  std::shared_ptr<const route> found =
      TROUPE_TRY(routes_.get(key, [&] { return find_route(library_.get(), r, p, chip_, how); }));
  std::swap(on.last_key, key);
  on.last_route = found, on.known_since = now;
  return found;
}

result<outcome> cublaslt::run(const multiplication& r, call& c) {
  const tree& t = r.epilogue.encoded();
  if (t.empty()) return error(reaction::fatal, "matmul", "matmul.multiplication: the epilogue is damaged");
  lane* const on = TROUPE_TRY(lanes_.of(c));
  const problem p = problem_of(r);
  const auto way = TROUPE_TRY(route_of(r, p, *on));
  const outcome done{.fused = way->fused || !way->multiplies};
  if (way->small) {
    TROUPE_TRY(multiply_small(r, p, *way, nullptr, 1, on->stream()));
    return done;
  }
  std::optional<cuda::scratch> scratch;
  if (way->scratch_bytes() != 0) {
    auto made = TROUPE_TRY(cuda::scratch::make(c, "matmul", way->scratch_bytes()));
    scratch.emplace(std::move(made));
  }
  const std::uint64_t memory = scratch ? scratch->address() : 0;
  if (way->multiplies) TROUPE_TRY(multiply(r, p, *way, memory, *on, c));
  if (way->pass) {
    const std::uint64_t sums = way->aside ? memory + way->offset_sums() : p.d.address;
    TROUPE_TRY(
        way->pass->enqueue(t, {sums, p.d.address, memory + way->offset_partial()},
                           [&](cuda::kernel_id which, cuda::grid blocks, cuda::grid threads, const auto& arguments) {
                             return launch(which, blocks, threads, on->stream(), arguments);
                           }));
  }
  return done;
}

// -- small products

result<void> cublaslt::multiply_small(const multiplication& r, const problem& p, const route& way,
                                      const std::uint64_t* addresses, std::size_t count, CUstream stream) const {
  const auto factor = [](const stored_matrix& m, bool terms_are_rows) {
    return kernel_arguments::factor{m.address, static_cast<std::uint64_t>(m.type), terms_are_rows ? m.ld : 1,
                                    terms_are_rows ? 1 : m.ld};
  };
  const kernel_arguments::small_products all{.epilogue = way.pass->tail_of(r.epilogue.encoded(), {0, p.d.address, 0}),
                                             .a = factor(p.a, p.a.transposed),
                                             .b = factor(p.b, !p.b.transposed),
                                             .k = p.k,
                                             .addresses = addresses,
                                             .operands = r.epilogue.encoded().memory().size()};
  constexpr std::int64_t tile = 32;
  const cuda::grid blocks{static_cast<unsigned>(count),
                          static_cast<unsigned>((p.m + tile - 1) / tile * ((p.n + tile - 1) / tile)), 1};
  const cuda::kernel_id which = way.sums == dtype::f32    ? kernel<"small", float>
                                : way.sums == dtype::c64  ? kernel<"small", complex64>
                                : way.sums == dtype::c128 ? kernel<"small", complex128>
                                                          : kernel<"small", double>;
  return launch(which, blocks, {32, 8, 1}, stream, all);
}

result<void> cublaslt::run_group(const group<multiplication>& all, call& c) {
  lane* const on = TROUPE_TRY(lanes_.of(c));
  const multiplication first = all[0];
  const problem p = problem_of(first);
  const auto way = TROUPE_TRY(route_of(first, p, *on));
  // Each alone may fail after others have written, and then all of them would be computed again.
  bool small = way->small;
  for (std::size_t i = 1; i < all.size(); ++i) small = small && are_of_one_kind(first, all[i]);
  if (!small) return error(reaction::unsupported, "matmul", "these products do not share a kernel");
  const std::size_t words = 3 + first.epilogue.encoded().memory().size();
  TROUPE_TRY(on->memory().next_part());
  auto* const addresses =
      reinterpret_cast<std::uint64_t*>(TROUPE_TRY(on->memory().claim(all.size() * words * sizeof(std::uint64_t))));
  std::uint64_t* to = addresses;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const multiplication r = all[i];
    *to++ = (p.transposed ? r.b : r.a).range().address;
    *to++ = (p.transposed ? r.a : r.b).range().address;
    *to++ = r.d.range().address;
    for (const tree_memory& m : r.epilogue.encoded().memory()) *to++ = m.address;
    all.answer(i, outcome{.fused = true});
  }
  return multiply_small(first, p, *way, addresses, all.size(), on->stream());
}

// -- products by cuBLASLt

/// A factor to be copied.
struct cublaslt::side {
  const stored_matrix& matrix;
  const block_scales& scales;
  bool terms_are_rows;
  std::int64_t lines;
  std::uint64_t to;
};

result<void> cublaslt::arrange(const side& s, const problem& p, const route& way, CUstream stream) const {
  const stored_matrix& m = s.matrix;
  const std::int64_t count = m.stride == 0 ? 1 : p.batch;
  const kernel_arguments::arranging a{.from = reinterpret_cast<const void*>(m.address),
                                      .to = reinterpret_cast<void*>(s.to),
                                      .lines = s.lines,
                                      .length = p.k,
                                      .padded = way.k,
                                      .along = s.terms_are_rows ? 1 : m.ld,
                                      .across = s.terms_are_rows ? m.ld : 1,
                                      .batch = count,
                                      .from_stride = m.stride};
  const cuda::grid blocks = tiles(way.k, s.lines, count);
  if (way.arranged == route::arrangement::scaled) {
    const kernel_arguments::scaling scaling{.what = a,
                                            .scales = reinterpret_cast<const void*>(s.scales.address),
                                            .along = s.scales.along,
                                            .across = s.scales.across,
                                            .stride = s.scales.stride,
                                            .terms_of_block = s.scales.block.terms,
                                            .lines_of_block = s.scales.block.lines,
                                            .type = static_cast<std::uint64_t>(m.type),
                                            .scale_type = static_cast<std::uint64_t>(s.scales.type)};
    return launch(scaled_type(s.scales) == dtype::f32 ? kernel<"scale", float> : kernel<"scale", bfloat16>, blocks,
                  {32, 8, 1}, stream, scaling);
  }
  const cuda::kernel_id which = way.arranged != route::arrangement::halves ? kernel<"arrange", std::uint8_t>
                                : m.type == dtype::f8e4m3                  ? kernel<"arrange", float8_e4m3>
                                                                           : kernel<"arrange", float8_e5m2>;
  return launch(which, blocks, {32, 8, 1}, stream, a);
}

result<void> cublaslt::arrange_scales(const block_scales& s, std::int64_t lines, std::uint64_t to,
                                      CUstream stream) const {
  const stored_scales at = scales_for_library(s, lines);
  const kernel_arguments::arranging a{.from = reinterpret_cast<const void*>(s.address),
                                      .to = reinterpret_cast<void*>(to),
                                      .lines = at.lines,
                                      .length = at.length,
                                      .padded = at.padded,
                                      .along = at.along,
                                      .across = at.across,
                                      .batch = 1,
                                      .from_stride = 0};
  return launch(kernel<"arrange", float>, tiles(at.padded, at.lines, 1), {32, 8, 1}, stream, a);
}

// Copies the factors where that is needed, and returns the arguments of the product without its numbers.
result<product_arguments> cublaslt::product_of(const multiplication& r, const problem& p, const route& way,
                                               const fused_form& f, std::uint64_t memory, lane& on) const {
  product_arguments a = arguments_of(f, r.epilogue.encoded());
  std::uint64_t from_a = p.a.address, from_b = p.b.address;
  if (way.copies_a) TROUPE_TRY(arrange({p.a, p.a_scales, p.a.transposed, p.m, from_a = memory}, p, way, on.stream()));
  if (way.copies_b)
    TROUPE_TRY(arrange({p.b, p.b_scales, !p.b.transposed, p.n, from_b = memory + way.offset_b()}, p, way, on.stream()));
  if (way.arranged == route::arrangement::block_scaled) {
    const std::uint64_t scales_a = memory + way.offset_scales_a(), scales_b = memory + way.offset_scales_b();
    TROUPE_TRY(arrange_scales(p.a_scales, p.m, scales_a, on.stream()));
    TROUPE_TRY(arrange_scales(p.b_scales, p.n, scales_b, on.stream()));
    a.a_scale = reinterpret_cast<const void*>(scales_a), a.b_scale = reinterpret_cast<const void*>(scales_b);
  }
  a.a = reinterpret_cast<const void*>(from_a), a.b = reinterpret_cast<const void*>(from_b);
  a.d = reinterpret_cast<void*>(way.aside ? memory + way.offset_sums() : p.d.address);
  if (f.alpha_in_memory != none || f.beta_in_memory != none) {
    a.alpha = TROUPE_TRY(number_for_gpu(number_of(f.alpha, way.sums), f.alpha_in_memory, r.epilogue.encoded(), on));
    a.beta = TROUPE_TRY(number_for_gpu(number_of(f.beta, way.sums), f.beta_in_memory, r.epilogue.encoded(), on));
  }
  return a;
}

result<void> cublaslt::multiply(const multiplication& r, const problem& p, const route& way, std::uint64_t memory,
                                lane& on, call& c) {
  const fused_form f = form_of(r, p, way);
  product_arguments a = TROUPE_TRY(product_of(r, p, way, f, memory, on));
  const number alpha = number_of(f.alpha, way.sums), beta = number_of(f.beta, way.sums);
  if (a.alpha == nullptr) a.alpha = &alpha, a.beta = &beta;
  if (a.amax != nullptr)
    TROUPE_TRY(cuda::done_on(on.stream(), "matmul", "cuMemsetD32Async",
                             ::cuMemsetD32Async(reinterpret_cast<CUdeviceptr>(a.amax), 0, 1, on.stream())));
  const cublasStatus_t s = way.plan->enqueue(library_.get(), a, on.memory().workspace(), on.stream());
  if (s == CUBLAS_STATUS_SUCCESS) [[likely]]
    return {};
  return failed("cublasLtMatmul", s, on.stream(), c.library_is_broken);
}

// -- plans

result<plan_info> cublaslt::run(const prepare& request, call& c) {
  const multiplication r = request.product();
  if (r.epilogue.encoded().empty()) return error(reaction::fatal, "matmul", "matmul.prepare: the epilogue is damaged");
  lane* const on = TROUPE_TRY(lanes_.of(c));
  // On a helper's thread, nobody else waits for what is enqueued here.
  call here = c;
  here.stream = on->stream();
  const problem p = problem_of(r);
  plan_info info;
  std::optional<rehearsal> stage;
  choosing how = choosing_with_disk();
  how.measure = request.measure, how.info = &info;
  if (request.choice.library() != 0) how.given = &request.choice;
  how.time = [&](const route& way, const product_plan& plan) -> result<double> {
    if (!stage) {
      auto scratch = TROUPE_TRY(cuda::scratch::make(here, "matmul", std::max<std::uint64_t>(1, way.scratch_bytes())));
      const fused_form f = form_of(r, p, way);
      product_arguments a = TROUPE_TRY(product_of(r, p, way, f, scratch.address(), *on));
      auto made = TROUPE_TRY(rehearsal::make(here, a, number_of(f.alpha, way.sums), number_of(f.beta, way.sums),
                                             rehearsal::extents_of(r, p, way, f), std::move(scratch)));
      stage.emplace(std::move(made));
    }
    return stage->time(library_.get(), plan, on->memory().workspace(), on->stream());
  };
  auto found = TROUPE_TRY(find_route(library_.get(), r, p, chip_, how));
  if (found->small || !found->plan) info.source = plan_source::none;
  if (request.chosen) {
    const choice words = found->plan ? found->plan->chosen() : choice();
    std::byte* const from = TROUPE_TRY(on->memory().claim(sizeof words));
    std::memcpy(from, words.words.data(), sizeof words);
    TROUPE_TRY(cuda::done_on(
        on->stream(), "matmul", "cuMemcpyHtoDAsync",
        ::cuMemcpyHtoDAsync(reinterpret_cast<CUdeviceptr>(request.chosen->data()), from, sizeof words, on->stream())));
  }
  stage.reset();
  TROUPE_TRY(cuda::done_on(on->stream(), "matmul", "cuStreamSynchronize", ::cuStreamSynchronize(on->stream())));
  std::string key;
  write_key(key, r, p);
  routes_.put(key, std::move(found));
  replaced_.fetch_add(1, std::memory_order_acq_rel);
  return info;
}

}  // namespace troupe::matmul

using namespace troupe::matmul;
using requests = troupe::with_slow<all_requests, prepare>;
TROUPE_ENGINE(cublaslt, "matmul", "cuda", requests)
