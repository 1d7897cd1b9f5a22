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
#include <troupe/cutlass/host/parts.hpp>
#include <troupe/matmul/host/sums.hpp>
#include <troupe/worker/engine.hpp>
#include <troupe/worker/plugins/openblas_kernels.hpp>

namespace troupe::cutlass {
namespace {

using matmul::host_products;

/// The host engine of cutlass. It compiles nothing: products are computed as matmul's.
class host_cutlass {
 public:
  static result<std::unique_ptr<host_cutlass>> make(const engine_context&) { return std::make_unique<host_cutlass>(); }
  const char* version() const noexcept { return version_.c_str(); }
  std::string notes() const {
    return cat("threads: ", matmul::openblas_threads(),
               "\nslow: results of f8e4m3 and f8e5m2, which are rounded one by one; convolutions with a group for each "
               "channel, which are a small product each");
  }

  result<void> run(const gemm& r, call&) {
    TROUPE_TRY(check(r));
    const problem p = problem_of(r);
    return compute(r, products_of(p));
  }
  result<void> run(const gemm_batched& r, call&) {
    TROUPE_TRY(check(r));
    return compute(r, products_of(r));
  }
  result<grouped_outcome> run(const gemm_grouped& r, call&) {
    TROUPE_TRY(check(r));
    const problem p = problem_of(r);
    const groups_of_rows groups(p, r.partial_results);
    if (const auto wrong = gemm_grouped::failure_in(groups.outcome())) return *wrong;
    TROUPE_TRY(compute(r, groups.products()));
    return groups.outcome();
  }

  result<plan_info> run(const prepare& r, call&) {
    TROUPE_TRY(check(r));
    const gemm product = r.product();
    const problem p = problem_of(product);
    return describe_plan(r, products_of(p));
  }
  result<plan_info> run(const prepare_batched& r, call&) {
    TROUPE_TRY(check(r));
    const gemm_batched product = r.product();
    return describe_plan(r, products_of(product));
  }
  result<plan_info> run(const prepare_grouped& r, call&) {
    TROUPE_TRY(check(r));
    const gemm_grouped product = r.product();
    const problem p = problem_of(product);
    const groups_of_rows largest = groups_of_rows::largest(p);
    return describe_plan(r, largest.products());
  }

  result<void> run(const conv_forward& r, call&) { return convolve(r); }
  result<void> run(const conv_data_gradient& r, call&) { return convolve(r); }
  result<void> run(const conv_weight_gradient& r, call&) { return convolve(r); }
  result<plan_info> run(const prepare_convolution& r, call&) {
    TROUPE_TRY(check(r));
    return describe_plan(r, TROUPE_TRY(host::memory_for(problem_of(r), r.options.workspace, r.request_name, team_)));
  }

  result<void> run(const pack& r, call&) {
    host::pack(problem_of(r), team_);
    return {};
  }

  result<troupe::plan::statistics> run(const read_statistics&, call&) { return troupe::plan::statistics{}; }

 private:
  static host_products products_of(const problem& p) {
    return {p.batch, [&p](std::int64_t i) { return product_of(p, i, p.tree); }};
  }
  static host_products products_of(const gemm_batched& r) {
    return {static_cast<std::int64_t>(r.d.size()), [&r, tree = r.epilogue.encoded()](std::int64_t i) {
              return product_of(problem_of(r, static_cast<std::size_t>(i)), 0, tree);
            }};
  }

  template <class R>
  result<void> compute(const R& r, const host_products& all) {
    return matmul::compute(R::request_name, all, r.options.workspace, team_);
  }
  // Describes the only plan of a product.
  template <class R>
  result<plan_info> describe_plan(const R& r, const host_products& all) {
    return describe_plan(r, TROUPE_TRY(matmul::memory_for(R::request_name, all, r.options.workspace, team_)));
  }
  // Describes the only plan, and writes the log.
  template <class R>
  plan_info describe_plan(const R& r, std::uint64_t workspace) const {
    plan_info out{.candidates = 1};
    out.workspace = workspace;
    const std::string log = cat("the only plan of the host engine: OpenBLAS on ", team_.threads(), " threads, with ",
                                out.workspace, " bytes of memory\n");
    out.log_bytes = static_cast<std::uint32_t>(log.size() + 1);
    if (r.log) write(log, *r.log);
    return out;
  }

  template <class R>
  result<void> convolve(const R& r) try {
    TROUPE_TRY(check(r));
    return host::convolve(problem_of(r), r.options.workspace, R::request_name, team_);
  } catch (const std::bad_alloc&) {
    return error::retry_later(
        "cutlass", ENOMEM,
        cat(R::request_name, ": out of memory for a panel of the product; convolve fewer images or channels"));
  }

  template <class R>
  static result<void> check(const R& r) {
    constexpr std::string_view request = R::request_name;
    if (r.epilogue.encoded().empty())
      return error(reaction::fatal, "cutlass", cat(request, ": the epilogue is damaged"));
    if (r.options.plan == plan{}) return {};
    return error(reaction::unsupported, "cutlass",
                 cat(request, ": plan is ", to_string(r.options.plan),
                     "; expected none, because the host engine has no choices: leave the plan out"));
  }

  // Writes as much of a text as fits, terminated by a zero byte.
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
