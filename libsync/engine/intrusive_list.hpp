#pragma once

namespace purgatory::engine {

/// A doubly linked list through members `before` and `after` of `T`, which is
/// in at most one such list and does not move meanwhile. No allocation: with
/// many waiters the cost of a step is the memory that it touches.
template <class T>
class intrusive_list {
public:
  [[nodiscard]] bool empty() const { return first_ == nullptr; }
  [[nodiscard]] T* front() const { return first_; }
  [[nodiscard]] T* back() const { return last_; }

  void push_back(T& item) {
    item.before = last_;
    item.after = nullptr;
    (last_ != nullptr ? last_->after : first_) = &item;
    last_ = &item;
  }

  void erase(T& item) {
    (item.before != nullptr ? item.before->after : first_) = item.after;
    (item.after != nullptr ? item.after->before : last_) = item.before;
    item.before = nullptr;
    item.after = nullptr;
  }

private:
  T* first_ = nullptr;
  T* last_ = nullptr;
};

} // namespace purgatory::engine
