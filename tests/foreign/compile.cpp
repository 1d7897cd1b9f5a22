// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compiles each source for a GPU by NVRTC, which needs no GPU.
#include <troupe/jit/cuda/compile.hpp>

#include "table.hpp"

namespace troupe::foreign {
namespace {

void compile(const jit::nvrtc& with, jit::recipe r) {
  r.architecture = "sm_90a";
  const auto c = jit::compiler_for(with, r, 0);
  if (!c) throw failure{.wrong = false, .text = c.error().to_string()};
  const jit::compiled made = jit::compile(with, *c, r, INT64_MAX);
  if (made.failed) throw failure{.wrong = false, .text = std::string(made.failed->text()) + "\n" + made.log};
}

}  // namespace
}  // namespace troupe::foreign

int main(int argc, char** argv) {
  using namespace troupe;
  const jit::nvrtc with = jit::nvrtc::find().value();
  return foreign::judge_all(argc, argv, foreign::engine::gpu,
                            [&](foreign::source& s) { foreign::compile(with, s.recipe()); });
}
