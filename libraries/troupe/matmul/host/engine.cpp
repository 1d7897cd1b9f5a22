// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/text/damaged.hpp>
#include <troupe/base/threads/thread_team.hpp>
#include <troupe/base/try.hpp>
#include <troupe/blas/host/openblas_admission.hpp>
#include <troupe/matmul/host/products.hpp>
#include <troupe/matmul/host/sums.hpp>
#include <troupe/matmul/matmul.hpp>
#include <troupe/matmul/shapes.hpp>
#include <troupe/worker/engine.hpp>
#include <troupe/worker/plugins/openblas_kernels.hpp>

namespace troupe::matmul {
namespace {

class host_matmul {
 public:
  static result<std::unique_ptr<host_matmul>> make(const engine_context& context) {
    return std::make_unique<host_matmul>(TROUPE_TRY(blas::openblas_admission::make("matmul", context.lanes)));
  }
  explicit host_matmul(blas::openblas_admission admission) : admission_(std::move(admission)) {}
  const char* version() const noexcept { return version_.c_str(); }
  std::string notes() const {
    return cat(admission_.threads_text(), "\nslow: results of f8e4m3 and f8e5m2, which are rounded one by one");
  }

  // The host engine has one algorithm for each product.
  result<plan_info> run(const prepare<multiplication>& r, call&) {
    if (r.options.choice.library() != 0)
      return error(
          reaction::unsupported, "matmul",
          "matmul.prepare: options.choice is an algorithm of cuBLASLt, which the host engine does not use; prepare "
          "without a choice");
    if (r.options.chosen) std::fill_n(r.options.chosen->data(), choice::size, 0);
    return plan_info{};
  }
  result<plan::statistics> run(const read_statistics&, call&) { return plan::statistics{}; }

  result<outcome> run(const multiplication& r, call&) {
    const epilogue::tree& t = r.epilogue.encoded();
    if (t.empty()) return damaged("matmul", "matmul.multiplication: the epilogue");
    const batch_of_matrices a = matrices_of(r.a.shape()), b = matrices_of(r.b.shape()), d = matrices_of(r.d.shape());
    const auto at = [&](std::int64_t i) {
      host_product p{.a = factor_of(r.a, a.one, a, i), .b = factor_of(r.b, b.one.transposed(), b, i)};
      if (r.a_scales && r.b_scales) {
        p.a_scales = scales_of(*r.a_scales, true, p.a, a.count == 1 ? 0 : i);
        p.b_scales = scales_of(*r.b_scales, false, p.b, b.count == 1 ? 0 : i);
      }
      p.sums = sums_of(r.a.type(), r.b.type());
      p.tree = &t;
      p.to = {const_cast<std::byte*>(place_of(r.d, d, i)), r.d.type(), d.one};
      p.which = i;
      return p;
    };
    const auto turn = admission_.enter();
    TROUPE_TRY(compute(multiplication::request_name, {d.count, at}, r.options.workspace, team_));
    return outcome{};
  }

 private:
  template <class View>
  static const std::byte* place_of(const View& view, const batch_of_matrices& m, std::int64_t i) noexcept {
    return static_cast<const std::byte*>(view.data()) +
           (m.count == 1 ? 0 : i * m.stride) * static_cast<std::int64_t>(bytes_of(view.type()));
  }
  // Returns the factor of product i. Its lines are the rows of `s`.
  static host_factor factor_of(const in_any& view, const matrix_shape& s, const batch_of_matrices& all,
                               std::int64_t i) noexcept {
    return {place_of(view, all, i), view.type(),    s.rows, s.columns * k_per_element(view.type()),
            s.row_stride,           s.column_stride};
  }
  static host_scales scales_of(const in_any& view, bool lines_are_rows, const host_factor& of,
                               std::int64_t i) noexcept {
    const block_scales s = matmul::scales_of(view, lines_are_rows, of.lines, of.type);
    const auto* const first = reinterpret_cast<const std::byte*>(s.address);
    return {first + i * s.batch_stride * static_cast<std::int64_t>(bytes_of(s.type)),
            s.type,
            s.line_stride,
            s.k_stride,
            s.block.lines,
            s.block.k};
  }

  const blas::openblas_admission admission_;
  std::string version_ = openblas_version();
  thread_team team_{static_cast<std::size_t>(openblas_threads())};
};

}  // namespace
}  // namespace troupe::matmul

using namespace troupe::matmul;
TROUPE_ENGINE(host_matmul, "matmul", "host", all_requests)
