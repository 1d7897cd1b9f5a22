// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Copies a flag from memory to the handle of a conditional node.
#include <cuda_device_runtime_api.h>

extern "C" __global__ void troupe_graph_decide(cudaGraphConditionalHandle handle, const volatile unsigned* flag) {
  cudaGraphSetConditional(handle, *flag != 0);
}
