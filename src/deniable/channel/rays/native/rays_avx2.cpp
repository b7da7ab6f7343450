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

template <class Value>
float largest(const Value& value, float so_far) {
    alignas(32) float lanes[8];
    _mm256_store_ps(lanes, _mm256_max_ps(_mm256_max_ps(value(0), value(8)), _mm256_max_ps(value(16), value(24))));
    for (int i = 0; i < 8; ++i) so_far = lanes[i] > so_far ? lanes[i] : so_far;
    return so_far;
}

float steepest(const std::int16_t* projection, const float* reciprocal, float shift, float so_far) {
    return largest([&](std::size_t i) { return _mm256_mul_ps(shifted(projection + i, shift), _mm256_loadu_ps(reciprocal + i)); }, so_far);
}

float highest(const std::int16_t* projection, const float* cost, float inverse, float shift, float so_far) {
    const __m256 inverses = _mm256_set1_ps(inverse);
    return largest([&](std::size_t i) { return _mm256_fnmadd_ps(_mm256_loadu_ps(cost + i), inverses, shifted(projection + i, shift)); }, so_far);
}

const RayKernel kernel = {"avx2", scan, costs, steepest, highest, difference, half_square, project};

}  // namespace

const RayKernel* ray_kernel_avx2() { return &kernel; }

}  // namespace deniable
#else
DENIABLE_RAYS_LEFT_OUT(ray_kernel_avx2)
#endif
