// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/text/cat.hpp>
#include <troupe/cuda_on_host/compiler_flags.hpp>
#include <utility>

namespace troupe::cuda_on_host {

namespace {

std::string standard(const compiler_settings& s) { return cat("-std=gnu++", std::max(s.standard, 17) % 100); }

// Adds the options that both the preprocessor and the compiler need, because they define macros.
void add_common(const compiler_settings& s, std::vector<std::string>& out) {
  out.push_back(standard(s));
  out.push_back(cat("-O", s.optimisation));
  out.insert(out.end(), {"-march=native", "-fno-exceptions", "-fno-rtti"});
  if (s.fast_math)
    out.insert(out.end(), {"-fno-math-errno", "-fassociative-math", "-freciprocal-math", "-fno-signed-zeros"});
}

}  // namespace

std::vector<std::string> preprocessor_arguments(const compiler_settings& s, const std::string& source) {
  std::vector<std::string> out{"-E", "-x", "c++"};
  add_common(s, out);
  for (const std::string& d : s.definitions) out.push_back("-D" + d);
  // Our folder precedes all include folders except ".", the source's own: a toolkit's folder may have headers of the
  // same names for its own compiler.
  bool has_own_folder = false;
  for (const std::string& folder : s.include_folders) {
    if (folder != "." && !std::exchange(has_own_folder, true)) out.push_back("-I" + s.cuda_folder);
    out.push_back("-I" + folder);
  }
  if (!has_own_folder) out.push_back("-I" + s.cuda_folder);
  out.insert(out.end(), {"-include", "troupe_cuda.h", source, "-o", "-"});
  return out;
}

std::vector<std::string> compiler_arguments(const compiler_settings& s, const std::string& source,
                                            const std::string& output) {
  std::vector<std::string> out{"-x", "c++-cpp-output"};
  add_common(s, out);
  out.insert(out.end(),
             {"-fPIC", "-shared", "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-w", "-fmax-errors=20"});
  // Kernels may access memory as different types, as GPUs allow. GPUs have no errno, no floating-point traps and no
  // guards of static variables.
  out.insert(out.end(), {"-fno-strict-aliasing", "-fno-math-errno", "-fno-trapping-math", "-fno-threadsafe-statics",
                         "-fno-semantic-interposition", "-fno-stack-protector", "-fno-plt"});
  // Below the stack of a fiber is a guard of one page: a larger frame must touch the guard instead of skipping it.
  out.push_back("-fstack-clash-protection");
  out.push_back(s.fuse_multiply_add ? "-ffp-contract=fast" : "-ffp-contract=off");
  if (s.debug_information) out.push_back("-g");
  out.push_back("-Wl,-z,defs");  // reports undefined functions now, by name, and not when the image is loaded
  out.insert(out.end(), {"-o", output, source});
  return out;
}

}  // namespace troupe::cuda_on_host
