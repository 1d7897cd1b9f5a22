// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <span>
#include <string_view>
#include <troupe/dnn/cudnn/cudnn_plan.hpp>
#include <troupe/dnn/cudnn/functions.hpp>

namespace troupe::dnn::cudnn {

std::string cudnn_plan::text() const {
  std::int64_t bytes = 0;
  if (calls().get_attribute(plan.get(), CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, 0, &bytes,
                            nullptr) != CUDNN_STATUS_SUCCESS ||
      bytes <= 0)
    return {};
  std::string text(static_cast<std::size_t>(bytes), '\0');
  if (plan.read<CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION>(std::span(text)) <= 0) return {};
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

bool cudnn_plan::reads_early() const {
  const std::string all = text();
  const std::string_view name = "\"kernelName\":\"", architecture = "_sm";
  if (all.find(name) == all.npos) return true;  // the text does not name the kernels
  for (std::size_t at = all.find(name); at != all.npos; at = all.find(name, at)) {
    at += name.size();
    const std::string_view kernel = std::string_view(all).substr(at, all.find('"', at) - at);
    const std::size_t suffix = kernel.find(architecture);
    int number = 0;
    if (suffix == kernel.npos) return true;
    const char* const digits = kernel.data() + suffix + architecture.size();
    std::from_chars(digits, kernel.data() + kernel.size(), number);
    if (number == 0 || number >= 90) return true;
  }
  return false;
}

std::optional<cudnn_plan> cudnn_plan::from(cudnnHandle_t on, const std::string& text) {
  cudnn_plan out{.plan = descriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)};
  out.plan.set<CUDNN_ATTR_EXECUTION_PLAN_HANDLE>(on)
      .set_all<CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION>(std::span<const char>(text))
      .finalize();
  if (out.plan.status() != CUDNN_STATUS_SUCCESS) return std::nullopt;
  out.workspace = static_cast<std::uint64_t>(out.plan.read_number<CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE>());
  return out;
}

}  // namespace troupe::dnn::cudnn
