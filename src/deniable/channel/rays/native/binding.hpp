// Adds the rays to the module that also holds the scan.
#pragma once

#include <nanobind/nanobind.h>

namespace deniable {

void bind_rays(nanobind::module_& m);

}  // namespace deniable
