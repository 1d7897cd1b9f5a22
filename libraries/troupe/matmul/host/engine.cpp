// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The host engine of matmul: OpenBLAS computes a panel of the product at a time, and the epilogue turns it into the
// result while it is in the cache.
#include <algorithm>
#include <cerrno>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <troupe/base/cat.hpp>
#include <troupe/base/float4.hpp>
#include <troupe/base/float8.hpp>
#include <troupe/base/half.hpp>
#include <troupe/base/thread_team.hpp>
#include <troupe/base/try.hpp>
#include <troupe/epilogue/host/tail.hpp>
#include <troupe/epilogue/numbers.hpp>
#include <troupe/matmul/host/sums.hpp>
#include <troupe/matmul/matmul.hpp>
#include <troupe/matmul/shapes.hpp>
#include <troupe/worker/engine.hpp>
#include <troupe/worker/plugins/openblas_kernels.hpp>

namespace troupe::matmul {
namespace {

namespace host = epilogue::host;

constexpr std::int64_t largest_panel = 4 << 20;  // bytes of sums, which stay in the cache of a core or two
constexpr std::int64_t part_elements = 1 << 15;  // of a panel, for one thread

template <class T>
struct memory {
  explicit memory(std::int64_t n) : all(new T[static_cast<std::size_t>(n)]) {}
  T* data() const noexcept { return all.get(); }
  std::unique_ptr<T[]> all;
};

host_matrix transposed(const host_matrix& m) noexcept { return {m.data, m.type, m.shape.transposed()}; }
// Columns [first, first + count).
host_matrix columns_of(const host_matrix& m, std::int64_t first, std::int64_t count) noexcept {
  matrix_shape s = m.shape;
  s.columns = count;
  const auto* at =
      static_cast<const std::byte*>(m.data) + first * s.column_stride * static_cast<std::int64_t>(bytes_of(m.type));
  return {at, m.type, s};
}

// An 8-bit matrix as half, which has every number of either type.
class widened {
 public:
  explicit widened(const host_matrix& m)
      : all_(m.shape.rows * m.shape.columns),
        by_rows_(m.shape.column_stride == 1 && m.shape.columns > 1),
        shape_(by_rows_ ? matrix_shape{m.shape.rows, m.shape.columns, m.shape.columns, 1}
                        : matrix_shape{m.shape.rows, m.shape.columns, 1, m.shape.rows}) {
    if (m.type == dtype::f8e4m3)
      convert<float8_e4m3>(m);
    else
      convert<float8_e5m2>(m);
  }
  host_matrix get() const noexcept { return {all_.data(), dtype::f16, shape_}; }

 private:
  template <class T>
  void convert(const host_matrix& m) {
    half table[256];
    for (unsigned code = 0; code < 256; ++code)
      table[code] = half(static_cast<float>(T::from_bits(static_cast<std::uint8_t>(code))));
    const auto* from = static_cast<const std::uint8_t*>(m.data);
    for (std::int64_t i = 0; i < shape_.rows; ++i)
      for (std::int64_t j = 0; j < shape_.columns; ++j)
        all_.data()[i * shape_.row_stride + j * shape_.column_stride] =
            table[from[i * m.shape.row_stride + j * m.shape.column_stride]];
  }
  memory<half> all_;
  bool by_rows_;
  matrix_shape shape_;
};

// A matrix of narrow elements times the scales of their blocks, as float. Its lines of terms are neighbours.
class scaled {
 public:
  scaled(const host_matrix& m, bool lines_are_rows, const block_scales& s, std::int64_t which)
      : terms_((lines_are_rows ? m.shape.columns : m.shape.rows) * terms_in(m.type)),
        lines_(lines_are_rows ? m.shape.rows : m.shape.columns),
        rows_(lines_are_rows),
        all_(terms_ * lines_) {
    const matrix_shape at = rows_ ? m.shape : m.shape.transposed();
    const auto* const from = static_cast<const std::uint8_t*>(m.data);
    const auto bytes = static_cast<std::int64_t>(bytes_of(s.type));
    for (std::int64_t l = 0; l < lines_; ++l)
      for (std::int64_t e = 0; e < terms_; ++e) {
        const std::int64_t scale = which * s.stride + l / s.block.lines * s.across + e / s.block.terms * s.along;
        const auto* const place = reinterpret_cast<const std::byte*>(s.address) + scale * bytes;
        all_.data()[l * terms_ + e] = element(m.type, from + l * at.row_stride, e, at.column_stride) *
                                      static_cast<float>(epilogue::number_at(place, s.type));
      }
  }
  host_matrix get() const noexcept {
    return {all_.data(), dtype::f32,
            rows_ ? matrix_shape{lines_, terms_, terms_, 1} : matrix_shape{terms_, lines_, 1, terms_}};
  }
  static std::int64_t bytes(const matrix_shape& s, dtype t) noexcept {
    return s.rows * s.columns * terms_in(t) * static_cast<std::int64_t>(sizeof(float));
  }

 private:
  static float element(dtype t, const std::uint8_t* line, std::int64_t e, std::int64_t stride) noexcept {
    if (t == dtype::f4e2m1x2) {
      const auto pair = float4_e2m1x2::from_bits(line[e / 2 * stride]);
      return static_cast<float>(e % 2 == 0 ? pair.first() : pair.second());
    }
    const std::uint8_t code = line[e * stride];
    return t == dtype::f8e4m3 ? static_cast<float>(float8_e4m3::from_bits(code))
                              : static_cast<float>(float8_e5m2::from_bits(code));
  }
  std::int64_t terms_, lines_;
  bool rows_;
  memory<float> all_;
};

// One product. Sums is the type of the sums, N that in which the epilogue is computed.
template <class Sums, class N>
class one_product {
 public:
  one_product(const host_matrix& a, const host_matrix& b, const epilogue::tree& t, const host::result_place& to,
              std::int64_t which, std::uint64_t most_bytes, thread_team& team)
      : tree_(t),
        to_(to),
        which_(which),
        panel_bytes_(static_cast<std::int64_t>(std::min<std::uint64_t>(largest_panel, most_bytes))),
        tail_(t, to, which),
        team_(team) {
    // Lines of the result are columns of the sums, so a result that is stored by rows is computed as its transpose.
    a_ = tail_.lines_are_columns() ? a : transposed(b);
    b_ = tail_.lines_are_columns() ? b : transposed(a);
  }

  /// The least memory that it needs: for one line of sums, unless they take the place of the result.
  std::int64_t fewest_bytes() const noexcept { return in_place() ? 0 : bytes_of_line(); }

  void compute() {
    if (in_place()) {
      const N* const sums = static_cast<const N*>(to_.data);
      // The only line may have any stride.
      const std::int64_t stride = tail_.lines_are_columns() ? to_.shape.column_stride : to_.shape.row_stride;
      const std::int64_t ld = tail_.lines() == 1 ? tail_.line_length() : stride;
      if constexpr (std::is_same_v<Sums, N>) sum_products(a_, b_, static_cast<N*>(to_.data), ld);
      if (!tree_.is_plain()) spread(0, tail_.lines(), sums, sums, ld);
    } else {
      const std::int64_t length = a_.shape.rows, halves = halves_of_lines();
      const std::int64_t most = std::max<std::int64_t>(1, panel_bytes_ / bytes_of_line());
      const std::int64_t width = std::min(most, tail_.lines());
      memory<Sums> sums(length * width * halves);
      std::optional<memory<N>> converted;
      if constexpr (!std::is_same_v<Sums, N>) converted.emplace(length * width * halves);
      for (std::int64_t l = 0; l < tail_.lines(); l += width) {
        const std::int64_t lines = std::min(width, tail_.lines() - l);
        for (std::int64_t h = 0; h < halves; ++h)
          sum_products(a_, columns_of(b_, l + h * tail_.lines(), lines), sums.data() + h * length * width, length);
        const N* left;
        if constexpr (std::is_same_v<Sums, N>) {
          left = sums.data();
        } else {
          std::copy_n(sums.data(), length * width * halves, converted->data());
          left = converted->data();
        }
        // The other half lies in the next panel, or in the second half of each line.
        const N* const right = halves == 2 ? left + length * width : left + tail_.line_length() * tree_.is_paired();
        spread(l, lines, left, right, length);
      }
    }
    tail_.finish(parts_);
  }

 private:
  std::int64_t halves_of_lines() const noexcept { return tree_.is_paired() && tail_.lines_are_columns() ? 2 : 1; }
  std::int64_t bytes_of_line() const noexcept {
    constexpr std::size_t element = sizeof(Sums) + (std::is_same_v<Sums, N> ? 0 : sizeof(N));
    return a_.shape.rows * halves_of_lines() * static_cast<std::int64_t>(element);
  }

  // The sums can take the place of the result, if it has their type and the epilogue does not need what was there.
  bool in_place() const noexcept {
    if (!std::is_same_v<Sums, N> || to_.type != dtype_of<N> || tree_.is_paired()) return false;
    const auto lines = tail_.lines_are_columns() ? to_.shape : to_.shape.transposed();
    if (lines.row_stride != 1 && lines.rows != 1) return false;
    return std::none_of(tree_.memory().begin(), tree_.memory().end(),
                        [this](const epilogue::tree_memory& m) { return m.at(which_, 0, 0) == to_.data; });
  }

  void spread(std::int64_t first, std::int64_t lines, const N* left, const N* right, std::int64_t line_stride) {
    const std::int64_t length = tail_.line_length();
    const std::int64_t of_a_part = std::max<std::int64_t>(1, part_elements / length);
    const std::int64_t count = (lines + of_a_part - 1) / of_a_part;
    const std::size_t before = parts_.size();
    parts_.resize(before + static_cast<std::size_t>(count));
    team_.spread(count, 1, [&](std::int64_t i) {
      const std::int64_t at = i * of_a_part;
      parts_[before + static_cast<std::size_t>(i)] =
          tail_.run({first + at, std::min(of_a_part, lines - at), 0, length},
                    {left + at * line_stride, right + at * line_stride, line_stride});
    });
  }

  host_matrix a_, b_;
  const epilogue::tree& tree_;
  const host::result_place to_;
  const std::int64_t which_, panel_bytes_;
  const host::tail<N> tail_;
  thread_team& team_;
  std::vector<host::partial_reductions> parts_;
};

class host_matmul {
 public:
  static result<std::unique_ptr<host_matmul>> make(const engine_context&) { return std::make_unique<host_matmul>(); }
  const char* version() const noexcept { return version_.c_str(); }
  std::string notes() const {
    return cat("threads: ", openblas_threads(),
               "\nslow: results of f8e4m3 and f8e5m2, which are rounded one by one; factors with scales of blocks, "
               "which are multiplied one by one");
  }

  // There is one way to compute a product.
  result<plan_info> run(const prepare& r, call&) {
    if (r.choice.library() != 0)
      return error(reaction::unsupported, "matmul",
                   "matmul.prepare: choice is of cuBLASLt, which the host engine does not use; give none");
    if (r.chosen) std::fill_n(r.chosen->data(), choice::size, 0);
    return plan_info{};
  }
  result<plan::statistics> run(const read_statistics&, call&) { return plan::statistics{}; }

  result<outcome> run(const multiplication& r, call&) try { return run_checked(r); } catch (const std::bad_alloc&) {
    return error::retry_later(
        "matmul", ENOMEM, "matmul.multiplication: out of memory for a panel of the product; multiply fewer columns");
  }

 private:
  result<outcome> run_checked(const multiplication& r) {
    TROUPE_TRY(fits(r));
    const epilogue::tree& t = r.epilogue.seen();
    if (t.empty()) return error(reaction::fatal, "matmul", "matmul.multiplication: the epilogue is damaged");
    switch (sums_of(r.a.type(), r.b.type())) {
      case dtype::f32:
        return compute<float, float>(r, t);
      case dtype::f64:
        return compute<double, double>(r, t);
      case dtype::c64:
        return compute<complex64, complex64>(r, t);
      case dtype::c128:
        return compute<complex128, complex128>(r, t);
      case dtype::i32:
        // A double has every sum exactly. Sums that are only stored stay what they are.
        if (t.is_plain() && r.d.type() == dtype::i32) return compute<std::int32_t, std::int32_t>(r, t);
        return compute<std::int32_t, double>(r, t);
      default:
        return error(reaction::fatal, "matmul", "matmul.multiplication: these types have no product");
    }
  }

  static result<void> fits(const multiplication& r) {
    for (const tensor_shape* s : {&r.a.shape(), &r.b.shape(), &r.d.shape()}) {
      const matrix_shape m = matrices_of(*s).one;
      for (const std::int64_t n : {m.rows, m.columns, m.row_stride, m.column_stride})
        if (n > std::numeric_limits<std::int32_t>::max())
          return error(
              reaction::unsupported, "matmul",
              cat("matmul.multiplication: an extent or a stride is ", n,
                  "; OpenBLAS counts in 32 bits, so the host engine takes at most 2147483647: split the request"));
    }
    return {};
  }

  template <class Sums, class N>
  result<outcome> compute(const multiplication& r, const epilogue::tree& t) {
    const batch_of_matrices a = matrices_of(r.a.shape()), b = matrices_of(r.b.shape()), d = matrices_of(r.d.shape());
    const auto at = [](const void* data, dtype type, const batch_of_matrices& m, std::int64_t i) {
      return static_cast<const std::byte*>(data) +
             (m.count == 1 ? 0 : i * m.stride) * static_cast<std::int64_t>(bytes_of(type));
    };
    block_scales a_scales, b_scales;
    if (r.a_scales && r.b_scales) {
      a_scales = scales_of(*r.a_scales, true, a.one.rows, r.a.type());
      b_scales = scales_of(*r.b_scales, false, b.one.columns, r.b.type());
    }
    std::uint64_t left = r.workspace;
    const auto one = [&](std::int64_t i, bool only_ask) -> std::uint64_t {
      host_matrix ma{at(r.a.data(), r.a.type(), a, i), r.a.type(), a.one},
          mb{at(r.b.data(), r.b.type(), b, i), r.b.type(), b.one};
      std::optional<widened> wide_a, wide_b;
      std::optional<scaled> scaled_a, scaled_b;
      std::uint64_t converted = 0;
      if (a_scales.address != 0) {
        converted = static_cast<std::uint64_t>(scaled::bytes(ma.shape, ma.type) + scaled::bytes(mb.shape, mb.type));
        if (!only_ask) {
          ma = scaled_a.emplace(ma, true, a_scales, a.count == 1 ? 0 : i).get();
          mb = scaled_b.emplace(mb, false, b_scales, b.count == 1 ? 0 : i).get();
        }
      } else if (is_float8(ma.type)) {
        converted = sizeof(half) *
                    static_cast<std::uint64_t>(ma.shape.rows * ma.shape.columns + mb.shape.rows * mb.shape.columns);
        if (!only_ask) ma = wide_a.emplace(ma).get(), mb = wide_b.emplace(mb).get();
      }
      const auto* const place = at(r.d.data(), r.d.type(), d, i);
      const host::result_place to{const_cast<std::byte*>(place), r.d.type(), d.one};
      if constexpr (std::is_same_v<N, std::int32_t>) {
        if (!only_ask) store_sums(ma, mb, to);
        return 0;
      } else {
        const std::uint64_t rest = left > converted ? left - converted : 0;
        one_product<Sums, N> product(ma, mb, t, to, i, rest, team_);
        if (only_ask) return converted + static_cast<std::uint64_t>(product.fewest_bytes());
        product.compute();
        return 0;
      }
    };
    const std::uint64_t fewest = r.workspace == any_amount ? 0 : one(0, true);
    if (fewest > r.workspace)
      return error(reaction::unsupported, "matmul",
                   cat("matmul.multiplication: workspace is ", r.workspace, "; the host engine needs at least ", fewest,
                       " bytes for this product"));
    // Small products take one core each, larger ones all cores.
    const double work =
        static_cast<double>(a.one.rows) * static_cast<double>(a.one.columns) * static_cast<double>(b.one.columns);
    if (d.count == 1 || work > 64 * 64 * 64)
      for (std::int64_t i = 0; i < d.count; ++i) one(i, false);
    else
      // Each core has memory of its own: the limit is for all.
      left = std::max(fewest, left / static_cast<std::uint64_t>(std::max(1, openblas_threads()))),
      team_.spread(d.count, std::max<std::int64_t>(1, static_cast<std::int64_t>(100'000 / work)),
                   [&](std::int64_t i) { one(i, false); });
    return outcome{};
  }

  static void store_sums(const host_matrix& a, const host_matrix& b, const host::result_place& to) {
    const matrix_shape& s = to.shape;
    const bool columns = s.row_stride == 1 || s.rows == 1;
    auto* const sums = static_cast<std::int32_t*>(to.data);
    if (columns)
      sum_products(a, b, sums, s.columns == 1 ? s.rows : s.column_stride);
    else
      sum_products(transposed(b), transposed(a), sums, s.rows == 1 ? s.columns : s.row_stride);
  }

  std::string version_ = openblas_version();
  thread_team team_{static_cast<std::size_t>(openblas_threads())};
};

}  // namespace
}  // namespace troupe::matmul

using namespace troupe::matmul;
TROUPE_ENGINE(host_matmul, "matmul", "host", all_requests)
