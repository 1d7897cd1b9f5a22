// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/text/damaged.hpp>
#include <troupe/base/threads/thread_team.hpp>
#include <troupe/base/try.hpp>
#include <troupe/blas/host/openblas_admission.hpp>
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

/// The host engine of cutlass. It compiles nothing: OpenBLAS computes the products, as in matmul.
class host_cutlass {
 public:
  static result<std::unique_ptr<host_cutlass>> make(const engine_context& context) {
    return std::make_unique<host_cutlass>(TROUPE_TRY(blas::openblas_admission::make("cutlass", context.lanes)));
  }
  explicit host_cutlass(blas::openblas_admission admission) : admission_(std::move(admission)) {}
  const char* version() const noexcept { return version_.c_str(); }
  std::string notes() const {
    return cat(admission_.threads_text(),
               "\nslow: results of f8e4m3 and f8e5m2, which are rounded one by one; convolutions with a group for each "
               "channel, which compute a small product for each group");
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

  // Describes the only plan of a product.
  template <class R>
  result<plan_info> run(const prepare<R>& r, call&) {
    TROUPE_TRY(check(r.request, r.request_name));
    plan_info out{.candidates = 1};
    out.workspace = TROUPE_TRY(memory_for(r.request, r.request_name));
    const std::string log = cat("the only plan of the host engine: OpenBLAS on ", team_.threads(), " threads, with ",
                                out.workspace, " bytes of memory\n");
    out.log_bytes = static_cast<std::uint32_t>(log.size() + 1);
    if (r.options.log) write(log, *r.options.log);
    return out;
  }

  result<void> run(const conv_forward& r, call&) { return convolve(r); }
  result<void> run(const conv_data_gradient& r, call&) { return convolve(r); }
  result<void> run(const conv_weight_gradient& r, call&) { return convolve(r); }

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
    const auto turn = admission_.enter();
    return matmul::compute(R::request_name, all, r.options.workspace, team_);
  }
  // Return the bytes beside the operands that a request needs, if its workspace suffices.
  result<std::uint64_t> memory_for(const gemm& r, std::string_view name) {
    const problem p = problem_of(r);
    return matmul::memory_for(name, products_of(p), r.options.workspace, team_);
  }
  result<std::uint64_t> memory_for(const gemm_batched& r, std::string_view name) {
    return matmul::memory_for(name, products_of(r), r.options.workspace, team_);
  }
  result<std::uint64_t> memory_for(const gemm_grouped& r, std::string_view name) {
    const problem p = problem_of(r);
    const groups_of_rows largest = groups_of_rows::largest(p);
    return matmul::memory_for(name, largest.products(), r.options.workspace, team_);
  }
  template <class Convolution>
  result<std::uint64_t> memory_for(const Convolution& r, std::string_view name) {
    return host::memory_for(problem_of(r), r.options.workspace, name, team_);
  }

  template <class R>
  result<void> convolve(const R& r) try {
    TROUPE_TRY(check(r));
    const auto turn = admission_.enter();
    return host::convolve(problem_of(r), r.options.workspace, R::request_name, team_);
  } catch (const std::bad_alloc&) {
    return error::retry_later(
        "cutlass", ENOMEM,
        cat(R::request_name, ": out of memory for a panel of the product; convolve fewer images or channels"));
  }

  template <class R>
  static result<void> check(const R& r, std::string_view request = R::request_name) {
    if (r.epilogue.encoded().empty()) return damaged("cutlass", cat(request, ": the epilogue"));
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

  const blas::openblas_admission admission_;
  std::string version_ = matmul::openblas_version();
  thread_team team_{static_cast<std::size_t>(matmul::openblas_threads())};
};

}  // namespace
}  // namespace troupe::cutlass

using namespace troupe::cutlass;
TROUPE_ENGINE(host_cutlass, "cutlass", "host", all_requests)
