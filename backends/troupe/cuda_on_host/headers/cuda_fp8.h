// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#error "cuda_fp8.h: the host engine has no 8-bit numbers in kernels yet; convert to half in the application"
