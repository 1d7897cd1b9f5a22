// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cutlass/testing/convolution_cases.hpp>

namespace troupe::cutlass {
namespace {

using namespace testing;
using enum computed_tensor;

class cutlass_host_convolutions : public convolution_numerics {};

TEST_F(cutlass_host_convolutions, the_least_workspace_that_the_refusal_names_suffices) {
  for (const computed_tensor r : {y, dx, dfilters})
    for (const layout how : {layout::channels_first, layout::channels_last}) {
      convolution_case c{.result = r, .first = dtype::f32, .second = dtype::f32, .computed = dtype::f32};
      c.images = 2, c.channels = 20, c.filters = 15, c.how = how;
      c.in = {1, 9, 8}, c.width = {1, 3, 3}, c.padding_before = {0, 1, 1};
      const auto plain = [](auto, auto, auto) { return epilogue::acc; };
      // The error names the least workspace.
      c.workspace = 3;
      case_tensors all(c, random);
      const auto refused = engine->run(conv_forward{.x = all.x.operand<access_mode::read>(2),
                                                    .filters = all.filters.operand<access_mode::read>(2),
                                                    .y = all.y.operand<access_mode::write>(2),
                                                    .padding = 1,
                                                    .padding_after = 0,
                                                    .options = {.workspace = 3}});
      ASSERT_FALSE(refused);
      const std::string text = refused.error().text(),
                        begin = "cutlass.conv_forward: workspace is 3 bytes; expected at least ";
      ASSERT_EQ(text.substr(0, begin.size()), begin);
      // The forward product holds all filters, so its least workspace also suffices for dfilters.
      c.workspace = std::stoull(text.substr(begin.size()));
      if (r == dx) c.workspace += 15 * 9 * sizeof(float);  // a position of dx reads all filters
      expect_as_defined(c, plain);
      if (HasFailure()) return;
    }
}

TEST_F(cutlass_host_convolutions, the_host_engine_returns_its_workspace_and_refuses_plans) {
  convolution_case c{.result = y, .first = dtype::f32, .second = dtype::f32, .computed = dtype::f32};
  c.in = {1, 5, 5}, c.width = {1, 3, 3};
  case_tensors all(c, random);
  conv_forward r{.x = all.x.operand<access_mode::read>(2),
                 .filters = all.filters.operand<access_mode::read>(2),
                 .y = all.y.operand<access_mode::write>(2)};
  std::vector<std::byte> text(300);
  auto p = prepare{r};
  p.options.log.emplace(reinterpret_cast<std::uint64_t>(text.data()), std::uint64_t{text.size()});
  const auto info = engine->run(p);
  ASSERT_TRUE(info) << info.error().to_string();
  const std::string log = reinterpret_cast<const char*>(text.data());
  EXPECT_EQ(info->log_bytes, log.size() + 1);
  EXPECT_NE(log.find("with " + std::to_string(info->workspace) + " bytes of memory"), std::string::npos) << log;
  r.options.workspace = info->workspace;
  EXPECT_TRUE(engine->run(r)) << "the workspace that prepare returned suffices";
  r.options.plan.tile_m = 128;
  const auto refused = engine->run(r);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("cutlass.conv_forward: plan is any 128x"), std::string::npos)
      << refused.error().text();
}

}  // namespace
}  // namespace troupe::cutlass
