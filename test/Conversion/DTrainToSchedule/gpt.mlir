// RUN: dtrain-opt %S/../../Transforms/Inputs/gpt-tiny.mlir \
// RUN:   --dtrain-pipeline="to=schedule mesh=pp=2,dp=2,tp=2 micro-batches=4 name=gpt-tiny" | FileCheck %s
// RUN: dtrain-opt %S/../../Transforms/Inputs/gpt-tiny.mlir \
// RUN:   --dtrain-pipeline="to=schedule mesh=pp=2,dp=2,tp=2 micro-batches=4 recompute=full chunks=2 order=interleaved" \
// RUN:   | FileCheck %s --check-prefix=CHUNKS
// RUN: dtrain-opt %S/../../Transforms/Inputs/gpt-tiny.mlir --dtrain-pipeline="to=schedule mesh=dp=1 optimizer=sgd" \
// RUN:   | FileCheck %s --check-prefix=ALONE

// 12 l h^2 + 13 l h + (v + s) h + 2 h with l = 4, h = 8, ffn = 2 h; 4 micro-batches of 4 samples of 6 tokens.
// CHECK: schedule.plan @plan order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp"
// CHECK-SAME: model <name = "gpt-tiny", parameters = 2592, layers = 4, samples = "micro_batches batch", tokens = "micro_batches batch seq">

// Backward of a layer: two all_reduces of b s h over tp, and every weight's gradient may hide them.
// CHECK: schedule.body @layer_backward {
// Work is over sizes and the axes that divide them: 2 b s h ffn over dp and tp.
// CHECK: %[[DX:.*]] = schedule.task "dtrain.dot"
// CHECK-SAME: contract = "2.0 FLOP batch seq n8 n16", flops = "2.0 FLOP batch/dp seq n8 n16/tp",
// CHECK-SAME: read = "2.0 B batch/dp seq n8 + 2.0 B n16/tp n8", written = "2.0 B batch/dp seq n16/tp", gemm = [1, "batch/dp seq", "n16/tp", n8]>
// CHECK: %[[DW:.*]] = schedule.task "dtrain.dot"
// CHECK-SAME: gemm = [1, "n16/tp", n8, "batch/dp seq"]> origin backward
// CHECK: schedule.task "dtrain.elementwise" after(%[[DW]]) #schedule.work<class = accumulate, precision = fp32
// CHECK-COUNT-2: schedule.task "dtrain.comm.all_reduce" {{.*}}<kind = all_reduce, purpose = tensor, axes = ["tp"], tensor = "2.0 B batch/dp seq n8"> origin backward
// CHECK-NOT: dtrain.comm

// Forward: two more. Views make no task, so that attention comes after the projection itself.
// CHECK: schedule.body @layer {
// CHECK: %[[QKV:.*]] = schedule.task "dtrain.dot" {{.*}}gemm = [1, "batch/dp seq", "n24/tp", n8]>
// CHECK-NEXT: schedule.task "dtrain.attention" after(%[[QKV]]) #schedule.work<class = attention,
// CHECK-SAME: attention = ["batch/dp", "n4.3/tp", 1, seq, seq, n2, n2.2] causal>
// CHECK-COUNT-2: kind = all_reduce, purpose = tensor, axes = ["tp"], tensor = "2.0 B batch/dp seq n8">
// CHECK-NOT: dtrain.comm

// The first stage holds half of the layers and the embedding, 2-byte parameters.
// CHECK: schedule.rank_class @stage0 stage 0 devices 4
// CHECK-SAME: state <parameters = "2.0 B n12/tp n8 + 2.0 B n10 n8 + 12.0 B n4/pp n8 +
// CHECK: schedule.segment forward chunk 0 count 4
// CHECK-SAME: scores = "2.0 batch/dp n4.3/tp seq seq", dropped = "5.0 batch/dp seq n8", layer_scores = "1.0 batch/dp n4.3/tp seq seq">
// CHECK: %[[E:.*]] = schedule.task "dtrain.elementwise"
// CHECK: %[[F:.*]] = schedule.call @layer times 2 after(%[[E]])
// CHECK: schedule.task "dtrain.comm.send" after(%[[F]]) {{.*}}axes = ["pp"], tensor = "2.0 B batch/dp seq n8", between = [0, 1]>
// CHECK: schedule.segment backward chunk 0 count 4
// A layer's weights, one of each shape.
// CHECK-SAME: weights = "
// CHECK: %[[B:.*]] = schedule.call @layer_backward times 2
// CHECK: schedule.task "dtrain.scatter_add" after(%[[B]])
// CHECK-NOT: dtrain.comm.send
// One all_reduce for all gradients; the tied embedding's first over the stages.
// CHECK: schedule.segment tail chunk 0 count 1
// CHECK: %[[SYNC:.*]] = schedule.task "dtrain.comm.all_reduce" #schedule.comm<kind = all_reduce, purpose = gradient, axes = ["dp"], tensor = "24.0 B n4/pp n8 +
// CHECK: %[[TIED:.*]] = schedule.task "dtrain.comm.all_reduce" #schedule.comm<kind = all_reduce, purpose = pipeline, axes = ["pp"], tensor = "4.0 B n12/tp n8">
// CHECK: %[[BOTH:.*]] = schedule.task "dtrain.comm.all_reduce" after(%[[TIED]]) #schedule.comm<kind = all_reduce, purpose = gradient, axes = ["dp"], tensor = "4.0 B n12/tp n8"> origin backward {during = "backward"}
// One kernel updates all parameters, once the last gradient is there.
// CHECK: schedule.task "dtrain.update" after(%[[SYNC]], %[[BOTH]]) #schedule.work<class = optimizer,
// CHECK-NOT: schedule.task

// The last stage has the head; vocabulary-parallel cross-entropy is three small all_reduces; logits are kept.
// CHECK: schedule.rank_class @stage1 stage 1 devices 4
// CHECK: schedule.segment forward {{.*}} logits = "1.0 batch/dp seq n12/tp",
// CHECK-COUNT-3: axes = ["tp"], tensor = "4.0 B batch/dp seq"
// CHECK: schedule.segment backward
// CHECK: %[[LAST:.*]] = schedule.call @layer_backward times 2
// CHECK: schedule.task "dtrain.comm.send" after(%[[LAST]]) {{.*}}between = [1, 0]> origin backward

// Interleaved: two chunks of one layer each per stage; the second chunk of stage 0 comes from stage 1 and goes back to it.
// Full recomputation keeps the layer's input alone.
// CHUNKS: order("interleaved") micro_batches 4 chunks 2
// CHUNKS: schedule.body @layer_backward
// CHUNKS: schedule.task "dtrain.attention" {{.*}} origin recompute
// CHUNKS: schedule.rank_class @stage0
// CHUNKS: segment forward chunk 0 count 4 space <saved = "2.0 B batch/dp seq n8",
// CHUNKS: call @layer times 1
// CHUNKS: between = [0, 1]
// CHUNKS: segment backward chunk 0
// CHUNKS-NOT: between
// CHUNKS: segment forward chunk 1
// CHUNKS: call @layer times 1
// CHUNKS: between = [0, 1]
// CHUNKS: segment backward chunk 1
// CHUNKS: call @layer_backward times 1
// CHUNKS: between = [0, 1]{{.*}} origin backward
// CHUNKS: schedule.rank_class @stage1
// CHUNKS: segment forward chunk 0
// CHUNKS: between = [1, 0]
// CHUNKS: segment forward chunk 1
// CHUNKS-NOT: between
// CHUNKS: segment backward chunk 1
// CHUNKS: between = [1, 0]

// One device: nothing is communicated, and a mesh without axes has one class.
// ALONE: #mesh = #dtrain.mesh<[]>
// ALONE: schedule.plan @plan order("1f1b") micro_batches 1 chunks 1 mesh #mesh model
// ALONE-NOT: dtrain.comm
// ALONE: schedule.rank_class @stage0 stage 0 devices 1
// ALONE: schedule.task "dtrain.update" #schedule.work<class = memory_bound
