#pragma once

#include <git2.h>

#include <memory>
#include <stdexcept>
#include <string>

/// The little that every user of libgit2 needs. Rule of the library: one
/// repository handle per thread; its options are process-wide.
namespace purgatory::io {

/// Starts libgit2, once per process, with options that make it ignore the
/// machine: no system, global or user configuration, no templates. Also raises
/// the soft limit of open files, since a ref transaction holds one per ref.
void init_libgit2();

/// A libgit2 call failed. `code` is a git_error_code.
class libgit2_error : public std::runtime_error {
public:
  libgit2_error(int code, const std::string& text)
    : std::runtime_error(text), code_(code) {}
  int code() const { return code_; }

private:
  int code_;
};

/// Throws what libgit2 has to say if `code` is an error. The text is
/// thread-local, so this has to follow the call at once.
void check(int code);

template <class T, void (*Free)(T*)>
struct git_deleter {
  void operator()(T* object) const { Free(object); }
};

template <class T, void (*Free)(T*)>
using git_handle = std::unique_ptr<T, git_deleter<T, Free>>;

using repository_handle = git_handle<git_repository, git_repository_free>;
using odb_handle = git_handle<git_odb, git_odb_free>;
using config_handle = git_handle<git_config, git_config_free>;
using reference_handle = git_handle<git_reference, git_reference_free>;
using ref_iterator_handle
  = git_handle<git_reference_iterator, git_reference_iterator_free>;
using transaction_handle = git_handle<git_transaction, git_transaction_free>;

/// The object that a libgit2 call makes, or an exception:
/// `acquire<odb_handle>([&](git_odb** out) { return git_repository_odb(out,
/// repo); })`.
template <class Handle, class Call>
Handle acquire(Call call) {
  typename Handle::pointer raw = nullptr;
  check(call(&raw));
  return Handle{raw};
}

} // namespace purgatory::io
