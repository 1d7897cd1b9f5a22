// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The entry points of kernels, at the end of the file of the functions that they call: KERNEL(name, arguments, function
/// to call), and BOUNDED_KERNEL(name, threads of a block, least number of blocks that a multiprocessor must be able to
/// run at once, arguments, function to call). KERNELS(name, arguments, function template) is one for f32 and one for
/// f64. kernels.cu and kernels_on_host.cpp say what an entry point is; others, which call the functions, need none.
#ifndef KERNEL
#define KERNEL(NAME, ARGUMENTS, ...)
#define BOUNDED_KERNEL(NAME, THREADS, BLOCKS, ARGUMENTS, ...)
#endif
#define KERNELS(NAME, ARGUMENTS, FUNCTION)                         \
  KERNEL(NAME##_f32, kernel_arguments::ARGUMENTS, FUNCTION<float>) \
  KERNEL(NAME##_f64, kernel_arguments::ARGUMENTS, FUNCTION<double>)
