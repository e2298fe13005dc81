//===- VirtualMesh.h - Tensors on a mesh of devices -------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A mesh whose devices are blocks of arrays: how a tensor lies on it, and the
/// one routine that performs every transition of the table in
/// docs/reference/axis-states.md by intersecting index sets inside groups of
/// devices.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_INTERPRETER_VIRTUALMESH_H
#define DTRAIN_INTERPRETER_VIRTUALMESH_H

#include "dtrain/Interpreter/Tensor.h"
#include "dtrain/Model/AxisState.h"
#include "llvm/ADT/BitVector.h"
#include <random>

namespace dtrain {

/// The devices of a mesh that take part: all of them, or those of one
/// coordinate inside a pinned repeat. Devices are numbered row-major.
class VirtualMesh {
public:
  explicit VirtualMesh(llvm::ArrayRef<MeshAxis> axes);

  llvm::ArrayRef<MeshAxis> getAxes() const { return axes; }
  int64_t numDevices() const { return active.size(); }
  bool isActive(int64_t device) const { return active[device]; }
  llvm::SmallVector<int64_t> coordinatesOf(int64_t device) const;
  /// The same mesh where only the devices at `coordinate` of `axis` take part.
  VirtualMesh restrictedTo(unsigned axis, int64_t coordinate) const;
  /// The active devices that differ from `device` in `axis` only, by
  /// coordinate; -1 for an inactive one.
  llvm::SmallVector<int64_t> groupOf(int64_t device, unsigned axis) const;

private:
  llvm::SmallVector<MeshAxis> axes;
  llvm::BitVector active;
};

/// A tensor on a mesh: its global shape, the state of every axis, and one block
/// per device that holds any of it.
struct DistributedTensor {
  llvm::SmallVector<int64_t> shape;
  TensorState state;
  std::vector<std::optional<Tensor>> blocks;
};

/// The global indices that a device holds of each dimension.
IndexSets indicesOf(const VirtualMesh &mesh, llvm::ArrayRef<int64_t> shape,
                    const TensorState &state, int64_t device);

/// Distributes a tensor. A partial tensor is whole on its first coordinate and
/// the identity of the reduction elsewhere; with `random`, a sum is split in
/// random addends instead.
DistributedTensor scatter(const VirtualMesh &mesh, const Tensor &global,
                          const TensorState &state,
                          std::mt19937_64 *random = nullptr);

/// The global tensor: partial values combined, blocks put together. Errors:
/// copies that differ by more than `tolerance` (relative), elements that no
/// device holds.
llvm::Expected<Tensor> gather(const VirtualMesh &mesh,
                              const DistributedTensor &tensor,
                              double tolerance = 1e-9);

/// Changes the state of one axis (docs/reference/axis-states.md). Errors: a
/// device that should hold a block and does not, a group that the active
/// devices do not cover, elements that nobody in the group holds.
llvm::Expected<DistributedTensor> move(const VirtualMesh &mesh,
                                       const DistributedTensor &tensor,
                                       unsigned axis, const AxisState &to);

} // namespace dtrain

#endif // DTRAIN_INTERPRETER_VIRTUALMESH_H
