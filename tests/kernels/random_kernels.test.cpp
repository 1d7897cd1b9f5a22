// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels of kernel_writer, each of which must compute the expected result.
#include "kernel_writer.hpp"

namespace troupe::cuda_on_host::testing {
namespace {

struct bag {
  unsigned v[2], w;
};

// Kernels of one style, each of which must compute the expected result, however it runs.
void expect_results(style s, const char* how) {
  random_source random;
  constexpr int count = 5;
  std::string source =
      "struct bag { unsigned v[2], w; };\n"
      "__device__ unsigned mix(unsigned x, unsigned y) { return x * 3 + y; }\n"
      "template <class T> __device__ void grow(T& x, T by) { x += by; }\n";
  std::vector<std::unique_ptr<kernel_writer>> writers;
  for (int k = 0; k < count; ++k) {
    writers.push_back(std::make_unique<kernel_writer>(random, s));
    source += writers.back()->write(k);
  }
  const compiled chosen = compile_text(source, {}), fibers = compile_text(source, {.only_fibers = true});
  ASSERT_FALSE(chosen.bytes.empty()) << chosen.messages << "\n" << source << how_to_repeat();
  ASSERT_FALSE(fibers.bytes.empty()) << fibers.messages;
  const loaded_image images[] = {load(chosen), load(fibers)};
  for (int k = 0; k < count; ++k) {
    const std::string name = "k" + std::to_string(k);
    if (how) {
      ASSERT_EQ(chosen.how(name), how) << source << how_to_repeat();
      ASSERT_EQ(to_string(images[0].find_kernel(name)->attributes.how),
                std::string(how).substr(0, std::string(how).find(' ')))
          << source;
    }
    const std::vector<unsigned> want = writers[static_cast<std::size_t>(k)]->result();
    for (const loaded_image& image : images) {
      std::vector<unsigned> got(want.size(), kernel_writer::untouched);
      run(image, name, {blocks}, {threads}, 0, got.data(), kernel_writer::p, kernel_writer::q,
          bag{{kernel_writer::bag[0], kernel_writer::bag[1]}, kernel_writer::bag[2]});
      ASSERT_EQ(got, want) << name << " as " << (&image == &images[0] ? chosen.how(name) : "fibers") << " of\n"
                           << source << how_to_repeat();
    }
  }
}

}  // namespace

TEST(random_kernels, are_split_and_compute_the_right_result_from_simple_statements) {
  expect_results(style::simple, "split (its barriers are statements of the kernel)");
}

TEST(random_kernels, compute_the_right_result_with_pointers_casts_and_structs) { expect_results(style::odd, nullptr); }

TEST(random_kernels, compute_the_right_result_without_barriers) { expect_results(style::loop, "loop"); }

}  // namespace troupe::cuda_on_host::testing
