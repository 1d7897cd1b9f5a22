// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Measures the time to compile our headers: the compiler's processor time, and of several runs the least, which has the
// fewest disturbances.
#include <algorithm>
#include <bench/measures.hpp>
#include <bench/system/run_program.hpp>
#include <bench/system/temporary_folder.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <troupe/base/result.hpp>
#include <vector>

namespace troupe::bench {
namespace {

namespace fs = std::filesystem;

constexpr const char* with_us = R"(#include <troupe/blas/blas.hpp>
#include <troupe/troupe.hpp>
int main() {
  troupe::runtime rt;
  troupe::device gpu = rt.open_device();
  auto a = gpu.alloc<float>(16), b = gpu.alloc<float>(16), c = gpu.alloc<float>(16);
  return gpu.ask(troupe::blas::gemm<float>{.a = a, .b = b, .c = c, .m = 4, .n = 4, .k = 4}).get() ? 0 : 1;
}
)";
constexpr const char* without_us = R"(#include <memory>
#include <span>
#include <string>
#include <vector>
int main() {
  std::vector<float> a(16), b(16), c(16);
  return std::span(c)[0] == 0 ? 0 : 1;
}
)";

error not_here(std::string text) { return error(reaction::unsupported, "bench", std::move(text)); }

std::string compiler() {
  const char* set = std::getenv("CXX");
  return set != nullptr && *set != '\0' ? set : "c++";
}

// Returns the processor seconds of one compile.
double compile(const fs::path& source, const fs::path& headers) {
  std::vector<std::string> command{compiler(), "-std=c++20", "-O2"};
  for (const char* root : {"", "runtime", "libraries", "backends"})  // installed headers are all in one folder
    command.push_back("-I" + (headers / root).string());
  command.insert(command.end(), {"-c", source.string(), "-o", source.string() + ".o"});
  return run_program(command).cpu_seconds;
}

// Returns the folder of this installation's headers, or, if there is none, of the source tree from which this program
// was built.
fs::path headers_for(const settings& s) {
  const fs::path installed = fs::path(s.runtime_folder).parent_path().parent_path() / "include";
  for (const fs::path& folder : {installed, fs::path(TROUPE_SOURCE_DIR)})
    if (fs::exists(folder / "troupe/troupe.hpp") || fs::exists(folder / "runtime/troupe/troupe.hpp")) return folder;
  throw bad_result(not_here("no headers of Troupe in " + installed.string() + " or " + TROUPE_SOURCE_DIR));
}

// Compiles each public header alone, with the project's own script. The script fails if a goal is missed, but still
// reports its figures.
void every_header(const fs::path& script, figures& f) {
  std::FILE* out = ::popen(("'" + script.string() + "' --json").c_str(), "r");
  double umbrella = 0, slowest = 0;
  char header[200] = "";
  const int read = out == nullptr
                       ? 0
                       : std::fscanf(out, R"({"umbrella_s":%lf,"slowest_header_s":%lf,"slowest_header":"%199[^"]"})",
                                     &umbrella, &slowest, header);
  if (out != nullptr) ::pclose(out);
  if (read != 3) {
    f.objection = script.string() + " --json reports no figures";
    return;
  }
  char text[300];
  std::snprintf(text, sizeof text, "slowest header alone: %s, %.2f s (goal 0.5 s)", header, slowest);
  f.note = text;
  if (slowest > 0.5) f.missed = "a public header alone takes more than 0.5 s";
}

}  // namespace

figures run_compile_umbrella(const settings& s) {
  const fs::path headers = headers_for(s);
  const temporary_folder work;
  const fs::path ours = work.path() / "with.cpp", raw = work.path() / "without.cpp";
  std::ofstream(ours) << with_us;
  std::ofstream(raw) << without_us;
  figures f;
  for (int i = -1; i < s.rounds(7); ++i) {
    const double a = compile(ours, headers), b = compile(raw, headers);
    f.ours = i <= 0 ? a : std::min(f.ours, a);
    f.raw = i <= 0 ? b : std::min(f.raw, b);
  }
  const fs::path script = headers / "scripts/compile-times";
  if (s.quick) {
    f.note = "headers alone: not with --quick";
  } else if (fs::exists(script)) {
    every_header(script, f);
  } else {
    f.note = "headers alone: not measured without the sources";
  }
  return f;
}

}  // namespace troupe::bench
