// Loops that are gone when the compiler looks: the body is repeated with its index as a constant.
//
// Sums kept in an array stay in registers only if every index is a constant early on; GCC's unrolling comes too late for
// that and leaves a store and a load around each multiplication. Everything here is inlined, so it is safe to include
// where the instructions are special.
#pragma once

#include <cstddef>

namespace deniable {

template <int I>
struct Constant {
    constexpr operator int() const { return I; }
};

template <int N, int I = 0, class Body>
__attribute__((always_inline)) static inline void unrolled(const Body& body) {
    if constexpr (I < N) {
        body(Constant<I>{});
        unrolled<N, I + 1>(body);
    }
}

#define DENIABLE_INLINED __attribute__((always_inline))

}  // namespace deniable
