// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Convolutions as implicit products: image elements are gathered panel by panel and multiplied by OpenBLAS, and the
// epilogue converts the sums to the result while they are in the cache. One float product serves every type whose sums
// are float; elements are widened as they are gathered.
#include <algorithm>
#include <optional>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/blas/host/products.hpp>
#include <troupe/cutlass/host/convolution_parts.hpp>
#include <troupe/cutlass/host/convolutions.hpp>

namespace troupe::cutlass::host {
namespace {

// The bytes of a sum, and of its copy in the type of the epilogue. Below, T is the type of the factors, Sums that of
// the sums, N that of the epilogue.
template <class Sums, class N>
constexpr std::int64_t bytes_of_sum = sizeof(Sums) + (std::is_same_v<Sums, N> ? 0 : sizeof(N));

// The result as matrices with one stride from row to row. If the result's strides do not allow that, `direct` is false,
// and the matrices are in separate memory.
struct result_matrices {
  explicit result_matrices(const convolution_problem& p)
      : shape(shape_of_result(p)),
        all(p.result == computed_tensor::dfilters ? matrix_of_filters(shape) : matrices_of_images(shape)),
        type(p.computed().type),
        address(p.computed().address) {
    if (!all.is_mergeable()) all = {{all.one.rows, all.one.columns, all.one.columns, 1}, all.count, 0}, direct = false;
  }
  std::int64_t bytes() const noexcept {
    return direct ? 0 : all.one.rows * all.one.columns * static_cast<std::int64_t>(bytes_of(type));
  }
  result_place matrix(std::int64_t which, std::byte* own) const noexcept {
    const std::int64_t at = which * all.stride * static_cast<std::int64_t>(bytes_of(type));
    return {direct ? reinterpret_cast<std::byte*>(address) + at : own, type, all.one};
  }
  tensor_shape shape;
  matrices_of_result all;
  dtype type;
  std::uint64_t address;
  bool direct = true;
};

// Computes y or dx.
template <class T, class Sums, class N>
class image_product {
 public:
  image_product(const convolution_problem& p, thread_team& team)
      : p_(p),
        team_(team),
        panels_(is_backward() ? p.y : p.x, p, is_backward(), is_backward() ? p.filters_of_group : p.channels_of_group),
        result_(p),
        columns_(is_backward() ? p.channels_of_group : p.filters_of_group) {}

  std::int64_t fewest_bytes() const noexcept { return fixed_bytes() + bytes_of_position(); }
  /// Chooses the size of panels. Returns the bytes that `compute` will use. Precondition: fewest_bytes() <= most_bytes.
  std::int64_t choose_panels(std::int64_t most_bytes) noexcept {
    const std::int64_t wanted = std::max(panel_bytes, least_panel * bytes_of_position()),
                       there = std::min(most_bytes - fixed_bytes(), wanted);
    panel_ = std::clamp<std::int64_t>(there / bytes_of_position(), 1, together() * panels_.positions());
    return fixed_bytes() + panel_ * bytes_of_position();
  }

  void compute() {
    const uninitialized_array<T> filters(all_columns() * panels_.k()), gathered(panel_ * panels_.k());
    const uninitialized_array<Sums> sums(panel_ * all_columns());
    const uninitialized_array<std::byte> own(result_.bytes());
    std::optional<uninitialized_array<N>> converted;
    if constexpr (!std::is_same_v<Sums, N>) converted.emplace(panel_ * all_columns());
    pack_filters(p_, panels_, filters.data(), team_);
    own_ = own.data();
    by_columns_ = epilogue_pass<N>(p_.tree, result_.matrix(0, own_)).lines_are_columns();
    for (std::int64_t image = 0; image < p_.images; image += together()) {
      const std::int64_t begin = image * panels_.positions(), end = begin + together() * panels_.positions();
      for (std::int64_t q = begin; q < end; q += panel_) {
        const std::int64_t count = std::min(panel_, end - q);
        for (std::int64_t g = 0; g < p_.groups; ++g) {
          panels_.gather(g, q, count, gathered.data(), team_);
          multiply_group(g, count, gathered.data(), filters.data(), sums.data());
        }
        if constexpr (std::is_same_v<Sums, N>) {
          finish(q, count, sums.data());
        } else {
          std::copy_n(sums.data(), count * all_columns(), converted->data());
          finish(q, count, converted->data());
        }
      }
      if (!result_.direct) store_image(own_, p_, image, team_);
    }
  }

 private:
  bool is_backward() const noexcept { return p_.result == computed_tensor::dx; }
  // Returns the number of images that a panel may extend over: all, or one.
  std::int64_t together() const noexcept { return result_.direct ? p_.images : 1; }
  std::int64_t all_columns() const noexcept { return p_.groups * columns_; }
  std::int64_t fixed_bytes() const noexcept {
    return all_columns() * panels_.k() * static_cast<std::int64_t>(sizeof(T)) + result_.bytes();
  }
  std::int64_t bytes_of_position() const noexcept {
    return panels_.k() * static_cast<std::int64_t>(sizeof(T)) + all_columns() * bytes_of_sum<Sums, N>;
  }
  // Multiplies one group. Columns of the sums are lines of the result.
  void multiply_group(std::int64_t group, std::int64_t count, const T* gathered, const T* filters, Sums* sums) const {
    const std::int64_t k = panels_.k();
    const blas::matrix_factor<T> all_filters{filters + group * columns_ * k, k, true};
    const bool contiguous_k = panels_.has_contiguous_k();
    if (by_columns_)
      blas::multiply<T, Sums>(count, columns_, k, {gathered, contiguous_k ? k : count, contiguous_k},
                              {all_filters.data, k}, 0, sums + group * columns_ * count, count);
    else
      blas::multiply<T, Sums>(columns_, count, k, all_filters, {gathered, contiguous_k ? k : count, !contiguous_k}, 0,
                              sums + group * columns_, all_columns());
  }

  // Converts the sums of positions to results, image by image.
  void finish(std::int64_t first, std::int64_t count, const N* sums) {
    const std::int64_t positions = panels_.positions();
    for (std::int64_t done = 0; done < count;) {
      const std::int64_t image = (first + done) / positions, at = (first + done) % positions;
      const std::int64_t n = std::min(count - done, positions - at);
      if (at == 0) pass_.emplace(p_.tree, result_.matrix(image, own_), image), parts_.clear();
      const std::int64_t columns = result_.all.one.columns;
      if (by_columns_) {
        const N* const left = sums + done;
        run_epilogue(*pass_, {0, columns, at, n}, {left, left + (p_.paired ? columns * count : 0), count}, team_,
                     parts_);
      } else {
        const N* const left = sums + done * all_columns();
        run_epilogue(*pass_, {at, n, 0, columns}, {left, left + (p_.paired ? columns : 0), all_columns()}, team_,
                     parts_);
      }
      if (at + n == positions) pass_->finish(parts_);
      done += n;
    }
  }

  const convolution_problem& p_;
  thread_team& team_;
  const tensor_panels panels_;
  const result_matrices result_;
  const std::int64_t columns_;  // columns of a group
  std::int64_t panel_ = 0;
  std::byte* own_ = nullptr;
  bool by_columns_ = false;  // true if lines of the result are columns
  std::optional<epilogue_pass<N>> pass_;
  std::vector<partial_reductions> parts_;
};

// Returns a window of one element over an image with these extents.
windows::geometry elements_of(const std::int64_t (&extents)[windows::most_spatial]) noexcept {
  windows::geometry g;
  for (std::size_t i = 0; i < windows::most_spatial; ++i) g.set(i, extents[i], extents[i], 1, {});
  return g;
}

// Computes dfilters: for some filters at a time, adds the products of panel after panel.
template <class T, class Sums, class N>
class filter_product {
 public:
  filter_product(const convolution_problem& p, thread_team& team)
      : p_(p),
        team_(team),
        panels_(p.x, p, false, p.channels_of_group),
        gradient_(p.y, elements_of(p.out), false, p.filters_of_group),
        result_(p) {}

  std::int64_t fewest_bytes() const noexcept { return bytes(1, 1); }
  /// Does the same as image_product::choose_panels.
  std::int64_t choose_panels(std::int64_t most_bytes) noexcept {
    const std::int64_t all = std::max<std::int64_t>(1, positions()), k = panels_.k();
    const std::int64_t bytes_of_filter = k * static_cast<std::int64_t>(sizeof(Sums) + sizeof(N));
    filters_ =
        std::clamp(panel_bytes / bytes_of_filter, std::min<std::int64_t>(16, p_.filters_of_group), p_.filters_of_group);
    const std::int64_t bytes_of_position = (k + filters_) * static_cast<std::int64_t>(sizeof(T));
    panel_ = std::clamp(panel_bytes / bytes_of_position, std::min(least_panel, all), all);
    while (bytes(filters_, panel_) > most_bytes) (panel_ > least_panel || filters_ == 1 ? panel_ : filters_) /= 2;
    return bytes(filters_, panel_);
  }

  void compute() {
    const std::int64_t all = positions(), k = panels_.k(), panel = panel_, filters = filters_;
    const uninitialized_array<T> gathered(panel * k), gradient(panel * filters);
    const uninitialized_array<Sums> sums(filters * k);
    const uninitialized_array<N> lines(filters * k);
    const uninitialized_array<std::byte> own(result_.bytes());
    const filter_order order = order_of_filter(result_.shape);
    const auto elements = elements_of_filter(result_.shape, order);
    const epilogue_pass<N> pass(p_.tree, result_.matrix(0, own.data()));
    for (std::int64_t filter = 0; filter < p_.groups * p_.filters_of_group;) {
      const std::int64_t group = filter / p_.filters_of_group, in_group = filter % p_.filters_of_group;
      const std::int64_t n = std::min(filters, p_.filters_of_group - in_group);
      if (all == 0) std::fill_n(sums.data(), n * k, Sums());
      for (std::int64_t q = 0; q < all; q += panel) {
        const std::int64_t count = std::min(panel, all - q);
        panels_.gather(group, q, count, gathered.data(), team_);
        gradient_.gather({group, q, count, in_group, n}, gradient.data(), team_);
        const bool contiguous_k = panels_.has_contiguous_k(), by_filters = gradient_.has_contiguous_k();
        blas::multiply<T, Sums>(k, n, count, {gathered.data(), contiguous_k ? k : count, !contiguous_k},
                                {gradient.data(), by_filters ? n : count, by_filters}, q == 0 ? 0 : 1, sums.data(), k);
      }
      finish(pass, filter, n, sums.data(), elements, lines.data());
      filter += n;
    }
    pass.finish(parts_);
    if (!result_.direct) store_filters(own.data(), p_, order, team_);
  }

 private:
  std::int64_t positions() const noexcept { return p_.images * panels_.positions(); }
  std::int64_t bytes(std::int64_t filters, std::int64_t panel) const noexcept {
    const std::int64_t k = panels_.k();
    return result_.bytes() + k * static_cast<std::int64_t>(sizeof(filter_element)) +
           filters * k * static_cast<std::int64_t>(sizeof(Sums) + sizeof(N)) +
           panel * (k + filters) * static_cast<std::int64_t>(sizeof(T));
  }

  // Brings sums into the order of the result's elements, and converts them to results.
  void finish(const epilogue_pass<N>& pass, std::int64_t first, std::int64_t filters, const Sums* sums,
              const std::vector<filter_element>& elements, N* lines) {
    const auto k = static_cast<std::int64_t>(elements.size());
    const bool by_filters = pass.lines_are_columns();
    team_.spread(filters, 1, [&](std::int64_t filter) {
      for (std::int64_t j = 0; j < k; ++j) {
        const auto& [channel, position] = elements[static_cast<std::size_t>(j)];
        lines[by_filters ? j * filters + filter : filter * k + j] =
            static_cast<N>(sums[filter * k + panels_.k_of(channel, position)]);
      }
    });
    if (by_filters)
      run_epilogue(pass, {0, k, first, filters}, {lines, lines, filters}, team_, parts_);
    else
      run_epilogue(pass, {first, filters, 0, k}, {lines, lines, k}, team_, parts_);
  }

  const convolution_problem& p_;
  thread_team& team_;
  const tensor_panels panels_, gradient_;
  const result_matrices result_;
  std::int64_t filters_ = 0, panel_ = 0;
  std::vector<partial_reductions> parts_;
};

// Computes a product, unless `dry_run`. Returns the bytes of memory that the product uses.
template <class Product>
result<std::uint64_t> compute(Product product, std::uint64_t workspace, std::string_view name, bool dry_run) {
  const auto fewest = static_cast<std::uint64_t>(product.fewest_bytes());
  if (fewest > workspace)
    return error(reaction::unsupported, "cutlass",
                 cat(name, ": workspace is ", workspace, " bytes; expected at least ", fewest, " on the host engine"));
  const std::int64_t used =
      product.choose_panels(static_cast<std::int64_t>(std::min<std::uint64_t>(workspace, INT64_MAX)));
  if (!dry_run) product.compute();
  return static_cast<std::uint64_t>(used);
}

template <class T, class Sums, class N>
result<std::uint64_t> compute_as(const convolution_problem& p, std::uint64_t workspace, std::string_view name,
                                 thread_team& team, bool dry_run) {
  if (p.result == computed_tensor::dfilters)
    return compute(filter_product<T, Sums, N>(p, team), workspace, name, dry_run);
  return compute(image_product<T, Sums, N>(p, team), workspace, name, dry_run);
}

result<std::uint64_t> compute_any(const convolution_problem& p, std::uint64_t workspace, std::string_view name,
                                  thread_team& team, bool dry_run) {
  if (p.images == 0 && p.result != computed_tensor::dfilters) return 0;
  switch (p.sums) {
    case dtype::f32:
      return compute_as<float, float, float>(p, workspace, name, team, dry_run);
    case dtype::f64:
      return compute_as<double, double, double>(p, workspace, name, team, dry_run);
    case dtype::i32:  // a double holds every sum exactly
      return compute_as<std::int8_t, std::int32_t, double>(p, workspace, name, team, dry_run);
    default:
      return error(reaction::fatal, "cutlass", cat(name, ": these types have no product"));
  }
}

}  // namespace

result<void> convolve(const convolution_problem& p, std::uint64_t workspace, std::string_view name, thread_team& team) {
  TROUPE_TRY(compute_any(p, workspace, name, team, false));
  return {};
}

result<std::uint64_t> memory_for(const convolution_problem& p, std::uint64_t workspace, std::string_view name,
                                 thread_team& team) {
  return compute_any(p, workspace, name, team, true);
}

}  // namespace troupe::cutlass::host
