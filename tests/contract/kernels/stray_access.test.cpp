// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Kernels that access memory that is not theirs, on the host engine.
#include "jit_source.hpp"

namespace troupe::whole {
namespace {

class a_kernel : public testing::Test {
 protected:
  runtime runtime_;
};

// Vector code of compilers reads a few elements more than it needs.
TEST_F(a_kernel, may_read_a_few_bytes_past_the_last_buffer_but_no_more) {
  const std::string source = "__global__ void k(const float* x, float* out, int n) { out[0] = x[n]; }\n";
  constexpr int elements = 64 << 20 >> 2;
  for (const isolation how : {isolation::process, isolation::thread}) {
    const device gpu = runtime_.open_device(with_test_engines({.isolation = how, .restarts = 3}));
    const auto p = jit::compile(gpu, {.source = source});
    auto out = gpu.alloc<float>(1, {.zeroed = true});
    const auto x = gpu.alloc<float>(elements);  // whole pages
    const auto read = [&](int at) {
      return gpu.ask(jit::launch{.kernel = p.kernel("k"), .grid = 1, .block = 1, .arguments = {x, inout(out), at}})
          .get();
    };
    ASSERT_OK(gpu.fill(x, 1.0f).get());
    for (const int behind : {0, 15, 1023}) {
      ASSERT_OK(read(elements + behind));
      EXPECT_EQ(gpu.download(out).get().value()[0], 0) << behind;
    }
    if (how == isolation::thread) continue;
    const auto far = read(elements + 1024 * 16);
    ASSERT_FALSE(far);
    EXPECT_TRUE(is_error(far.error(), reaction::context_lost, {"SIGSEGV", "invalid access to address 0x"}));
  }
}

TEST_F(a_kernel, reports_no_address_for_an_access_beyond_the_address_space) {
#if defined(__x86_64__)
  const device gpu = runtime_.open_device(with_test_engines({.restarts = 3}));
  const auto p =
      jit::compile(gpu, {.source = "__global__ void k(float* out) { *(float*)(0x7000000000000000 + (long)out) = 1; "
                                   "}\n"});
  auto out = gpu.alloc<float>(1, {.zeroed = true});
  const error e =
      error_of(gpu.ask(jit::launch{.kernel = p.kernel("k"), .grid = 1, .block = 1, .arguments = {inout(out)}}));
  EXPECT_TRUE(is_error(e, reaction::context_lost, {"invalid access through a value that is not a valid address"}));
  EXPECT_EQ(e.text().find("0x0"), e.text().npos) << e.text();
  EXPECT_FALSE(gpu.last_fault()->address);
#endif
}

}  // namespace
}  // namespace troupe::whole
