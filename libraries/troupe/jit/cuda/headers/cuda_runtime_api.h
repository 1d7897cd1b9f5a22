// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// NVRTC has what kernels use of it built in.
#pragma once
#include "troupe_default_includes.h"
#include "cuda_device_runtime_api.h"
