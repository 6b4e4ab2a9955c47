#include "flopwatt/libtorch/operator_counter.hpp"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/library.h>

#include <thread>
#include <vector>

#include "flopwatt/libtorch/checkpointed.hpp"

namespace flopwatt::libtorch {
namespace {

using units::Count;

class Counted : public ::testing::Test {
 protected:
  /// What `work` executes.
  template <class Work>
  static OperatorCounts count(const Work& work) {
    auto counter = OperatorCounter::start();
    EXPECT_TRUE(counter.has_value()) << counter.error().message();
    work();
    const auto counts = counter->stop();
    EXPECT_TRUE(counts.has_value()) << counts.error().message();
    return *counts;
  }
};

at::Tensor trained(at::IntArrayRef sizes) { return at::rand(sizes).set_requires_grad(true); }

TEST_F(Counted, ProductsOfEveryKind) {
  const at::Tensor a = at::rand({3, 5});
  const at::Tensor b = at::rand({5, 7});
  EXPECT_EQ(count([&] { (void)at::mm(a, b); }).forward, Count{2 * 3 * 5 * 7});
  EXPECT_EQ(count([&] { (void)at::addmm(at::rand({7}), a, b); }).forward, Count{2 * 3 * 5 * 7});
  EXPECT_EQ(count([&] { (void)at::bmm(at::rand({4, 3, 5}), at::rand({4, 5, 7})); }).forward, Count{2 * 4 * 3 * 5 * 7});
  EXPECT_EQ(count([&] { (void)at::baddbmm(at::rand({4, 3, 7}), at::rand({4, 3, 5}), at::rand({4, 5, 7})); }).forward,
            Count{2 * 4 * 3 * 5 * 7});
  EXPECT_EQ(count([&] { (void)at::mv(a, at::rand({5})); }).forward, Count{2 * 3 * 5});
  EXPECT_EQ(count([&] { (void)at::dot(at::rand({9}), at::rand({9})); }).forward, Count{2 * 9});
  EXPECT_EQ(count([&] { (void)at::addr(at::rand({3, 4}), at::rand({3}), at::rand({4})); }).forward, Count{2 * 3 * 4});
}

TEST_F(Counted, WhatIsMadeOfProductsIsCountedOnce) {
  const at::Tensor batch = at::rand({2, 3, 5});
  EXPECT_EQ(count([&] { (void)at::linear(batch, at::rand({7, 5}), at::rand({7})); }).forward, Count{2 * 6 * 5 * 7});
  EXPECT_EQ(count([&] { (void)at::matmul(batch, at::rand({5, 7})); }).forward, Count{2 * 6 * 5 * 7});
  // a third with a fourth index summed over the second: [2·3 × 5]·[5 × 7]
  EXPECT_EQ(count([&] { (void)at::einsum("abc,cd->abd", {batch, at::rand({5, 7})}); }).forward, Count{2 * 6 * 5 * 7});
  // Grouped queries by broadcasting: [2, 4, 3, 5] · [2, 1, 5, 3]
  const at::Tensor query = at::rand({2, 4, 3, 5});
  EXPECT_EQ(count([&] { (void)at::matmul(query, at::rand({2, 1, 5, 3})); }).forward, Count{2 * 2 * 4 * 3 * 5 * 3});
}

TEST_F(Counted, ElementwiseWorkIsNone) {
  const auto counts = count([] {
    const at::Tensor x = at::rand({8, 8});
    (void)at::softmax(at::layer_norm(x * x + x, {8}), -1).sum();
  });
  EXPECT_EQ(counts.total(), Count{0});
  EXPECT_THAT(counts.not_counted, ::testing::IsEmpty());
}

// Output of a 3 × 3 filter with stride 2 and padding 1 on 8 × 8: (8 + 2 − 3) / 2 + 1 = 4.
TEST_F(Counted, Convolutions) {
  const at::Tensor image = trained({2, 6, 8, 8});
  const at::Tensor filter = trained({4, 3, 3, 3});  // 2 groups of 3 channels
  at::Tensor result;
  const Count forward = Count{2} * 2 * 4 * (4 * 4) * (3 * 3 * 3);  // images, channels, positions, taps
  EXPECT_EQ(count([&] { result = at::conv2d(image, filter, {}, 2, 1, 1, 2); }).forward, forward);
  EXPECT_EQ(result.sizes(), (std::vector<std::int64_t>{2, 4, 4, 4}));
  // Gradients of image and filter, as many taps each.
  EXPECT_EQ(count([&] { result.sum().backward(); }).backward, forward * 2);
  // Transposed: every input element meets every tap of its group.
  EXPECT_EQ(count([&] { (void)at::conv_transpose1d(at::rand({2, 6, 8}), at::rand({6, 5, 3})); }).forward,
            Count{2} * 2 * 6 * 8 * (5 * 3));
}

TEST_F(Counted, ABackwardPassIsCountedApart) {
  const at::Tensor x = trained({3, 5});
  const at::Tensor w = trained({5, 7});
  at::Tensor y;
  const auto forward = count([&] { y = at::mm(x, w).sum(); });
  const auto backward = count([&] { y.backward(); });
  EXPECT_EQ(forward.forward, Count{2 * 3 * 5 * 7});
  EXPECT_EQ(forward.backward, Count{0});
  EXPECT_EQ(backward.forward, Count{0});
  EXPECT_EQ(backward.backward, Count{2 * 2 * 3 * 5 * 7});  // dX = dY·Wᵀ and dW = Xᵀ·dY
}

TEST_F(Counted, AFrozenWeightHasNoGradientProduct) {
  const at::Tensor x = trained({3, 5});
  const auto counts = count([&] { at::mm(x, at::rand({5, 7})).sum().backward(); });
  EXPECT_EQ(counts.backward, Count{2 * 3 * 5 * 7});
}

TEST_F(Counted, ARecomputedSegmentIsCountedApart) {
  const at::Tensor x = trained({3, 5});
  const at::Tensor w = trained({5, 7});
  const auto counts = count(
      [&] { checkpointed([&](const at::Tensor& input) { return at::mm(input, w).tanh(); }, x).sum().backward(); });
  EXPECT_EQ(counts.forward, Count{2 * 3 * 5 * 7});
  EXPECT_EQ(counts.recompute, Count{2 * 3 * 5 * 7});
  EXPECT_EQ(counts.backward, Count{2 * 2 * 3 * 5 * 7});
  EXPECT_TRUE(x.grad().defined());
  EXPECT_TRUE(w.grad().defined());
}

TEST_F(Counted, EveryThreadIsSeen) {
  const at::Tensor x = trained({3, 5});
  const at::Tensor w = trained({5, 7});
  const auto counts = count([&] {
    std::thread other{[&] { at::mm(x, w).sum().backward(); }};
    other.join();
  });
  EXPECT_EQ(counts.forward, Count{2 * 3 * 5 * 7});
  EXPECT_EQ(counts.backward, Count{2 * 2 * 3 * 5 * 7});
}

TEST_F(Counted, WhatHasNoFormulaIsNamed) {
  const at::Tensor sparse = at::eye(4).to_sparse();
  const auto counts = count([&] { (void)at::mm(sparse, at::rand({4, 4})); });
  EXPECT_EQ(counts.total(), Count{0});
  EXPECT_THAT(counts.not_counted, ::testing::Contains("aten::mm"));
  const auto inverse = count([] { (void)at::linalg_inv(at::eye(4)); });
  EXPECT_THAT(inverse.not_counted, ::testing::Contains(::testing::HasSubstr("linalg_inv")));
}

at::Tensor opaque(const at::Tensor& x) { return x + 1; }
at::Tensor transparent(const at::Tensor& x) { return at::mm(x, x); }

TORCH_LIBRARY(flopwatt_test, library) {
  library.def("opaque(Tensor x) -> Tensor");
  library.def("transparent(Tensor x) -> Tensor");
  library.impl("opaque", c10::DispatchKey::CPU, opaque);
  library.impl("transparent", c10::DispatchKey::CPU, transparent);
}

at::Tensor call(const char* name, const at::Tensor& x) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<at::Tensor(const at::Tensor&)>().call(x);
}

// A foreign operator that calls the library's products is counted by them; one that does not is listed.
TEST_F(Counted, OperatorsOfOthers) {
  const at::Tensor x = at::rand({4, 4});
  const auto counts = count([&] {
    (void)call("flopwatt_test::opaque", x);
    (void)call("flopwatt_test::transparent", x);
  });
  EXPECT_EQ(counts.forward, Count{2 * 4 * 4 * 4});
  EXPECT_THAT(counts.not_counted, ::testing::ElementsAre("flopwatt_test::opaque"));
}

// A range that the program marks for a profiler is no operator.
TEST_F(Counted, MarkedRangesAreNone) {
  const at::Tensor x = at::rand({4, 4});
  const auto counts = count([&] {
    RECORD_FUNCTION("mine::attention", std::vector<c10::IValue>{});
    (void)at::mm(x, x);
    {
      RECORD_FUNCTION("mine::linear", std::vector<c10::IValue>{});
    }
  });
  EXPECT_EQ(counts.forward, Count{2 * 4 * 4 * 4});
  EXPECT_THAT(counts.not_counted, ::testing::IsEmpty());
}

TEST_F(Counted, RowsNameTheOperators) {
  const at::Tensor x = at::rand({4, 4});
  const auto counts = count([&] {
    (void)at::mm(x, x);
    (void)at::mm(x, x);
  });
  ASSERT_EQ(counts.operators.size(), 1U);
  EXPECT_EQ(counts.operators[0].name, "aten::mm");
  EXPECT_EQ(counts.operators[0].calls, 2);
  EXPECT_EQ(counts.operators[0].flops, Count{2 * 2 * 4 * 4 * 4});
  EXPECT_EQ(name(counts.operators[0].pass), "forward");
}

TEST_F(Counted, CountersMayOverlap) {
  const at::Tensor x = at::rand({4, 4});
  const Count once{2 * 4 * 4 * 4};
  auto outer = OperatorCounter::start();
  ASSERT_TRUE(outer.has_value());
  (void)at::mm(x, x);
  EXPECT_EQ(count([&] { (void)at::mm(x, x); }).forward, once);
  (void)at::mm(x, x);
  EXPECT_EQ(outer->counts()->forward, once * 3);
  EXPECT_EQ(outer->stop()->forward, once * 3);
  (void)at::mm(x, x);
  EXPECT_EQ(outer->counts()->forward, once * 3);  // it has stopped
}

// An operator that throws leaves nothing behind that would hide what comes after it.
TEST_F(Counted, AnOperatorThatFailsSpoilsNothing) {
  const at::Tensor x = at::rand({4, 4});
  const auto counts = count([&] {
    EXPECT_THROW((void)at::mm(x, at::rand({5, 5})), c10::Error);
    (void)at::mm(x, x);
  });
  EXPECT_GE(counts.forward, Count{2 * 4 * 4 * 4});
  EXPECT_EQ(counts.operators.size(), 1U);
}

}  // namespace
}  // namespace flopwatt::libtorch
