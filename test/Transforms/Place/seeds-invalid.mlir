// Strategies that do not fit the model: one diagnostic, which names the nearest degree that does.

// DEFINE: %{train} = dtrain-opt %S/../Inputs/gpt-tiny.mlir --dtrain-differentiate=micro-batches=2 --dtrain-apply-optimizer
// DEFINE: %{refuse} = not dtrain-opt --mlir-print-op-on-diagnostic=false -o /dev/null

// RUN: %{train} | %{refuse} --dtrain-seed-data-parallel=mesh=dp=3 2>&1 | FileCheck %s --check-prefix=BATCH
// BATCH: error: 4 samples of a micro-batch are not divisible by dp = 3; the nearest feasible degree is 2

// RUN: %{train} | %{refuse} --dtrain-seed-tensor-parallel=mesh=tp=3 2>&1 | FileCheck %s --check-prefix=HEADS
// HEADS: error: 4 key/value heads are not divisible by tp = 3; the nearest feasible degree is 2

// RUN: %{train} | %{refuse} --dtrain-seed-pipeline-parallel=mesh=pp=3 2>&1 | FileCheck %s --check-prefix=LAYERS
// LAYERS: error: 4 layers cannot be cut into 3 equal pieces (pp = 3, 1 chunks each); the nearest feasible number of pieces is 2

// RUN: %{train} | %{refuse} --dtrain-seed-pipeline-parallel="mesh=pp=2 chunks=0" 2>&1 | FileCheck %s --check-prefix=CHUNKS
// CHUNKS: error: chunks: expected a positive number, found 0

// RUN: %{train} | %{refuse} --dtrain-seed-pipeline-parallel="mesh=dp=2 chunks=2" 2>&1 | FileCheck %s --check-prefix=NOPIPE
// NOPIPE: error: chunks = 2 needs a pipeline axis "pp" of at least 2

// RUN: %{train} | %{refuse} --dtrain-seed-data-parallel=mesh=dp=two 2>&1 | FileCheck %s --check-prefix=MESH
// MESH: error: mesh: expected <axis>=<positive size>, found 'dp=two'

// RUN: %{train} | %{refuse} --dtrain-seed-data-parallel 2>&1 | FileCheck %s --check-prefix=NOMESH
// NOMESH: error: no mesh: expected the option

// RUN: %{train} | %{refuse} --dtrain-seed-data-parallel=mesh=dp=2 --dtrain-seed-tensor-parallel=mesh=tp=2 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OTHERMESH
// OTHERMESH: error: mesh: expected #dtrain.mesh<["dp" = 2]> of the module, found #dtrain.mesh<["tp" = 2]>

// RUN: %{train} | %{refuse} --dtrain-propagate-placement 2>&1 | FileCheck %s --check-prefix=UNSEEDED
// UNSEEDED: error: no mesh: expected the attribute dtrain.mesh

// RUN: %{refuse} %S/../Inputs/gpt-tiny.mlir --dtrain-seed-data-parallel=mesh=dp=2 2>&1 | FileCheck %s --check-prefix=UNTRAINED
// UNTRAINED: error: expected a training step with a function @microbatch (phase train)
