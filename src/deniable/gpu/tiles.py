"""The kernels of the search on a GPU: the largest rounded score of every tile of words, and the decision
between the tiles that can win.

``search.py`` has the bound that connects the two, and its proof. Functions here are Triton's: they are
compiled for the GPU, or interpreted on the processor for tests.
"""

# Kernels are not Python but Triton, which has no types.
# ruff: noqa: ANN001, ANN201, ANN202
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,no-any-return"

from __future__ import annotations

import triton
import triton.language as tl

NOWHERE = tl.constexpr(2147483647)


@triton.jit
def _store_maxima(target, stride, row, scores, rows: tl.constexpr, tile: tl.constexpr, side: tl.constexpr):
    if side == 1:
        tl.store(target + row, tl.max(scores, 1))
    else:
        largest = tl.max(tl.reshape(scores, [rows, side, tile]), 2)
        tl.store(target + tl.arange(0, side)[None, :] * stride + row[:, None], largest)


@triton.jit(do_not_specialize=["groups", "groups_each"])
def maxima_by_stream(
    points,
    words,
    maxima,
    stride,
    groups,
    groups_each,
    first: tl.constexpr,
    second: tl.constexpr,
    rows: tl.constexpr,
    tile: tl.constexpr,
    side: tl.constexpr,
    depth: tl.constexpr,
):
    """Write the largest score of each tile: a program keeps its points and walks the words."""
    width: tl.constexpr = first + second
    row = tl.program_id(0) * rows + tl.arange(0, rows)
    columns = tl.arange(0, first)
    others = first + tl.arange(0, second if second else 16)
    mine = points + row[:, None] * width
    point = tl.load(mine + columns[None, :])
    if second:
        point_rest = tl.load(mine + others[None, :])
    begin = tl.program_id(1) * groups_each
    word = tl.arange(0, tile * side)
    for number in tl.range(begin, min(begin + groups_each, groups), num_stages=depth):
        start = words + tl.cast(number, tl.int64) * (tile * side * width) + word[None, :] * width
        scores = tl.dot(point, tl.load(start + columns[:, None]))
        if second:
            scores = tl.dot(point_rest, tl.load(start + others[:, None]), scores)
        _store_maxima(
            maxima + tl.cast(number, tl.int64) * side * stride, stride, row, scores, rows, tile, side
        )


@triton.jit(do_not_specialize=["row_blocks"])
def maxima_by_block(
    points,
    words,
    maxima,
    stride,
    row_blocks,
    width: tl.constexpr,
    rows: tl.constexpr,
    tile: tl.constexpr,
    side: tl.constexpr,
    step: tl.constexpr,
    depth: tl.constexpr,
):
    """Write the largest score of each tile: a program computes one block of a matrix product."""
    row = (tl.program_id(0) % row_blocks) * rows + tl.arange(0, rows)
    block = tl.program_id(0) // row_blocks
    column, word = tl.arange(0, step), tl.arange(0, tile * side)
    mine = points + row[:, None] * width + column[None, :]
    start = words + block.to(tl.int64) * (tile * side * width) + word[None, :] * width + column[:, None]
    scores = tl.zeros([rows, tile * side], tl.float32)
    for done in tl.range(0, width, step, num_stages=depth):
        scores = tl.dot(tl.load(mine + done), tl.load(start + done), scores)
    _store_maxima(maxima + block.to(tl.int64) * side * stride, stride, row, scores, rows, tile, side)


@triton.jit
def _scores(maxima, stride, number, inside, query, there, lengths, offs, tile_norms, tile_rests, tile_leasts):
    """Return the largest rounded score of each tile (rows) for each point, and its largest error."""
    source = maxima + number.to(tl.int64)[:, None] * stride + query[None, :]
    best = tl.load(source, mask=inside[:, None] & there[None, :], other=float("-inf"))
    norm = tl.load(tile_norms + number, mask=inside, other=0.0)
    rest = tl.load(tile_rests + number, mask=inside, other=0.0)
    least = tl.load(tile_leasts + number, mask=inside, other=0.0)
    return best, offs[None, :] * norm[:, None] + lengths[None, :] * rest[:, None] + least[:, None]


@triton.jit
def _weigh(
    top_low,
    top_high,
    rival,
    winner,
    place,
    mine,
    lane,
    first_query,
    points,
    lengths,
    vectors,
    half_squares,
    names,
    tile_norms,
    growth: tl.constexpr,
    smallest: tl.constexpr,
    dimension: tl.constexpr,
    tile: tl.constexpr,
    step: tl.constexpr,
):
    """Score one tile for one point in float64, and return what is then known of the points: what the best
    score is at least and at most, what any other word reaches at most, and the best word."""
    member, column = tl.arange(0, tile), tl.arange(0, step)
    word = place.to(tl.int64) * tile + member
    point = points + (first_query + mine).to(tl.int64) * dimension
    length = tl.sum(tl.where(lane == mine, lengths, 0.0), 0)
    scores = -tl.load(half_squares + word)
    for done in range(0, dimension, step):
        used = done + column < dimension
        rows = tl.load(
            vectors + word[:, None] * dimension + (done + column)[None, :], mask=used[None, :], other=0.0
        )
        query_part = tl.load(point + done + column, mask=used, other=0.0)
        scores += tl.sum(rows.to(tl.float64) * query_part.to(tl.float64)[None, :], 1)
    norm = tl.load(tile_norms + place).to(tl.float64)
    # Both lengths are rounded upwards already.
    off = growth * norm * (length.to(tl.float64) + norm) + smallest
    first = tl.max(scores, 0)
    where = tl.min(tl.where(scores == first, member, tile), 0)
    next_one = tl.max(tl.where(member == where, float("-inf"), scores), 0)
    better = (lane == mine) & (first - off > top_low)
    challenger = tl.where(better, tl.maximum(top_high, next_one + off), first + off)
    rival = tl.where(lane == mine, tl.maximum(rival, challenger), rival)
    top_low = tl.where(better, first - off, top_low)
    top_high = tl.where(better, first + off, top_high)
    winner = tl.where(better, tl.load(names + place.to(tl.int64) * tile + where), winner)
    return top_low, top_high, rival, winner


@triton.jit
def _downwards(low):
    """Return a float32 number that is no larger than the float64 one."""
    return tl.minimum(low - tl.abs(low) * 2.384185791015625e-07 - 1e-37, 3e38).to(tl.float32)


@triton.jit(do_not_specialize=["count", "tiles"])
def settle(
    maxima,
    stride,
    points,
    point_lengths,
    point_offs,
    tile_norms,
    tile_rests,
    tile_leasts,
    vectors,
    half_squares,
    names,
    found,
    rescored,
    count,
    tiles,
    growth: tl.constexpr,
    smallest: tl.constexpr,
    dimension: tl.constexpr,
    tile: tl.constexpr,
    at_once: tl.constexpr,
    span: tl.constexpr,
    step: tl.constexpr,
):
    """Write the nearest word of each point, or -1 where float64 cannot tell, and how many tiles were scored
    again.

    The most promising tile is scored before all others, and each float64 score raises what the rest must
    reach.
    """
    lane = tl.arange(0, at_once)
    query = tl.program_id(0) * at_once + lane
    there = query < count
    lengths = tl.load(point_lengths + query, mask=there, other=0.0)
    offs = tl.load(point_offs + query, mask=there, other=0.0)
    reached = tl.full([span, at_once], float("-inf"), tl.float32)
    reached_at = tl.zeros([span, at_once], tl.int32)
    for start in range(0, tiles, span):
        number = start + tl.arange(0, span)
        inside = number < tiles
        best, error = _scores(
            maxima, stride, number, inside, query, there, lengths, offs, tile_norms, tile_rests, tile_leasts
        )
        reached_at = tl.where(best - error > reached, number[:, None], reached_at)
        reached = tl.maximum(reached, best - error)
    lower = tl.max(reached, 0)

    minus = lengths.to(tl.float64) * 0.0 - float("inf")
    top_low, top_high, rival, winner, times = minus, minus, minus, lane * 0 - 1, 0
    first_query = tl.program_id(0) * at_once
    # A point that is not a number, where noise failed, is equal to nothing: it must not be looked for beyond
    # the last tile.
    best_place = tl.minimum(tl.min(tl.where(reached == lower[None, :], reached_at, NOWHERE), 0), tiles - 1)
    for mine in range(min(at_once, count - first_query)):
        place = tl.sum(tl.where(lane == mine, best_place, 0), 0)
        top_low, top_high, rival, winner = _weigh(
            top_low,
            top_high,
            rival,
            winner,
            place,
            mine,
            lane,
            first_query,
            points,
            lengths,
            vectors,
            half_squares,
            names,
            tile_norms,
            growth,
            smallest,
            dimension,
            tile,
            step,
        )
        times += 1
    lower = tl.maximum(lower, _downwards(top_low))

    for start in range(0, tiles, span):
        number = start + tl.arange(0, span)
        inside = number < tiles
        best, error = _scores(
            maxima, stride, number, inside, query, there, lengths, offs, tile_norms, tile_rests, tile_leasts
        )
        possible = (
            (best + error >= lower[None, :])
            & inside[:, None]
            & there[None, :]
            & (number[:, None] != best_place[None, :])
        )
        pairs = tl.where(possible, tl.arange(0, span)[:, None] * at_once + lane[None, :], NOWHERE)
        pair = tl.min(tl.min(pairs, 1), 0)
        while pair < NOWHERE:
            top_low, top_high, rival, winner = _weigh(
                top_low,
                top_high,
                rival,
                winner,
                start + pair // at_once,
                pair % at_once,
                lane,
                first_query,
                points,
                lengths,
                vectors,
                half_squares,
                names,
                tile_norms,
                growth,
                smallest,
                dimension,
                tile,
                step,
            )
            times += 1
            lower = tl.maximum(lower, _downwards(top_low))
            pairs = tl.where((pairs == pair) | (best + error < lower[None, :]), NOWHERE, pairs)
            pair = tl.min(tl.min(pairs, 1), 0)
    tl.store(found + query, tl.where(rival < top_low, winner, -1), mask=there)
    tl.atomic_add(rescored, times)
