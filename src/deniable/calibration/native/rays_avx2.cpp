#include "kernel.hpp"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

namespace deniable {
namespace {

std::size_t tiles(const float* highest, const float* least, std::size_t count, float inverse, float threshold, std::uint32_t* found) {
    const __m256 inverses = _mm256_set1_ps(inverse), thresholds = _mm256_set1_ps(threshold);
    std::size_t survivors = 0;
    const auto test = [&](std::size_t i) {
        const __m256 value = _mm256_fnmadd_ps(_mm256_loadu_ps(least + i), inverses, _mm256_loadu_ps(highest + i));
        return std::uint32_t(_mm256_movemask_ps(_mm256_cmp_ps(value, thresholds, _CMP_GT_OQ)));
    };
    for (std::size_t i = 0; i < count; i += 32) {
        std::uint32_t mask = test(i) | test(i + 8) << 8 | test(i + 16) << 16 | test(i + 24) << 24;
        while (mask) {
            found[survivors++] = std::uint32_t(i + std::size_t(__builtin_ctz(mask)));
            mask &= mask - 1;
        }
    }
    return survivors;
}

std::uint32_t words(const float* projection, const float* half, const float* product, float origin_half, float inverse, float threshold) {
    const __m256 inverses = _mm256_set1_ps(inverse), thresholds = _mm256_set1_ps(threshold), origin = _mm256_set1_ps(origin_half);
    std::uint32_t found = 0;
    for (std::size_t i = 0; i < kRayTile; i += 8) {
        const __m256 rise = _mm256_sub_ps(_mm256_add_ps(_mm256_loadu_ps(half + i), origin), _mm256_loadu_ps(product + i));
        const __m256 value = _mm256_fnmadd_ps(rise, inverses, _mm256_loadu_ps(projection + i));
        found |= std::uint32_t(_mm256_movemask_ps(_mm256_cmp_ps(value, thresholds, _CMP_GT_OQ))) << i;
    }
    return found;
}

void least(const float* half, const float* product, float origin_half, std::size_t tiles, float* least) {
    const __m256 origin = _mm256_set1_ps(origin_half);
    alignas(32) float lanes[8];
    for (std::size_t tile = 0; tile < tiles; ++tile) {
        const auto rise = [&](std::size_t i) {
            const std::size_t at = tile * kRayTile + i;
            return _mm256_sub_ps(_mm256_add_ps(_mm256_loadu_ps(half + at), origin), _mm256_loadu_ps(product + at));
        };
        _mm256_store_ps(lanes, _mm256_min_ps(_mm256_min_ps(rise(0), rise(8)), _mm256_min_ps(rise(16), rise(24))));
        float smallest = lanes[0];
        for (int i = 1; i < 8; ++i) smallest = lanes[i] < smallest ? lanes[i] : smallest;
        least[tile] = smallest;
    }
}

float steepest(const float* projection, const float* reciprocal, float shift, float so_far) {
    const __m256 shifts = _mm256_set1_ps(shift);
    const auto value = [&](std::size_t i) {
        return _mm256_mul_ps(_mm256_sub_ps(_mm256_loadu_ps(projection + i), shifts), _mm256_loadu_ps(reciprocal + i));
    };
    alignas(32) float lanes[8];
    _mm256_store_ps(lanes, _mm256_max_ps(_mm256_max_ps(value(0), value(8)), _mm256_max_ps(value(16), value(24))));
    for (int i = 0; i < 8; ++i) so_far = lanes[i] > so_far ? lanes[i] : so_far;
    return so_far;
}

const RayKernel kernel = {"avx2", tiles, words, least, steepest};

}  // namespace

const RayKernel* ray_kernel_avx2() { return &kernel; }

}  // namespace deniable
#else
namespace deniable {
const RayKernel* ray_kernel_avx2() { return nullptr; }
}  // namespace deniable
#endif
