#include "index.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "pool.hpp"

namespace deniable {
namespace {

constexpr double kUp = 1.0 + 1e-6;  // makes the float32 below no smaller than the float64 it comes from
constexpr double kNegligible = 1e-30;
constexpr std::size_t kTilesAtOnce = 512;
constexpr double kLongest = 2e12;  // twice what an embedding may hold (embeddings/content.py): the check there rounds otherwise

double norm_of(const float* vector, std::size_t dimension) {
    double sum = 0.0;
    for (std::size_t i = 0; i < dimension; ++i) sum += double(vector[i]) * vector[i];
    return std::sqrt(sum);
}

struct Builder {
    const Layout& layout;
    const float* vectors;
    const std::uint8_t* shadowed;
    double factor = 1.0;

    void word(std::size_t id, std::size_t slot, TileHead& head, std::int8_t* codes) const {
        const float* vector = vectors + id * layout.dimension;
        std::int8_t* code = codes + slot * kGroup;
        float largest = 0.0f;
        for (std::size_t i = 0; i < layout.dimension; ++i) largest = std::max(largest, std::fabs(vector[i]));
        const double top = largest * factor;
        // A vector that is nothing beside the longest one keeps codes of zero; all of it is residual then.
        const float scale = top < kNegligible ? 0.0f : float(top / 127.0);
        const double step = scale == 0.0f ? 0.0 : factor / scale;
        double squares = 0.0, residual = 0.0;
        std::int32_t sum = 0;
        for (std::size_t i = 0; i < layout.dimension; ++i) {
            const double x = vector[i] * step;
            const int rounded = std::clamp(int(x + (x < 0.0 ? -0.5 : 0.5)), -127, 127);
            code[i / kGroup * kGroup * kTileWords + i % kGroup] = std::int8_t(rounded);
            sum += rounded;
            // Whatever the rounding above did, this is what was left: the bound rests on it alone.
            const double value = vector[i] * factor, left = value - double(scale) * rounded;
            squares += value * value;
            residual += left * left;
        }
        const float norm = float(std::sqrt(squares) * kUp), rest = float(std::sqrt(residual) * kUp), half = float(0.5 * squares);
        head.scale[slot] = scale;
        head.half_all[slot] = half;
        head.half[slot] = shadowed[id] ? std::numeric_limits<float>::infinity() : half;
        head.code_sum[slot] = sum;
        head.norms[slot] = norm;
        head.residuals[slot] = rest;
        head.norm = std::max(head.norm, norm);
        head.residual = std::max(head.residual, rest);
        head.largest_half = std::max(head.largest_half, half);
    }

    // Fills the head and the codes (layout.tile_code_bytes() of them) of one tile.
    void tile(std::size_t number, TileHead& head, std::int8_t* codes) const {
        std::memset(&head, 0, sizeof head);
        std::memset(codes, 0, layout.tile_code_bytes());
        for (std::size_t slot = 0; slot < kTileWords; ++slot) {
            const std::size_t id = number * kTileWords + slot;
            if (id < layout.words)
                word(id, slot, head, codes);
            else
                head.half[slot] = head.half_all[slot] = std::numeric_limits<float>::infinity();
        }
    }
};

std::size_t parts_of(const Layout& layout) { return (layout.tiles + kTilesAtOnce - 1) / kTilesAtOnce; }

// The power of two that brings the longest vector to a norm from 1/2 to 1.
double factor_for(const Layout& layout, const float* vectors, std::size_t threads) {
    std::vector<double> longest(parts_of(layout), 0.0);
    run_parallel(longest.size(), threads, [&](std::size_t part) {
        const std::size_t end = std::min((part + 1) * kTilesAtOnce * kTileWords, layout.words);
        for (std::size_t id = part * kTilesAtOnce * kTileWords; id < end; ++id) {
            const double norm = norm_of(vectors + id * layout.dimension, layout.dimension);
            // The vectors of a stored embedding come from a file. One that is not a number would lose every comparison.
            if (!(norm <= kLongest)) throw std::invalid_argument("a vector is not finite or absurdly long");
            longest[part] = std::max(longest[part], norm);
        }
    });
    const double norm = *std::max_element(longest.begin(), longest.end());
    int exponent = 0;
    if (norm > 0.0) std::frexp(norm, &exponent);
    return std::ldexp(1.0, -exponent);
}

}  // namespace

void build_index(const Layout& layout, const float* vectors, const std::uint8_t* shadowed, unsigned char* data, std::size_t threads) {
    std::memset(data, 0, layout.heads_at);
    const Builder builder{layout, vectors, shadowed, factor_for(layout, vectors, threads)};
    std::memcpy(data, &builder.factor, sizeof builder.factor);
    TileHead* heads = reinterpret_cast<TileHead*>(data + layout.heads_at);
    std::int8_t* codes = reinterpret_cast<std::int8_t*>(data + layout.codes_at);
    run_parallel(parts_of(layout), threads, [&](std::size_t part) {
        const std::size_t end = std::min((part + 1) * kTilesAtOnce, layout.tiles);
        for (std::size_t tile = part * kTilesAtOnce; tile < end; ++tile) builder.tile(tile, heads[tile], codes + tile * layout.tile_code_bytes());
    });
}

bool is_index_of(const Layout& layout, const float* vectors, const std::uint8_t* shadowed, const unsigned char* data, std::size_t threads) {
    const Builder builder{layout, vectors, shadowed, factor_for(layout, vectors, threads)};
    if (std::memcmp(data, &builder.factor, sizeof builder.factor) != 0) return false;
    const unsigned char* heads = data + layout.heads_at;
    const unsigned char* codes = data + layout.codes_at;
    std::atomic<bool> same{true};
    run_parallel(parts_of(layout), threads, [&](std::size_t part) {
        TileHead head;
        std::vector<std::int8_t> made(layout.tile_code_bytes());
        const std::size_t end = std::min((part + 1) * kTilesAtOnce, layout.tiles);
        for (std::size_t tile = part * kTilesAtOnce; tile < end && same.load(std::memory_order_relaxed); ++tile) {
            builder.tile(tile, head, made.data());
            if (std::memcmp(heads + tile * sizeof head, &head, sizeof head) != 0 ||
                std::memcmp(codes + tile * made.size(), made.data(), made.size()) != 0)
                same.store(false, std::memory_order_relaxed);
        }
    });
    return same;
}

std::uint64_t checksum(const unsigned char* data, std::size_t bytes) {
    // Eight independent chains, so that the multiplications overlap. The layout keeps sizes to multiples of a line.
    constexpr std::uint64_t odd = 0x9E3779B97F4A7C15u;
    std::uint64_t chains[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (std::size_t at = 0; at + kAlignment <= bytes; at += kAlignment) {
        std::uint64_t values[8];
        std::memcpy(values, data + at, sizeof values);
        for (int i = 0; i < 8; ++i) {
            const std::uint64_t mixed = (chains[i] ^ values[i]) * odd;
            chains[i] = mixed ^ (mixed >> 29);
        }
    }
    std::uint64_t total = bytes;
    for (const std::uint64_t chain : chains) total = (total ^ chain) * odd + (total >> 31);
    return total;
}

}  // namespace deniable
