// Streaming read on the host: all cores read one buffer, each its own contiguous share, folded with xor.
//
// The caller reads the first share; the other threads are made once and wait on a counter, so that a pass costs a wake-up
// and not their creation.
// Functions return 0, or -1 with a text in `ceiling_last_error`.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace {

std::string& error_text() {
  static thread_local std::string text;
  return text;
}

// 64 bytes a step in independent lanes, which the compiler turns into vector loads.
std::uint64_t read_range(const std::uint64_t* p, std::size_t count) {
  std::uint64_t lane[32] = {};
  std::size_t i = 0;
  for (; i + 32 <= count; i += 32)
    for (int k = 0; k < 32; ++k) lane[k] ^= p[i + k];
  std::uint64_t acc = 0;
  for (std::uint64_t v : lane) acc ^= v;
  for (; i < count; ++i) acc ^= p[i];
  return acc;
}

void pin(std::thread& thread, int core) {
#if defined(__linux__)
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  // The `core`-th of those that this process may use: containers often allow a few out of many.
  for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || seen++ != core) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_setaffinity_np(thread.native_handle(), sizeof(one), &one);
    return;
  }
#else
  (void)thread;
  (void)core;
#endif
}

constexpr int kActiveBits = 16;

class Pool {
 public:
  Pool(std::uint64_t bytes, int threads) : words_(bytes / 8), folds_(threads) {
    data_.reset(static_cast<std::uint64_t*>(::operator new[](words_ * 8, std::align_val_t(4096))));
    for (int t = 1; t < threads; ++t) {
      workers_.emplace_back([this, t] { work(t); });
      pin(workers_.back(), t);
    }
    filling_ = true;  // each thread writes its own share first, so that its pages are near it
    pass(0, words_ * 8, threads);
    filling_ = false;
  }

  ~Pool() {
    stop_ = true;
    announce(threads());
    for (std::thread& t : workers_) t.join();
  }

  std::uint64_t bytes() const { return words_ * 8; }

  int threads() const { return static_cast<int>(folds_.size()); }

  // Reads [offset, offset + bytes) once with the first `active` threads; returns the xor of its words.
  std::uint64_t pass(std::uint64_t offset, std::uint64_t bytes, int active) {
    begin_ = offset / 8;
    count_ = bytes / 8;
    waiting_.store(active - 1);
    announce(active);
    share(0, active);
    for (int spins = 0; waiting_.load(std::memory_order_acquire) != 0; ++spins) wait(spins);
    std::uint64_t acc = 0;
    for (int t = 0; t < active; ++t) acc ^= folds_[t].value;
    return acc;
  }

 private:
  struct alignas(64) Fold {
    std::uint64_t value = 0;
  };

  struct Free {
    void operator()(std::uint64_t* p) const { ::operator delete[](p, std::align_val_t(4096)); }
  };

  // Spins at first, then lets others have the core: a busy machine has fewer cores than threads.
  static void wait(int spins) {
    if (spins >= 2000) return std::this_thread::yield();
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  // A round's number and how many threads take part are one word: a thread that wakes late must not mix two rounds.
  void announce(int active) { round_.store(((round_.load() >> kActiveBits) + 1) << kActiveBits | active); }

  void work(int t) {
    std::uint64_t seen = 0;
    for (;;) {
      std::uint64_t now = round_.load(std::memory_order_acquire);
      for (int spins = 0; now == seen; ++spins) {
        wait(spins);
        now = round_.load(std::memory_order_acquire);
      }
      seen = now;
      if (stop_) return;
      const int active = static_cast<int>(now & ((1u << kActiveBits) - 1));
      if (t >= active) continue;
      share(t, active);
      waiting_.fetch_sub(1, std::memory_order_release);
    }
  }

  // Fills or reads the share of thread `t` of `n`: whole blocks of 32 words, the last thread takes what is left.
  void share(int t, int n) {
    const std::size_t each = (count_ / n + 31) / 32 * 32;
    const std::size_t first = std::min(count_, each * t);
    const std::size_t last = t + 1 == n ? count_ : std::min(count_, first + each);
    std::uint64_t* p = data_.get() + begin_ + first;
    if (filling_) {
      for (std::size_t i = 0; i < last - first; ++i) p[i] = (begin_ + first + i) * 0x9E3779B97F4A7C15ull;
    } else {
      folds_[t].value = read_range(p, last - first);
    }
  }

  std::size_t words_;
  std::vector<Fold> folds_;
  std::unique_ptr<std::uint64_t[], Free> data_;
  std::vector<std::thread> workers_;
  std::atomic<std::uint64_t> round_{0};
  std::atomic<int> waiting_{0};
  std::atomic<bool> stop_{false};
  std::atomic<bool> filling_{false};
  std::size_t begin_ = 0;
  std::size_t count_ = 0;
};

}  // namespace

extern "C" {

const char* ceiling_last_error() { return error_text().c_str(); }

void* ceiling_cpu_create(std::uint64_t bytes, int threads) {
  if (bytes < 8 || bytes % 8 != 0 || threads < 1 || threads >= 1 << kActiveBits) {
    error_text() = "ceiling_cpu_create: bytes must be a positive multiple of 8, threads positive and below 65536";
    return nullptr;
  }
  try {
    return new Pool(bytes, threads);
  } catch (const std::exception& e) {
    error_text() = std::string("ceiling_cpu_create: ") + e.what();
    return nullptr;
  }
}

// Reads a range once with `threads` threads; `*fold` is the xor of its 64-bit words.
int ceiling_cpu_pass(void* handle, std::uint64_t offset, std::uint64_t bytes, int threads, std::uint64_t* fold) {
  Pool* pool = static_cast<Pool*>(handle);
  if (offset % 8 != 0 || bytes % 8 != 0 || offset + bytes > pool->bytes() || threads < 1 ||
      threads > pool->threads()) {
    error_text() = "ceiling_cpu_pass: a range outside the pool, not in 8-byte words, or too many threads";
    return -1;
  }
  *fold = pool->pass(offset, bytes, threads);
  return 0;
}

void ceiling_cpu_destroy(void* handle) { delete static_cast<Pool*>(handle); }

}  // extern "C"
