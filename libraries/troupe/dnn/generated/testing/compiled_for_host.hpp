// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/generated/source.hpp>

namespace troupe::dnn::generated::testing {

/// A source compiled for the processor, together with the interpreting kernels. `find` returns its functions:
/// void run_<name of kernel>(const void* parameter, unsigned blocks), and
/// void interpret_<elements, sets or parts>(const void* arguments, unsigned blocks, unsigned threads).
class compiled_for_host {
 public:
  compiled_for_host(const source& s, dtype numbers) {
    static int count = 0;
    folder_ = std::filesystem::temp_directory_path() / cat("troupe-kernels-", ::getpid(), "-", count++);
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "passes.cpp") << text_of(s, numbers);
    std::string command = TROUPE_COMPILER " -std=c++20 -O1 -w -fno-strict-aliasing -ffp-contract=off -shared -fPIC";
    command += " -U_FORTIFY_SOURCE";  // it takes the change to another thread's stack for an error
    for (const char* include : {"/runtime", "/libraries", "/backends", ""})
      command += std::string(" -I" TROUPE_SOURCES) + include;
    command += cat(" -isystem " TROUPE_CUDA_INCLUDE " -o ", (folder_ / "passes.so").string(), " ",
                   (folder_ / "passes.cpp").string(), " 2> ", (folder_ / "log").string());
    EXPECT_EQ(std::system(command.c_str()), 0) << content_of(folder_ / "log").substr(0, 4000);
    loaded_ = ::dlopen((folder_ / "passes.so").c_str(), RTLD_LAZY | RTLD_LOCAL);
    EXPECT_NE(loaded_, nullptr) << ::dlerror();
  }
  ~compiled_for_host() {
    if (loaded_ != nullptr) ::dlclose(loaded_);
    std::filesystem::remove_all(folder_);
  }
  compiled_for_host(const compiled_for_host&) = delete;

  template <class F>
  F* find(const std::string& name) const {
    return loaded_ == nullptr ? nullptr : reinterpret_cast<F*>(::dlsym(loaded_, name.c_str()));
  }

 private:
  static std::string content_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  static std::string text_of(const source& s, dtype numbers) {
    std::string text =
        "#include <troupe/cuda/testing/kernels_on_host.hpp>\n"
        "#include \"libraries/troupe/dnn/cuda/kernels/set_interpreter.cuh\"\n"
        "#undef __global__\n#define __global__\n#undef __grid_constant__\n#define __grid_constant__\n"
        "#undef __launch_bounds__\n#define __launch_bounds__(N)\n";
    text += s.text;
    text += "\nusing namespace troupe::cuda::testing;\n";
    for (const source::kernel& k : s.kernels) {
      const std::size_t at = s.text.find(k.name + "("), end = s.text.find(" at)", at);
      const std::string first = "__grid_constant__ ";
      const std::size_t begin = s.text.find(first, at) + first.size();
      const std::string parameter = s.text.substr(begin, end - begin);
      const std::string body = s.text.substr(at, s.text.find("extern", at) - at);
      const bool barriers = body.find("__syncthreads") != body.npos || body.find("sets::combine_") != body.npos;
      text += cat("static void call_", k.name, "(const ", parameter, "& at) { ", k.name, "(at); }\n",
                  "extern \"C\" void run_", k.name,
                  "(const void* parameter, unsigned blocks) {\n  run_on_host(&run_one<", parameter, ", &call_", k.name,
                  ">, ", barriers ? "true" : "false", ", {blocks, 1, 1}, {", k.threads, ", 1, 1}, parameter);\n}\n");
    }
    const char* const type = numbers == dtype::f64 ? "double" : "float";
    const auto add = [&](const char* name, const char* arguments, const char* function, bool barriers) {
      text += cat("extern \"C\" void interpret_", name,
                  "(const void* arguments, unsigned blocks, unsigned threads) {\n  run_on_host(&run_one<",
                  "troupe::dnn::kernel_arguments::", arguments, ", &troupe::dnn::on_gpu::", function, "<", type, ">>, ",
                  barriers ? "true" : "false", ", {blocks, 1, 1}, {threads, 1, 1}, arguments);\n}\n");
    };
    add("elements", "elements", "compute_elements", false);
    add("sets", "set_arguments", "interpret_sets", true);
    add("parts", "set_arguments", "interpret_parts", true);
    return text;
  }

  std::filesystem::path folder_;
  void* loaded_ = nullptr;
};

}  // namespace troupe::dnn::generated::testing
