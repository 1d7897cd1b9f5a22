// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace troupe::cuda_on_host {

// Abilities of processors are named as __builtin_cpu_supports does.

// The first of these, which are separated by spaces, that the processor does not have; empty when it has all.
std::string missing_in_processor(std::string_view abilities);

// Text that says, preprocessed with the options of a compile, which abilities its code will take for granted; and what
// it said, which is taken out of the text around it. Nothing when it is not there.
const std::string& question_of_abilities();
bool take_abilities(std::string& preprocessed, std::string& abilities);

}  // namespace troupe::cuda_on_host
