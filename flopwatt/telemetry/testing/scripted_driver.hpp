#pragma once

#include <dlfcn.h>

#include <string>

namespace flopwatt::telemetry::testing {

/// The test's side of a scripted driver: the same library that the code under test opens.
class ScriptedDriver {
 public:
  explicit ScriptedDriver(std::string path) : path_{std::move(path)}, handle_{::dlopen(path_.c_str(), RTLD_NOW)} {}
  ScriptedDriver(const ScriptedDriver&) = delete;
  ScriptedDriver& operator=(const ScriptedDriver&) = delete;
  ~ScriptedDriver() { release(); }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool there() const { return handle_ != nullptr; }
  void script(const std::string& text) const { find<void(const char*)>("flopwatt_script")(text.c_str()); }
  void time(double seconds) const { find<void(double)>("flopwatt_script_time")(seconds); }
  /// Lets calls return that hang.
  void release() const { find<void()>("flopwatt_script_release")(); }

 private:
  template <class Function>
  [[nodiscard]] Function* find(const char* name) const {
    return reinterpret_cast<Function*>(::dlsym(handle_, name));
  }
  std::string path_;
  void* handle_;
};

}  // namespace flopwatt::telemetry::testing
