// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels as people write them, unchanged, against plain C++. Each runs as the translator chooses and as fibers.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "compiled.hpp"

namespace troupe::cuda_on_host::testing {

namespace {

std::uint32_t blocks_for(std::size_t n, std::uint32_t block) {
  return static_cast<std::uint32_t>((n + block - 1) / block);
}

void expect_near(const std::vector<float>& got, const std::vector<double>& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i], tolerance * std::max(1.0, std::fabs(want[i])))
        << "element " << i << "; " << how_to_repeat();
}

}  // namespace

TEST(kernels, saxpy) {
  random_source random;
  for (const loaded_image& image : both_ways("saxpy.cu", {"saxpy"})) {
    const int n = static_cast<int>(random.between(1, 100'000));
    std::vector<float> x = random_floats(random, static_cast<std::size_t>(n)), y = random_floats(random, x.size());
    const float a = static_cast<float>(random.value());
    std::vector<double> want(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) want[i] = double(a) * x[i] + y[i];
    run(image, "saxpy", {blocks_for(x.size(), 256)}, {256}, 0, n, a, x.data(), y.data());
    expect_near(y, want, 1e-6);
  }
}

TEST(kernels, tree_reduction) {
  random_source random;
  for (const loaded_image& image : both_ways("reduce.cu", {"reduce_tree<double, 128>"})) {
    const int n = static_cast<int>(random.between(1, 20'000));
    std::vector<double> in(static_cast<std::size_t>(n));
    for (double& x : in) x = random.value();
    std::vector<double> out(blocks_for(in.size(), 256));
    run(image, "reduce_tree<double, 128>", {static_cast<std::uint32_t>(out.size())}, {128}, 0, in.data(), out.data(),
        n);
    for (std::size_t b = 0; b < out.size(); ++b) {
      double want = 0;
      for (std::size_t i = b * 256; i < std::min(in.size(), (b + 1) * 256); ++i) want += in[i];
      ASSERT_NEAR(out[b], want, 1e-12) << "block " << b << "; " << how_to_repeat();
    }
  }
}

TEST(kernels, shuffle_reduction) {
  random_source random;
  for (const loaded_image& image : both_ways("reduce.cu", {"reduce_shuffle"})) {
    std::vector<float> in = random_floats(random, static_cast<std::size_t>(random.between(1, 30'000)));
    float out = 0;
    run(image, "reduce_shuffle", {7}, {192}, 0, in.data(), &out, static_cast<int>(in.size()));
    EXPECT_NEAR(out, std::accumulate(in.begin(), in.end(), 0.0), 1e-3) << how_to_repeat();
  }
}

TEST(kernels, block_scan) {
  random_source random;
  for (const loaded_image& image : both_ways("scan.cu", {})) {
    std::vector<int> in(static_cast<std::size_t>(random.between(1, 5000))), out(in.size());
    for (int& x : in) x = static_cast<int>(random.between(-1000, 1000));
    run(image, "scan_blocks", {blocks_for(in.size(), 128)}, {128}, 2 * 128 * sizeof(int), in.data(), out.data(),
        static_cast<int>(in.size()));
    int sum = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      sum = i % 128 == 0 ? in[i] : sum + in[i];
      ASSERT_EQ(out[i], sum) << "element " << i << "; " << how_to_repeat();
    }
  }
}

TEST(kernels, tiled_matmul) {
  random_source random;
  for (const loaded_image& image : both_ways("matmul.cu", {"matmul<16>", "matmul<32>"}))
    for (const unsigned tile : {16u, 32u}) {
      const auto n = static_cast<std::size_t>(random.between(1, 100));
      const std::vector<float> a = random_floats(random, n * n), b = random_floats(random, n * n);
      std::vector<float> c(n * n, -1.0f);
      run(image, "matmul<" + std::to_string(tile) + ">", {blocks_for(n, tile), blocks_for(n, tile)}, {tile, tile}, 0,
          a.data(), b.data(), c.data(), static_cast<int>(n));
      std::vector<double> want(n * n);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
          for (std::size_t k = 0; k < n; ++k) want[i * n + j] += double(a[i * n + k]) * b[k * n + j];
      expect_near(c, want, 1e-4);
    }
}

TEST(kernels, histogram) {
  random_source random;
  for (const loaded_image& image : both_ways("histogram.cu", {})) {
    std::vector<unsigned char> data(static_cast<std::size_t>(random.between(1, 100'000)));
    std::vector<unsigned> want(256), counts(256);
    for (unsigned char& d : data)
      ++want[d = static_cast<unsigned char>(random.between(0, 255) & random.between(0, 255))];
    run(image, "histogram", {13}, {96}, 0, data.data(), static_cast<unsigned>(data.size()), counts.data());
    EXPECT_EQ(counts, want) << how_to_repeat();
  }
}

TEST(kernels, stencil_with_a_halo_where_threads_return_before_the_barrier) {
  random_source random;
  for (const loaded_image& image : both_ways("stencil.cu", {"heat::step"})) {
    const int w = static_cast<int>(random.between(1, 70)), h = static_cast<int>(random.between(1, 70));
    const std::vector<float> u = random_floats(random, static_cast<std::size_t>(w) * static_cast<std::size_t>(h));
    std::vector<float> v(u.size());
    std::vector<double> want(u.size());
    const auto at = [&](int x, int y) {
      return double(u[static_cast<std::size_t>(std::clamp(y, 0, h - 1) * w + std::clamp(x, 0, w - 1))]);
    };
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x)
        want[static_cast<std::size_t>(y * w + x)] =
            at(x, y) + 0.2 * (at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1) - 4 * at(x, y));
    run(image, "heat::step", {blocks_for(static_cast<std::size_t>(w), 16), blocks_for(static_cast<std::size_t>(h), 16)},
        {16, 16}, 0, u.data(), v.data(), w, h, 0.2f);
    expect_near(v, want, 1e-6);
  }
}

TEST(kernels, transpose) {
  random_source random;
  for (const loaded_image& image : both_ways("transpose.cu", {"transpose<float>"})) {
    const auto w = static_cast<std::size_t>(random.between(1, 150)),
               h = static_cast<std::size_t>(random.between(1, 150));
    const std::vector<float> in = random_floats(random, w * h);
    std::vector<float> out(w * h);
    run(image, "transpose<float>", {blocks_for(w, 32), blocks_for(h, 32)}, {32, 8}, 0, out.data(), in.data(),
        static_cast<int>(w), static_cast<int>(h));
    for (std::size_t y = 0; y < h; ++y)
      for (std::size_t x = 0; x < w; ++x)
        ASSERT_EQ(out[x * h + y], in[y * w + x]) << x << ", " << y << "; " << how_to_repeat();
  }
}

TEST(kernels, online_softmax) {
  random_source random;
  for (const loaded_image& image : both_ways("softmax.cu", {"softmax<64>"})) {
    const auto rows = static_cast<std::size_t>(random.between(1, 9)),
               columns = static_cast<std::size_t>(random.between(1, 500));
    std::vector<float> in = random_floats(random, rows * columns), out(in.size());
    for (float& x : in) x *= 20;
    std::vector<double> want(in.size());
    for (std::size_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (std::size_t c = 0; c < columns; ++c) sum += std::exp(double(in[r * columns + c]));
      for (std::size_t c = 0; c < columns; ++c) want[r * columns + c] = std::exp(double(in[r * columns + c])) / sum;
    }
    run(image, "softmax<64>", {static_cast<std::uint32_t>(rows)}, {64}, 0, in.data(), out.data(),
        static_cast<int>(columns));
    expect_near(out, want, 1e-5);
  }
}

TEST(kernels, layer_norm) {
  random_source random;
  for (const loaded_image& image : both_ways("layer_norm.cu", {})) {
    const std::size_t rows = 5, columns = static_cast<std::size_t>(random.between(2, 300));
    const std::vector<float> x = random_floats(random, rows * columns), gain = random_floats(random, columns),
                             bias = random_floats(random, columns);
    std::vector<float> y(x.size());
    std::vector<double> want(x.size());
    for (std::size_t r = 0; r < rows; ++r) {
      double mean = 0, variance = 0;
      for (std::size_t c = 0; c < columns; ++c) mean += x[r * columns + c] / double(columns);
      for (std::size_t c = 0; c < columns; ++c) variance += std::pow(x[r * columns + c] - mean, 2) / double(columns);
      for (std::size_t c = 0; c < columns; ++c)
        want[r * columns + c] = (x[r * columns + c] - mean) / std::sqrt(variance + 1e-5) * gain[c] + bias[c];
    }
    run(image, "layer_norm", {rows}, {96}, 0, x.data(), gain.data(), bias.data(), y.data(), static_cast<int>(columns),
        1e-5f);
    expect_near(y, want, 1e-4);
  }
}

TEST(kernels, convolution_with_constant_memory) {
  random_source random;
  for (const loaded_image& image : both_ways("convolution.cu", {"convolve"}, {"coefficients", "blocks_done"})) {
    const loaded_global* c = image.find_global("coefficients");
    const loaded_global* done = image.find_global("blocks_done");
    ASSERT_TRUE(c && done);
    EXPECT_TRUE(c->constant && !done->constant);
    EXPECT_EQ(c->bytes, 9 * sizeof(float));
    EXPECT_EQ(c->type, dtype::f32);
    const std::vector<float> k = random_floats(random, 9),
                             in = random_floats(random, static_cast<std::size_t>(random.between(1, 3000)));
    std::memcpy(c->address, k.data(), c->bytes);
    std::vector<float> out(in.size());
    std::vector<double> want(in.size());
    for (std::size_t i = 0; i < in.size(); ++i)
      for (std::size_t j = 0; j < 9; ++j)
        if (i + j >= 4 && i + j - 4 < in.size()) want[i] += double(k[j]) * in[i + j - 4];
    run(image, "convolve", {blocks_for(in.size(), 128)}, {128}, (128 + 8) * sizeof(float), in.data(), out.data(),
        static_cast<int>(in.size()));
    expect_near(out, want, 1e-5);
    unsigned count = 0;
    std::memcpy(&count, done->address, sizeof count);
    EXPECT_EQ(count, blocks_for(in.size(), 128));
  }
}

TEST(kernels, n_body_with_a_struct_by_value) {
  struct settings {
    float softening, time_step, drift[3];
  };
  struct vector4 {
    float x, y, z, w;
  };
  random_source random;
  for (const loaded_image& image : both_ways("particles.cu", {"attract<64>"})) {
    std::vector<vector4> bodies(static_cast<std::size_t>(random.between(1, 200))), velocities(bodies.size());
    for (vector4& b : bodies)
      b = {float(random.value()), float(random.value()), float(random.value()), float(random.value() + 1)};
    const settings s{0.01f, 0.5f, {0.1f, -0.2f, 0.3f}};
    std::vector<float> got;
    std::vector<double> want;
    for (const vector4& me : bodies) {
      double a[3] = {s.drift[0], s.drift[1], s.drift[2]};
      for (const vector4& o : bodies) {
        const double d[3] = {double(o.x) - me.x, double(o.y) - me.y, double(o.z) - me.z};
        const double f = o.w / std::pow(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + s.softening, 1.5);
        for (int i = 0; i < 3; ++i) a[i] += d[i] * f;
      }
      for (const double v : a) want.push_back(v * s.time_step);
    }
    run(image, "attract<64>", {blocks_for(bodies.size(), 64)}, {64}, 0, static_cast<void*>(bodies.data()),
        static_cast<void*>(velocities.data()), static_cast<int>(bodies.size()), s);
    for (const vector4& v : velocities) got.insert(got.end(), {v.x, v.y, v.z});
    expect_near(got, want, 2e-4);
  }
}

TEST(kernels, bitonic_sort) {
  random_source random;
  for (const loaded_image& image : both_ways("sort.cu", {})) {
    std::vector<unsigned> data(4 * 256);
    for (unsigned& d : data) d = static_cast<unsigned>(random.between(0, 1000));
    std::vector<unsigned> want = data;
    for (std::size_t b = 0; b < 4; ++b) std::sort(want.begin() + long(b) * 256, want.begin() + long(b + 1) * 256);
    run(image, "sort_blocks", {4}, {256}, 256 * sizeof(unsigned), data.data());
    EXPECT_EQ(data, want) << how_to_repeat();
  }
}

TEST(kernels, sparse_matrix_times_vector) {
  random_source random;
  for (const loaded_image& image : both_ways("spmv.cu", {"spmv_scalar<float, int>", "spmv_warp<float, int>"})) {
    const int rows = static_cast<int>(random.between(1, 300));
    std::vector<int> offsets{0}, columns;
    for (int r = 0; r < rows; ++r) {
      for (auto k = random.between(0, 90); k > 0; --k) columns.push_back(static_cast<int>(random.between(0, 99)));
      offsets.push_back(static_cast<int>(columns.size()));
    }
    const std::vector<float> values = random_floats(random, columns.size()), x = random_floats(random, 100);
    std::vector<double> want(static_cast<std::size_t>(rows));
    for (std::size_t r = 0; r < want.size(); ++r)
      for (auto k = static_cast<std::size_t>(offsets[r]); k < static_cast<std::size_t>(offsets[r + 1]); ++k)
        want[r] += double(values[k]) * x[static_cast<std::size_t>(columns[k])];
    for (const auto& [kernel, threads] :
         {std::pair{"spmv_scalar<float, int>", 1u}, std::pair{"spmv_warp<float, int>", 32u}}) {
      std::vector<float> y(want.size());
      run(image, kernel, {blocks_for(want.size() * threads, 128)}, {128}, 0, rows, offsets.data(), columns.data(),
          values.data(), x.data(), y.data());
      expect_near(y, want, 1e-4);
    }
  }
}

TEST(kernels, cooperative_groups) {
  random_source random;
  for (const loaded_image& image : both_ways("groups.cu", {})) {
    std::vector<int> in(static_cast<std::size_t>(random.between(1, 5000)));
    for (int& x : in) x = static_cast<int>(random.between(-100, 100));
    int sum = 0, even = 0;
    run(image, "tile_sums", {blocks_for(in.size(), 128)}, {128}, 0, in.data(), &sum, static_cast<int>(in.size()));
    run(image, "count_even", {blocks_for(in.size(), 128)}, {128}, 0, in.data(), &even, static_cast<int>(in.size()));
    EXPECT_EQ(sum, std::accumulate(in.begin(), in.end(), 0)) << how_to_repeat();
    EXPECT_EQ(even, std::count_if(in.begin(), in.end(), [](int x) { return x % 2 == 0; })) << how_to_repeat();
  }
}

TEST(kernels, grid_strides_and_parameters_that_threads_write_to) {
  random_source random;
  for (const loaded_image& image : both_ways("copy_strided.cu", {})) {
    std::vector<float> out(static_cast<std::size_t>(random.between(1, 10'000)));
    run(image, "ramp", {5}, {64}, 0, out.data(), static_cast<int>(out.size()), 3.0f, 0.5f);
    for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], 3.0f + 0.5f * float(i)) << how_to_repeat();
    std::vector<unsigned> states(4 * 32);
    run(image, "walk", {4}, {32}, 0, states.data(), 9u, 77u);
    for (unsigned i = 0; i < states.size(); ++i) {
      unsigned want = 77 + i;
      for (int step = 0; step < 9; ++step) want = want * 1664525u + 1013904223u;
      ASSERT_EQ(states[i], want) << i;
    }
  }
}

}  // namespace troupe::cuda_on_host::testing
