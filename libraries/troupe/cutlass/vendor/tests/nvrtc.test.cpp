// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compiles the kernels of the 2.x style with NVRTC, and checks the images. Needs no GPU.
#include <gtest/gtest.h>
#include <nvrtc.h>

#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/vendor/variants.hpp>

namespace troupe::cutlass::vendor {
namespace {

const kernel_variants& plugin() {
  static const kernel_variants loaded = kernel_variants::load(TROUPE_VENDOR_PLUGIN).value();
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
  if (nvrtcCreateProgram(&p, s.text.c_str(), "variant.cu", 1, &header, &name) != NVRTC_SUCCESS) return c;
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

// The parameter is the name of a kernel.
class cutlass_vendor_nvrtc : public testing::TestWithParam<const char*> {};

TEST_P(cutlass_vendor_nvrtc, kernels_compile_with_the_parameters_that_the_host_fills) {
  const kernel_variant* const c = plugin().find(GetParam());
  ASSERT_NE(c, nullptr);
  // NVRTC may compile for another architecture than nvcc did.
  const std::string architecture = cat("sm_", c->capability == 80 ? 86 : c->capability);
  const auto s = source_for_nvrtc(plugin(), *c, architecture, plugin().contents().headers, TROUPE_CUDA_HEADERS);
  ASSERT_TRUE(s) << s.error().text();
  const compiled k = compile(*s);
  ASSERT_TRUE(k.done) << k.log;
  EXPECT_NE(k.image.find("troupe_vendor_variant"), std::string::npos);
  EXPECT_NE(k.image.find("troupe_parameter_bytes"), std::string::npos);
  EXPECT_NE(k.log.find("0 bytes spill stores"), std::string::npos) << k.log;
}

std::vector<const char*> with_source() {
  std::vector<const char*> names;
  for (const kernel_variant* c : plugin().all())
    if (c->source != nullptr) names.push_back(c->name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(each, cutlass_vendor_nvrtc, testing::ValuesIn(with_source()),
                         [](const auto& of) { return std::string(of.param); });

TEST(cutlass_vendor_nvrtc_sizes, a_kernel_does_not_compile_if_its_parameter_size_differs_from_the_hosts) {
  kernel_variant other = *plugin().find("sm80_f16_row_column");
  other.parameter_bytes += 8;
  const auto s = source_for_nvrtc(plugin(), other, "sm_80", plugin().contents().headers, TROUPE_CUDA_HEADERS);
  ASSERT_TRUE(s);
  const compiled k = compile(*s);
  EXPECT_FALSE(k.done);
  EXPECT_NE(k.log.find("the host fills parameters of another size"), std::string::npos) << k.log;
}

}  // namespace
}  // namespace troupe::cutlass::vendor
