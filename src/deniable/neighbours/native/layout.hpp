// The packed index: what the scan reads, as it lies in memory and on disk.
//
// Words are grouped in tiles of eight. A tile has a head (what turns integer dot products into scores, and what bounds
// their error) and its codes, eight words side by side in groups of four dimensions, the way the multiply instructions
// take them: codes[group][word][4]. All vectors are scaled by one power of two so that the longest has a norm from 1/2
// to 1: no later step can overflow or lose its digits to underflow, whatever the embedding holds.
#pragma once

#include <cstddef>
#include <cstdint>

namespace deniable {

constexpr std::size_t kTileWords = 8;
constexpr std::size_t kGroup = 4;         // dimensions per multiply-add of four bytes
constexpr std::size_t kAlignment = 64;    // a cache line and the widest register
constexpr std::uint32_t kLayoutVersion = 2;
constexpr std::size_t kMostDimensions = 65536;  // 127 * 127 * kMostDimensions stays below 2^31

struct TileHead {
    float scale[kTileWords];           // a word's vector is scale * codes plus a residual
    float half[kTileWords];            // half the squared norm; +infinity where no query may return the word
    float half_all[kTileWords];        // the same with the words that share another's vector; +infinity for padding only
    std::int32_t code_sum[kTileWords]; // sum of the codes: corrects for queries stored as unsigned numbers
    float norms[kTileWords], residuals[kTileWords];  // rounded up
    float norm, residual, largest_half;              // the largest of the tile
    float unused[5];
};
static_assert(sizeof(TileHead) == 224, "the layout is part of the file format");

// Where the parts of an index begin, given its size. The same formulas write and read it.
struct Layout {
    std::size_t words, dimension, tiles, groups;
    std::size_t heads_at, codes_at, bytes;

    Layout(std::size_t word_count, std::size_t dimensions)
        : words(word_count), dimension(dimensions), tiles((word_count + kTileWords - 1) / kTileWords),
          groups((dimensions + kGroup - 1) / kGroup) {
        heads_at = kAlignment;  // the first line holds the power of two
        codes_at = aligned(heads_at + tiles * sizeof(TileHead));
        bytes = aligned(codes_at + tiles * tile_code_bytes());
    }

    std::size_t tile_code_bytes() const { return groups * kGroup * kTileWords; }

  private:
    static std::size_t aligned(std::size_t at) { return (at + kAlignment - 1) / kAlignment * kAlignment; }
};

}  // namespace deniable
