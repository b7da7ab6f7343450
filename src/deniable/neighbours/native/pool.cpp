#include "pool.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#ifndef _WIN32
#include <pthread.h>
#endif

namespace deniable {
namespace {

// One call of run_parallel. Everything in it is guarded by the pool's mutex; tasks are large, so that is cheap.
struct Job {
    const std::function<void(std::size_t)>* task;
    std::size_t count, helpers_left;
    std::size_t next = 0, running = 0;
    std::exception_ptr failure;
    std::condition_variable finished;

    bool has_work() const { return next < count; }
};

class Pool {
  public:
    void run(std::size_t count, std::size_t helpers, const std::function<void(std::size_t)>& task) {
        auto job = std::make_shared<Job>();
        job->task = &task;
        job->count = count;
        job->helpers_left = helpers;
        std::unique_lock<std::mutex> lock(mutex_);
        grow(helpers);
        jobs_.push_back(job);
        work_.notify_all();
        take_part(*job, lock);
        job->finished.wait(lock, [&] { return !job->has_work() && job->running == 0; });
        for (auto at = jobs_.begin(); at != jobs_.end(); ++at)
            if (*at == job) {
                jobs_.erase(at);
                break;
            }
        if (job->failure) std::rethrow_exception(job->failure);
    }

  private:
    void grow(std::size_t workers) {
        try {
            for (; workers_ < workers; ++workers_) std::thread([this] { serve(); }).detach();
        } catch (const std::system_error&) {
            // The system gives no more threads: the work is done by those there are, the caller at least.
        }
    }

    void take_part(Job& job, std::unique_lock<std::mutex>& lock) {
        while (job.has_work()) {
            const std::size_t mine = job.next++;
            ++job.running;
            lock.unlock();
            std::exception_ptr failure;
            try {
                (*job.task)(mine);
            } catch (...) {
                failure = std::current_exception();
            }
            lock.lock();
            --job.running;
            if (failure) {
                if (!job.failure) job.failure = failure;
                job.next = job.count;
            }
        }
        if (job.running == 0) job.finished.notify_all();
    }

    [[noreturn]] void serve() {
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            std::shared_ptr<Job> job;
            work_.wait(lock, [&] { return (job = open_job()) != nullptr; });
            --job->helpers_left;
            take_part(*job, lock);
        }
    }

    std::shared_ptr<Job> open_job() const {
        for (const auto& job : jobs_)
            if (job->has_work() && job->helpers_left > 0) return job;
        return nullptr;
    }

    std::mutex mutex_;
    std::condition_variable work_;
    std::deque<std::shared_ptr<Job>> jobs_;
    std::size_t workers_ = 0;
};

// The pool is never destroyed: its threads may still wait in it while the process ends. A forked child has none of
// the threads and perhaps a locked mutex, so it forgets the parent's pool and makes its own.
Pool* pool = nullptr;
alignas(std::mutex) unsigned char guard_storage[sizeof(std::mutex)];
std::mutex* guard = new (guard_storage) std::mutex;

#ifndef _WIN32
void forget_pool() {
    pool = nullptr;
    guard = new (guard_storage) std::mutex;
}
const int watching = pthread_atfork(nullptr, nullptr, forget_pool);
#endif

Pool& shared_pool() {
    const std::lock_guard<std::mutex> lock(*guard);
    if (!pool) pool = new Pool;
    return *pool;
}

}  // namespace

void run_parallel(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& task) {
    if (threads < 2 || count < 2) {
        for (std::size_t i = 0; i < count; ++i) task(i);
        return;
    }
    shared_pool().run(count, (threads < count ? threads : count) - 1, task);
}

}  // namespace deniable
