// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The whole of module: kernels that were compiled beforehand. See docs/module.md.
#include <troupe/module/image.hpp>
#include <troupe/module/requests.hpp>
