// Threads that wait for work. Made on first use, grown as asked, made anew in a forked child.
#pragma once

#include <cstddef>
#include <functional>

namespace deniable {

// Runs task(0) .. task(count - 1), on at most `threads` threads with the calling one among them, and returns when all
// are done. The first exception of a task is thrown again here. May be called from several threads at once.
void run_parallel(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& task);

}  // namespace deniable
