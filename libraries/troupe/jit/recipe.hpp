// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <troupe/base/list.hpp>
#include <troupe/base/result.hpp>
#include <troupe/base/text.hpp>
#include <troupe/base/time_span.hpp>
#include <utility>

namespace troupe::jit {

/// Which results of earlier compiles may be used, and where this one is kept.
enum class cache_use : std::uint8_t {
  disk,    ///< by other programs, too: see docs/jit.md
  memory,  ///< by this device's worker only
  none,    ///< the compiler runs; nothing is kept
};

/// Names, none of them twice, each with a text: `{{"N", "4"}, {"M", "8"}}`. In any order.
using named_texts = list<std::pair<std::string, std::string>>;

/// A further part of a program, in CUDA C++ or compiled before: `source` or `image`, one of them.
struct unit {
  text name;                   ///< what messages call it
  text source = {};            ///< compiled as the recipe says
  list<std::byte> image = {};  ///< LTO IR, PTX, relocatable machine code (cubin, fatbin), or an archive of such
};

/// How to make a program: CUDA C++ and how to compile it. It alone decides what the program is, so that any worker can
/// make it again.
struct recipe {
  text source;                           ///< CUDA C++
  text name = "program.cu";              ///< what messages call the source
  list<std::string> kernels = {};        ///< as C++ names them: "scale", "ns::reduce<float, 256>"; none: all kernels
                                         ///< that are no templates
  list<std::string> globals = {};        ///< __device__ and __constant__ variables that the application reads or writes
  named_texts headers = {};              ///< name and text; #include finds these first
  list<std::string> include_paths = {};  ///< folders; a relative one is seen from the application's
  named_texts definitions = {};          ///< name and value of macros
  int standard = 20;                     ///< of C++: 17, 20 or 23
  bool fast_math = false;                ///< less exact: fast intrinsics, flush_to_zero, no care for NaN and infinity
  bool flush_to_zero = false;            ///< subnormal numbers count as 0
  bool fuse_multiply_add = true;         ///< a * b + c rounded once
  int optimisation = 3;                  ///< 0 to 3
  bool debug_information = false;        ///< for debuggers and profilers: which line code is of
  int max_registers = 0;                 ///< of a thread; 0: the compiler decides. Not on the host engine
  text architecture = {};                ///< "" is that of the device; "sm_90a" … on a GPU
  list<unit> units = {};                 ///< linked with the source. On a GPU
  bool relocatable = false;              ///< a unit for other recipes to link, by `program::image`; not to be launched
  bool link_time_optimisation = false;   ///< the source and all units are optimised as one
  bool precompiled_headers = false;      ///< the next program that begins with the same headers is compiled sooner. On
                                         ///< a GPU
  list<std::string> options = {};        ///< more of them, as the engine's compiler spells them
  text compiler = {};                    ///< path; "" is TROUPE_CXX, or the first of c++, g++ and clang++ in PATH. Host
                                         ///< engine only
  time_span timeout = time_span::of_seconds(60);  ///< for the compiler
  cache_use cache = cache_use::disk;
  std::uint64_t log_bytes = 64 << 10;  ///< as much of the compiler's messages is kept
};

/// What is wrong with it, if anything: a `caller_bug` that names the field.
result<void> check(const recipe& r);

}  // namespace troupe::jit
