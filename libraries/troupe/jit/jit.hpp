// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// All of jit: CUDA C++ compiled while the program runs. See docs/jit.md.
#include <troupe/jit/program.hpp>
#include <troupe/jit/recipe.hpp>
#include <troupe/jit/requests.hpp>
