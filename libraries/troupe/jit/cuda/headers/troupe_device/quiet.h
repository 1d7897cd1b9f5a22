// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA's headers redefine macros of the C library without checking whether they are defined. The values are equal, only
// the spellings differ, so the warning is of no use.
#pragma once
#pragma nv_diag_suppress 47
