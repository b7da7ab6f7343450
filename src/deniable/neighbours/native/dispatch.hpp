// Which instruction sets this machine has.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernel.hpp"

namespace deniable {

// The features that matter here, each with whether the processor has it and the system lets us use it.
std::vector<std::pair<std::string, bool>> cpu_features();

// Every kernel by name, fastest first, with why it cannot be used here; an empty reason means that it can.
struct Path {
    std::string name, obstacle;
    const Kernel* kernel;
};
const std::vector<Path>& paths();

}  // namespace deniable
