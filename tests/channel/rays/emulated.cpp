// The rays without Python, for a processor that is only emulated: reads one case from standard input and writes what was found.
//
// In: six numbers of 64 bits (dimension, tiles, padded tiles, rays, origins, threads) and how far to walk (float64); then the arrays of
// RayTables and of RayOrigins in their order. Out: the first breakpoints (float64 radii, int64 winners); then for every origin the counts
// of its rays (uint32), and the winners (uint32) and radii (float64) of its whole walk.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "rays.hpp"

using namespace deniable;

namespace {

template <class T>
std::vector<T> read(std::size_t count) {
    std::vector<T> values(count);
    if (std::fread(values.data(), sizeof(T), count, stdin) != count) std::exit(1);
    return values;
}

template <class T>
void write(const std::vector<T>& values) {
    if (std::fwrite(values.data(), sizeof(T), values.size(), stdout) != values.size()) std::exit(1);
}

}  // namespace

int main(int count, char** arguments) {
    const std::string wanted = count == 2 ? arguments[1] : "";
    const RayKernel* kernel = nullptr;
    for (const RayKernel* found : {ray_kernel_neon(), ray_kernel_portable()})
        if (found && found->name == wanted) kernel = found;
    if (!kernel) return 2;

    const auto sizes = read<std::uint64_t>(6);
    const std::size_t dimension = sizes[0], tiles = sizes[1], padded = sizes[2], rays = sizes[3], origins = sizes[4], threads = sizes[5];
    const double furthest = read<double>(1)[0];
    const auto vectors = read<float>(tiles * kRayTile * dimension);
    const auto ids = read<std::int64_t>(tiles * kRayTile);
    const auto half = read<float>(tiles * kRayTile), gaps = read<float>(tiles * kRayTile), slack = read<float>(tiles);
    const auto projections = read<std::int16_t>(rays * padded * kRayTile), highest = read<std::int16_t>(rays * padded);
    const auto directions = read<double>(rays * dimension);
    const RayTables tables = {dimension,   tiles,       padded,      rays,        vectors.data(), ids.data(), half.data(),
                              gaps.data(), slack.data(), projections.data(), highest.data(), directions.data()};

    const auto of_vectors = read<float>(origins * dimension), of_half = read<float>(origins), of_gaps = read<float>(origins);
    const auto of_slack = read<float>(origins);
    const auto starts = read<std::int64_t>(origins);
    const auto products = read<float>(origins * tiles * kRayTile);
    const RayOrigins from = {origins, of_vectors.data(), of_half.data(), of_gaps.data(), of_slack.data(), starts.data(), products.data()};

    std::vector<double> radii(origins * rays);
    std::vector<std::int64_t> winners(origins * rays);
    first_breakpoints(tables, from, *kernel, threads, radii.data(), winners.data());
    write(radii);
    write(winners);
    for (const RayPieces& walked : walk_rays(tables, from, *kernel, threads, furthest)) {
        write(walked.counts);
        write(walked.winners);
        write(walked.radii);
    }
    return 0;
}
