#include "kernel.hpp"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#include <immintrin.h>

namespace deniable {
namespace {

struct Test {
    __m512i threshold, multiplier, cap, shift;

    explicit Test(const RayTest& test)
        : threshold(_mm512_set1_epi16(test.threshold)), multiplier(_mm512_set1_epi16(std::int16_t(test.multiplier))),
          cap(_mm512_set1_epi16(std::int16_t(test.cap))), shift(_mm512_set1_epi16(std::int16_t(test.shift))) {}

    std::uint32_t passing(const std::int16_t* projection, const std::uint16_t* cost) const {
        const __m512i capped = _mm512_min_epu16(_mm512_loadu_si512(cost), cap);
        const __m512i taken = _mm512_mulhi_epu16(_mm512_sllv_epi16(capped, shift), multiplier);
        const __m512i value = _mm512_subs_epi16(_mm512_loadu_si512(projection), taken);
        return std::uint32_t(_mm512_cmp_epi16_mask(value, threshold, _MM_CMPINT_NLT));
    }
};

#include "lines.inc"
#include "products.inc"
#include "scan.inc"

void costs(const float* half, const float* product, float origin_half, std::size_t tiles, std::uint16_t* costs, std::uint16_t* least) {
    const __m512 origin = _mm512_set1_ps(origin_half), units = _mm512_set1_ps(kRayUnitsDown), most = _mm512_set1_ps(65535.0f);
    for (std::size_t tile = 0; tile < tiles; ++tile) {
        const auto whole = [&](std::size_t i) {
            const __m512 cost = _mm512_sub_ps(_mm512_add_ps(_mm512_loadu_ps(half + i), origin), _mm512_loadu_ps(product + i));
            const __m512 within = _mm512_max_ps(_mm512_min_ps(_mm512_mul_ps(cost, units), most), _mm512_setzero_ps());
            const __m512i rounded = _mm512_cvttps_epi32(within);
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(costs + i), _mm512_cvtepi32_epi16(rounded));
            return rounded;
        };
        least[tile] = std::uint16_t(_mm512_reduce_min_epi32(_mm512_min_epi32(whole(tile * kRayTile), whole(tile * kRayTile + 16))));
    }
}

__m512 shifted(const std::int16_t* projection, float shift) {
    const __m512i whole = _mm512_cvtepi16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(projection)));
    return _mm512_sub_ps(_mm512_cvtepi32_ps(whole), _mm512_set1_ps(shift));
}

// The largest value(projection less what it may be under, place of its other numbers) of all words of the tiles.
template <class Value>
float largest(const std::int16_t* projections, const RayNear& near, float shift, float so_far, const Value& value) {
    __m512 top = _mm512_set1_ps(so_far);
    for (std::size_t k = 0; k < near.count; ++k)
        for (std::size_t i = 0; i < kRayTile; i += 16) {
            const __m512 least = shifted(projections + near.tiles[k] * kRayTile + i, near.unders[k] + shift);
            top = _mm512_max_ps(value(least, k * kRayTile + i), top);  // the second stays where the first is no number
        }
    return _mm512_reduce_max_ps(top);
}

float steepest(const std::int16_t* projections, const RayNear& near, const float* reciprocals, float shift, float so_far) {
    return largest(projections, near, shift, so_far, [&](__m512 least, std::size_t i) { return _mm512_mul_ps(least, _mm512_loadu_ps(reciprocals + i)); });
}

float highest(const std::int16_t* projections, const RayNear& near, const float* costs, float inverse, float so_far) {
    const __m512 inverses = _mm512_set1_ps(inverse);
    return largest(projections, near, 0.0f, so_far,
                   [&](__m512 least, std::size_t i) { return _mm512_fnmadd_ps(_mm512_loadu_ps(costs + i), inverses, least); });
}

const RayKernel kernel = {"avx512", scan, products, costs, steepest, highest, difference, half_square, project};

}  // namespace

const RayKernel* ray_kernel_avx512() { return &kernel; }

}  // namespace deniable
#else
DENIABLE_RAYS_LEFT_OUT(ray_kernel_avx512)
#endif
