// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <troupe/jit/cuda/architecture.hpp>

namespace troupe::jit {
namespace {

const std::vector<capability> known{75, 80, 86, 90, 100, 120};

std::string compiled_for(const std::string& asked, capability gpu) {
  const auto t = target_for(asked, gpu, known);
  return t ? t->architecture : t.error().text();
}

TEST(jit_target, is_exactly_the_gpu_including_its_architecture_specific_code) {
  EXPECT_EQ(compiled_for("", 80), "sm_80");
  EXPECT_EQ(compiled_for("", 90), "sm_90a");
  EXPECT_EQ(compiled_for("", 120), "sm_120a");
}

TEST(jit_target, is_the_architecture_that_the_recipe_names) {
  EXPECT_EQ(compiled_for("sm_80", 90), "sm_80");
  EXPECT_EQ(compiled_for("sm_100f", 90), "sm_100f");
  EXPECT_TRUE(target_for("compute_90", 90, known)->is_ptx());
}

TEST(jit_target, is_ptx_with_a_note_if_the_compiler_is_older_than_the_gpu) {
  const auto t = target_for("", 130, known);
  ASSERT_TRUE(t);
  EXPECT_EQ(t->architecture, "compute_120");
  EXPECT_NE(t->note.find("does not know: compiled to PTX for 120"), std::string::npos) << t->note;
  EXPECT_EQ(target_for("", 120, known)->note, "");
}

TEST(jit_target, is_refused_with_a_list_of_the_known_architectures) {
  EXPECT_NE(compiled_for("", 52).find("capability is 52; the installed NVRTC compiles for 75, 80"), std::string::npos);
  EXPECT_NE(compiled_for("sm_70", 90).find("compiles for 75, 80, 86"), std::string::npos);
  for (const char* nonsense : {"sm_", "90a", "sm_90x", "native", "sm_90a,sm_80", "compute_"})
    EXPECT_NE(compiled_for(nonsense, 90).find("expected sm_90a"), std::string::npos) << nonsense;
}

TEST(gpu_code, runs_on_the_gpus_for_which_it_was_compiled) {
  const auto runs = [](const char* on, std::vector<capability> gpus, bool wanted) {
    for (const capability gpu : gpus) EXPECT_EQ(runs_on(on, gpu), wanted) << on << " on " << gpu;
  };
  runs("sm_80", {80, 86, 89}, true);
  runs("sm_80", {75, 90, 100}, false);
  runs("sm_86", {80}, false);
  runs("sm_90a", {90}, true);
  runs("sm_90a", {80, 100}, false);
  runs("sm_100f", {100, 103}, true);
  runs("sm_100f", {90, 120}, false);
  runs("compute_80", {80, 90, 120}, true);
  runs("compute_90", {80}, false);
  runs("compute_90a", {90}, true);
  runs("compute_90a", {100}, false);
  runs("compute_100f", {103}, true);
  runs("compute_100f", {110}, false);
}

}  // namespace
}  // namespace troupe::jit
