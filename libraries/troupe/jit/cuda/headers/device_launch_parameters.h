// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// threadIdx and its like are NVRTC's own.
#pragma once
