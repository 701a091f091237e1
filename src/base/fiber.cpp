#include "base/fiber.hpp"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <exception>
#include <new>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define ATTNPROF_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ATTNPROF_ASAN 1
#endif
#endif
#if defined(ATTNPROF_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif

namespace attnprof {
namespace {

struct Unwind {};  // thrown through a body that nobody will resume

// A stack, and below it a page that nobody may touch.
class Stack {
 public:
  explicit Stack(size_t bytes) : guard_(static_cast<size_t>(sysconf(_SC_PAGESIZE))), bytes_(bytes + guard_) {
    void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                        /*fd=*/-1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    begin_ = static_cast<char*>(memory);
    mprotect(begin_, guard_, PROT_NONE);
  }
  ~Stack() { munmap(begin_, bytes_); }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  char* bottom() const { return begin_ + guard_; }
  size_t size() const { return bytes_ - guard_; }

 private:
  size_t guard_, bytes_;
  char* begin_;
};

// Tells AddressSanitizer which stack is in use; nothing otherwise.
void leave_stack([[maybe_unused]] void** fake, [[maybe_unused]] const void* bottom,
                 [[maybe_unused]] size_t size) {
#if defined(ATTNPROF_ASAN)
  __sanitizer_start_switch_fiber(fake, bottom, size);
#endif
}

void arrive_on_stack([[maybe_unused]] void* fake, [[maybe_unused]] const void** bottom,
                     [[maybe_unused]] size_t* size) {
#if defined(ATTNPROF_ASAN)
  __sanitizer_finish_switch_fiber(fake, bottom, size);
#endif
}

}  // namespace

struct Fiber::State {
  explicit State(size_t stack_bytes) : stack(stack_bytes) {}

  Stack stack;
  ucontext_t inside{}, outside{};
  std::function<void()> body;
  bool paused = false, unwinding = false;
  std::exception_ptr error;
  const void* outside_bottom = nullptr;  // of the caller's stack
  size_t outside_size = 0;
  void* fake_inside = nullptr;  // AddressSanitizer's, of the body
};

Fiber::Fiber(size_t stack_bytes) : state_(std::make_unique<State>(stack_bytes)) {}

Fiber::~Fiber() {
  if (!state_->paused) return;
  state_->unwinding = true;
  switch_in();
}

bool Fiber::start(std::function<void()> body) {
  State& s = *state_;
  s.body = std::move(body);
  getcontext(&s.inside);
  s.inside.uc_stack.ss_sp = s.stack.bottom();
  s.inside.uc_stack.ss_size = s.stack.size();
  s.inside.uc_link = nullptr;
  // makecontext passes ints alone.
  const auto self = reinterpret_cast<uintptr_t>(this);
  makecontext(&s.inside, reinterpret_cast<void (*)()>(&Fiber::enter), 2, static_cast<unsigned>(self >> 32),
              static_cast<unsigned>(self));
  s.fake_inside = nullptr;
  return resume();
}

void Fiber::enter(unsigned high, unsigned low) {
  auto* self = reinterpret_cast<Fiber*>((uintptr_t{high} << 32) | low);
  State& s = *self->state_;
  arrive_on_stack(nullptr, &s.outside_bottom, &s.outside_size);
  self->run_body();
  s.paused = false;
  leave_stack(nullptr, s.outside_bottom, s.outside_size);
  setcontext(&s.outside);
}

// Apart from enter(), which is never returned to: nothing here is left undestroyed.
void Fiber::run_body() {
  State& s = *state_;
  try {
    s.body();
  } catch (const Unwind&) {
  } catch (...) {
    s.error = std::current_exception();
  }
  s.body = nullptr;
}

bool Fiber::resume() {
  const bool paused = switch_in();
  if (state_->error) std::rethrow_exception(std::exchange(state_->error, nullptr));
  return paused;
}

bool Fiber::switch_in() {
  State& s = *state_;
  void* fake = nullptr;
  leave_stack(&fake, s.stack.bottom(), s.stack.size());
  swapcontext(&s.outside, &s.inside);
  arrive_on_stack(fake, nullptr, nullptr);
  return s.paused;
}

void Fiber::pause() {
  State& s = *state_;
  s.paused = true;
  leave_stack(&s.fake_inside, s.outside_bottom, s.outside_size);
  swapcontext(&s.inside, &s.outside);
  arrive_on_stack(s.fake_inside, &s.outside_bottom, &s.outside_size);
  s.paused = false;
  if (s.unwinding) throw Unwind{};
}

}  // namespace attnprof
