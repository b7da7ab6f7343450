// Rays from words: along each direction, where the word's cell ends and which word comes next (fast-exact, section 2).
//
// From the origin x along a direction g, the nearest word at radius r is argmax_u r * s_u - A_u with s_u = <g, u> and
// A_u = |u - x|^2 / 2: the upper envelope of lines. From the winner c the next one is the u with s_u > s_c and the least
//     R_u = (A_u - A_c) / (s_u - s_c).
// Tables in 16 bits, rounded outward, rule out nearly all words; what is left is computed in float64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel.hpp"

namespace deniable {

struct RayTables {
    std::size_t dimension, tiles, padded_tiles, rays;
    const float* vectors;       // [tile][32][dimension], words in the order of the tiles
    const std::int64_t* ids;    // [tile][32], to break ties
    const float* half;          // [tile][32], not more than |u|^2 / 2; infinite for a word that cannot win
    const float* slack;         // [tile], what a projection in the tile may be off by
    const std::int16_t* projections;  // [ray][padded tile][32], <g, u> plus the slack in units of kRayUnit, rounded up
    const std::int16_t* highest;      // [ray][padded tile], the largest projection of the tile
    const double* directions;   // [ray][dimension]
};

// Words whose rays are walked together. Positions are places in the order of the tiles.
struct RayOrigins {
    std::size_t count;
    const float* vectors;        // [origin][dimension]
    const float* half;           // [origin], not more than |x|^2 / 2
    const float* slack;          // [origin]
    const std::int64_t* starts;  // [origin], the position of the nearest word
};

// What one origin's rays met: `counts[ray]` pieces after the first, their winners' positions and where they begin.
struct RayPieces {
    std::vector<std::uint32_t> counts, winners;
    std::vector<double> radii;
};

// The first breakpoint of every ray and the winner behind it (-1 and infinity where there is none).
void first_breakpoints(const RayTables& tables, const RayOrigins& origins, const RayKernel& kernel, std::size_t threads, double* radii,
                       std::int64_t* winners);

// All breakpoints below `furthest`.
std::vector<RayPieces> walk_rays(const RayTables& tables, const RayOrigins& origins, const RayKernel& kernel, std::size_t threads,
                                 double furthest);

// At which radius each ray is asked for its word, and which words are known to be still where they began.
struct RayEnds {
    const double* radii;        // [ray]
    const std::uint8_t* stays;  // [origin][ray]
};

// The positions of the words that the rays end in. `winners` comes with a position each that is likely, or -1.
void winners_at(const RayTables& tables, const RayOrigins& origins, const RayKernel& kernel, std::size_t threads, const RayEnds& ends,
                std::int64_t* winners);

}  // namespace deniable
