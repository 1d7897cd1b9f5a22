// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// What NVRTC makes of the kernels of the 2.x style. Needs no GPU.
#include <gtest/gtest.h>
#include <nvrtc.h>

#include <troupe/base/cat.hpp>
#include <troupe/cutlass/vendor/cells.hpp>

namespace troupe::cutlass::vendor {
namespace {

const cells& plugin() {
  static const cells loaded = cells::load(TROUPE_VENDOR_PLUGIN).value();
  return loaded;
}

struct compiled {
  bool done = false;
  std::string log, image;
};

compiled compile(const run_time_source& s) {
  compiled c;
  nvrtcProgram p = nullptr;
  const char* const header = s.header.c_str();
  const char* const name = s.header_name.c_str();
  if (nvrtcCreateProgram(&p, s.text.c_str(), "cell.cu", 1, &header, &name) != NVRTC_SUCCESS) return c;
  std::vector<const char*> options;
  for (const std::string& o : s.options) options.push_back(o.c_str());
  options.push_back("--ptxas-options=-v");
  c.done = nvrtcCompileProgram(p, static_cast<int>(options.size()), options.data()) == NVRTC_SUCCESS;
  std::size_t bytes = 0;
  nvrtcGetProgramLogSize(p, &bytes);
  c.log.resize(bytes);
  nvrtcGetProgramLog(p, c.log.data());
  if (c.done && nvrtcGetCUBINSize(p, &bytes) == NVRTC_SUCCESS) {
    c.image.resize(bytes);
    nvrtcGetCUBIN(p, c.image.data());
  }
  nvrtcDestroyProgram(&p);
  return c;
}

// A chip that is not the one that nvcc compiled for: the exact one of the machine.
class vendor_nvrtc : public testing::TestWithParam<const char*> {};

TEST_P(vendor_nvrtc, compiles_the_kernel_with_parameters_as_the_host_fills_them) {
  const cell* const c = plugin().find(GetParam());
  ASSERT_NE(c, nullptr);
  const std::string chip = cat("sm_", c->chip == 80 ? 86 : c->chip);
  const auto s = source_for_nvrtc(plugin(), *c, chip, plugin().contents().headers, TROUPE_CUDA_HEADERS);
  ASSERT_TRUE(s) << s.error().text();
  const compiled k = compile(*s);
  ASSERT_TRUE(k.done) << k.log;
  EXPECT_NE(k.image.find("troupe_cell"), std::string::npos);
  EXPECT_NE(k.image.find("troupe_parameter_bytes"), std::string::npos);
  EXPECT_NE(k.log.find("0 bytes spill stores"), std::string::npos) << k.log;
}

std::vector<const char*> with_source() {
  std::vector<const char*> names;
  for (const cell* c : plugin().all())
    if (c->source != nullptr) names.push_back(c->name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(each, vendor_nvrtc, testing::ValuesIn(with_source()),
                         [](const auto& of) { return std::string(of.param); });

TEST(vendor_nvrtc_sizes, a_kernel_that_believes_in_another_size_does_not_compile) {
  cell other = *plugin().find("sm80_f16_row_column");
  other.parameter_bytes += 8;
  const auto s = source_for_nvrtc(plugin(), other, "sm_80", plugin().contents().headers, TROUPE_CUDA_HEADERS);
  ASSERT_TRUE(s);
  const compiled k = compile(*s);
  EXPECT_FALSE(k.done);
  EXPECT_NE(k.log.find("the host fills parameters of another size"), std::string::npos) << k.log;
}

}  // namespace
}  // namespace troupe::cutlass::vendor
