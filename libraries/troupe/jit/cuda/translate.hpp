// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/jit/cache/compile_deadline.hpp>
#include <troupe/jit/cache/compiled.hpp>
#include <troupe/jit/cache/includes.hpp>
#include <troupe/jit/cuda/nvrtc/nvrtc.hpp>
#include <troupe/jit/cuda/source_text.hpp>
#include <troupe/kernel/engine/cuda/names.hpp>

namespace troupe::jit {

/// The desired output for a source: a whole program, or a part of one.
enum class code : std::uint8_t { machine_code, ptx, relocatable_code, relocatable_ptx, lto_ir };

struct translated {
  std::string bytes;
  kernel::image_names names;
};

/// Runs NVRTC once, with the recipe's settings. `said` receives the messages.
result<translated> translate(const nvrtc& with, const recipe& r, const source_text& source, const target& to, code what,
                             const compile_deadline& how_long, compiled& said);

read_files files_nvrtc_may_read(const recipe& r);

/// If a file's time is less than this before the compile began, the file may have been written during the compile.
constexpr std::int64_t clock_step_ns = 10'000'000;
std::int64_t wall_clock_ns() noexcept;

}  // namespace troupe::jit
