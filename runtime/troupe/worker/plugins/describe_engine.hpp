// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>

namespace troupe {

/// Loads an engine file as a worker would, and writes what it is: `troupe-worker --describe FILE`. A program that wants
/// to know has it done by a child process, because a vendor library may do anything while it loads. Each line is a key
/// and, after one blank, its value:
///
///   library blas
///   backend host
///   version OpenBLAS 0.3.21
///   request blas.gemm<f32>     one line for each, in the order of the engine
///   note threads: 2            one line for each line of troupe_engine::notes
///   end                        always last: without it the engine took the process down, at the latest as it closed
///
/// An engine that does not come to serve has, in place of all but the last, one of
///   unloadable <why>               no engine can be had from this file
///   no_device <why>                the first device of its backend cannot be used, whatever the engine
///   refused <reaction> <why>       the engine itself says that it cannot serve here
///
/// True when it serves.
bool describe_engine(const std::string& file, std::FILE* out);

}  // namespace troupe
