#include "search.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include "candidates.hpp"
#include "pool.hpp"
#include "query.hpp"

namespace deniable {
namespace {

constexpr std::size_t kBlocksAtOnce = 8;            // blocks of queries that share one walk through the index
constexpr int kVectorsShared = 3;                   // registers of queries that are shared out among threads as one
constexpr std::size_t kChunkBytes = 256 * 1024;     // codes that stay in the second-level cache meanwhile
constexpr std::size_t kFewestTilesPerThread = 256;  // below this, waking another thread costs more than it saves
constexpr std::size_t kMostCandidates = 4096;       // of a query; more neighbours than one get room for twice as many again
constexpr std::size_t kSamples = 16, kSampleTiles = 4;

struct Request {
    const IndexView& index;
    const Kernel& kernel;
    const float* queries;
    std::size_t count, k, threads;
    bool with_shadowed;
    std::int64_t* ids;
    double* distances;

    bool single() const { return distances == nullptr; }
    std::size_t most_candidates() const { return kMostCandidates + 2 * k; }
};

// Queries against a range of the words: scans it chunk by chunk and keeps, for each query, the words that may win.
class Walk {
  public:
    Walk(const Request& request, std::size_t first, std::size_t count)
        : request_(request), batch_(request.index, request.kernel, request.queries + first * request.index.layout.dimension, count),
          first_(first), room_(request.kernel.room * (request.index.layout.groups + 16)), candidates_(count), lowers_(request.single() ? 0 : count), judges_(count) {}

    void scan(std::size_t tile_begin, std::size_t tile_end) {
        const std::size_t tiles = std::max<std::size_t>(kChunkBytes / request_.index.layout.tile_code_bytes(), 16);
        survivors_.resize(std::min(tiles, tile_end - tile_begin) * std::size_t(request_.kernel.most_vectors));
        if (request_.single()) sample(tile_begin, tile_end);
        for (std::size_t begin = tile_begin; begin < tile_end; begin += tiles)
            for (std::size_t block = 0; block < batch_.blocks(); ++block) {
                const std::size_t found = scan_block(block, begin, std::min(begin + tiles, tile_end));
                for (std::size_t s = 0; s < found; ++s) {
                    const Survivor& survivor = survivors_[s];
                    const std::size_t first = batch_.block_of(block) + survivor.vector * std::size_t(request_.kernel.lanes);
                    for (std::size_t lane = 0; survivor.lanes >> lane; ++lane)
                        if (survivor.lanes >> lane & 1) refine(first + lane, survivor.tile);
                }
            }
    }

    // Takes over what another walk over other words found for the same queries.
    void merge(Walk& other) {
        for (std::size_t i = 0; i < batch_.count(); ++i) {
            candidates_[i].insert(candidates_[i].end(), other.candidates_[i].begin(), other.candidates_[i].end());
            if (other.judges_[i] && other.judges_[i]->decided()) {
                const float any = std::numeric_limits<float>::infinity();
                candidates_[i].push_back({std::uint32_t(other.judges_[i]->word()), -any, any});
            }
        }
    }

    void finish() {
        for (std::size_t i = 0; i < batch_.count(); ++i) {
            if (request_.single()) {
                judge(i).decide(candidates_[i]);
                // An index that was changed on disk after it was checked must not make a word out of nothing.
                if (!judge(i).decided()) throw std::runtime_error("the index of the search is damaged: no word survives");
                request_.ids[first_ + i] = judge(i).word();
            } else {
                judge(i).rank(candidates_[i], request_.k, request_.ids + (first_ + i) * request_.k, request_.distances + (first_ + i) * request_.k);
            }
            judges_[i].reset();
        }
    }

  private:
    std::size_t scan_block(std::size_t block, std::size_t tile_begin, std::size_t tile_end) {
        ScanJob job = batch_.job(block);
        job.heads = request_.index.heads();
        job.codes = request_.index.codes();
        job.groups = request_.index.layout.groups;
        job.tile_begin = tile_begin;
        job.tile_end = tile_end;
        job.with_shadowed = request_.with_shadowed;
        job.raise_threshold = request_.single();
        job.survivors = survivors_.data();
        job.room = room_.data();
        return request_.kernel.scan(job);
    }

    // A few words from everywhere give a good threshold to start with, so that fewer words need a second look.
    void sample(std::size_t tile_begin, std::size_t tile_end) {
        const std::size_t stride = (tile_end - tile_begin) / kSamples;
        if (stride < 8 * kSampleTiles) return;
        for (std::size_t block = 0; block < batch_.blocks(); ++block)
            for (std::size_t s = 0; s < kSamples; ++s) scan_block(block, tile_begin + s * stride, tile_begin + s * stride + kSampleTiles);
    }

    // Looks at a surviving tile again, word by word, with each word's own bound.
    void refine(std::size_t query, std::size_t tile) {
        const IndexView& index = request_.index;
        Look look = batch_.look(query);
        look.head = index.heads() + tile;
        look.codes = index.codes() + tile * index.layout.tile_code_bytes();
        look.groups = index.layout.groups;
        look.with_shadowed = request_.with_shadowed;
        const std::uint32_t words = request_.kernel.look(look);
        for (std::size_t w = 0; w < kTileWords; ++w) {
            const std::size_t id = tile * kTileWords + w;
            // The last tile has places without a word, which only the index says are out of the race.
            if (!(words >> w & 1) || !index.is_word(id)) continue;
            // A lower bound that is not a number would put the sorts below out of step, and they would leave their range.
            const float lower = look.scores[w] - look.errors[w], upper = look.scores[w] + look.errors[w];
            keep(query, {std::uint32_t(id), std::isnan(lower) ? -std::numeric_limits<float>::infinity() : lower, upper});
        }
    }

    void keep(std::size_t query, Candidate candidate) {
        candidates_[query].push_back(candidate);
        if (request_.single())
            batch_.raise(query, candidate.lower);
        else
            count_in(query, candidate.lower);
        if (candidates_[query].size() >= request_.most_candidates()) thin_out(query);
    }

    // Keeps a heap of the k largest lower bounds: its smallest is reached by k words.
    void count_in(std::size_t query, float lower) {
        std::vector<float>& lowers = lowers_[query];
        if (lowers.size() < request_.k) {
            lowers.push_back(lower);
            std::push_heap(lowers.begin(), lowers.end(), std::greater<float>());
        } else if (lower > lowers.front()) {
            std::pop_heap(lowers.begin(), lowers.end(), std::greater<float>());
            lowers.back() = lower;
            std::push_heap(lowers.begin(), lowers.end(), std::greater<float>());
        }
        if (lowers.size() == request_.k) batch_.raise(query, lowers.front());
    }

    // Hostile data (many words within the bound of one another): drop what fell behind, or decide now. Half the room is
    // free afterwards, so that each candidate pays for a few looks at most.
    void thin_out(std::size_t query) {
        std::vector<Candidate>& kept = candidates_[query];
        const float threshold = batch_.threshold(query);
        kept.erase(std::remove_if(kept.begin(), kept.end(), [&](const Candidate& c) { return c.upper < threshold; }), kept.end());
        if (kept.size() < request_.most_candidates() / 2) return;
        if (request_.single()) {
            judge(query).decide(kept);
            kept.clear();
            batch_.raise(query, rounded_down(judge(query).floor()));
        } else {
            judge(query).keep_nearest(kept, request_.k);
            lowers_[query].clear();
            for (const Candidate& candidate : kept) count_in(query, candidate.lower);
        }
    }

    Judge& judge(std::size_t query) {
        if (!judges_[query]) {
            const float* row = request_.queries + (first_ + query) * request_.index.layout.dimension;
            judges_[query] = std::make_unique<Judge>(request_.index, request_.kernel, row, batch_.units(query));
        }
        return *judges_[query];
    }

    const Request& request_;
    QueryBatch batch_;
    std::size_t first_;
    std::vector<Survivor> survivors_;
    Aligned<std::int8_t> room_;
    std::vector<std::vector<Candidate>> candidates_;
    std::vector<std::vector<float>> lowers_;
    std::vector<std::unique_ptr<Judge>> judges_;
};

std::size_t rounded_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

void search(const Request& request) {
    const std::size_t block = std::size_t(request.kernel.lanes) * std::min(request.kernel.most_vectors, kVectorsShared);
    const std::size_t most_at_once = kBlocksAtOnce * request.kernel.lanes * request.kernel.most_vectors / block;
    const std::size_t blocks = rounded_up(request.count, block), tiles = request.index.layout.tiles;
    if (request.threads == 0) throw std::invalid_argument("a search needs at least one thread");
    if (blocks == 0) return;
    if (blocks >= request.threads) {
        // Enough queries: every thread walks through all words with queries of its own.
        const std::size_t rounds = rounded_up(blocks, request.threads * most_at_once);
        const std::size_t at_once = rounded_up(blocks, request.threads * rounds) * block;
        run_parallel(rounded_up(request.count, at_once), request.threads, [&](std::size_t task) {
            Walk walk(request, task * at_once, std::min(at_once, request.count - task * at_once));
            walk.scan(0, tiles);
            walk.finish();
        });
        return;
    }
    // Few queries: the words are divided between the threads as well.
    const std::size_t ranges = std::clamp<std::size_t>(tiles / kFewestTilesPerThread, 1, rounded_up(request.threads, blocks));
    std::vector<std::unique_ptr<Walk>> walks(blocks * ranges);
    run_parallel(walks.size(), request.threads, [&](std::size_t task) {
        const std::size_t first = task / ranges * block, range = task % ranges;
        walks[task] = std::make_unique<Walk>(request, first, std::min(block, request.count - first));
        walks[task]->scan(tiles * range / ranges, tiles * (range + 1) / ranges);
    });
    run_parallel(blocks, request.threads, [&](std::size_t b) {
        for (std::size_t range = 1; range < ranges; ++range) walks[b * ranges]->merge(*walks[b * ranges + range]);
        walks[b * ranges]->finish();
    });
}

}  // namespace

void nearest(const IndexView& index, const Kernel& kernel, const float* queries, std::size_t count, std::size_t threads, std::int64_t* ids) {
    search({index, kernel, queries, count, 1, threads, false, ids, nullptr});
}

void nearest_k(const IndexView& index, const Kernel& kernel, const float* queries, std::size_t count, std::size_t k, std::size_t threads,
               std::int64_t* ids, double* distances) {
    search({index, kernel, queries, count, k, threads, true, ids, distances});
}

}  // namespace deniable
