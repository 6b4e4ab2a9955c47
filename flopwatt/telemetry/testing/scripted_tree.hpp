#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace flopwatt::telemetry::testing {

/// A folder of its own with files as sysfs has them, removed at the end.
class ScriptedTree {
 public:
  ScriptedTree() {
    std::string name = (std::filesystem::temp_directory_path() / "flopwatt-tree-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) root_ = name;
    std::filesystem::permissions(root_, std::filesystem::perms{0755});
  }
  ScriptedTree(const ScriptedTree&) = delete;
  ScriptedTree& operator=(const ScriptedTree&) = delete;
  ~ScriptedTree() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  [[nodiscard]] const std::string& root() const { return root_; }
  [[nodiscard]] std::string path(std::string_view file) const { return root_ + "/" + std::string{file}; }
  /// Writes in place, as the kernel does: a file that is held open shows the new text.
  void write(std::string_view file, std::string_view text) const {
    const std::filesystem::path where = path(file);
    std::filesystem::create_directories(where.parent_path());
    std::ofstream{where, std::ios::trunc | std::ios::binary} << text;
  }
  void remove(std::string_view file) const { std::filesystem::remove_all(path(file)); }
  void forbid(std::string_view file) const { std::filesystem::permissions(path(file), std::filesystem::perms::none); }
  void link(std::string_view file, std::string_view target) const {
    std::filesystem::create_directories(std::filesystem::path{path(file)}.parent_path());
    std::filesystem::create_symlink(target, path(file));
  }

 private:
  std::string root_;
};

/// As an ordinary user for a while: root may read what is forbidden.
class WithoutRoot {
 public:
  WithoutRoot() : was_{::geteuid()} {
    if (was_ == 0) dropped_ = ::seteuid(65534) == 0;
  }
  WithoutRoot(const WithoutRoot&) = delete;
  WithoutRoot& operator=(const WithoutRoot&) = delete;
  ~WithoutRoot() {
    if (dropped_ && ::seteuid(was_) != 0) std::abort();
  }

 private:
  uid_t was_;
  bool dropped_ = false;
};

}  // namespace flopwatt::telemetry::testing
