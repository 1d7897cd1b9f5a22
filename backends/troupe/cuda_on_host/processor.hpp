// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace troupe::cuda_on_host {

// Processor features are named as by __builtin_cpu_supports.

// Returns the first of these features, separated by spaces, that the processor lacks, or an empty text.
std::string missing_in_processor(std::string_view features);

// Text that says, preprocessed with the options of a compile, which features its code will take for granted; and what
// it said, which is taken out of the text around it. Nothing when it is not there.
const std::string& feature_query();
bool extract_features(std::string& preprocessed, std::string& features);

}  // namespace troupe::cuda_on_host
