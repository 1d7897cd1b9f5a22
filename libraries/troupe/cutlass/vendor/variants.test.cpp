// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/cutlass/vendor/variants.hpp>

namespace troupe::cutlass::vendor {
namespace {

kernel_variant named(const char* name, const char* machine_code) {
  kernel_variant c{};
  c.name = name, c.machine_code = machine_code, c.parameter_bytes = 368;
  return c;
}

TEST(cutlass_vendor_variants, machine_code_runs_on_later_gpus_of_its_generation) {
  const kernel_variant c = named("x", "sm_80 sm_90");
  EXPECT_TRUE(runs_on(c, 80));
  EXPECT_TRUE(runs_on(c, 86));
  EXPECT_TRUE(runs_on(c, 89));
  EXPECT_TRUE(runs_on(c, 90));
  EXPECT_FALSE(runs_on(c, 75));
  EXPECT_FALSE(runs_on(c, 100));
  EXPECT_FALSE(runs_on(named("x", "sm_86"), 80)) << "an earlier GPU";
}

TEST(cutlass_vendor_variants, architecture_specific_code_runs_on_no_other_gpu) {
  EXPECT_TRUE(runs_on(named("x", "sm_100a"), 100));
  EXPECT_FALSE(runs_on(named("x", "sm_100a"), 103));
  EXPECT_FALSE(runs_on(named("x", "sm_90a"), 100));
}

TEST(cutlass_vendor_variants, a_table_of_another_interface_is_refused) {
  table t{.version = interface_version,
          .variant_bytes = sizeof(kernel_variant),
          .launch_bytes = sizeof(launch),
          .count = 0,
          .variants = nullptr,
          .cutlass_version = "",
          .compiler = "",
          .headers = "",
          .kernels_header = ""};
  EXPECT_TRUE(kernel_variants::make(&t));
  table other = t;
  other.version += 1;
  const auto r = kernel_variants::make(&other);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().reaction(), reaction::unsupported);
  EXPECT_NE(r.error().text().find("): rebuild Troupe"), std::string::npos) << r.error().text();
  other = t;
  other.launch_bytes += 8;
  EXPECT_FALSE(kernel_variants::make(&other));
}

TEST(cutlass_vendor_variants, the_error_about_a_missing_plug_in_names_the_command_that_installs_cutlass) {
  const auto r = kernel_variants::load("/nonexistent/vendor.so");
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().reaction(), reaction::unsupported);
  EXPECT_NE(r.error().text().find("scripts/setup cutlass"), std::string::npos) << r.error().text();
}

TEST(cutlass_vendor_variants, notes_distinguish_tested_kernels_from_those_only_compiled) {
  const kernel_variant run = named("known", "sm_90a"), other = named("unknown", "sm_120a");
  const kernel_variant* const all[] = {&run, &other};
  const table t{.version = interface_version,
                .variant_bytes = sizeof(kernel_variant),
                .launch_bytes = sizeof(launch),
                .count = 2,
                .variants = all,
                .cutlass_version = "4.2.0",
                .compiler = "",
                .headers = "",
                .kernels_header = ""};
  const auto c = kernel_variants::make(&t);
  ASSERT_TRUE(c);
  EXPECT_EQ(c->notes(), (std::vector<std::string>{
                            "CUTLASS: 4.2.0, 2 kernels", "kernels of CUTLASS that were tested on a GPU: known",
                            "kernels of CUTLASS that were only compiled, and never run: unknown"}));
  EXPECT_EQ(c->find("unknown"), &other);
  EXPECT_EQ(c->find("unknow"), nullptr);
}

TEST(cutlass_vendor_variants, a_kernel_is_refused_if_its_parameter_size_differs_from_the_hosts) {
  kernel_variant c = named("x", "sm_90a");
  c.read_parameter_bytes = [](unsigned* bytes) -> int { return *bytes = 368, accepted; };
  EXPECT_TRUE(compare_parameters(c));
  c.read_parameter_bytes = [](unsigned* bytes) -> int { return *bytes = 1280, accepted; };
  const auto r = compare_parameters(c);
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().text().find("1280 bytes of parameters; the host fills 368"), std::string::npos)
      << r.error().text();
  c.read_parameter_bytes = [](unsigned*) -> int { return cuda_failed; };
  EXPECT_FALSE(compare_parameters(c));
}

TEST(cutlass_vendor_variants, only_kernels_with_a_source_are_compiled_at_run_time) {
  const kernel_variant without = named("x", "sm_90a");
  const kernel_variant* const all[] = {&without};
  const table t{.version = interface_version,
                .variant_bytes = sizeof(kernel_variant),
                .launch_bytes = sizeof(launch),
                .count = 1,
                .variants = all,
                .cutlass_version = "",
                .compiler = "",
                .headers = "",
                .kernels_header = "the header"};
  const auto c = kernel_variants::make(&t);
  ASSERT_TRUE(c);
  EXPECT_FALSE(source_for_nvrtc(*c, without, "sm_90", "/cutlass", "/cuda"));
  kernel_variant with = without;
  with.source = "some_kernel<1>";
  const auto s = source_for_nvrtc(*c, with, "sm_90", "/cutlass", "/cuda");
  ASSERT_TRUE(s);
  EXPECT_NE(s->text.find("sizeof(kernel::Params) == 368"), std::string::npos);
  EXPECT_NE(s->text.find("some_kernel<1>"), std::string::npos);
  EXPECT_EQ(s->header, "the header");
}

}  // namespace
}  // namespace troupe::cutlass::vendor
