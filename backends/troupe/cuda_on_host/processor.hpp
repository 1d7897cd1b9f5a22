// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace troupe::cuda_on_host {

// Processor features are named as by __builtin_cpu_supports.

// Returns the first of these features, separated by spaces, that the processor lacks, or an empty text.
std::string missing_in_processor(std::string_view features);

// Returns a text that, preprocessed with the options of a compile, lists the features that the compiled code requires.
const std::string& feature_query();
// Removes that list from a preprocessed text. Returns false if the text has none.
bool extract_features(std::string& preprocessed, std::string& features);

}  // namespace troupe::cuda_on_host
