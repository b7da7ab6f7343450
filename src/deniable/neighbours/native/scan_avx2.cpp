// The scan for machines with AVX2 and FMA: eight queries a register, 32 multiply-adds in three instructions.
//
// vpmaddubsw adds two products in 16 bits and clips what does not fit. With queries from 0 to 126 and codes from -127 to
// 127 the sum stays within 2 * 126 * 127 = 32,004: nothing is ever clipped. The coarser query costs a wider bound, so a
// few more words are looked at again; the result is the same.
#include "kernel.hpp"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

#include <cstring>

#include "unrolled.hpp"

namespace deniable {
namespace {

#include "rows.inc"

constexpr int kLanes = 8;
constexpr int kWords = kTileWords;
constexpr int kOffset = 63;

inline __m256i broadcast(const void* four_bytes) {
    std::int32_t four;
    std::memcpy(&four, four_bytes, sizeof four);
    return _mm256_set1_epi32(four);
}

inline __m256i multiply_add(__m256i sum, __m256i unsigned_bytes, __m256i signed_bytes) {
    const __m256i pairs = _mm256_maddubs_epi16(unsigned_bytes, signed_bytes);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

std::size_t scan(const ScanJob& job) {
    const std::size_t tile_bytes = job.groups * kGroup * kTileWords;
    std::size_t found = 0;
    for (std::size_t tile = job.tile_begin; tile < job.tile_end; ++tile) {
        const TileHead& head = job.heads[tile];
        const std::int8_t* codes = job.codes + tile * tile_bytes;
        const std::uint8_t* queries = job.packed;

        __m256i sums[kWords];
        unrolled<kWords>([&](auto w) DENIABLE_INLINED { sums[w] = _mm256_set1_epi32(correction(kOffset, head.code_sum[w])); });
        for (std::size_t g = 0; g < job.groups; ++g) {
            const __m256i query = _mm256_load_si256(reinterpret_cast<const __m256i*>(queries));
            unrolled<kWords>([&](auto w) DENIABLE_INLINED { sums[w] = multiply_add(sums[w], query, broadcast(codes + w * kGroup)); });
            queries += kLanes * kGroup;
            codes += kTileWords * kGroup;
        }

        const float* half = job.with_shadowed ? head.half_all : head.half;
        const __m256 inverse_step = _mm256_load_ps(job.inverse_step);
        __m256 best = _mm256_set1_ps(-__builtin_inff());
        unrolled<kWords>([&](auto w) DENIABLE_INLINED {
            const __m256 dot = _mm256_mul_ps(_mm256_cvtepi32_ps(sums[w]), _mm256_set1_ps(head.scale[w]));
            best = _mm256_max_ps(best, _mm256_fnmadd_ps(_mm256_set1_ps(half[w]), inverse_step, dot));
        });
        __m256 error = _mm256_load_ps(job.least);
        error = _mm256_fmadd_ps(_mm256_load_ps(job.per_half), _mm256_set1_ps(head.largest_half), error);
        error = _mm256_fmadd_ps(_mm256_load_ps(job.per_residual), _mm256_set1_ps(head.residual), error);
        error = _mm256_fmadd_ps(_mm256_load_ps(job.per_norm), _mm256_set1_ps(head.norm), error);
        __m256 threshold = _mm256_load_ps(job.threshold);
        if (job.raise_threshold) {
            threshold = _mm256_max_ps(threshold, _mm256_sub_ps(best, error));
            _mm256_store_ps(job.threshold, threshold);
        }
        const int lanes = _mm256_movemask_ps(_mm256_cmp_ps(_mm256_add_ps(best, error), threshold, _CMP_GE_OQ));
        if (lanes) job.survivors[found++] = {std::uint32_t(tile), 0, std::uint32_t(lanes)};
    }
    return found;
}

void tile_dots(const std::int8_t* tile, const std::uint8_t* query, std::size_t groups, std::int32_t* dots) {
    __m256i sum = _mm256_setzero_si256();
    for (std::size_t g = 0; g < groups; ++g) {
        const __m256i words = _mm256_load_si256(reinterpret_cast<const __m256i*>(tile + g * kGroup * kTileWords));
        sum = multiply_add(sum, broadcast(query + g * kGroup), words);
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(dots), sum);
}

double peak(std::uint64_t rounds) {
    __m256i sums[8], a = _mm256_set1_epi32(0x01020304), b = _mm256_set1_epi32(0x01010101);
    unrolled<8>([&](auto i) DENIABLE_INLINED { sums[i] = _mm256_setzero_si256(); });
    for (std::uint64_t r = 0; r < rounds; ++r)
        unrolled<8>([&](auto i) DENIABLE_INLINED {
            sums[i] = multiply_add(sums[i], a, b);
            __asm__ volatile("" : "+x"(a), "+x"(b));  // keeps the compiler from doing one of the eight for all
        });
    __m256i total = sums[0];
    unrolled<8>([&](auto i) DENIABLE_INLINED { total = _mm256_xor_si256(total, sums[i]); });
    volatile std::int32_t used = _mm256_extract_epi32(total, 0);
    (void)used;
    return double(rounds) * 8 * 32;
}

#include "look.inc"

}  // namespace

const Kernel* kernel_avx2() {
    static const Kernel kernel = {"avx2", kLanes, 1, 63, kOffset, scan, look, row_score, row_squared_distance, peak};
    return &kernel;
}

}  // namespace deniable
#else
namespace deniable {
const Kernel* kernel_avx2() { return nullptr; }
}  // namespace deniable
#endif
