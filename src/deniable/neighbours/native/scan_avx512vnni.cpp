// The scan by vpdpbusd: 64 multiply-adds an instruction, two instructions a cycle on current Xeons.
//
// Sixteen queries share a register (one per lane), words are broadcast. So the largest score of a tile is a plain
// vertical maximum, and a block of 3 x 16 queries against 8 words keeps 24 sums in registers: 24 multiplies for 11
// loads, which leaves the multiply units as the only limit.
#include "kernel.hpp"

#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
#include <immintrin.h>

#include "unrolled.hpp"

namespace deniable {
namespace {

#include "rows.inc"
#include "tiles.inc"

constexpr int kLanes = 16;
constexpr int kOffset = 128;

// The instruction itself and not its intrinsic: GCC 12 gives the intrinsic's result a register of its own and then runs
// out of them, which costs a third of the speed.
inline DENIABLE_INLINED void multiply_add(__m512i& sum, const __m512i& unsigned_bytes, const __m512i& signed_bytes) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(unsigned_bytes), "v"(signed_bytes));
}

#include "avx512.inc"

template <int Vectors>
std::size_t scan_block(const ScanJob& job) {
    return scan_tiles(job, [&](const TileHead& head, const std::int8_t* codes, const auto& survive) DENIABLE_INLINED {
        const std::uint8_t* queries = job.packed;
        __m512i sums[kTileWords][Vectors];
        unrolled<kTileWords>([&](auto w) DENIABLE_INLINED {
            unrolled<Vectors>([&](auto v) DENIABLE_INLINED { sums[w][v] = _mm512_set1_epi32(correction(kOffset, head.code_sum[w])); });
        });
        for (std::size_t g = 0; g < job.groups; ++g) {
            __m512i query[Vectors];
            unrolled<Vectors>([&](auto v) DENIABLE_INLINED { query[v] = _mm512_load_si512(queries + v * 64); });
            unrolled<kTileWords>([&](auto w) DENIABLE_INLINED {
                const __m512i word = _mm512_set1_epi32(four_bytes(codes + w * kGroup));
                unrolled<Vectors>([&](auto v) DENIABLE_INLINED { multiply_add(sums[w][v], query[v], word); });
            });
            queries += Vectors * 64;
            codes += kTileWords * kGroup;
        }

        const float* half = job.with_shadowed ? head.half_all : head.half;
        unrolled<Vectors>([&](auto v) DENIABLE_INLINED {
            const auto dot = [&](auto w) DENIABLE_INLINED { return sums[w][v]; };
            const __m512 best = best_of_tile(head, half, load(job.inverse_step + v * kLanes), dot);
            survive(v, lanes_reached(job, head, best, v * kLanes));
        });
    });
}

std::size_t scan(const ScanJob& job) {
    return job.vectors == 3 ? scan_block<3>(job) : job.vectors == 2 ? scan_block<2>(job) : scan_block<1>(job);
}

void tile_dots(const std::int8_t* tile, const std::uint8_t* query, std::size_t groups, std::int32_t* dots) {
    const auto step = [&](__m256i sum, std::size_t g) DENIABLE_INLINED {
        const __m256i words = _mm256_load_si256(reinterpret_cast<const __m256i*>(tile + g * kGroup * kTileWords));
        return _mm256_dpbusd_epi32(sum, _mm256_set1_epi32(four_bytes(query + g * kGroup)), words);
    };
    // Four sums, because one would wait for itself at every step.
    __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;
    std::size_t g = 0;
    for (; g + 4 <= groups; g += 4) {
        a = step(a, g);
        b = step(b, g + 1);
        c = step(c, g + 2);
        d = step(d, g + 3);
    }
    for (; g < groups; ++g) a = step(a, g);
    const __m256i total = _mm256_add_epi32(_mm256_add_epi32(a, b), _mm256_add_epi32(c, d));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(dots), total);
}

// volatile, lest the compiler notice that all sums are alike and do the work of one
inline DENIABLE_INLINED void multiply_add_always(__m512i& sum, const __m512i& a, const __m512i& b) {
    __asm__ volatile("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
}

double peak(std::uint64_t rounds) {
    __m512i sums[24];
    const __m512i a = _mm512_set1_epi32(0x01020304), b = _mm512_set1_epi32(0x01010101);
    unrolled<24>([&](auto i) DENIABLE_INLINED { sums[i] = _mm512_setzero_si512(); });
    for (std::uint64_t r = 0; r < rounds; ++r) unrolled<24>([&](auto i) DENIABLE_INLINED { multiply_add_always(sums[i], a, b); });
    return double(rounds) * 24 * 64;
}

#include "look.inc"

const Kernel kernel = {"avx512vnni", kLanes, 3, 127, kOffset, scan, look, row_score, row_squared_distance, peak};

}  // namespace

const Kernel* kernel_avx512vnni() { return &kernel; }

}  // namespace deniable
#else
DENIABLE_LEFT_OUT(kernel_avx512vnni)
#endif
