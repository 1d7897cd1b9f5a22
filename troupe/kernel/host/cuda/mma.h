// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#error "mma.h: tensor-core operations exist on GPUs only; multiply with ordinary code when __TROUPE_HOST__ is defined"
