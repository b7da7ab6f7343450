// What walks (rays.cpp) and winners at one radius (winners.cpp) share: some origins, their costs against all words, and the scan.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <numeric>
#include <vector>

#include "../../../neighbours/native/pool.hpp"
#include "rays.hpp"

namespace deniable {

// So many origins and rays are taken together through a chunk of tiles: its projections and products stay in the
// second-level cache meanwhile.
constexpr std::size_t kOriginsAtOnce = 128, kRaysAtOnce = 48;
constexpr std::size_t kChunkTiles = 64;      // a multiple of kRayTilesAtOnce
constexpr std::size_t kRaysAhead = 2;         // whose projections are fetched meanwhile
constexpr std::size_t kNearTiles = 32;       // give the first bound
constexpr float kDown = 1.0f - 1e-6f;        // makes a float32 product no larger than the real one
constexpr float kUp = 1.0f + 1e-6f;          // and no smaller
constexpr float kLargestInverse = 1e30f;
constexpr double kRelative = 1e-6;           // covers what rounding does to the threshold
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A test that lets every u through with <g, u> - A_u * inverse >= threshold. A product of A is rounded down, so never too much is taken.
inline RayTest test_of(double threshold, float inverse) {
    constexpr double most = 32767.0, units = 1.0 / kRayUnit;
    const double asked = std::min(std::max(threshold * units, -32768.0), most);
    const int whole = int(asked) - (asked < double(int(asked)));  // std::floor is a call on some machines, and so is std::frexp
    RayTest test{std::int16_t(whole), 0, 65535, 0};
    if (inverse < 1.0f) {
        test.multiplier = std::uint16_t(double(inverse) * 65536.0);
    } else {
        std::uint32_t bits;
        std::memcpy(&bits, &inverse, sizeof bits);
        const int shift = int(bits >> 23) - 126;  // inverse = mantissa * 2^shift, the mantissa from 1/2 to 1
        if (shift > 15) {
            test.cap = 0;  // all that matters lies within one unit
        } else {
            bits = (bits & 0x007fffffu) | (126u << 23);
            float mantissa;
            std::memcpy(&mantissa, &bits, sizeof mantissa);
            test.shift = std::uint16_t(shift);
            test.multiplier = std::uint16_t(double(mantissa) * 65536.0);
        }
    }
    if (inverse > 0.5f) test.cap = std::uint16_t(most / double(inverse));
    return test;
}

constexpr RayTest kClosed = {kRayClosed, 0, 0, 0};

// Numbers that begin with a line of the cache, so that no tile lies across two; not set to anything at first.
class Lines {
  public:
    explicit Lines(std::size_t count) : numbers_(static_cast<std::uint16_t*>(::operator new[](count * sizeof(std::uint16_t), std::align_val_t{64}))) {}
    ~Lines() { ::operator delete[](numbers_, std::align_val_t{64}); }
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;
    std::uint16_t& operator[](std::size_t place) { return numbers_[place]; }

  private:
    std::uint16_t* numbers_;
};

class Block {
  public:
    Block(const RayTables& tables, const RayOrigins& origins, const RayKernel& kernel, std::size_t first, std::size_t count)
        : t_(tables), o_(origins), kernel_(kernel), first_(first), count_(count), nears_(std::min(kNearTiles, tables.tiles)),
          tests_(count * tables.rays), near_(count * kNearTiles), unders_(count * kNearTiles), start_costs_(count), hits_(count * kChunkTiles + 1),
          tile_costs_(count * tables.padded_tiles * kRayTile), least_(count * tables.padded_tiles) {
        weigh_tiles();
        std::vector<std::uint32_t> order(t_.tiles);
        for (std::size_t o = 0; o < count_; ++o) {
            std::uint16_t* least = &least_[o * t_.padded_tiles];
            std::uint16_t* costs = &tile_costs_[o * t_.padded_tiles * kRayTile];
            std::fill(costs + t_.tiles * kRayTile, costs + t_.padded_tiles * kRayTile, std::uint16_t(65535));
            std::fill(least + t_.tiles, least + t_.padded_tiles, std::uint16_t(65535));
            std::iota(order.begin(), order.end(), 0u);
            std::nth_element(order.begin(), order.begin() + std::ptrdiff_t(nears_ - 1), order.end(),
                             [&](std::uint32_t a, std::uint32_t b) { return least[a] < least[b]; });
            std::copy_n(order.begin(), nears_, &near_[o * kNearTiles]);
            // A projection may be one unit and twice the slack under its number; the rest covers float32 arithmetic.
            for (std::size_t k = 0; k < nears_; ++k) unders_[o * kNearTiles + k] = float(2.0 * double(t_.slack[order[k]]) / kRayUnit + 1.03);
            start_costs_[o] = cost_of(o, start_of(o));
        }
    }

  protected:
    std::int64_t start_of(std::size_t o) const { return o_.starts[first_ + o]; }
    const std::int16_t* projections(std::size_t tile, std::size_t j) const { return t_.projections + (j * t_.padded_tiles + tile) * kRayTile; }
    const float* origin(std::size_t o) const { return o_.vectors + (first_ + o) * t_.dimension; }
    const float* vector(std::int64_t position) const { return t_.vectors + std::size_t(position) * t_.dimension; }
    const double* direction(std::size_t j) const { return t_.directions + j * t_.dimension; }
    float slack_of(std::size_t o, std::int64_t position) const { return t_.slack[std::size_t(position) / kRayTile] + o_.slack[first_ + o]; }
    double cost_of(std::size_t o, std::int64_t position) const { return kernel_.half_square(vector(position), origin(o), t_.dimension); }
    double projection_of(std::int64_t position, std::size_t j) const { return kernel_.project(vector(position), direction(j), t_.dimension); }

    // A test so weak that everything passes lets the empty tiles behind the last one through as well.
    bool is_word(std::int64_t position) const { return std::size_t(position) < t_.tiles * kRayTile && std::isfinite(t_.half[position]); }

    // What A of the i-th word of a near tile is at most; infinite for one that cannot win.
    float most_cost(std::size_t o, std::size_t tile, std::size_t i) const {
        const std::int64_t position = std::int64_t(tile * kRayTile + i);
        return is_word(position) ? float(cost_of(o, position)) * kUp : std::numeric_limits<float>::infinity();
    }

    RayNear near(std::size_t o) const { return {&near_[o * kNearTiles], &unders_[o * kNearTiles], nears_}; }

    // Calls consider(origin, ray, position) for every word that passes the test of its ray.
    template <class Consider>
    void scan(const Consider& consider) {
        for (std::size_t first = 0; first < t_.rays; first += kRaysAtOnce)
            for (std::size_t tile = 0; tile < t_.padded_tiles; tile += kChunkTiles) {
                const std::size_t tiles = std::min(kChunkTiles, t_.padded_tiles - tile);
                for (std::size_t o = 0; o < count_; ++o) fetch(&tile_costs_[(o * t_.padded_tiles + tile) * kRayTile], tiles);
                for (std::size_t j = first; j < std::min(first + kRaysAtOnce, t_.rays); ++j) {
                    if (j + kRaysAhead < t_.rays) fetch(projections(tile, j + kRaysAhead), tiles);
                    const std::size_t hits = kernel_.scan(t_.highest + j * t_.padded_tiles + tile, projections(tile, j), &least_[tile],
                                                          &tile_costs_[tile * kRayTile], t_.padded_tiles, tiles, &tests_[j * count_], count_, hits_.data());
                    for (std::size_t h = 0; h < hits; ++h)
                        for (std::uint32_t words = hits_[h].words; words; words &= words - 1)
                            consider(hits_[h].origin, j, std::int64_t((tile + hits_[h].tile) * kRayTile + std::size_t(__builtin_ctz(words))));
                }
            }
    }

    // Asks for some tiles' numbers before they are needed: the few that are looked at lie where no processor expects them.
    template <class Number>
    static void fetch(const Number* numbers, std::size_t tiles) {
        static_assert(sizeof(Number) * kRayTile == 64, "a tile is a line of the cache");
        for (std::size_t tile = 0; tile < tiles; ++tile) __builtin_prefetch(numbers + tile * kRayTile, 0, 2);
    }

    const RayTables& t_;
    const RayOrigins& o_;
    const RayKernel& kernel_;
    std::size_t first_, count_, nears_;
    std::vector<RayTest> tests_;       // [ray][origin]
    std::vector<std::uint32_t> near_;  // [origin][kNearTiles]
    std::vector<float> unders_;        // [origin][kNearTiles]
    std::vector<double> start_costs_;  // [origin]: A of the word each starts in

  private:
    // The costs of all words, tile by tile: the products with a tile are made for all origins at once.
    void weigh_tiles() {
        std::vector<float> turned(t_.dimension * kRayTile), products(count_ * kRayTile);
        for (std::size_t tile = 0; tile < t_.tiles; ++tile) {
            kernel_.products(vector(std::int64_t(tile * kRayTile)), origin(0), count_, t_.dimension, turned.data(), products.data());
            for (std::size_t o = 0; o < count_; ++o) {
                const std::size_t place = o * t_.padded_tiles + tile;
                kernel_.costs(t_.half + tile * kRayTile, &products[o * kRayTile], o_.half[first_ + o], 1, &tile_costs_[place * kRayTile], &least_[place]);
            }
        }
    }

    std::vector<RayHit> hits_;
    Lines tile_costs_;  // [origin][padded tile][32]: the costs A in units
    Lines least_;       // [origin][padded tile]
};

template <class Task>
void in_blocks(std::size_t count, std::size_t threads, const Task& task) {
    // As many blocks for one thread as for another, so that none waits for the last.
    const std::size_t rounds = (count + kOriginsAtOnce * threads - 1) / (kOriginsAtOnce * threads);
    const std::size_t most = std::max<std::size_t>(1, (count + rounds * threads - 1) / std::max<std::size_t>(1, rounds * threads));
    run_parallel((count + most - 1) / most, threads, [&](std::size_t block) { task(block * most, std::min(most, count - block * most)); });
}

}  // namespace deniable
