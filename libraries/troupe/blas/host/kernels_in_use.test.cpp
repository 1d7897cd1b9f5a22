// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Checks which kernels OpenBLAS uses. It selects them when it is loaded, so each case runs in a process of its own.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <tests/numerics/engine_under_test.hpp>
#include <troupe/worker/plugins/engines.hpp>
#include <troupe/worker/plugins/load_library.hpp>
#include <troupe/worker/plugins/openblas_kernels.hpp>

namespace troupe::blas {
namespace {

[[noreturn]] void say(std::string_view kernels) {
  const bool fit = !unfit(kernels, x86_processor::of_this_machine());
  std::fprintf(stderr, "%s, %s", std::string(kernels).c_str(), fit ? "which fit" : "which do not fit");
  std::_Exit(0);
}
[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::_Exit(1);
}

// Prints what OpenBLAS reports after `load` has loaded it with the engine.
[[noreturn]] void say_kernels(const std::function<void*(const char*)>& load) {
  void* const engine = load(numerics::engine_of_program());
  if (engine == nullptr) give_up(::dlerror());
  const auto name = reinterpret_cast<const char* (*)()>(::dlsym(engine, "openblas_get_corename"));
  if (name == nullptr) give_up("this is not OpenBLAS");
  say(name());
}

// Prints what the engine reports when it is loaded as a worker loads it.
[[noreturn]] void say_kernels_in_a_worker() {
  const std::string file = numerics::engine_of_program();
  engine_set engines("host", {file.substr(0, file.rfind('/'))}, {.abi = troupe_engine_abi, .lanes = 4});
  if (const auto loaded = engines.load("blas"); !loaded) give_up(loaded.error().text());
  const troupe_engine* const blas = engines.engine_of("blas");
  const std::string notes = blas->notes(blas);
  const std::size_t at = notes.find("kernels: ") + 9;
  say(notes.substr(at, notes.find(',', at) - at));
}
constexpr int flags = RTLD_NOW | RTLD_LOCAL;

class openblas_in_use : public testing::Test {
 protected:
  // Each case of a death test restarts this program.
  openblas_in_use() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(openblas_in_use, uses_the_kernels_requested_while_it_is_loaded) {
  for (const std::string name : {"Prescott", "Nehalem"})
    EXPECT_EXIT(
        {
          ::unsetenv(openblas_variable);
          say_kernels([&name](const char* path) {
            return load_library(path, flags, {std::string(openblas_variable) + "=" + name});
          });
        },
        testing::ExitedWithCode(0), "^" + name + ", ");
}

TEST_F(openblas_in_use, uses_kernels_that_fit_this_processor_by_default) {
  EXPECT_EXIT(
      {
        ::unsetenv(openblas_variable);
        say_kernels([](const char* path) { return load_library(path, flags); });
      },
      testing::ExitedWithCode(0), ", which fit$");
}

TEST_F(openblas_in_use, uses_kernels_that_fit_this_processor_in_a_worker) {
  EXPECT_EXIT(
      {
        ::unsetenv(openblas_variable);
        say_kernels_in_a_worker();
      },
      testing::ExitedWithCode(0), ", which fit$");
}

TEST_F(openblas_in_use, uses_the_kernels_that_the_user_selects) {
  EXPECT_EXIT(
      {
        ::setenv(openblas_variable, "Prescott", 1);
        say_kernels([](const char* path) { return load_library(path, flags); });
      },
      testing::ExitedWithCode(0), "^Prescott, ");
}

}  // namespace
}  // namespace troupe::blas
