// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/async/when_all.hpp>
#include <troupe/async/when_any.hpp>
