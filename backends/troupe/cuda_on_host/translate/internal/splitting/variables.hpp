// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <troupe/cuda_on_host/translate/internal/parsing/declaration.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/functions.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/parameters.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/statements.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/usage.hpp>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace troupe::cuda_on_host {

/// Where a variable that is declared between barriers is stored.
enum class variable_storage : std::uint8_t {
  uniform,     ///< the same value for all threads: stored once for the block
  recomputed,  ///< never written: computed again, from threadIdx and uniform values, wherever it is used
  stored,      ///< an array in memory with an element for each thread, if the variable lives across a barrier
};

/// The kind of a variable's type, as far as it is known without the compiler.
enum class type_form : std::uint8_t {
  number,   ///< int, float and the like
  pointer,  ///< T*
  vector,   ///< float4 and the like
  unknown,  ///< the name of another type, a template parameter, auto
};

struct level_variable {
  std::string_view name;
  declarator shape;
  type_form form = type_form::unknown;
  std::size_t declaration = 0;     ///< index into level_variables::declarations
  std::size_t begin = 0, end = 0;  ///< the range of tokens in which the name means this variable
  bool is_parameter = false;       ///< a parameter that threads write, so each thread has a copy
};

struct level_declaration {
  variable_declaration text;
  std::size_t begin = 0, end = 0;  ///< of the statement
  variable_storage storage = variable_storage::stored;
};

/// The variables that a kernel declares at the level of its barriers: outside of statements that contain no barrier.
class level_variables {
 public:
  level_variables(const token_list& source, const unit& u, const definition& kernel, const body_outline& body,
                  const std::vector<kernel_parameter>& parameters);

  const std::string& obstacle() const noexcept { return obstacle_; }  ///< why the kernel cannot be split
  const std::vector<level_variable>& all() const noexcept { return variables_; }
  const std::vector<level_declaration>& declarations() const noexcept { return declarations_; }
  const name_uses& uses() const noexcept { return uses_; }
  const template_parameters& templates() const noexcept { return templates_; }

  /// Returns the variable that the name at token `at` means, or -1 if it means none of these variables.
  int find_variable(std::string_view name, std::size_t at) const;
  variable_storage storage_of(int variable) const noexcept;
  /// Returns the declaration that begins at a token, or -1 if there is none.
  int declared_at(std::size_t begin) const;
  /// Returns true if the tokens are an expression without side effects whose value is the same in all threads.
  bool is_uniform(std::size_t begin, std::size_t end) const { return is_pure(begin, end, false, 0, 0); }
  /// Returns true if the tokens are an expression without side effects or loads, which each thread can evaluate again.
  bool is_recomputable(std::size_t begin, std::size_t end) const { return is_pure(begin, end, true, 0, 0); }
  /// Returns true if the tokens only change a uniform variable, in the same way for all threads.
  bool is_uniform_update(std::size_t begin, std::size_t end) const;
  /// Returns true if threads that run these statements access only memory that CUDA lets all of them see, apart from
  /// numbers and pointers whose address is never taken, and call only functions that use registers.
  bool is_independent(std::size_t begin, std::size_t end) const;
  /// Returns true if the tokens may do more than read the variable, its elements and its members.
  bool is_written_between(int variable, std::size_t begin, std::size_t end) const;
  /// Returns true if a variable, type or other name is declared between barriers.
  bool declares(std::string_view name) const { return declared_.contains(name); }

 private:
  // The scope of a name: tokens [begin, end).
  struct local_name {
    std::string_view name;
    std::size_t begin, end;
  };

  void add_parameter(const kernel_parameter& p, const definition& kernel);
  void collect(const statement& s, std::size_t scope_end);
  void collect_plain(std::size_t begin, std::size_t end, std::size_t scope_end);
  void collect_block_wide(std::size_t begin, std::size_t end, std::size_t scope_end);
  void declare(std::string_view name, std::size_t begin, std::size_t end);
  type_form form_of(const variable_declaration& d, const declarator& one) const;
  void choose_storage();
  bool may_be_uniform(const level_declaration& d, std::size_t index) const;
  bool may_be_recomputed(const level_declaration& d, std::size_t index) const;
  bool is_in_register(std::string_view name, std::size_t begin, std::size_t end, bool is_pointer) const;
  bool is_scalar(const level_declaration& d, const declarator& one) const;
  // Returns true if the tokens combine numbers and pointers to numbers by built-in operators only, so that their type
  // is a number or such a pointer.
  bool is_numeric(std::size_t begin, std::size_t end) const;
  bool is_pure(std::size_t begin, std::size_t end, bool with_threads, std::size_t scope, std::size_t scope_end) const;
  bool is_pure_name(std::size_t i, bool with_threads, std::size_t scope, std::size_t scope_end) const;
  bool is_cast(std::size_t close) const;
  bool is_constant_here(std::size_t i) const;
  void add_update(std::size_t begin, std::size_t end);
  void set_obstacle(std::size_t at, const std::string& what);

  const token_list& s_;
  const unit& u_;
  const template_parameters templates_;
  const name_uses uses_;
  std::unordered_set<std::string_view> read_only_parameters_;
  // parameters that are numbers or pointers; true for pointers
  std::unordered_map<std::string_view, bool> plain_parameters_;
  std::unordered_set<std::string_view> shared_;
  // parameters and shared variables that are numbers or pointers to numbers
  std::unordered_set<std::string_view> numeric_;
  std::vector<local_name> constants_;  // names declared constexpr in the kernel
  std::unordered_map<std::string_view, std::vector<std::pair<std::size_t, std::size_t>>> declared_;
  std::vector<level_variable> variables_;
  std::unordered_map<std::string_view, std::vector<int>> by_name_;
  std::vector<level_declaration> declarations_;
  std::unordered_map<std::size_t, int> by_begin_;
  std::unordered_map<std::size_t, std::size_t> updates_;  // the end of each update, by the position of its target
  std::string obstacle_;
};

}  // namespace troupe::cuda_on_host
