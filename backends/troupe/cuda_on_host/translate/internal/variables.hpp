// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <troupe/cuda_on_host/translate/internal/declaration.hpp>
#include <troupe/cuda_on_host/translate/internal/functions.hpp>
#include <troupe/cuda_on_host/translate/internal/parameters.hpp>
#include <troupe/cuda_on_host/translate/internal/statements.hpp>
#include <troupe/cuda_on_host/translate/internal/usage.hpp>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace troupe::cuda_on_host {

/// How a variable that is declared between barriers is kept.
enum class keeping : std::uint8_t {
  uniform,     ///< the same for all threads, so once for the block
  recomputed,  ///< never written: worked out anew, from threadIdx and what is uniform, wherever it is used
  stored,      ///< an element for each thread in memory, if it is used beyond the barrier at all
};

/// What is known of a variable's type without the compiler.
enum class type_form : std::uint8_t {
  number,   ///< int, float and their like
  pointer,  ///< T*
  vector,   ///< float4 and its like
  unknown,  ///< the name of another type, a template's parameter, auto
};

struct level_variable {
  std::string_view name;
  declarator shape;
  type_form form = type_form::unknown;
  std::size_t declaration = 0;     ///< index into level_variables::declarations
  std::size_t begin = 0, end = 0;  ///< tokens from which on, and up to which, the name means this
  bool is_parameter = false;       ///< a parameter that threads write to: each has its own
};

struct level_declaration {
  variable_declaration text;
  std::size_t begin = 0, end = 0;  ///< the statement
  keeping kept = keeping::stored;
};

/// What is declared at the level of barriers in a kernel: not in statements without a barrier.
class level_variables {
 public:
  level_variables(const token_list& source, const unit& u, const definition& kernel, const body_outline& body,
                  const std::vector<kernel_parameter>& parameters);

  const std::string& obstacle() const noexcept { return obstacle_; }  ///< why the kernel cannot be split
  const std::vector<level_variable>& all() const noexcept { return variables_; }
  const std::vector<level_declaration>& declarations() const noexcept { return declarations_; }
  const name_uses& uses() const noexcept { return uses_; }
  const template_parameters& given() const noexcept { return given_; }

  /// What a name means at a token; -1 when it is none of these.
  int meaning(std::string_view name, std::size_t at) const;
  keeping kept(int variable) const noexcept;
  /// The declaration that begins at a token; -1 when there is none.
  int declared_at(std::size_t begin) const;
  /// Whether the tokens are an expression with the same value in all threads, and without effect.
  bool is_uniform(std::size_t begin, std::size_t end) const { return is_pure(begin, end, false, 0, 0); }
  /// Whether they are one without effect or loads, whose value each thread can work out again.
  bool is_recomputable(std::size_t begin, std::size_t end) const { return is_pure(begin, end, true, 0, 0); }
  /// Whether the tokens change a uniform variable, in a way that is the same for all threads, and do nothing else.
  bool is_uniform_update(std::size_t begin, std::size_t end) const;
  /// Whether threads that run these statements have nothing in memory but what CUDA lets all of them see: numbers and
  /// pointers only, of which nobody takes the address, and functions that keep to registers.
  bool is_independent(std::size_t begin, std::size_t end) const;
  /// Whether anything but reads of a variable lies in the tokens; its elements and members count.
  bool is_written_between(int variable, std::size_t begin, std::size_t end) const;
  /// Names that are declared between barriers, of whatever kind.
  bool declares(std::string_view name) const { return declared_.contains(name); }

 private:
  // The scope of a name, tokens [begin, end).
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
  void judge();
  bool may_be_uniform(const level_declaration& d, std::size_t index) const;
  bool may_be_recomputed(const level_declaration& d, std::size_t index) const;
  bool is_in_register(std::string_view name, std::size_t begin, std::size_t end, bool is_pointer) const;
  bool is_scalar(const level_declaration& d, const declarator& one) const;
  // Whether the tokens are made of numbers and pointers to them by the language's own operators: so is their type.
  bool is_numeric(std::size_t begin, std::size_t end) const;
  bool is_pure(std::size_t begin, std::size_t end, bool with_threads, std::size_t scope, std::size_t scope_end) const;
  bool is_pure_name(std::size_t i, bool with_threads, std::size_t scope, std::size_t scope_end) const;
  bool is_cast(std::size_t close) const;
  bool is_constant_here(std::size_t i) const;
  void add_update(std::size_t begin, std::size_t end);
  void give_up(std::size_t at, const std::string& what);

  const token_list& s_;
  const unit& u_;
  const template_parameters given_;
  const name_uses uses_;
  std::unordered_set<std::string_view> read_only_parameters_;
  std::unordered_map<std::string_view, bool>
      plain_parameters_;  // numbers and pointers, and whether they are the latter
  std::unordered_set<std::string_view> shared_;
  std::unordered_set<std::string_view> numeric_;  // parameters and shared variables that point to, or are, numbers
  std::vector<local_name> constants_;             // declared constexpr in the kernel
  std::unordered_map<std::string_view, std::vector<std::pair<std::size_t, std::size_t>>> declared_;
  std::vector<level_variable> variables_;
  std::unordered_map<std::string_view, std::vector<int>> by_name_;
  std::vector<level_declaration> declarations_;
  std::unordered_map<std::size_t, int> by_begin_;
  std::unordered_map<std::size_t, std::size_t> updates_;  // end of the update whose target stands at a token
  std::string obstacle_;
};

}  // namespace troupe::cuda_on_host
