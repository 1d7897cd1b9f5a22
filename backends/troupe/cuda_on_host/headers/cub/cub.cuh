// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// CUB's functions for whole devices are host code, which is left out. Its classes for blocks and warps are not here.
#pragma once
namespace cub {}
