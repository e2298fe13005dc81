// RUN: dtrain-opt %s -split-input-file -verify-diagnostics

// Each case is named for the constraint that it breaks.

// plan_c1_order
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
// expected-error @below {{zigzag}}
schedule.plan @p order("zigzag") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// plan_c1_counts
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
// expected-error @below {{expected at least one micro-batch and chunk, found 0 and 1}}
schedule.plan @p order("1f1b") micro_batches 0 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 0 space <> {}
    schedule.segment backward chunk 0 count 0 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 0 space <> {}
    schedule.segment backward chunk 0 count 0 space <> {}
  }
}

// -----

// plan_c2
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
// expected-error @below {{expected a pipeline axis of the mesh, found 'qq'}}
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "qq" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// plan_c3_count
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
// expected-error @below {{expected a rank class for each of 2 stages, found 1}}
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// plan_c3_order
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
  // expected-error @below {{expected the class of stage 1, found that of stage 0}}
  schedule.rank_class @sx stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// plan_c3_contents
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  // expected-error @below {{expected a body or a rank class in a plan}}
  builtin.module {}
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// plan_c4
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
// expected-error @below {{interleaved}}
schedule.plan @p order("interleaved") micro_batches 3 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 3 space <> {}
    schedule.segment backward chunk 0 count 3 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 3 space <> {}
    schedule.segment backward chunk 0 count 3 space <> {}
  }
}

// -----

// body_c1
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.body @b {
    // expected-error @below {{expected only tasks in a body}}
    builtin.module {}
  }
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// rank_class_c1_missing
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  // expected-error @below {{expected a segment 'backward' of chunk 0}}
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// rank_class_c1_twice
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    // expected-error @below {{expected one segment 'forward' of chunk 0}}
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// rank_class_c1_contents
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
    // expected-error @below {{expected only segments in a rank class}}
    builtin.module {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// rank_class_c2
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  // expected-error @below {{expected the classes to make up the mesh's 4 devices, found 3 for each of 2 stages}}
  schedule.rank_class @s0 stage 0 devices 3 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// segment_c1
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {
      // expected-error @below {{expected only tasks and calls in a segment}}
      builtin.module {}
    }
    schedule.segment backward chunk 0 count 4 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// segment_c2
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
    // expected-error @below {{expected a chunk below 1, found 1}}
    schedule.segment tail chunk 1 count 1 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// segment_c3
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
    // expected-error @below {{expected a count of at least 1, found 0}}
    schedule.segment tail chunk 0 count 0 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// task_c1_payload
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {
      // expected-error @below {{expected #schedule.work, #schedule.comm or #schedule.transfer, found 1 : i64}}
      %0 = schedule.task "t" 1
    }
    schedule.segment backward chunk 0 count 4 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// task_c1_amounts
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {
      // expected-error @below {{expected a whole number that is not negative, found -1}}
      %0 = schedule.task "t" #schedule.work<class = memory_bound, kernels = -1>
    }
    schedule.segment backward chunk 0 count 4 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// task_c1_amounts
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {
      // expected-error @below {{expected a finite number that is not negative, found -1.0}}
      %0 = schedule.task "t" #schedule.work<class = memory_bound, elements = -1.0>
    }
    schedule.segment backward chunk 0 count 4 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// task_c1_amounts
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {
      // expected-error @below {{expected a finite number that is not negative, found -1.0e+12}}
      %0 = schedule.task "t" #schedule.work<class = memory_bound, flops = -1.0 TFLOP>
    }
    schedule.segment backward chunk 0 count 4 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// task_c1_amounts
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {
      // expected-error @below {{expected to count at most 192.0 FLOP, what its shape has on 4 devices, found 193.0 FLOP}}
      %0 = schedule.task "t" #schedule.work<class = contraction, contract = 193.0 FLOP, flops = 48.0 FLOP, gemm = [1, 2, 3, 4]>
    }
    schedule.segment backward chunk 0 count 4 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// task_c1_amounts
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {
      // expected-error @below {{expected to count at most 8192.0 FLOP}}
      %0 = schedule.task "t" #schedule.work<class = attention_backward, contract = 5.0 GFLOP, attention = [1, 2, 2, 4, 4, 4, 4 ] causal>
    }
    schedule.segment backward chunk 0 count 4 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// task_c2_axis
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {
      // expected-error @below {{expected an axis of the mesh, found 'dp'}}
      %0 = schedule.task "t" #schedule.comm<kind = all_reduce, axes = ["dp"]>
    }
    schedule.segment backward chunk 0 count 4 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// task_c2_axis
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {
      // expected-error @below {{expected axes of the mesh, found none}}
      %0 = schedule.task "t" #schedule.comm<kind = all_reduce>
    }
    schedule.segment backward chunk 0 count 4 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// task_c2_axis
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {
      // expected-error @below {{expected axes in the mesh's order, each once, found 'tp+pp'}}
      %0 = schedule.task "t" #schedule.comm<kind = all_reduce, axes = ["tp", "pp"]>
    }
    schedule.segment backward chunk 0 count 4 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// task_c2_axis
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {
      // expected-error @below {{expected coordinates below 4 on axis 'pp+tp', found 4}}
      %0 = schedule.task "t" #schedule.comm<kind = all_reduce, axes = ["pp", "tp"], between = [0, 4]>
    }
    schedule.segment backward chunk 0 count 4 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// task_c2_coordinates
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {
      // expected-error @below {{expected coordinates below 2 on axis 'pp', found 2}}
      %0 = schedule.task "t" #schedule.comm<kind = all_reduce, axes = ["pp"], between = [0, 2]>
    }
    schedule.segment backward chunk 0 count 4 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// task_c2_send
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {
      // expected-error @below {{expected a send between two coordinates}}
      %0 = schedule.task "t" #schedule.comm<kind = send, axes = ["pp"]>
    }
    schedule.segment backward chunk 0 count 4 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// task_c3_cost
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {
      // expected-error @below {{expected the duration of its cost}}
      %0 = schedule.task "t" #schedule.work<class = loss> cost <device = 2.0 s> at <duration = 1.0 s>
    }
    schedule.segment backward chunk 0 count 4 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// task_c3_ready
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {
      // expected-error @below {{expected a finite number that is not negative, found -1.0}}
      %0 = schedule.task "t" #schedule.comm<kind = all_reduce, axes = ["tp"]> cost <device = 2.0 s> at <duration = 2.0 s, ready = -1.0 s>
    }
    schedule.segment backward chunk 0 count 4 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// call_c1
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {
      // expected-error @below {{expected at least one trip, found 0}}
      %0 = schedule.call @b times 0
    }
    schedule.segment backward chunk 0 count 4 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// call_c2
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {
      // expected-error @below {{expected a body of the plan, found @b}}
      %0 = schedule.call @b times 1
    }
    schedule.segment backward chunk 0 count 4 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// share
#mesh = #dtrain.mesh<["pp" = 2, "tp" = 2]>
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh #mesh pipeline "pp" model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {
      // expected-error @below {{unknown attribute "schedule.shares" of the schedule dialect here}}
      %0 = schedule.task "t" #schedule.work<class = loss> {schedule.shares = 1.0}
    }
    schedule.segment backward chunk 0 count 4 space <> {}
  }
  schedule.rank_class @s1 stage 1 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// plan_c4_kinds
// expected-error @below {{expected 'forward' before the kinds of event on the way back}}
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh <["tp" = 2]> model <> attributes {kinds = [#schedule.event_kind<name = "backward", returns = true>, #schedule.event_kind<name = "forward">]} {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// plan_c5_size
// expected-error @below {{expected a whole number of at least 1 of size 'seq', found 0}}
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh <["tp" = 2]> model <> attributes {sizes = {seq = 0}} {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// plan_c5_fixed
// expected-error @below {{expected the name of a size in fixed, found 'ffn'}}
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh <["tp" = 2]> model <> attributes {sizes = {seq = 8}, fixed = ["ffn"]} {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// plan_c5_products
// expected-error @below {{expected the name of a size in products, found 'batch'}}
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh <["tp" = 2]> model <> attributes {sizes = {seq = 8}, products = {seq = ["batch"]}} {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// plan_c5_divisions
// expected-error @below {{expected the name of an axis after '/', found ''}}
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh <["tp" = 2]> model <> attributes {divisions = ["seq/"]} {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// plan_c5_resources
// expected-error @below {{a positive bandwidth and a latency that is not negative of resource 'storage'}}
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh <["tp" = 2]> model <> attributes {resources = [#schedule.resource<name = "storage">]} {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
  }
}

// -----

// task_c4
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh <["tp" = 2]> model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
    schedule.segment read chunk 0 count 1 space <> {
      // expected-error @below {{expected a resource of the plan, found 'storage'}}
      %0 = schedule.task "read" #schedule.transfer<resource = "storage", bytes = 1.0 GB>
    }
  }
}

// -----

// task_c5_ahead
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh <["tp" = 2]> model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
    schedule.segment tail chunk 0 count 1 space <> {
      // expected-error @below {{expected to run ahead in a body, by at least one trip, found 1}}
      %0 = schedule.task "t" #schedule.comm<kind = all_gather, axes = ["tp"]> {ahead = 1}
    }
  }
}

// -----

// task_c5_during
schedule.plan @p order("1f1b") micro_batches 4 chunks 1 mesh <["tp" = 2]> model <> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 4 space <> {}
    schedule.segment backward chunk 0 count 4 space <> {}
    schedule.segment tail chunk 0 count 1 space <> {
      // expected-error @below {{during a kind of event, found 'sideways'}}
      %0 = schedule.task "t" #schedule.comm<kind = all_gather, axes = ["tp"]> {during = "sideways"}
    }
  }
}
