// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// NVRTC has threadIdx and the others built in.
#pragma once
