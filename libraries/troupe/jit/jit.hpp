// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The whole of jit: CUDA C++ compiled at run time. See docs/jit.md.
#include <troupe/jit/program.hpp>
#include <troupe/jit/recipe.hpp>
#include <troupe/jit/requests.hpp>
