// Building the packed index, and reading it.
#pragma once

#include "layout.hpp"

namespace deniable {

// A packed index together with the vectors it was built from. Owns nothing.
struct IndexView {
    Layout layout;
    const unsigned char* data;
    const float* vectors;

    // The vectors in the index are the embedding's times this power of two.
    double factor() const { return *reinterpret_cast<const double*>(data); }
    const TileHead* heads() const { return reinterpret_cast<const TileHead*>(data + layout.heads_at); }
    const std::int8_t* codes() const { return reinterpret_cast<const std::int8_t*>(data + layout.codes_at); }
    const float* vector(std::size_t word) const { return vectors + word * layout.dimension; }
};

// Fills `data` (layout.bytes, aligned to kAlignment). shadowed[word] is nonzero where the word shares another's vector.
void build_index(const Layout& layout, const float* vectors, const std::uint8_t* shadowed, unsigned char* data, std::size_t threads);

// A checksum that notices damage on disk, at the speed of memory. No protection against intent.
std::uint64_t checksum(const unsigned char* data, std::size_t bytes);

}  // namespace deniable
