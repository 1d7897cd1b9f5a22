// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bench/gpu/matrix_copies.hpp>
#include <bench/host/jit_kernels.hpp>
#include <bit>
#include <cmath>
#include <troupe/base/text/cat.hpp>
#include <troupe/epilogue/numbers.hpp>

namespace troupe::bench {
namespace {

constexpr std::int64_t random_count = 1 << 20;  // larger operands repeat this many values

}  // namespace

std::vector<std::byte> random_elements(dtype type, std::int64_t count, std::uint64_t seed) {
  count = std::min(count, random_count);
  const bool two = type == dtype::f4e2m1x2;
  const std::vector<float> values = random_floats(two ? 2 * count : count, seed);
  std::vector<std::byte> out(static_cast<std::size_t>(count) * bytes_of(type));
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    if (two) {
      constexpr float largest = 6;
      out[i] = std::bit_cast<std::byte>(
          float4_e2m1x2(float4_e2m1(largest * values[2 * i]), float4_e2m1(largest * values[2 * i + 1])));
    } else {
      epilogue::put_number(out.data() + i * bytes_of(type), type, type == dtype::i8 ? 127 * values[i] : values[i]);
    }
  }
  return out;
}

matrix_copies::matrix_copies(const device& gpu, dtype type, std::int64_t rows, std::int64_t columns, int count,
                             std::span<const std::byte> repeated)
    : type_(type), rows_(rows), columns_(columns), bytes_(static_cast<std::size_t>(rows * columns) * bytes_of(type)) {
  constexpr std::size_t alignment = 256;
  distance_ = (bytes_ + alignment - 1) / alignment * alignment;
  memory_ = gpu.alloc<std::byte>(distance_ * static_cast<std::size_t>(count));
  if (repeated.empty()) {
    gpu.fill(memory_, std::byte{0xff}).get().value();  // NaN, so that elements that are not written are detected
    return;
  }
  // The values continue where those of the previous matrix have ended, as on the raw side.
  const std::size_t all = bytes_ * static_cast<std::size_t>(count), line = distance_ == bytes_ ? all : bytes_;
  constexpr std::size_t most = std::size_t{64} << 20;  // bytes of one upload
  std::vector<std::byte> tile;
  do tile.insert(tile.end(), repeated.begin(), repeated.end());
  while (tile.size() + repeated.size() <= std::min(all, most));
  for (std::size_t done = 0; done < all;) {
    const std::size_t in_line = done % line, from = done % tile.size(),
                      here = std::min(line - in_line, tile.size() - from);
    const auto first = tile.begin() + static_cast<std::ptrdiff_t>(from);
    gpu.upload(memory_.slice(done / line * distance_ + in_line, here),
               std::vector<std::byte>(first, first + static_cast<std::ptrdiff_t>(here)))
        .get()
        .value();
    done += here;
  }
}
memory_range matrix_copies::range(int which) const {
  return memory_.slice(static_cast<std::size_t>(which) * distance_, bytes_).memory();
}
std::vector<std::byte> matrix_copies::download(const device& gpu, int which, std::size_t most_bytes) const {
  return gpu.download(memory_.slice(static_cast<std::size_t>(which) * distance_, std::min(bytes_, most_bytes)))
      .get()
      .value();
}

std::string difference_of(dtype type, std::span<const std::byte> ours, std::span<const std::byte> theirs, double share,
                          double constant) {
  for (std::size_t at = 0; at < ours.size(); at += bytes_of(type)) {
    const double x = epilogue::number_at(ours.data() + at, type), y = epilogue::number_at(theirs.data() + at, type);
    if (!(std::abs(x - y) <= share * std::abs(y) + constant))
      return cat("element ", at / bytes_of(type), " is ", std::to_string(x), ", expected ", std::to_string(y));
  }
  return {};
}

}  // namespace troupe::bench
