// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <troupe/dnn/generated/headers.hpp>
#include <troupe/jit/cuda/compile.hpp>

namespace troupe::dnn::generated::testing {

/// Compiles a source with NVRTC, for sm_90, and returns the compiler's remarks. Expects that it compiles.
inline std::string compiled_for_gpu(const std::string& text, const std::vector<std::string>& options = {}) {
  const auto with = jit::nvrtc::find();
  if (!with) return "no NVRTC: " + with.error().text();
  jit::recipe r = recipe_of(text);
  r.options = options;
  const auto c = jit::compiler_for(*with, r, 90);
  if (!c) return "no compiler: " + c.error().text();
  const jit::compiled made = jit::compile(*with, *c, r, INT64_MAX);
  EXPECT_FALSE(made.failed) << made.failed->text() << "\n" << made.log.substr(0, 4000);
  return made.log;
}

}  // namespace troupe::dnn::generated::testing
