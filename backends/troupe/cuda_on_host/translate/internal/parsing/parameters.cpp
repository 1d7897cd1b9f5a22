// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cuda_on_host/translate/internal/parsing/parameters.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/words.hpp>

namespace troupe::cuda_on_host {

namespace {

bool is_qualifier(const token& t) {
  return t.is("const") || t.is("__restrict__") || t.is("__restrict") || t.is("__grid_constant__");
}

// Returns true if the tokens consist only of names of built-in number types.
bool is_number_type(const token_list& s, const unit& u, std::size_t begin, std::size_t end) {
  bool any = false;
  for (std::size_t i = begin; i < end; ++i) {
    if (is_qualifier(s[i])) continue;
    if (!is_number_word(s[i].text) || u.names.contains(s[i].text)) return false;
    any = true;
  }
  return any;
}

}  // namespace

std::vector<kernel_parameter> read_parameters(const token_list& s, const unit& u, std::size_t open) {
  std::vector<kernel_parameter> out;
  const std::size_t close = s.closing(open);
  std::size_t begin = open + 1;
  for (std::size_t i = begin; i <= close && i < s.size(); ++i) {
    if (s[i].is("<")) {
      const std::size_t after = s.after_angles(i, close);
      if (after != i) i = after - 1;
      continue;
    }
    if (i != close && (s[i].is("(") || s[i].is("[") || s[i].is("{"))) {
      i = s.closing(i);
      continue;
    }
    if (i != close && !s[i].is(",")) continue;
    if (i > begin && !(i == begin + 1 && s[begin].is("void"))) {
      kernel_parameter p{.begin = begin, .end = i};
      std::size_t words = 0;
      bool has_hidden_uses = false;
      for (std::size_t k = begin; k < i; ++k) {
        p.is_pack |= s[k].is("...");
        if (s[k].is("<")) {  // a name in template arguments is not the parameter's: bool_constant<true>
          const std::size_t after = s.after_angles(k, i);
          if (after != k) k = after - 1;
          continue;
        }
        has_hidden_uses |= s[k].is("&") || s[k].is("&&") || s[k].is("(") || s[k].is("volatile");
        words += s[k].is_identifier() && !is_qualifier(s[k]) && !s[k].is("struct") && !s[k].is("typename") &&
                 !is_member(s, k);
      }
      const std::size_t name = declared_name(s, begin, i);
      if (words > 1 && name < i && !is_number_word(s[name].text) && !is_qualifier(s[name]) && !is_member(s, name) &&
          !s[name + 1].is("<")) {
        p.name = s[name].text;
        p.name_at = name;
        std::size_t type_end = name;
        while (type_end > begin && is_qualifier(s[type_end - 1])) --type_end;
        const bool is_array = s[name + 1].is("[");
        if (!has_hidden_uses && !p.is_pack) {
          p.is_pointer = s[type_end - 1].is("*") || is_array;
          const std::size_t element = s[type_end - 1].is("*") ? type_end - 1 : type_end;
          p.is_number = !p.is_pointer && is_number_type(s, u, begin, name);
          p.to_numbers = p.is_pointer && is_number_type(s, u, begin, element);
        }
      }
      out.push_back(p);
    }
    begin = i + 1;
  }
  return out;
}

template_parameters read_template_parameters(const token_list& s, const unit& u, const definition& function) {
  template_parameters out;
  for (std::size_t i = function.begin; i < function.name_at && s[i].is("template") && s[i + 1].is("<");) {
    const std::size_t after = s.after_angles(i + 1, s.size());
    if (after == i + 1) break;
    std::size_t begin = i + 2;
    for (std::size_t k = begin; k < after; ++k) {
      if (s[k].is("(") || s[k].is("[") || s[k].is("{")) {
        k = s.closing(k);
        continue;
      }
      if (s[k].is("<")) {
        const std::size_t inner = s.after_angles(k, after);
        if (inner != k) k = inner - 1;
        continue;
      }
      if (k + 1 != after && !s[k].is(",")) continue;
      std::size_t end = begin;
      while (end < k && !s[end].is("=")) ++end;
      const std::size_t name = end - 1;
      if (name > begin && s[name].is_identifier()) {
        const bool is_type = (s[begin].is("class") || s[begin].is("typename")) && name == begin + 1;
        if (is_number_type(s, u, begin, name))
          out.numbers.insert(s[name].text);
        else if (is_type)
          out.types.insert(s[name].text);
        else
          out.others.insert(s[name].text);
      }
      begin = k + 1;
    }
    i = after;
  }
  return out;
}

std::string launch_bounds(const token_list& source, const definition& d) {
  for (std::size_t i = d.begin; i < d.body; ++i)
    if (source[i].is("__launch_bounds__") && source[i + 1].is("(")) {
      std::string out = "(";
      for (std::size_t k = i + 2; k < source.closing(i + 1) && !source[k].is(","); ++k) {
        if (source[k].is("(")) {
          const std::size_t close = source.closing(k);
          for (; k < close; ++k) out += std::string(source[k].text) + " ";
        }
        out += std::string(source[k].text) + " ";
      }
      return out + ")";
    }
  return "1024";
}

}  // namespace troupe::cuda_on_host
