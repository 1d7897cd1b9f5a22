// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Everything a program normally needs. Library actors have headers of their own, such as <troupe/blas/blas.hpp>.
#include <troupe/base/compiler.hpp>

#include <troupe/async/pending.hpp>
#include <troupe/async/task.hpp>
#include <troupe/base/version.hpp>
#include <troupe/runtime/runtime.hpp>
