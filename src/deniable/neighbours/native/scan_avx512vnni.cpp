// The scan by vpdpbusd: 64 multiply-adds an instruction, two instructions a cycle on current Xeons.
//
// Sixteen queries share a register (one per lane), words are broadcast. So the largest score of a tile is a plain
// vertical maximum, and a block of 3 x 16 queries against 8 words keeps 24 sums in registers: 24 multiplies for 11
// loads, which leaves the multiply units as the only limit.
#include "kernel.hpp"

#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
#include <immintrin.h>

#include <cstring>

namespace deniable {
namespace {

#include "rows.inc"

constexpr int kLanes = 16;
constexpr int kOffset = 128;

inline __m512i broadcast_word(const std::int8_t* codes) {
    std::int32_t four;
    std::memcpy(&four, codes, sizeof four);
    return _mm512_set1_epi32(four);
}

template <int Vectors>
std::size_t scan_block(const ScanJob& job) {
    const std::size_t tile_bytes = job.groups * kGroup * kTileWords;
    std::size_t found = 0;
    for (std::size_t tile = job.tile_begin; tile < job.tile_end; ++tile) {
        const TileHead& head = job.heads[tile];
        const std::int8_t* codes = job.codes + tile * tile_bytes;
        const std::uint8_t* queries = job.packed;

        __m512i sums[kTileWords][Vectors];
        for (std::size_t w = 0; w < kTileWords; ++w)
            for (int v = 0; v < Vectors; ++v) sums[w][v] = _mm512_set1_epi32(-kOffset * head.code_sum[w]);
        for (std::size_t g = 0; g < job.groups; ++g) {
            __m512i query[Vectors];
            for (int v = 0; v < Vectors; ++v) query[v] = _mm512_load_si512(queries + v * 64);
#pragma GCC unroll 8
            for (std::size_t w = 0; w < kTileWords; ++w) {
                const __m512i word = broadcast_word(codes + w * kGroup);
                for (int v = 0; v < Vectors; ++v) sums[w][v] = _mm512_dpbusd_epi32(sums[w][v], query[v], word);
            }
            queries += Vectors * 64;
            codes += kTileWords * kGroup;
        }

        const float* half = job.with_shadowed ? head.half_all : head.half;
        for (int v = 0; v < Vectors; ++v) {
            const __m512 inverse_step = _mm512_load_ps(job.inverse_step + v * kLanes);
            __m512 best = _mm512_set1_ps(-__builtin_inff());
#pragma GCC unroll 8
            for (std::size_t w = 0; w < kTileWords; ++w) {
                const __m512 dot = _mm512_mul_ps(_mm512_cvtepi32_ps(sums[w][v]), _mm512_set1_ps(head.scale[w]));
                best = _mm512_max_ps(best, _mm512_fnmadd_ps(_mm512_set1_ps(half[w]), inverse_step, dot));
            }
            __m512 error = _mm512_load_ps(job.least + v * kLanes);
            error = _mm512_fmadd_ps(_mm512_load_ps(job.per_half + v * kLanes), _mm512_set1_ps(head.largest_half), error);
            error = _mm512_fmadd_ps(_mm512_load_ps(job.per_residual + v * kLanes), _mm512_set1_ps(head.residual), error);
            error = _mm512_fmadd_ps(_mm512_load_ps(job.per_norm + v * kLanes), _mm512_set1_ps(head.norm), error);
            __m512 threshold = _mm512_load_ps(job.threshold + v * kLanes);
            if (job.raise_threshold) {
                threshold = _mm512_max_ps(threshold, _mm512_sub_ps(best, error));
                _mm512_store_ps(job.threshold + v * kLanes, threshold);
            }
            const __mmask16 lanes = _mm512_cmp_ps_mask(_mm512_add_ps(best, error), threshold, _CMP_GE_OQ);
            if (lanes) job.survivors[found++] = {std::uint32_t(tile), std::uint32_t(v), lanes};
        }
    }
    return found;
}

std::size_t scan(const ScanJob& job) {
    return job.vectors == 3 ? scan_block<3>(job) : job.vectors == 2 ? scan_block<2>(job) : scan_block<1>(job);
}

void tile_dots(const std::int8_t* tile, const std::uint8_t* query, std::size_t groups, std::int32_t* dots) {
    // Four sums, because one would wait for itself at every step.
    __m256i sums[4] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256()};
    for (std::size_t g = 0; g < groups; ++g) {
        std::int32_t four;
        std::memcpy(&four, query + g * kGroup, sizeof four);
        const __m256i words = _mm256_load_si256(reinterpret_cast<const __m256i*>(tile + g * kGroup * kTileWords));
        sums[g % 4] = _mm256_dpbusd_epi32(sums[g % 4], _mm256_set1_epi32(four), words);
    }
    const __m256i total = _mm256_add_epi32(_mm256_add_epi32(sums[0], sums[1]), _mm256_add_epi32(sums[2], sums[3]));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(dots), total);
}

double peak(std::uint64_t rounds) {
    __m512i sums[24], a = _mm512_set1_epi32(0x01020304), b = _mm512_set1_epi32(0x01010101);
    for (auto& sum : sums) sum = _mm512_setzero_si512();
    for (std::uint64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 24
        for (auto& sum : sums) sum = _mm512_dpbusd_epi32(sum, a, b);
        __asm__ volatile("" : "+v"(a), "+v"(b));  // keeps the compiler from summing up the rounds beforehand
    }
    __m512i total = sums[0];
    for (int i = 1; i < 24; ++i) total = _mm512_add_epi32(total, sums[i]);
    volatile std::int32_t used = _mm512_reduce_add_epi32(total);
    (void)used;
    return double(rounds) * 24 * 64;
}

}  // namespace

const Kernel* kernel_avx512vnni() {
    static const Kernel kernel = {"avx512vnni", kLanes, 3, 127, kOffset, scan, tile_dots, row_score, row_squared_distance, peak};
    return &kernel;
}

}  // namespace deniable
#else
namespace deniable {
const Kernel* kernel_avx512vnni() { return nullptr; }
}  // namespace deniable
#endif
