// The rays without Python, for a processor that is only emulated: reads one case from standard input and writes what was found.
//
// Arguments: the path, and the question (first, walk or at). In: six numbers of 64 bits (dimension, tiles, padded tiles, rays,
// origins, threads); the arrays of RayTables and of RayOrigins in their order; what else the question needs. Out: what it answers, in the
// order in which rays.hpp has it; of walks, for every origin, counts (uint32), winners (uint32) and radii (float64).
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

void write(const std::vector<RayPieces>& found) {
    for (const RayPieces& walked : found) {
        write(walked.counts);
        write(walked.winners);
        write(walked.radii);
    }
}

}  // namespace

int main(int count, char** arguments) {
    const std::string wanted = count == 3 ? arguments[1] : "", question = count == 3 ? arguments[2] : "";
    const RayKernel* kernel = nullptr;
    for (const RayKernel* found : {ray_kernel_neon(), ray_kernel_portable()})
        if (found && found->name == wanted) kernel = found;
    if (!kernel) return 2;

    const auto sizes = read<std::uint64_t>(6);
    const std::size_t dimension = sizes[0], tiles = sizes[1], padded = sizes[2], rays = sizes[3], origins = sizes[4], threads = sizes[5];
    const auto vectors = read<float>(tiles * kRayTile * dimension);
    const auto ids = read<std::int64_t>(tiles * kRayTile);
    const auto half = read<float>(tiles * kRayTile), slack = read<float>(tiles);
    const auto projections = read<std::int16_t>(rays * padded * kRayTile), highest = read<std::int16_t>(rays * padded);
    const auto directions = read<double>(rays * dimension);
    const RayTables tables = {dimension,   tiles,       padded,      rays,        vectors.data(), ids.data(), half.data(),
                              slack.data(), projections.data(), highest.data(), directions.data()};

    const auto of_vectors = read<float>(origins * dimension), of_half = read<float>(origins);
    const auto of_slack = read<float>(origins);
    const auto starts = read<std::int64_t>(origins);
    const RayOrigins from = {origins, of_vectors.data(), of_half.data(), of_slack.data(), starts.data()};

    if (question == "first") {
        std::vector<double> radii(origins * rays);
        std::vector<std::int64_t> winners(origins * rays);
        first_breakpoints(tables, from, *kernel, threads, radii.data(), winners.data());
        write(radii);
        write(winners);
    } else if (question == "walk") {
        write(walk_rays(tables, from, *kernel, threads, read<double>(1)[0]));
    } else if (question == "at") {
        const auto radii = read<double>(rays);
        const auto stays = read<std::uint8_t>(origins * rays);
        std::vector<std::int64_t> winners(origins * rays, -1);
        winners_at(tables, from, *kernel, threads, {radii.data(), stays.data()}, winners.data());
        write(winners);
    } else {
        return 2;
    }
    return 0;
}
