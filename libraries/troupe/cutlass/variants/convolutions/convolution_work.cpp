// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cutlass/variants/convolutions/convolution_epilogues.hpp>
#include <troupe/cutlass/variants/convolutions/convolution_rows.hpp>
#include <troupe/cutlass/variants/convolutions/convolution_work.hpp>

namespace troupe::cutlass {
namespace {

constexpr std::size_t spatial_axes = grouped_tensor::spatial_axes;

// Returns the number of channels, at least `channels`, with which copies and products are estimated to be fastest.
std::int64_t padded(std::int64_t channels, dtype t) noexcept {
  std::int64_t best = channels;
  double least = static_cast<double>(channels) * 4;  // cost of reading elements one by one
  if (channels * size_of(t) % 16 == 0 || size_of(t) > 4) return channels;
  for (const auto& [bytes, cost] : {std::pair{16, 1.0}, std::pair{8, 1.15}, std::pair{4, 1.4}}) {
    if (bytes < size_of(t)) continue;
    const std::int64_t unit = bytes / size_of(t), rounded = (channels + unit - 1) / unit * unit;
    if (static_cast<double>(rounded) * cost < least) best = rounded, least = static_cast<double>(rounded) * cost;
  }
  return best;
}
std::int64_t aligned(std::int64_t channels, dtype t) noexcept {
  const std::int64_t unit = std::max<std::int64_t>(1, 16 / size_of(t));
  return (channels + unit - 1) / unit * unit;
}

// Returns true if kernels copy 16 bytes at a time from this tensor.
bool is_good(const grouped_tensor& t, bool gathered) noexcept {
  const std::int64_t channels = gathered ? t.channels * size_of(t.type) : 0;
  return t.channel == 1 && alignment_of({t.alignment(), channels}) == 16;
}

class work_builder {
 public:
  work_builder(const convolution_problem& p, const convolution_choice& c, std::uint64_t memory, convolution_work& to)
      : p_(p), choice_(c), memory_{memory}, to_(to), epilogue_(epilogue_plan_of(p)) {}

  result<void> build() {
    image_ = image_of(p_), other_ = is_gradient_of_filters(p_) ? gradient() : filters_of(p_);
    target_ = result_of(p_);
    copy_factors();
    to_.signature.convolution = p_.result == computed_tensor::y    ? convolution_kind::forward
                                : p_.result == computed_tensor::dx ? convolution_kind::data_gradient
                                                                   : convolution_kind::weight_gradient;
    to_.signature.rank = rank();
    TROUPE_TRY(set_result_memory());
    to_.tree = epilogue_.is_separate ? plain_tree() : tree_of_products(p_, columns_of_group());
    if (p_.result == computed_tensor::dx)
      add_data_gradients();
    else
      to_.products.push_back(is_gradient_of_filters(p_) ? weight_gradient() : forward());
    to_.signature.product = signature();
    if (to_.signature.convolution == convolution_kind::data_gradient)
      to_.reuse = static_cast<double>(p_.window_size()) / static_cast<double>(launches_of(p_));
    else if (to_.signature.convolution != convolution_kind::none)
      to_.reuse = static_cast<double>(p_.window_size());
    to_.reuse = std::max(1.0, to_.reuse);
    return {};
  }
  std::uint64_t end() const noexcept { return memory_.next; }

 private:
  // Returns dy. Precondition: the result is the gradient of filters.
  grouped_tensor gradient() const noexcept {
    convolution_problem for_dx = p_;
    for_dx.result = computed_tensor::dx;
    return image_of(for_dx);
  }

  void copy_factors() {
    const bool gathers_k = !is_gradient_of_filters(p_);
    // Added channels are 0, in the image and in the filters.
    const std::int64_t terms = choice_.image && choice_.other ? padded(image_.channels, image_.type) : image_.channels;
    if (choice_.image) {
      grouped_tensor to = image_;
      to.channels = gathers_k ? terms : pads_taps() ? padded(image_.channels, image_.type) : image_.channels;
      image_ = copied(image_, to, false);
    }
    if (!choice_.other) return;
    grouped_tensor to = other_;
    if (p_.result == computed_tensor::y)
      to.channels = terms;
    else
      to.channels = aligned(other_.channels, other_.type);
    if (p_.result == computed_tensor::dx) to.items = terms;
    const std::int64_t lines = other_.channels;
    other_ = copied(other_, to, gathers_k);
    if (p_.result != computed_tensor::y) other_.channels = lines;
  }
  // Returns true if the product for dfilters may have columns for added channels, which are then discarded: if the
  // result is copied and no operand of the epilogue has columns.
  bool pads_taps() const noexcept { return choice_.result && !epilogue_.is_separate && p_.tree.memory().empty(); }
  grouped_tensor copied(const grouped_tensor& from, const grouped_tensor& extents, bool groups_outside) {
    const grouped_tensor to = in_order(extents, memory_.take(extents.elements(), extents.type), groups_outside);
    to_.before.push_back(copy_of(from, to));
    return to;
  }

  std::uint8_t rank() const noexcept {
    std::uint8_t out = 1;
    for (std::uint8_t j = 1; j < spatial_axes; ++j) {
      const std::size_t i = spatial_axes - 1 - j;
      if (p_.in[i] != 1 || p_.out[i] != 1 || p_.window[i] != 1 || p_.padding_before[i] != 0)
        out = static_cast<std::uint8_t>(j + 1);
    }
    return out;
  }

  // -- results

  std::int64_t rows() const noexcept {
    return is_gradient_of_filters(p_) ? p_.filters_of_group * p_.groups : target_.spatial_elements();
  }
  // Returns the number of sums in a row: channels of all groups with both halves of pairs, or elements of a filter.
  std::int64_t all_sums() const noexcept {
    return is_gradient_of_filters(p_)        ? target_.channels * target_.spatial_elements()
           : p_.result == computed_tensor::y ? p_.filters_of_group * p_.groups
                                             : p_.channels_of_group * p_.groups;
  }
  // Sets the memory that the products write, and adds the copies after them.
  result<void> set_result_memory() {
    into_ = target_;
    if (epilogue_.is_separate) return set_sums_memory();
    if (choice_.result) {
      grouped_tensor to = target_;
      if (is_gradient_of_filters(p_)) to.channels = image_.channels;
      into_ = in_order(to, memory_.take(to.elements(), to.type), is_gradient_of_filters(p_));
      to_.after.push_back(copy_of(into_, target_));
    }
    return {};
  }
  // Sets the memory of sums for a separate epilogue: image x position x channel for y and dx, filter x tap for
  // dfilters.
  result<void> set_sums_memory() {
    grouped_tensor sums = target_;
    sums.type = p_.sums;
    if (!is_gradient_of_filters(p_)) {
      sums.groups = p_.groups, sums.channels = all_sums() / p_.groups;
      into_ = in_order(sums, memory_.take(sums.elements(), sums.type), false);
      return add_separate_epilogue(into_.address, all_sums());
    }
    into_ = in_order(sums, memory_.take(sums.elements(), sums.type), true);
    if (has_order_of_taps(target_)) return add_separate_epilogue(into_.address, all_sums());
    const grouped_tensor ordered = in_order_of_memory(sums);
    to_.between.push_back(copy_of(into_, ordered));
    return add_separate_epilogue(ordered.address, all_sums());
  }
  // Returns dense filters with the result's order of axes in memory, which is the order of the epilogue's columns.
  grouped_tensor in_order_of_memory(const grouped_tensor& like) {
    grouped_tensor out = like;
    out.address = memory_.take(like.elements(), like.type);
    const std::size_t channel = spatial_axes;  // follows the spatial axes
    std::array<std::size_t, spatial_axes + 1> order{0, 1, 2, channel};
    const auto stride_of = [&](std::size_t i) { return i == channel ? target_.channel : target_.spatial_strides[i]; };
    const auto extent = [&](std::size_t i) { return i == channel ? like.channels : like.spatial_extents[i]; };
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return stride_of(a) < stride_of(b); });
    std::int64_t next = 1;
    for (const std::size_t i : order) {
      if (extent(i) == 1) continue;
      (i == channel ? out.channel : out.spatial_strides[i]) = next;
      next *= extent(i);
    }
    out.item = next, out.group = next * like.items;
    return out;
  }

  result<void> add_separate_epilogue(std::uint64_t sums, std::int64_t row) {
    problem q;
    const bool filters = is_gradient_of_filters(p_);
    const std::int64_t columns = p_.paired ? row / 2 : row;
    q.m = rows(), q.n = columns, q.k = 0, q.batch = filters ? 1 : p_.images;
    q.sums = p_.sums, q.options = p_.options;
    q.a = {sums, image_.type, 16, 1, 0}, q.b = {sums, other_.type, 16, 1, 0};
    set_separate_result(q);
    to_.separate_tree = TROUPE_TRY(tree_of_sums(p_, sums, q.m, row));
    q.tree = epilogue::tree(to_.separate_tree.data(), to_.separate_tree.size());
    to_.separate_epilogue = q;
    return {};
  }
  void set_separate_result(problem& q) {
    const placed_tensor& t = p_.computed();
    if (is_gradient_of_filters(p_)) {
      // Without gaps, the columns have stride 1.
      const grouped_tensor dense = dense_filters();
      q.d = {dense.address, t.type, dense.address == t.address ? t.item : dense.item, 1, 0};
      if (dense.address != t.address) to_.after.push_back(copy_of(dense, target_));
      return;
    }
    const std::int64_t row_stride = target_.spatial_stride(false);
    if (row_stride != 0 && !choice_.result) {
      q.d = {t.address, t.type, row_stride, t.channel, p_.images == 1 ? 0 : t.item};
      return;
    }
    const grouped_tensor to = in_order(target_, memory_.take(target_.elements(), t.type), false);
    q.d = {to.address, t.type, q.n, 1, p_.images == 1 ? 0 : to.item};
    to_.after.push_back(copy_of(to, target_));
  }
  // Returns the result itself if its filters have no gaps, otherwise dense filters in new memory.
  grouped_tensor dense_filters() {
    const memory_pieces before = memory_;
    grouped_tensor dense = in_order_of_memory(target_);
    if (dense.channel != target_.channel || dense.spatial_strides != target_.spatial_strides) return dense;
    memory_ = before;
    return target_;
  }
  // -- products

  bool is_paired() const noexcept { return p_.paired && !epilogue_.is_separate; }
  std::int64_t columns_of_group() const noexcept {
    const std::int64_t all = p_.result == computed_tensor::y ? p_.filters_of_group : p_.channels_of_group;
    return is_paired() ? all / 2 : all;
  }
  std::int64_t batch() const noexcept { return epilogue_.by_images ? p_.images : p_.groups; }
  std::int64_t batch_stride(const grouped_tensor& t) const noexcept { return epilogue_.by_images ? t.item : t.group; }

  problem start() const {
    problem q;
    q.batch = batch(), q.sums = p_.sums, q.paired = is_paired();
    q.options = p_.options;
    q.tree = epilogue::tree(to_.tree.data(), to_.tree.size());
    q.d = {into_.address, into_.type, 0, into_.channel, batch_stride(into_)};
    return q;
  }
  // Returns arguments with the extents and strides of the image. The caller sets the other fields.
  kernels::convolution_arguments start_arguments() const noexcept {
    kernels::convolution_arguments w{};
    w.channels = static_cast<int>(image_.channels);
    w.by_images = epilogue_.by_images ? 1 : 0;
    for (std::size_t j = 0; j < spatial_axes; ++j)
      w.image[j] = static_cast<int>(image_.spatial_extents[j]), w.image_strides[j] = image_.spatial_strides[j];
    w.image_strides[spatial_axes] = image_.item;
    return w;
  }
  // Returns the arguments of y and dfilters, without the strides of the result and of the other factor.
  kernels::convolution_arguments sliding_arguments() const noexcept {
    kernels::convolution_arguments w = start_arguments();
    for (std::size_t j = 0; j < spatial_axes; ++j) {
      const std::size_t i = spatial_axes - 1 - j;
      w.positions[j] = static_cast<int>(p_.out[i]), w.taps[j] = static_cast<int>(p_.window[i]);
      w.first[j] = static_cast<int>(-p_.padding_before[i]), w.per_position[j] = static_cast<int>(p_.stride[i]);
      w.per_tap[j] = static_cast<int>(p_.dilation[i]);
    }
    w.sixty_four[spatial_axes] = 64;
    for (std::size_t j = 0; j < spatial_axes; ++j) {
      const int radix = std::max(1, w.positions[j]);
      w.sixty_four[j] = w.sixty_four[spatial_axes] % radix, w.sixty_four[spatial_axes] /= radix;
    }
    return w;
  }
  bool is_identity_window() const noexcept {
    for (std::size_t i = 0; i < spatial_axes; ++i)
      if (p_.window[i] != 1 || p_.stride[i] != 1 || p_.padding_before[i] != 0 || p_.in[i] != p_.out[i]) return false;
    return true;
  }
  // Sets the stride of rows of the result. Returns true if rows have a single stride.
  bool set_row_stride(problem& q) const noexcept {
    q.d.row = into_.spatial_stride(!epilogue_.by_images);
    return q.d.row != 0;
  }
  // Sets the strides of rows of the result. Rows are `step_0`, `step_1` and `step_2` positions apart along the axes.
  void set_result_strides(kernels::convolution_arguments& w, std::int64_t step_0 = 1, std::int64_t step_1 = 1,
                          std::int64_t step_2 = 1) const noexcept {
    std::int64_t row = 1;
    const std::int64_t steps[spatial_axes] = {step_0, step_1, step_2};
    for (std::size_t j = 0; j < spatial_axes; ++j) {
      w.result_strides[j] = steps[j] * into_.spatial_strides[j], w.row_strides[j] = steps[j] * row;
      row *= into_.spatial_extents[j];
    }
    w.result_strides[spatial_axes] = into_.item, w.row_strides[spatial_axes] = row;
  }

  void set_filter_strides(kernels::convolution_arguments& w) const noexcept {
    w.other_strides[0] = other_.item;
    for (std::size_t j = 0; j < spatial_axes; ++j) w.other_strides[j + 1] = other_.spatial_strides[j];
    // Filters of a group are consecutive, so a group is a multiple of the stride between filters.
    w.items_of_group =
        other_.item != 0 && other_.group % other_.item == 0 ? static_cast<int>(other_.group / other_.item) : 0;
  }

  convolution_product forward() {
    convolution_product out{start(), sliding_arguments()};
    problem& q = out.product;
    q.m = p_.positions() * (epilogue_.by_images ? 1 : p_.images), q.n = columns_of_group();
    q.k = p_.window_size() * image_.channels;
    set_filter_strides(out.arguments);
    q.a = {image_.address, image_.type, 0, image_.channel, batch_stride(image_)};
    q.b = {other_.address, other_.type, other_.item, other_.channel, epilogue_.by_images ? 0 : other_.group};
    to_.signature.strided_result = !set_row_stride(q);
    set_result_strides(out.arguments);
    const std::int64_t line = image_.spatial_stride(!epilogue_.by_images);
    if (is_identity_window() && line != 0 && !to_.signature.strided_result)
      to_.signature.convolution = convolution_kind::none, q.a.line = line;
    return out;
  }

  void add_data_gradients() {
    const std::int64_t count[spatial_axes] = {remainders(p_, 2), remainders(p_, 1), remainders(p_, 0)};
    problem undivided = start();
    to_.signature.strided_result = launches_of(p_) > 1 || !set_row_stride(undivided);
    for (std::int64_t d = 0; d < count[2]; ++d)
      for (std::int64_t h = 0; h < count[1]; ++h)
        for (std::int64_t w = 0; w < count[0]; ++w) to_.products.push_back(data_gradient({w, h, d}));
    const std::int64_t line = image_.spatial_stride(!epilogue_.by_images);
    if (!is_identity_window() || line == 0 || to_.signature.strided_result) return;
    to_.signature.convolution = convolution_kind::none;
    problem& q = to_.products[0].product;
    q.a.line = line, q.b.term = other_.item;
  }
  // Returns the product for the positions whose coordinates have these remainders modulo the stride.
  convolution_product data_gradient(const std::array<std::int64_t, spatial_axes>& remainder) const {
    convolution_product out{start(), start_arguments()};
    problem& q = out.product;
    kernels::convolution_arguments& w = out.arguments;
    std::int64_t taps = 1, positions = epilogue_.by_images ? 1 : p_.images, filter_offset = 0, result_offset = 0,
                 row = 1;
    std::int64_t step[spatial_axes];
    set_filter_strides(w);
    for (std::size_t j = 0; j < spatial_axes; ++j) {
      const std::size_t i = spatial_axes - 1 - j;
      const std::int64_t stride = p_.stride[i], dilation = p_.dilation[i];
      // The first element of the filter that contributes to these positions, the distance between such elements, and
      // their number.
      const std::int64_t from = remainder[j] + p_.padding_before[i], between = stride / std::gcd(stride, dilation);
      std::int64_t first = 0, count = 0;
      for (std::int64_t f = p_.window[i]; f-- > 0;)
        if ((from - f * dilation) % stride == 0) first = f, ++count;
      step[j] = stride;
      const std::int64_t here = (p_.in[i] - remainder[j] + stride - 1) / stride;
      taps *= count, positions *= here;
      w.positions[j] = static_cast<int>(here), w.taps[j] = static_cast<int>(std::max<std::int64_t>(1, count));
      w.first[j] = count == 0 ? 0 : static_cast<int>((from - first * dilation) / stride);
      w.per_position[j] = 1, w.per_tap[j] = static_cast<int>(-(between * dilation / stride));
      w.other_strides[j + 1] = between * other_.spatial_strides[j];
      filter_offset += first * other_.spatial_strides[j], result_offset += remainder[j] * into_.spatial_strides[j],
          w.first_row += remainder[j] * row;
      row *= into_.spatial_extents[j];
    }
    set_result_strides(w, step[0], step[1], step[2]);
    q.m = positions, q.n = columns_of_group(), q.k = taps * image_.channels;
    q.a = {image_.address, image_.type, 0, image_.channel, batch_stride(image_)};
    q.b = {other_.address + static_cast<std::uint64_t>(filter_offset * size_of(other_.type)), other_.type,
           other_.channel, 0, epilogue_.by_images ? 0 : other_.group};
    q.d.address += static_cast<std::uint64_t>(result_offset * size_of(into_.type));
    q.d.row = to_.signature.strided_result ? 0 : into_.spatial_stride(!epilogue_.by_images);
    return out;
  }

  convolution_product weight_gradient() {
    convolution_product out{start(), sliding_arguments()};
    problem& q = out.product;
    kernels::convolution_arguments& w = out.arguments;
    for (std::size_t j = 0; j < spatial_axes; ++j) w.other_strides[j] = other_.spatial_strides[j];
    w.other_strides[spatial_axes] = other_.item;
    q.m = p_.filters_of_group, q.n = p_.window_size() * image_.channels, q.k = p_.positions() * p_.images;
    q.a = {other_.address, other_.type, other_.channel, 0, other_.group};
    q.b = {image_.address, image_.type, image_.channel, 0, image_.group};
    q.d.row = into_.items == 1 ? q.n : into_.item;
    const std::int64_t image_stride = image_.spatial_stride(true), other_stride = other_.spatial_stride(true);
    q.a.term = other_stride;
    if (is_identity_window() && image_stride != 0 && other_stride != 0)
      to_.signature.convolution = convolution_kind::none, q.b.term = image_stride;
    return out;
  }

  // -- signature

  kernel_signature signature() const {
    kernel_signature f = signature_of(to_.products[0].product);
    if (to_.signature.convolution == convolution_kind::none) return f;
    const bool filters = is_gradient_of_filters(p_);
    factor_signature &image = filters ? f.head.b : f.head.a, &other = filters ? f.head.a : f.head.b;
    set(image, image_, filters, true);
    set(other, other_, p_.result != computed_tensor::y, false);
    if (to_.signature.strided_result) {
      f.head.d_access = into_.channel == 1 ? static_cast<std::int8_t>(into_.alignment()) : std::int8_t{0};
      f.head.d_access_across = 0;
    }
    return f;
  }
  static void set(factor_signature& to, const grouped_tensor& t, bool by_lines, bool gathered) noexcept {
    to.contiguous = t.channel != 1 ? contiguous_axis::none : by_lines ? contiguous_axis::lines : contiguous_axis::k;
    const std::int64_t channels = gathered ? t.channels * size_of(t.type) : 0;
    to.alignment =
        t.channel != 1 ? static_cast<std::uint8_t>(size_of(t.type)) : alignment_of({t.alignment(), channels});
  }

  const convolution_problem& p_;
  const convolution_choice choice_;
  memory_pieces memory_;
  convolution_work& to_;
  const epilogue_plan epilogue_;
  grouped_tensor image_, other_, target_, into_;
};

}  // namespace

convolution_choice needed_copies(const convolution_problem& p) {
  convolution_choice c;
  c.other = p.result == computed_tensor::y && !filters_of(p).has_k_in_order();
  c.result = is_gradient_of_filters(p) && !epilogue_plan_of(p).is_separate && !result_of(p).has_k_in_order();
  return c;
}
convolution_choice useful_copies(const convolution_problem& p) {
  convolution_choice c = needed_copies(p);
  const bool filters = is_gradient_of_filters(p);
  c.image = !is_good(image_of(p), true);
  convolution_problem gradient = p;
  gradient.result = computed_tensor::dx;
  c.other = c.other || (c.image && !filters) || !is_good(filters ? image_of(gradient) : filters_of(p), false);
  const bool pads_taps = filters && !is_good(image_of(p), true) && p.tree.memory().empty();
  c.result = c.result || pads_taps || (!filters && result_of(p).channel != 1);
  return c;
}

result<convolution_work> work_of(const convolution_problem& p, const convolution_choice& c, std::uint64_t memory) {
  convolution_work out;
  if (c.rows) {
    convolution_of_rows rows = rows_as_channels(p, memory);
    out.before = std::move(rows.before);
    work_builder w(rows.problem, needed_copies(rows.problem), memory + rows.bytes, out);
    TROUPE_TRY(w.build());
    out.after.insert(out.after.end(), rows.after.begin(), rows.after.end());
    out.bytes = w.end() - memory;
  } else {
    work_builder w(p, c, memory, out);
    TROUPE_TRY(w.build());
    out.bytes = w.end() - memory;
  }
  constexpr std::int64_t most = most_counted;
  for (const convolution_product& x : out.products)
    if (x.product.m > most || x.product.k > most)
      return error(reaction::unsupported, "cutlass",
                   cat("images have ", std::max(x.product.m, x.product.k),
                       " positions or products in a sum; expected at most ", most, ": split the batch of images"));
  return out;
}

}  // namespace troupe::cutlass
