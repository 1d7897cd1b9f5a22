// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <fstream>
#include <numbers>
#include <troupe/fft/fft.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;

// Draws the spectrum of an image of waves: a bright point for each wave.
int main() {
  runtime rt;
  const device gpu = rt.open_device();
  constexpr std::size_t rows = 192, columns = 256, half = columns / 2 + 1;
  std::vector<float> image(rows * columns);
  constexpr float turn = 2 * std::numbers::pi_v<float>;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      const float y = static_cast<float>(i) / rows, x = static_cast<float>(j) / columns;
      image[i * columns + j] = std::cos(turn * 40 * x) + std::cos(turn * (20 * y + 10 * x)) / 2;
    }

  const fft::shape n{rows, columns};
  const auto pixels = gpu.alloc<float>(n.count());
  const auto bins = gpu.alloc<complex64>(fft::half_of(n).count());
  gpu.upload(pixels, image);
  gpu.tell(fft::r2c<float>{.input = pixels, .output = bins, .n = n, .normalization = fft::normalization::forward});
  const auto spectrum = gpu.download(bins).get();
  if (!spectrum) {
    std::printf("%s\n", spectrum.error().to_string().c_str());
    return 1;
  }

  // Brightness by the logarithm of each bin, with frequency 0 in the middle of the left edge.
  std::ofstream picture("spectrum.pgm", std::ios::binary);
  picture << "P5\n" << half << " " << rows << "\n255\n";
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t k = 0; k < half; ++k) {
      const std::complex<float> bin = (*spectrum)[(i + rows / 2) % rows * half + k];
      picture.put(static_cast<char>(255 * std::clamp(1 + std::log10(std::abs(bin) + 1e-9f) / 4, 0.0f, 1.0f)));
    }

  // Half of each wave's amplitude is in its bin, half in the bin of the opposite direction.
  const float first = std::abs(std::complex<float>((*spectrum)[0 * half + 40])),
              second = std::abs(std::complex<float>((*spectrum)[20 * half + 10]));
  std::printf("waves of amplitude %.3f and %.3f; the picture is spectrum.pgm\n", static_cast<double>(2 * first),
              static_cast<double>(2 * second));
  return std::fabs(2 * first - 1) < 1e-3f && std::fabs(2 * second - 0.5f) < 1e-3f ? 0 : 1;
}
