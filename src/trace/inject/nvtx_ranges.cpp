#include "trace/inject/nvtx_ranges.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <vector>

namespace attnprof {
namespace {

// NVTX's event attributes, version 2.
struct EventAttributes {
  uint16_t version, size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type, reserved;
  uint64_t payload;
  int32_t message_type;
  const void* message;
};
enum MessageType { ascii = 1, registered = 3 };  // 2 is wchar_t: not used in practice
constexpr size_t least_attributes = offsetof(EventAttributes, message) + sizeof(void*);

using AnyFunction = void (*)();
struct ExportedCallbacks {
  size_t struct_size;
  int (*function_table)(uint32_t module, AnyFunction*** table, unsigned* size);
};
using ExportTable = const void* (*)(uint32_t id);
constexpr uint32_t callbacks_id = 1;
enum Module { core = 1, core2 = 5 };

std::vector<std::string>& stack() {
  static thread_local std::vector<std::string> ranges;
  return ranges;
}

// NVTX's convention: the depth that the range has, from 0; of a pop without a push -1.
int push(std::string name) {
  stack().push_back(std::move(name));
  return static_cast<int>(stack().size()) - 1;
}

int pop() {
  if (stack().empty()) return -1;
  stack().pop_back();
  return static_cast<int>(stack().size());
}

std::string message_of(const EventAttributes* attributes) {
  if (!attributes || attributes->size < least_attributes || !attributes->message) return "";
  if (attributes->message_type == ascii) return static_cast<const char*>(attributes->message);
  // What register_string gave out.
  if (attributes->message_type == registered) return *static_cast<const std::string*>(attributes->message);
  return "";
}

int push_a(const char* name) { return push(name ? name : ""); }
int push_ex(const EventAttributes* attributes) { return push(message_of(attributes)); }
int domain_push_ex(void*, const EventAttributes* attributes) { return push(message_of(attributes)); }
int push_w(const wchar_t*) { return push(""); }  // so that its pop has something to take
int domain_pop(void*) { return pop(); }

// Never freed: a program keeps handles for as long as it runs.
void* register_string(void*, const char* text) {
  static std::mutex mutex;
  static auto* const strings = new std::set<std::string>;
  const std::lock_guard lock(mutex);
  return const_cast<std::string*>(&*strings->insert(text ? text : "").first);
}

template <class Function>
void replace(AnyFunction** table, unsigned size, unsigned id, Function function) {
  if (id < size && table[id]) *table[id] = reinterpret_cast<AnyFunction>(function);
}

int install(ExportTable export_table) {
  const auto* callbacks = static_cast<const ExportedCallbacks*>(export_table(callbacks_id));
  if (!callbacks || callbacks->struct_size < sizeof(ExportedCallbacks)) return 0;
  AnyFunction** table = nullptr;
  unsigned size = 0;
  if (callbacks->function_table(core, &table, &size)) {
    replace(table, size, 8, push_ex);
    replace(table, size, 9, push_a);
    replace(table, size, 10, push_w);
    replace(table, size, 11, pop);
  }
  if (callbacks->function_table(core2, &table, &size)) {
    replace(table, size, 4, domain_push_ex);
    replace(table, size, 5, domain_pop);
    replace(table, size, 10, register_string);
  }
  return 1;
}

}  // namespace

const std::string& innermost_range() {
  static const std::string none;
  return stack().empty() ? none : stack().back();
}

}  // namespace attnprof

#define ATTNPROF_ENTRY extern "C" __attribute__((visibility("default")))

// NVTX 3 looks for the second name, NVTX 2 for the first; every library with NVTX in it calls by itself.
ATTNPROF_ENTRY int InitializeInjectionNvtx(attnprof::ExportTable export_table) {
  return attnprof::install(export_table);
}
ATTNPROF_ENTRY int InitializeInjectionNvtx2(attnprof::ExportTable export_table) {
  return attnprof::install(export_table);
}
