// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <limits>
#include <new>
#include <optional>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/matmul/host/products.hpp>
#include <troupe/matmul/host/sums.hpp>
#include <troupe/matmul/options.hpp>

namespace troupe::matmul {
namespace {

namespace host = epilogue::host;

constexpr std::int64_t largest_panel = 4 << 20;   // bytes; it fits the cache of one or two cores
constexpr std::int64_t part_elements = 1 << 15;   // elements of a panel that a thread computes at a time
constexpr double least_for_all = 64.0 * 64 * 64;  // multiplications from which on a product uses all cores
constexpr double least_for_a_thread = 100'000;    // fewer multiplications are not worth waking a thread
constexpr std::int64_t longest = std::numeric_limits<std::int32_t>::max();

template <class T>
struct memory {
  explicit memory(std::int64_t n) : all(new T[static_cast<std::size_t>(n)]) {}
  T* data() const noexcept { return all.get(); }
  std::unique_ptr<T[]> all;
};

host_matrix transposed(const host_matrix& m) noexcept { return {m.data, m.type, m.shape.transposed()}; }
// Returns columns [first, first + count).
host_matrix columns_of(const host_matrix& m, std::int64_t first, std::int64_t count) noexcept {
  matrix_shape s = m.shape;
  s.columns = count;
  const auto* at =
      static_cast<const std::byte*>(m.data) + first * s.column_stride * static_cast<std::int64_t>(bytes_of(m.type));
  return {at, m.type, s};
}
host_matrix with_lines_as_rows(const host_factor& f) noexcept {
  return {f.data, f.type, {f.lines, f.k, f.line_stride, f.k_stride}};
}

// Computes one product of ordered factors. `Sums` is the type of the sums, `N` the type in which the epilogue computes.
template <class Sums, class N>
class one_product {
 public:
  one_product(const host_matrix& a, const host_matrix& b, const host_product& p, std::uint64_t most_bytes,
              thread_team& team)
      : tree_(*p.tree),
        to_(p.to),
        which_(p.which),
        panel_bytes_(static_cast<std::int64_t>(std::min<std::uint64_t>(largest_panel, most_bytes))),
        pass_(*p.tree, p.to, p.which),
        team_(team) {
    // Lines of the result are columns of the sums, so a result that is stored row by row is computed as its transpose.
    a_ = pass_.lines_are_columns() ? a : transposed(b);
    b_ = pass_.lines_are_columns() ? b : transposed(a);
  }

  /// Returns the bytes of workspace: at least one line of sums, or 0 if sums are computed in place.
  std::int64_t bytes() const noexcept { return in_place() ? 0 : bytes_of_line() * panel_width(); }

  void compute() {
    if (in_place()) {
      const N* const sums = static_cast<const N*>(to_.data);
      if constexpr (std::is_same_v<Sums, N>) sum_products(a_, b_, static_cast<N*>(to_.data), line_stride_in_place());
      if (!tree_.is_plain()) spread(0, pass_.lines(), sums, sums, line_stride_in_place());
    } else {
      const std::int64_t length = a_.shape.rows, halves = halves_of_lines();
      const std::int64_t width = panel_width();
      memory<Sums> sums(length * width * halves);
      std::optional<memory<N>> converted;
      if constexpr (!std::is_same_v<Sums, N>) converted.emplace(length * width * halves);
      for (std::int64_t l = 0; l < pass_.lines(); l += width) {
        const std::int64_t lines = std::min(width, pass_.lines() - l);
        for (std::int64_t h = 0; h < halves; ++h)
          sum_products(a_, columns_of(b_, l + h * pass_.lines(), lines), sums.data() + h * length * width, length);
        const N* left;
        if constexpr (std::is_same_v<Sums, N>) {
          left = sums.data();
        } else {
          std::copy_n(sums.data(), length * width * halves, converted->data());
          left = converted->data();
        }
        // The right half of the product has lines of its own, after the left ones, or is the second half of each line.
        const N* const right = halves == 2 ? left + length * width : left + pass_.line_length() * tree_.is_paired();
        spread(l, lines, left, right, length);
      }
    }
    pass_.finish(parts_);
  }

 private:
  std::int64_t halves_of_lines() const noexcept { return tree_.is_paired() && pass_.lines_are_columns() ? 2 : 1; }
  std::int64_t bytes_of_line() const noexcept {
    constexpr std::size_t element = sizeof(Sums) + (std::is_same_v<Sums, N> ? 0 : sizeof(N));
    return a_.shape.rows * halves_of_lines() * static_cast<std::int64_t>(element);
  }

  std::int64_t panel_width() const noexcept {
    return std::min(std::max<std::int64_t>(1, panel_bytes_ / bytes_of_line()), pass_.lines());
  }

  // Returns the stride of lines in the result. The stride of a single line may be any number, so it is replaced.
  std::int64_t line_stride_in_place() const noexcept {
    if (pass_.lines() == 1) return pass_.line_length();
    return pass_.lines_are_columns() ? to_.shape.column_stride : to_.shape.row_stride;
  }
  // Returns true if the result can hold the sums: it has their type, and the epilogue does not load it.
  bool in_place() const noexcept {
    if (!std::is_same_v<Sums, N> || to_.type != dtype_of<N> || tree_.is_paired()) return false;
    const auto lines = pass_.lines_are_columns() ? to_.shape : to_.shape.transposed();
    if ((lines.row_stride != 1 && lines.rows != 1) || line_stride_in_place() > longest) return false;
    return std::none_of(tree_.memory().begin(), tree_.memory().end(),
                        [this](const epilogue::memory_operand& m) { return m.at(which_, 0, 0) == to_.data; });
  }

  void spread(std::int64_t first, std::int64_t lines, const N* left, const N* right, std::int64_t line_stride) {
    const std::int64_t length = pass_.line_length();
    const std::int64_t lines_per_part = std::max<std::int64_t>(1, part_elements / length);
    const std::int64_t count = (lines + lines_per_part - 1) / lines_per_part;
    const std::size_t before = parts_.size();
    parts_.resize(before + static_cast<std::size_t>(count));
    team_.spread(count, 1, [&](std::int64_t i) {
      const std::int64_t at = i * lines_per_part;
      parts_[before + static_cast<std::size_t>(i)] =
          pass_.run({first + at, std::min(lines_per_part, lines - at), 0, length},
                    {left + at * line_stride, right + at * line_stride, line_stride});
    });
  }

  host_matrix a_, b_;
  const epilogue::tree& tree_;
  const host::result_place to_;
  const std::int64_t which_, panel_bytes_;
  const host::epilogue_pass<N> pass_;
  thread_team& team_;
  std::vector<host::partial_reductions> parts_;
};

// Returns true if integer sums are stored unchanged.
bool stores_sums(const host_product& p) noexcept {
  const matrix_shape& s = p.to.shape;
  return p.sums == dtype::i32 && p.tree->is_plain() && p.to.type == dtype::i32 && has_lines(s) &&
         std::max(s.row_stride, s.column_stride) <= longest;
}
void store_sums(const host_matrix& a, const host_matrix& b, const host::result_place& to) {
  const matrix_shape& s = to.shape;
  const bool columns = s.row_stride == 1 || s.rows == 1;
  auto* const sums = static_cast<std::int32_t*>(to.data);
  if (columns)
    sum_products(a, b, sums, s.columns == 1 ? s.rows : s.column_stride);
  else
    sum_products(transposed(b), transposed(a), sums, s.rows == 1 ? s.columns : s.row_stride);
}

// A product. Copies the factors that OpenBLAS cannot read where they are.
class prepared_product {
 public:
  explicit prepared_product(const host_product& p)
      : product_(p),
        type_(multiplied_in(p.a.type, p.b.type, p.a_scales.data != nullptr || p.b_scales.data != nullptr)),
        copies_a_(p.a.k != 0 && !is_ordered(p.a, p.a_scales, type_)),
        copies_b_(p.b.k != 0 && !is_ordered(p.b, p.b_scales, type_)) {}

  // Returns the bytes of workspace: at most `most_bytes`, unless the product needs more.
  std::uint64_t bytes(std::uint64_t most_bytes, thread_team& team) const {
    if (is_empty()) return 0;
    const std::uint64_t copied = copied_bytes(), rest = most_bytes > copied ? most_bytes - copied : 0;
    return copied + with_types<std::uint64_t>([&](auto sums, auto number) {
             const host_matrix a = with_lines_as_rows(product_.a), b = transposed(with_lines_as_rows(product_.b));
             one_product<decltype(sums), decltype(number)> p(a, b, product_, rest, team);
             return static_cast<std::uint64_t>(p.bytes());
           });
  }
  void compute(std::uint64_t most_bytes, thread_team& team) const {
    if (is_empty()) return finish_without_elements();
    std::optional<ordered_factor> a, b;
    if (copies_a_) a.emplace(product_.a, product_.a_scales, type_, team);
    if (copies_b_) b.emplace(product_.b, product_.b_scales, type_, team);
    const host_matrix ma = with_lines_as_rows(a ? a->get() : product_.a),
                      mb = transposed(with_lines_as_rows(b ? b->get() : product_.b));
    if (stores_sums(product_)) return store_sums(ma, mb, product_.to);
    const std::uint64_t copied = copied_bytes(), rest = most_bytes > copied ? most_bytes - copied : 0;
    with_types<int>([&](auto sums, auto number) {
      one_product<decltype(sums), decltype(number)>(ma, mb, product_, rest, team).compute();
      return 0;
    });
  }

 private:
  bool is_empty() const noexcept { return product_.a.lines == 0 || product_.b.lines == 0; }
  // If the result has no elements, stores the reductions of no values.
  void finish_without_elements() const {
    with_types<int>([&](auto, auto number) {
      host::epilogue_pass<decltype(number)>(*product_.tree, product_.to, product_.which).finish({});
      return 0;
    });
  }
  std::uint64_t copied_bytes() const noexcept {
    return (copies_a_ ? ordered_factor::bytes(product_.a, type_) : 0) +
           (copies_b_ ? ordered_factor::bytes(product_.b, type_) : 0);
  }
  template <class Out, class F>
  Out with_types(F&& f) const {
    switch (product_.sums) {
      case dtype::f64:
        return f(double(), double());
      case dtype::c64:
        return f(complex64(), complex64());
      case dtype::c128:
        return f(complex128(), complex128());
      case dtype::i32:  // a double holds every sum exactly
        return stores_sums(product_) ? Out() : f(std::int32_t(), double());
      default:
        return f(float(), float());
    }
  }

  const host_product& product_;
  const dtype type_;
  const bool copies_a_, copies_b_;
};

double work_of(const host_product& p) noexcept {
  return static_cast<double>(p.a.lines) * static_cast<double>(p.a.k) * static_cast<double>(p.b.lines);
}

error refusal(std::string_view request, std::string_view why) {
  return error(reaction::unsupported, std::string(request.substr(0, request.find('.'))), cat(request, ": ", why));
}

// Refuses extents beyond 32 bits and a workspace that is too small. Returns the number of bytes that the most demanding
// product needs.
result<std::uint64_t> checked_workspace(std::string_view request, const host_products& all, std::uint64_t workspace,
                                        thread_team& team) {
  std::uint64_t fewest = 0;
  for (std::int64_t i = 0; i < all.count; ++i) {
    const host_product p = all.at(i);
    for (const std::int64_t n : {p.a.lines, p.a.k, p.b.lines})
      if (n > longest)
        return refusal(
            request, cat("an extent is ", n, "; OpenBLAS counts in 32 bits, so the host engine takes at most ", longest,
                         ": split the request"));
    if (workspace != any_amount) fewest = std::max(fewest, prepared_product(p).bytes(0, team));
  }
  if (fewest > workspace)
    return refusal(request, cat("workspace is ", workspace, " bytes; the host engine needs at least ", fewest,
                                " for this product"));
  return fewest;
}

// Returns the bytes that one core may use: the limit is for all cores together, and each core has its own memory.
std::uint64_t share_of_a_core(std::uint64_t workspace, std::uint64_t fewest, const thread_team& team) noexcept {
  return std::max(fewest, workspace / std::max<std::size_t>(1, team.threads()));
}
bool takes_all_cores(const host_products& all, const host_product& p) noexcept {
  return all.count == 1 || work_of(p) > least_for_all;
}

}  // namespace

result<std::uint64_t> memory_for(std::string_view request, const host_products& all, std::uint64_t workspace,
                                 thread_team& team) {
  const std::uint64_t fewest = TROUPE_TRY(checked_workspace(request, all, workspace, team)),
                      each = share_of_a_core(workspace, fewest, team);
  std::uint64_t most = 0, of_small = 0;
  for (std::int64_t i = 0; i < all.count; ++i) {
    const host_product p = all.at(i);
    if (takes_all_cores(all, p))
      most = std::max(most, prepared_product(p).bytes(workspace, team));
    else
      of_small = std::max(of_small, prepared_product(p).bytes(each, team));
  }
  return std::max(most, of_small * std::min<std::uint64_t>(team.threads(), static_cast<std::uint64_t>(all.count)));
}

result<void> compute(std::string_view request, const host_products& all, std::uint64_t workspace,
                     thread_team& team) try {
  const std::uint64_t fewest = TROUPE_TRY(checked_workspace(request, all, workspace, team));
  std::int64_t small = 0;
  double work = 0;
  for (std::int64_t i = 0; i < all.count; ++i) {
    const host_product p = all.at(i);
    if (takes_all_cores(all, p))
      prepared_product(p).compute(workspace, team);
    else
      ++small, work += work_of(p);
  }
  if (small == 0) return {};
  const std::uint64_t each = share_of_a_core(workspace, fewest, team);
  const double average = std::max(1.0, work / static_cast<double>(all.count));
  team.spread(all.count, std::max<std::int64_t>(1, static_cast<std::int64_t>(least_for_a_thread / average)),
              [&](std::int64_t i) {
                const host_product p = all.at(i);
                if (!takes_all_cores(all, p)) prepared_product(p).compute(each, team);
              });
  return {};
} catch (const std::bad_alloc&) {
  return error::retry_later(std::string(request.substr(0, request.find('.'))), ENOMEM,
                            cat(request, ": out of memory for a panel of the product; multiply fewer columns"));
}

}  // namespace troupe::matmul
