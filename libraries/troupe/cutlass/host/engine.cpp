// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>
#include <troupe/base/cat.hpp>
#include <troupe/base/thread_team.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/cutlass/host/convolutions.hpp>
#include <troupe/cutlass/host/packing.hpp>
#include <troupe/cutlass/problem.hpp>
#include <troupe/matmul/host/products.hpp>
#include <troupe/matmul/host/sums.hpp>
#include <troupe/worker/engine.hpp>
#include <troupe/worker/plugins/openblas_kernels.hpp>

namespace troupe::cutlass {
namespace {

using matmul::host_factor, matmul::host_product, matmul::host_products, matmul::host_scales;

template <class Placed>
std::byte* place_of(const Placed& p, std::int64_t which) noexcept {
  if (p.address == 0) return nullptr;
  return reinterpret_cast<std::byte*>(p.address) + which * p.batch * static_cast<std::int64_t>(bytes_of(p.type));
}
host_factor factor_of(const factor& f, std::int64_t lines, std::int64_t terms, std::int64_t which) noexcept {
  return {place_of(f, which), f.type, lines, terms, f.line, f.term};
}
host_scales scales_of(const scales& s, std::int64_t which) noexcept {
  return {place_of(s, which), s.type, s.line, s.term, s.lines, s.terms};
}

// Product `which` of a batch.
host_product product_of(const problem& p, std::int64_t which) noexcept {
  return {.a = factor_of(p.a, p.m, p.k, which),
          .b = factor_of(p.b, p.n * (p.paired ? 2 : 1), p.k, which),
          .a_scales = scales_of(p.a_scales, which),
          .b_scales = scales_of(p.b_scales, which),
          .sums = p.sums,
          .tree = &p.tree,
          .to = {place_of(p.d, which), p.d.type, {p.m, p.n, p.d.row, p.d.column}},
          .which = p.first + which};
}

/// The host engine of cutlass, which compiles nothing: products as matmul computes them.
class host_cutlass {
 public:
  static result<std::unique_ptr<host_cutlass>> make(const engine_context&) { return std::make_unique<host_cutlass>(); }
  const char* version() const noexcept { return version_.c_str(); }
  std::string notes() const {
    return cat("threads: ", matmul::openblas_threads(),
               "\nslow: results of f8e4m3 and f8e5m2, which are rounded one by one; convolutions with a group for each "
               "channel, which are as many small products");
  }

  result<void> run(const gemm& r, call&) {
    return with_products(gemm::request_name, r, [&](const host_products& all) {
      return matmul::compute(gemm::request_name, all, r.workspace, team_);
    });
  }

  result<plan_info> run(const prepare& r, call&) {
    plan_info out{.candidates = 1};
    TROUPE_TRY(with_products(prepare::request_name, r.product(), [&](const host_products& all) -> result<void> {
      out.workspace = TROUPE_TRY(matmul::memory_for(prepare::request_name, all, r.workspace, team_));
      return {};
    }));
    return explained(out, r.log);
  }

  result<void> run(const conv_forward& r, call&) { return convolve(r); }
  result<void> run(const conv_data_gradient& r, call&) { return convolve(r); }
  result<void> run(const conv_weight_gradient& r, call&) { return convolve(r); }
  result<plan_info> run(const prepare_convolution& r, call&) {
    TROUPE_TRY(check(prepare_convolution::request_name, r));
    plan_info out{.candidates = 1};
    out.workspace = TROUPE_TRY(host::memory_for(problem_of(r), r.workspace, prepare_convolution::request_name, team_));
    return explained(out, r.log);
  }

  result<void> run(const pack& r, call&) {
    host::pack(problem_of(r), team_);
    return {};
  }

  result<troupe::plan::statistics> run(const read_statistics&, call&) { return troupe::plan::statistics{}; }

 private:
  // Calls f(products).
  template <class F>
  result<void> with_products(std::string_view request, const gemm& r, F&& f) {
    TROUPE_TRY(check(request, r));
    const problem p = problem_of(r);
    return f(host_products{p.batch, [&p](std::int64_t i) { return product_of(p, i); }});
  }

  template <class R>
  result<void> convolve(const R& r) try {
    TROUPE_TRY(check(R::request_name, r));
    return host::convolve(problem_of(r), r.workspace, R::request_name, team_);
  } catch (const std::bad_alloc&) {
    return error::retry_later(
        "cutlass", ENOMEM,
        cat(R::request_name, ": out of memory for a panel of the product; convolve fewer images or channels"));
  }

  // Writes the log, too.
  plan_info explained(plan_info info, const std::optional<troupe::out<std::byte>>& to) const {
    const std::string log = cat("the host engine has one way: OpenBLAS on ", team_.threads(), " threads, with ",
                                info.workspace, " bytes of memory\n");
    info.log_bytes = static_cast<std::uint32_t>(log.size() + 1);
    if (to) write(log, *to);
    return info;
  }

  template <class R>
  static result<void> check(std::string_view request, const R& r) {
    if (r.epilogue.seen().empty()) return error(reaction::fatal, "cutlass", cat(request, ": the epilogue is damaged"));
    if (r.plan == plan{}) return {};
    return error(reaction::unsupported, "cutlass",
                 cat(request, ": plan is ", to_string(r.plan),
                     "; the host engine has one way to compute and no choices: leave the plan out"));
  }

  // As much as there is room for, and 0 behind it.
  static void write(const std::string& text, const out<std::byte>& to) {
    if (to.size() == 0) return;
    const std::size_t n = std::min<std::size_t>(text.size(), to.size() - 1);
    std::copy_n(reinterpret_cast<const std::byte*>(text.data()), n, to.data());
    to.data()[n] = std::byte{0};
  }

  std::string version_ = matmul::openblas_version();
  thread_team team_{static_cast<std::size_t>(matmul::openblas_threads())};
};

}  // namespace
}  // namespace troupe::cutlass

using namespace troupe::cutlass;
TROUPE_ENGINE(host_cutlass, "cutlass", "host", all_requests)
