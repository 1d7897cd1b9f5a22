#pragma once
#include <troupe/base/time_span.hpp>
