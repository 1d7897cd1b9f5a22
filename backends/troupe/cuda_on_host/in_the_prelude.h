// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Stands for CUDA headers: all that device code needs from them is in the prelude, troupe_cuda.h.
