// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/variants/convolutions/tensor_copy.hpp>
#include <vector>

namespace troupe::cutlass {
namespace {

constexpr int threads = 256, side = 32;  // copy_threads and copy_side of templates/ordered_copy.cuh
constexpr std::int64_t most_extent = (std::int64_t{1} << 31) - side;

using copied_axis = tensor_copy::copied_axis;

bool can_be_merged(const copied_axis& outer, const copied_axis& inner) noexcept {
  return inner.inside == inner.extent && outer.inside == outer.extent && outer.from == inner.from * inner.extent &&
         outer.to == inner.to * inner.extent && outer.zeros_before == 0 && outer.extent * inner.extent < most_extent;
}
std::size_t axis_of_least(const std::vector<copied_axis>& all, std::int64_t copied_axis::* stride) noexcept {
  const auto found = std::min_element(all.begin(), all.end(), [&](const copied_axis& x, const copied_axis& y) {
    return std::abs(x.*stride) < std::abs(y.*stride);
  });
  return static_cast<std::size_t>(found - all.begin());
}

}  // namespace

std::int64_t tensor_copy::elements() const noexcept {
  std::int64_t n = 1;
  for (const copied_axis& a : axes) n *= a.extent;
  return n;
}

double tensor_copy::microseconds(const cuda::gpu_properties& gpu) const noexcept {
  constexpr double launch_us = 2.5, share_of_memory = 0.55;
  const double bytes = 2.0 * static_cast<double>(elements()) * static_cast<double>(element_bytes);
  return launch_us + bytes / (gpu.memory_bytes_per_ns * share_of_memory * 1e3);
}

kernels::copy_arguments arguments_of(const tensor_copy& c) noexcept {
  std::vector<copied_axis> all;
  for (const copied_axis& a : c.axes)
    if (a.extent != 1 || a.zeros_before != 0 || a.inside == 0) all.push_back(a);
  std::sort(all.begin(), all.end(), [](const copied_axis& x, const copied_axis& y) { return x.to > y.to; });
  for (std::size_t i = all.size(); i-- > 1;)
    if (can_be_merged(all[i - 1], all[i])) {
      all[i - 1] = {all[i - 1].extent * all[i].extent, all[i - 1].inside * all[i].inside, all[i].from, all[i].to};
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
    }
  kernels::copy_arguments out{};
  out.from = c.from, out.to = c.to;
  if (!all.empty()) {
    const std::size_t read = axis_of_least(all, &copied_axis::from), written = axis_of_least(all, &copied_axis::to);
    std::swap(all[0], all[read]);
    // The axis that is contiguous in the target becomes axis 1, unless it is axis 0. If `written` was axis 0, it was
    // moved to `read`.
    const std::size_t second = read == written ? all.size() - 1 : written == 0 ? read : written;
    out.transposes = read != written ? 1 : 0;
    if (all.size() > 1 && second != 0) std::swap(all[1], all[second]);
    // If contiguous elements stay contiguous, the lanes of a warp copy along the larger axis.
    if (all.size() > 1 && out.transposes == 0 && all[0].extent < side / 2 && all[1].extent > all[0].extent)
      std::swap(all[0], all[1]);
  }
  all.resize(kernels::copy_arguments::axes);
  for (std::size_t i = 0; i < all.size(); ++i) {
    out.from_strides[i] = all[i].from, out.to_strides[i] = all[i].to;
    out.extents[i] = static_cast<int>(all[i].extent), out.inside[i] = static_cast<int>(all[i].inside);
    out.zeros_before[i] = static_cast<int>(all[i].zeros_before);
    // `from` is the address of index 0, which precedes the elements that are read.
    out.from -= static_cast<std::uint64_t>(all[i].zeros_before * all[i].from) * c.element_bytes;
  }
  return out;
}

std::int64_t blocks_of(const kernels::copy_arguments& a) noexcept {
  std::int64_t n = std::int64_t{(a.extents[0] - 1) / side + 1} * ((a.extents[1] - 1) / side + 1);
  for (int i = 2; i < kernels::copy_arguments::axes; ++i) n *= a.extents[i];
  return n;
}

variant_source copy_source(std::size_t element_bytes) {
  const char* const type = element_bytes == 1   ? "unsigned char"
                           : element_bytes == 2 ? "unsigned short"
                           : element_bytes == 4 ? "unsigned"
                                                : "unsigned long long";
  variant_source t;
  t.name = cat("cutlass.copy of ", element_bytes, " bytes");
  t.source = cat(
      "#include <troupe/cutlass/templates/copy_arguments.hpp>\n#include <troupe/cutlass/templates/ordered_copy.cuh>\n"
      "namespace troupe::cutlass::kernels {\nextern \"C\" __constant__ unsigned troupe_layout[6] = "
      "{sizeof(copy_arguments), sizeof(copy_arguments), 0, 0, 1, 1};\n"
      "extern \"C\" __global__ void __launch_bounds__(copy_threads) ",
      variant_kernel, "(const __grid_constant__ copy_arguments p) { copy_squares<", type, ">(p); }\n}\n");
  t.threads = threads, t.argument_bytes = t.fixed_bytes = sizeof(kernels::copy_arguments);
  return t;
}

}  // namespace troupe::cutlass
