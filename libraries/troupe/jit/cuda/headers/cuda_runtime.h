// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// What kernels use of it is NVRTC's own.
#pragma once
#include "troupe_unasked.h"
