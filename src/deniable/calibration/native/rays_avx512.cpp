#include "kernel.hpp"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#include <immintrin.h>

namespace deniable {
namespace {

std::size_t tiles(const float* highest, const float* least, std::size_t count, float inverse, float threshold, std::uint32_t* found) {
    const __m512 inverses = _mm512_set1_ps(inverse), thresholds = _mm512_set1_ps(threshold);
    std::size_t survivors = 0;
    const auto test = [&](std::size_t i) {
        const __m512 value = _mm512_fnmadd_ps(_mm512_loadu_ps(least + i), inverses, _mm512_loadu_ps(highest + i));
        return std::uint64_t(_mm512_cmp_ps_mask(value, thresholds, _CMP_GT_OQ));
    };
    for (std::size_t i = 0; i < count; i += kRayTilesAtOnce) {
        std::uint64_t mask = test(i) | test(i + 16) << 16 | test(i + 32) << 32 | test(i + 48) << 48;
        while (mask) {
            found[survivors++] = std::uint32_t(i + std::size_t(__builtin_ctzll(mask)));
            mask &= mask - 1;
        }
    }
    return survivors;
}

std::uint32_t words(const float* projection, const float* half, const float* product, float origin_half, float inverse, float threshold) {
    const __m512 inverses = _mm512_set1_ps(inverse), thresholds = _mm512_set1_ps(threshold), origin = _mm512_set1_ps(origin_half);
    const auto test = [&](std::size_t i) {
        const __m512 rise = _mm512_sub_ps(_mm512_add_ps(_mm512_loadu_ps(half + i), origin), _mm512_loadu_ps(product + i));
        const __m512 value = _mm512_fnmadd_ps(rise, inverses, _mm512_loadu_ps(projection + i));
        return std::uint32_t(_mm512_cmp_ps_mask(value, thresholds, _CMP_GT_OQ));
    };
    return test(0) | test(16) << 16;
}

void least(const float* half, const float* product, float origin_half, std::size_t tiles, float* least) {
    const __m512 origin = _mm512_set1_ps(origin_half);
    for (std::size_t tile = 0; tile < tiles; ++tile) {
        const auto rise = [&](std::size_t i) {
            return _mm512_sub_ps(_mm512_add_ps(_mm512_loadu_ps(half + i), origin), _mm512_loadu_ps(product + i));
        };
        least[tile] = _mm512_reduce_min_ps(_mm512_min_ps(rise(tile * kRayTile), rise(tile * kRayTile + 16)));
    }
}

float steepest(const float* projection, const float* reciprocal, float shift, float so_far) {
    const __m512 shifts = _mm512_set1_ps(shift);
    const auto value = [&](std::size_t i) {
        return _mm512_mul_ps(_mm512_sub_ps(_mm512_loadu_ps(projection + i), shifts), _mm512_loadu_ps(reciprocal + i));
    };
    const float top = _mm512_reduce_max_ps(_mm512_max_ps(value(0), value(16)));
    return top > so_far ? top : so_far;
}

const RayKernel kernel = {"avx512", tiles, words, least, steepest};

}  // namespace

const RayKernel* ray_kernel_avx512() { return &kernel; }

}  // namespace deniable
#else
namespace deniable {
const RayKernel* ray_kernel_avx512() { return nullptr; }
}  // namespace deniable
#endif
