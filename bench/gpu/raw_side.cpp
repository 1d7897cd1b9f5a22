// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <bench/gpu/raw_side.hpp>
#include <bench/system/run_program.hpp>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <troupe/base/result.hpp>

namespace troupe::bench {
namespace {

raw_gpu_maker* maker_for(const settings& s) {
  const std::string file = s.runtime_folder + "/bench/raw." + s.engine + ".so";
  if (!std::filesystem::exists(file))
    throw bad_result(
        error(reaction::unsupported, "bench",
              "there is no " + file + " to compare with; it is part of builds that found the toolkit of " + s.engine));
  // The plug-in is never unloaded: the vendor's libraries have threads.
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw bad_result(error(reaction::unsupported, "bench",
                           std::string("the plug-in of the raw calls cannot be loaded: ") + ::dlerror() +
                               "; it needs the vendor's driver and libraries"));
  auto* const make = reinterpret_cast<raw_gpu_maker*>(::dlsym(library, raw_gpu_symbol));
  if (make == nullptr) throw bad_result(error(reaction::fatal, "bench", file + " does not export " + raw_gpu_symbol));
  return make;
}

}  // namespace

raw_side::raw_side(const settings& s) : gpu_(maker_for(s)(static_cast<int>(s.ordinal))) {}

int raw_side::fault(std::string_view engine, std::string_view ordinal) {
  settings s{.runtime_folder = folder_of_this_program(), .engine = std::string(engine)};
  (void)std::from_chars(ordinal.data(), ordinal.data() + ordinal.size(), s.ordinal);
  try {
    raw_side raw(s);
    std::printf("%lld\n", static_cast<long long>(raw->fault()));
  } catch (const bad_result& none) {
    std::printf("%s\n", none.error().text().c_str());
    std::fflush(stdout);
    std::_Exit(1);
  }
  std::fflush(stdout);
  std::_Exit(0);  // after a fault, nothing can be cleaned up
}

double raw_side::milliseconds_to_fault(const settings& s) {
  const program_times other =
      run_program({"/proc/self/exe", std::string(fault_argument), s.engine, std::to_string(s.ordinal)});
  return std::strtod(other.said.c_str(), nullptr) / 1e6;
}

}  // namespace troupe::bench
