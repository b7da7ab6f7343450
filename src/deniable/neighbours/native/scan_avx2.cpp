// The scan for machines with AVX2 and FMA: eight queries a register, 32 multiply-adds in three instructions.
//
// vpmaddubsw adds two products in 16 bits and clips what does not fit. With queries from 0 to 126 and codes from -127 to
// 127 the sum stays within 2 * 126 * 127 = 32,004: nothing is ever clipped. The coarser query costs a wider bound, so a
// few more words are looked at again; the result is the same.
#include "kernel.hpp"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

#include "unrolled.hpp"

namespace deniable {
namespace {

#include "rows.inc"
#include "tiles.inc"

constexpr int kLanes = 8;
constexpr int kOffset = 63;

inline __m256i broadcast(const void* from) { return _mm256_set1_epi32(four_bytes(from)); }

inline __m256i multiply_add(__m256i sum, __m256i unsigned_bytes, __m256i signed_bytes) {
    const __m256i pairs = _mm256_maddubs_epi16(unsigned_bytes, signed_bytes);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

using Numbers = __m256;
inline __m256 load(const float* from) { return _mm256_load_ps(from); }
inline void store(float* to, __m256 numbers) { _mm256_store_ps(to, numbers); }
inline __m256 larger(__m256 a, __m256 b) { return _mm256_max_ps(a, b); }
inline __m256 fused(__m256 a, float b, __m256 c) { return _mm256_fmadd_ps(a, _mm256_set1_ps(b), c); }
inline std::uint32_t at_least(__m256 a, __m256 b) { return std::uint32_t(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GE_OQ))); }

#include "lanes.inc"

std::size_t scan(const ScanJob& job) {
    return scan_tiles(job, [&](const TileHead& head, const std::int8_t* codes, const auto& survive) DENIABLE_INLINED {
        const std::uint8_t* queries = job.packed;
        __m256i sums[kTileWords];
        unrolled<kTileWords>([&](auto w) DENIABLE_INLINED { sums[w] = _mm256_set1_epi32(correction(kOffset, head.code_sum[w])); });
        for (std::size_t g = 0; g < job.groups; ++g) {
            const __m256i query = _mm256_load_si256(reinterpret_cast<const __m256i*>(queries));
            unrolled<kTileWords>([&](auto w) DENIABLE_INLINED { sums[w] = multiply_add(sums[w], query, broadcast(codes + w * kGroup)); });
            queries += kLanes * kGroup;
            codes += kTileWords * kGroup;
        }

        const float* half = job.with_shadowed ? head.half_all : head.half;
        const __m256 inverse_step = load(job.inverse_step);
        __m256 best = _mm256_set1_ps(-__builtin_inff());
        unrolled<kTileWords>([&](auto w) DENIABLE_INLINED {
            const __m256 dot = _mm256_mul_ps(_mm256_cvtepi32_ps(sums[w]), _mm256_set1_ps(head.scale[w]));
            best = larger(best, _mm256_fnmadd_ps(_mm256_set1_ps(half[w]), inverse_step, dot));
        });
        survive(0, lanes_reached(job, head, best, 0));
    });
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

const Kernel kernel = {"avx2", kLanes, 1, 63, kOffset, scan, look, row_score, row_squared_distance, peak};

}  // namespace

const Kernel* kernel_avx2() { return &kernel; }

}  // namespace deniable
#else
DENIABLE_LEFT_OUT(kernel_avx2)
#endif
