// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#error \
    "cuda_pipeline.h: asynchronous copies to shared memory exist on GPUs only; assign instead when __TROUPE_HOST__ is defined"
