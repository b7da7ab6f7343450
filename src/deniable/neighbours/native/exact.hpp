// The last word on two candidates, without rounding; the same decision as neighbours/exact.py.
#pragma once

#include <cstddef>

namespace deniable {

// The sign of score(u) - score(v), with score(x) = <q, x> - |x|^2 / 2: +1 when u is nearer to q than v.
int compare_exactly(const float* query, const float* u, const float* v, std::size_t dimension);

}  // namespace deniable
