// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>

namespace troupe {

/// Finds the functions of a shared library that may be missing. The library stays loaded.
class library_functions {
 public:
  /// Loads the first of the files that loads without an error.
  explicit library_functions(std::initializer_list<std::string> files);

  /// Sets `function` to the function of this name; to null if the library or the function is missing.
  template <class F>
  void find(F*& function, const char* name) {
    function = reinterpret_cast<F*>(find(name));
  }
  /// Returns a sentence, without a full stop, about what was missing first: the library or one of its functions. Empty
  /// if nothing is missing.
  const std::string& missing() const noexcept { return missing_; }

 private:
  void* find(const char* name);

  void* library_ = nullptr;
  std::string file_, missing_;
};

}  // namespace troupe
