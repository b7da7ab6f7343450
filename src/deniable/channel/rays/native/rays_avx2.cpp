#include "kernel.hpp"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

namespace deniable {
namespace {

__m256i load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }

struct Test {
    __m256i threshold, multiplier, cap;
    __m128i shift;

    explicit Test(const RayTest& test)
        : threshold(_mm256_set1_epi16(test.threshold)), multiplier(_mm256_set1_epi16(std::int16_t(test.multiplier))),
          cap(_mm256_set1_epi16(std::int16_t(test.cap))), shift(_mm_cvtsi32_si128(test.shift)) {}

    __m256i failing(const std::int16_t* projection, const std::uint16_t* cost) const {
        const __m256i taken = _mm256_mulhi_epu16(_mm256_sll_epi16(_mm256_min_epu16(load(cost), cap), shift), multiplier);
        return _mm256_cmpgt_epi16(threshold, _mm256_subs_epi16(load(projection), taken));
    }

    std::uint32_t passing(const std::int16_t* projection, const std::uint16_t* cost) const {
        // Packing goes by halves of the registers; the permutation puts the words back in their order.
        const __m256i packed = _mm256_packs_epi16(failing(projection, cost), failing(projection + 16, cost + 16));
        return ~std::uint32_t(_mm256_movemask_epi8(_mm256_permute4x64_epi64(packed, 0xd8)));
    }
};

#include "lines.inc"
#include "products.inc"
#include "scan.inc"

void costs(const float* half, const float* product, float origin_half, std::size_t tiles, std::uint16_t* costs, std::uint16_t* least) {
    const __m256 origin = _mm256_set1_ps(origin_half), units = _mm256_set1_ps(kRayUnitsDown), most = _mm256_set1_ps(65535.0f);
    for (std::size_t tile = 0; tile < tiles; ++tile) {
        const auto whole = [&](std::size_t i) {
            const __m256 cost = _mm256_sub_ps(_mm256_add_ps(_mm256_loadu_ps(half + i), origin), _mm256_loadu_ps(product + i));
            return _mm256_cvttps_epi32(_mm256_max_ps(_mm256_min_ps(_mm256_mul_ps(cost, units), most), _mm256_setzero_ps()));
        };
        __m128i smallest = _mm_set1_epi16(-1);
        for (std::size_t i = tile * kRayTile; i < (tile + 1) * kRayTile; i += 16) {
            const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(whole(i), whole(i + 8)), 0xd8);
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(costs + i), packed);
            smallest = _mm_min_epu16(smallest, _mm_min_epu16(_mm256_castsi256_si128(packed), _mm256_extracti128_si256(packed, 1)));
        }
        least[tile] = std::uint16_t(_mm_extract_epi16(_mm_minpos_epu16(smallest), 0));
    }
}

__m256 shifted(const std::int16_t* projection, float shift) {
    const __m256i whole = _mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(projection)));
    return _mm256_sub_ps(_mm256_cvtepi32_ps(whole), _mm256_set1_ps(shift));
}

// The largest value(projection less what it may be under, place of its other numbers) of all words of the tiles.
template <class Value>
float largest(const std::int16_t* projections, const RayNear& near, float shift, float so_far, const Value& value) {
    __m256 top = _mm256_set1_ps(so_far);
    for (std::size_t k = 0; k < near.count; ++k)
        for (std::size_t i = 0; i < kRayTile; i += 8) {
            const __m256 least = shifted(projections + near.tiles[k] * kRayTile + i, near.unders[k] + shift);
            top = _mm256_max_ps(value(least, k * kRayTile + i), top);  // the second stays where the first is no number
        }
    alignas(32) float lanes[8];
    _mm256_store_ps(lanes, top);
    for (int i = 0; i < 8; ++i) so_far = lanes[i] > so_far ? lanes[i] : so_far;
    return so_far;
}

float steepest(const std::int16_t* projections, const RayNear& near, const float* reciprocals, float shift, float so_far) {
    return largest(projections, near, shift, so_far, [&](__m256 least, std::size_t i) { return _mm256_mul_ps(least, _mm256_loadu_ps(reciprocals + i)); });
}

float highest(const std::int16_t* projections, const RayNear& near, const float* costs, float inverse, float so_far) {
    const __m256 inverses = _mm256_set1_ps(inverse);
    return largest(projections, near, 0.0f, so_far,
                   [&](__m256 least, std::size_t i) { return _mm256_fnmadd_ps(_mm256_loadu_ps(costs + i), inverses, least); });
}

const RayKernel kernel = {"avx2", scan, products, costs, steepest, highest, difference, half_square, project};

}  // namespace

const RayKernel* ray_kernel_avx2() { return &kernel; }

}  // namespace deniable
#else
DENIABLE_RAYS_LEFT_OUT(ray_kernel_avx2)
#endif
