// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Everything of matmul, and the language of epilogues.
#include <troupe/epilogue/epilogue.hpp>
#include <troupe/matmul/multiplication.hpp>
