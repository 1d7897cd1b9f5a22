// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cuda_on_host/translate/internal/parsing/words.hpp>
#include <troupe/cuda_on_host/translate/internal/passes.hpp>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace troupe::cuda_on_host {

namespace {

// Members of a block group, and the built-in variables with the same value.
const std::unordered_map<std::string_view, std::string_view> members = {
    {"thread_rank", "(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))"},
    {"size", "(blockDim.x * blockDim.y * blockDim.z)"},
    {"num_threads", "(blockDim.x * blockDim.y * blockDim.z)"},
    {"group_dim", "::dim3(blockDim)"},
    {"dim_threads", "::dim3(blockDim)"},
    {"group_index", "::dim3(blockIdx)"},
    {"thread_index", "::dim3(threadIdx)"},
};

struct replacement {
  std::size_t begin, end;  // tokens
  std::string_view by;
};

// Collects the replacements in one kernel.
class kernel_reader {
 public:
  kernel_reader(const token_list& source, const definition& d) : s_(source), d_(d) {}

  // Returns no replacements if the kernel has no block group, or uses it for anything else.
  std::vector<replacement> run() {
    std::vector<replacement> all = look();
    for (const replacement& r : all) {  // a line marker within the removed text would be lost
      const std::size_t begin = s_.offset(r.begin);
      if (s_.source.substr(begin, s_.offset(r.end - 1) - begin).find("\n#") != std::string_view::npos) return {};
    }
    return all;
  }

 private:
  std::vector<replacement> look() {
    for (std::size_t i = d_.body + 1; i + 1 < d_.end; ++i) {
      const token& t = s_[i];
      if (!t.is_identifier() || is_covered(i)) continue;
      if (t.is("this_thread_block") && s_[i + 1].is("(") && s_[i + 2].is(")")) {
        if (!made(i)) return {};
      } else if (names_.contains(t.text) && !(s_[i - 1].is(".") || s_[i - 1].is("->"))) {
        if (!used(i, i + 1)) return {};
      }
    }
    return std::move(out_);
  }

  bool is_covered(std::size_t i) const { return !out_.empty() && i < out_.back().end; }

  // Returns the first token of the qualified name, such as cg::x, that ends at `i`.
  std::size_t qualified(std::size_t i) const noexcept {
    while (s_[i - 1].is("::")) i -= s_[i - 2].is_identifier() ? 2 : 1;
    return i;
  }

  bool made(std::size_t i) {
    const std::size_t first = qualified(i), behind = i + 3;
    if (!(s_[first - 1].is("=") && s_[behind].is(";"))) return used(first, behind);
    // Matches cg::thread_block block = cg::this_thread_block();
    const std::size_t name = first - 2;
    std::size_t begin = name;
    while (s_[begin - 1].is_identifier() || s_[begin - 1].is("::") || s_[begin - 1].is("&")) --begin;
    const bool is_declaration = begin < name && s_[name].is_identifier() &&
                                (s_[begin - 1].is(";") || s_[begin - 1].is("{") || s_[begin - 1].is("}"));
    for (std::size_t k = begin; k < name; ++k)
      if (!s_[k].is("auto") && !s_[k].is("const") && !s_[k].is("&") && !s_[k].is("::") && !s_[k].is("thread_block") &&
          !s_[k + 1].is("::"))
        return false;
    if (!is_declaration || !names_.insert(s_[name].text).second) return false;
    out_.push_back({begin, behind + 1, ""});
    return true;
  }

  // Handles one use of the block group, which tokens [begin, end) name.
  bool used(std::size_t begin, std::size_t end) {
    const bool is_call = s_[end].is(".") && s_[end + 1].is_identifier() && s_[end + 2].is("(") && s_[end + 3].is(")");
    if (is_call && s_[end + 1].is("sync")) return barrier(begin, end + 4);
    if (is_call) {
      const auto member = members.find(s_[end + 1].text);
      if (member == members.end()) return false;
      out_.push_back({begin, end + 4, member->second});
      return true;
    }
    if (s_[begin - 1].is("(") && s_[begin - 2].is("sync") && s_[end].is(")"))
      return barrier(qualified(begin - 2), end + 1);
    return false;
  }

  bool barrier(std::size_t begin, std::size_t end) {
    const token& before = s_[begin - 1];
    const bool is_statement =
        s_[end].is(";") && (before.is(";") || before.is("{") || before.is("}") || before.is(")") || before.is("else") ||
                            before.is("do") || before.kind == token_kind::pragma);
    if (is_statement) out_.push_back({begin, end, "__syncthreads()"});
    return is_statement;
  }

  const token_list& s_;
  const definition& d_;
  std::unordered_set<std::string_view> names_;
  std::vector<replacement> out_;
};

}  // namespace

std::optional<std::string> with_plain_barriers(const token_list& s, const unit& u) {
  std::vector<replacement> all;
  for (const definition& d : u.definitions) {
    if (!d.is_kernel || !d.has_body) continue;
    const std::vector<replacement> here = kernel_reader(s, d).run();
    all.insert(all.end(), here.begin(), here.end());
  }
  if (all.empty()) return {};
  std::string out;
  std::size_t at = 0;
  for (const replacement& r : all) {
    const std::size_t begin = s.offset(r.begin), end = s.offset(r.end - 1) + s[r.end - 1].text.size();
    const std::string_view old = s.source.substr(begin, end - begin);
    out.append(s.source.substr(at, begin - at)).append(r.by);
    out.append(static_cast<std::size_t>(std::count(old.begin(), old.end(), '\n')), '\n');
    at = end;
  }
  return out.append(s.source.substr(at));
}

}  // namespace troupe::cuda_on_host
