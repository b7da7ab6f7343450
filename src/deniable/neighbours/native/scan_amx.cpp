// The scan by AMX: an instruction multiplies 16 words by 16 queries over 64 dimensions, eight times the multiply-adds of vpdpbusd.
//
// The codes of 32 words are turned round once, so that each word's dimensions lie together as the instruction takes them, and then
// multiplied by all queries of the block, 32 at a time. The sums are those of the other kernels, to the last bit. A few queries would not
// pay for turning the words round: they go the way of vpdpbusd, which takes the queries packed in the same way.
#include "kernel.hpp"

#if defined(__AMX_INT8__) && defined(__AVX512VNNI__) && defined(__AVX512VL__)
#include <immintrin.h>

#include "unrolled.hpp"

namespace deniable {
namespace {

#include "rows.inc"
#include "amx.inc"
#include "avx512.inc"

constexpr int kLanes = 16, kOffset = 128;
constexpr int kMostVectors = 24;
constexpr int kFewestVectors = 2;                  // with fewer, turning the words round costs more than it saves
constexpr std::size_t kTilesAtOnce = 4;            // 32 words: two registers of words by two of queries
constexpr std::size_t kMatrixGroups = 16;          // four dimensions each
constexpr std::size_t kMatrixBytes = 16 * 64;
constexpr std::size_t kRoom = kTilesAtOnce * kTileWords * kGroup;  // bytes for each group

// How the groups are shared out among as few multiplications as possible.
struct Steps {
    std::size_t count, groups;
    explicit Steps(std::size_t all) : count((all + kMatrixGroups - 1) / kMatrixGroups), groups((all + count - 1) / count) {}
};

// Turns the groups of one tile round: from [group][word] to [word][group], four bytes each, rows of 64 bytes. At most 16 groups; the
// rest of a row is zero.
inline void turn_round(const std::int8_t* codes, std::size_t groups, std::int8_t* rows) {
    // Two groups a register: pairs of groups of one word are brought together, and then turned round as 8 x 8 numbers of 64 bits.
    const __m512i together = _mm512_set_epi32(15, 7, 14, 6, 13, 5, 12, 4, 11, 3, 10, 2, 9, 1, 8, 0);
    __m512i in[8], pairs[8], fours[8];
    unrolled<8>([&](auto i) DENIABLE_INLINED {
        const std::size_t left = groups > 2 * i ? groups - 2 * i : 0;
        const __mmask16 there = left >= 2 ? 0xFFFF : left == 1 ? 0x00FF : 0;
        in[i] = _mm512_permutexvar_epi32(together, _mm512_maskz_loadu_epi32(there, codes + std::size_t(i) * 2 * kGroup * kTileWords));
    });
    unrolled<4>([&](auto i) DENIABLE_INLINED {
        pairs[2 * i] = _mm512_unpacklo_epi64(in[2 * i], in[2 * i + 1]);
        pairs[2 * i + 1] = _mm512_unpackhi_epi64(in[2 * i], in[2 * i + 1]);
    });
    unrolled<2>([&](auto i) DENIABLE_INLINED {
        unrolled<2>([&](auto odd) DENIABLE_INLINED {
            const __m512i low = pairs[4 * i + odd], high = pairs[4 * i + 2 + odd];
            fours[4 * i + odd] = _mm512_shuffle_i64x2(low, high, 0x88);      // words odd, 4 + odd of both
            fours[4 * i + 2 + odd] = _mm512_shuffle_i64x2(low, high, 0xDD);  // words 2 + odd, 6 + odd
        });
    });
    unrolled<4>([&](auto w) DENIABLE_INLINED {
        _mm512_store_si512(rows + std::size_t(w) * 64, _mm512_shuffle_i64x2(fours[w], fours[4 + w], 0x88));
        _mm512_store_si512(rows + (std::size_t(w) + 4) * 64, _mm512_shuffle_i64x2(fours[w], fours[4 + w], 0xDD));
    });
}

class Scan {
  public:
    explicit Scan(const ScanJob& job) : job_(job), steps_(job.groups) {}

    std::size_t run() {
        matrices_begin(steps_.groups);
        for (std::size_t tile = job_.tile_begin; tile < job_.tile_end; tile += kTilesAtOnce) {
            take(tile);
            int v = 0;
            for (; v + 2 <= job_.vectors; v += 2) {
                multiply<2>(v);
                judge(v, 0);
                judge(v + 1, 1);
            }
            if (v < job_.vectors) {
                multiply<1>(v);
                judge(v, 0);
            }
        }
        matrices_end();
        return found_;
    }

  private:
    // Makes the words from this tile on ready: codes turned round, and the sums that correct for the queries' offset.
    void take(std::size_t tile) {
        first_ = tile;
        tiles_ = job_.tile_end - tile < kTilesAtOnce ? job_.tile_end - tile : kTilesAtOnce;
        for (std::size_t t = 0; t < kTilesAtOnce; ++t) {
            // Behind the last tile the last one stands again, and nobody looks at its sums.
            const std::size_t from = tile + (t < tiles_ ? t : tiles_ - 1);
            const std::int8_t* codes = job_.codes + from * job_.groups * kGroup * kTileWords;
            for (std::size_t s = 0; s < steps_.count; ++s) {
                const std::size_t begin = s * steps_.groups, end = begin + steps_.groups < job_.groups ? begin + steps_.groups : job_.groups;
                turn_round(codes + begin * kGroup * kTileWords, end - begin, job_.room + 2 * s * kMatrixBytes + t * kTileWords * 64);
            }
            for (std::size_t w = 0; w < kTileWords; ++w)
                _mm512_store_si512(corrections_[t * kTileWords + w], _mm512_set1_epi32(correction(kOffset, job_.heads[from].code_sum[w])));
        }
    }

    // Writes the sums of the words and 16 or 32 queries.
    template <int Vectors>
    void multiply(int v) {
        const std::size_t stride = std::size_t(job_.vectors) * 64;
        const std::uint8_t* queries = job_.packed + std::size_t(v) * 64;
        const std::int8_t* words = job_.room;
        unrolled<2 * Vectors>([&](auto sums) DENIABLE_INLINED { matrix_load<sums>(corrections_[sums % 2 * 16], 64); });
        for (std::size_t s = 0; s < steps_.count; ++s) {
            matrix_load<4>(words, 64);
            matrix_load<6>(queries, stride);
            matrix_multiply<0, 4, 6>();
            matrix_load<5>(words + kMatrixBytes, 64);
            matrix_multiply<1, 5, 6>();
            if (Vectors == 2) {
                matrix_load<7>(queries + 64, stride);
                matrix_multiply<2, 4, 7>();
                matrix_multiply<3, 5, 7>();
            }
            words += 2 * kMatrixBytes;
            queries += steps_.groups * stride;
        }
        unrolled<2 * Vectors>([&](auto sums) DENIABLE_INLINED { matrix_store<sums>(sums_[sums / 2][sums % 2 * 16], 64); });
    }

    // Keeps the tiles whose sums say that they may hold a winner.
    void judge(int v, int place) {
        const __m512 inverse_step = load(job_.inverse_step + v * kLanes);
        Lanes lanes(job_, v * kLanes);
        unrolled<int(kTilesAtOnce)>([&](auto t) DENIABLE_INLINED {
            if (std::size_t(t) >= tiles_) return;
            const TileHead& head = job_.heads[first_ + t];
            const float* half = job_.with_shadowed ? head.half_all : head.half;
            const auto dot = [&](auto w) DENIABLE_INLINED { return _mm512_load_si512(sums_[place][t * int(kTileWords) + w]); };
            const std::uint32_t reached = lanes.reached(head, best_of_tile(head, half, inverse_step, dot));
            if (reached) job_.survivors[found_++] = {std::uint32_t(first_ + t), std::uint32_t(v), reached};
        });
        lanes.keep();
    }

    const ScanJob& job_;
    const Steps steps_;
    std::size_t first_ = 0, tiles_ = 0, found_ = 0;
    alignas(64) std::int32_t corrections_[kTilesAtOnce * kTileWords][16];
    alignas(64) std::int32_t sums_[2][kTilesAtOnce * kTileWords][16];
};

std::size_t scan(const ScanJob& job) { return job.vectors < kFewestVectors ? kernel_avx512vnni()->scan(job) : Scan(job).run(); }

double peak(std::uint64_t rounds) {
    matrices_begin(kMatrixGroups);
    for (std::uint64_t r = 0; r < rounds; ++r) {
        matrix_multiply<0, 4, 6>();
        matrix_multiply<1, 5, 6>();
        matrix_multiply<2, 4, 7>();
        matrix_multiply<3, 5, 7>();
    }
    matrices_end();
    return double(rounds) * 4 * 16 * 16 * 64;
}

// All else is as with vpdpbusd.
Kernel made_from(const Kernel& other) {
    Kernel kernel = other;
    kernel.name = "amx";
    kernel.most_vectors = kMostVectors;
    kernel.room = kRoom;
    kernel.scan = scan;
    kernel.peak = peak;
    return kernel;
}

}  // namespace

const Kernel* kernel_amx() {
    static const Kernel kernel = made_from(*kernel_avx512vnni());
    return &kernel;
}

}  // namespace deniable
#else
DENIABLE_LEFT_OUT(kernel_amx)
#endif
