// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Everything that a program normally needs. Each library actor has its own header, such as <troupe/blas/blas.hpp>.
#include <troupe/base/compiler/compiler.hpp>

#include <troupe/async/pending.hpp>
#include <troupe/async/task.hpp>
#include <troupe/base/version.hpp>
#include <troupe/memory/tensor.hpp>
#include <troupe/runtime/runtime.hpp>
