// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/jit/cuda/nvrtc/messages.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace troupe::jit {
namespace {

void erase_all(std::string& text, std::string_view what) {
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at)) text.erase(at, what.size());
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string_view behind(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  return at == text.npos ? std::string_view() : text.substr(at + mark.size());
}

// Returns a remedy for the user, which NVRTC's messages lack, or an empty text.
std::string remedy_for(std::string_view error) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> known{{
      {"device-side kernel launch could not be processed",
       "; launch kernels by jit::launch instead, and leave the function out of the source, or between #ifndef "
       "__CUDACC_RTC__ and #endif"},
      {"annotation on lambda requires", "; remove the annotation: a lambda runs where its function runs"},
      {"does not support exception handling",
       "; leave the function out of the source, or between #ifndef __CUDACC_RTC__ and #endif"},
      {"__host__ function is not allowed", "; remove __host__, and the function is compiled for the GPU"},
      {"a __device__ function call cannot be configured", "; only a kernel is launched by <<<>>>"},
  }};
  for (const auto& [said, then] : known)
    if (error.find(said) != error.npos) return std::string(then);
  return {};
}

// NVRTC reports errors in the names of kernels and globals after errors in the source, as errors in a file of this
// name, and quotes the names as they were passed to it.
constexpr std::string_view in_name_map = "__nv_name_map(", quoted = "#pragma nv_mangled_name ",
                           summed_up_in = "Input name expression was: ";

class reader {
 public:
  reader(const source_text& source, std::string_view said, std::string_view headers)
      : source_(source), headers_(headers), lines_(lines_of(said)) {}

  messages run() {
    for (std::size_t i = 0; i < lines_.size();) {
      std::size_t end = i + 1;
      while (end < lines_.size() && !lines_[end - 1].empty()) ++end;
      take(i, end);
      i = end;
    }
    erase_all(out_.log, std::string(headers_) + "/");
    out_.first_error = !in_source_.empty() ? in_source_ : in_recipe_;
    erase_all(out_.first_error, std::string(headers_) + "/");
    return std::move(out_);
  }

 private:
  // Handles one message: the lines up to an empty line, including quoted source lines.
  void take(std::size_t begin, std::size_t end) {
    const std::string_view first = lines_[begin];
    if (first.starts_with(in_name_map)) return take_name(begin, end);
    const bool is_sum = first.find(" detected in the compilation of ") != first.npos;
    if (is_sum && named_) return;  // the count includes messages that are not shown
    for (std::size_t i = begin; i < end; ++i) out_.log.append(lines_[i]).append("\n");
    if (is_sum || first.find("error: ") == first.npos) return;
    std::string error = std::string(first) + remedy_for(first) + place_of_use(begin, end);
    erase_all(error, std::string(headers_) + "/");
    if (in_source_.empty()) in_source_ = error;
    out_.errors.insert(std::move(error));
  }

  // Returns the line of the user's source that led to an error in one of our headers.
  std::string place_of_use(std::size_t begin, std::size_t end) const {
    if (!lines_[begin].starts_with(headers_)) return {};
    for (std::size_t i = end; i-- > begin + 1;) {
      const std::string_view place = behind(behind(lines_[i], "instantiation of "), " at line ");
      if (place.find(" of ") != place.npos) return "; used at line " + std::string(place);
    }
    return {};
  }

  void take_name(std::size_t begin, std::size_t end) {
    named_ = true;
    if (lines_[begin].find("Error in parsing name expression") != std::string_view::npos) return;
    std::string_view name;
    for (std::size_t i = begin; i < end && name.empty(); ++i) name = behind(lines_[i], quoted);
    std::string_view what = behind(lines_[begin], ": error: ");
    if (what.empty() || name.empty()) return;
    what = what.substr(0, what.find(summed_up_in));
    while (what.ends_with(' ') || what.ends_with('.')) what.remove_suffix(1);
    const bool global = name.starts_with('&') && std::find(source_.globals.begin(), source_.globals.end(),
                                                           name.substr(1)) != source_.globals.end();
    if (global) name.remove_prefix(1);
    const std::string message = source_.name + ": error: " + (global ? "globals" : "kernels") + " has \"" +
                                std::string(name) + "\": " + std::string(what) + "; expected " +
                                (global ? "a __device__ or __constant__ variable of the source, as spelled in C++"
                                        : "a __global__ function of the source, as spelled in C++; for a template, an "
                                          "instance: \"scale<float>\"");
    out_.log += message + "\n\n";
    if (in_recipe_.empty()) in_recipe_ = message;
    out_.errors.insert(message);
  }

  const source_text& source_;
  const std::string_view headers_;
  const std::vector<std::string_view> lines_;
  messages out_;
  bool named_ = false;
  std::string in_source_, in_recipe_;
};

}  // namespace

messages messages_for_user(const source_text& source, std::string_view said, std::string_view pretended,
                           std::string_view headers) {
  std::string text(said);
  erase_all(text, pretended);
  return reader(source, text, headers).run();
}

}  // namespace troupe::jit
