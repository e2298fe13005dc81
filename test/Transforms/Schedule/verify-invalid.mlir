// RUN: dtrain-opt %s -split-input-file -verify-diagnostics --schedule-verify=solution=true

// A solution.
schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> at <duration = 2.0 s> {
  schedule.body @b span <compute = 1.0 s> {
    %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
  }
  schedule.rank_class @s0 stage 0 devices 2 state <> footprint <> breakdown <compute = 2.0 s> {
    schedule.segment forward chunk 0 count 1 space <> span <compute = 2.0 s> {
      %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
      %b = schedule.task "b" after(%a) #schedule.work<class = memory_bound> cost <device = 1.0 s> at <start = 1.0 s, duration = 1.0 s>
    }
    schedule.segment backward chunk 0 count 1 space <> span <> {
    }
  }
}

// -----

// expected-error @below {{expected a solved plan: run schedule-solve first}}
schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> {
  schedule.body @b span <compute = 1.0 s> {
    %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
  }
  schedule.rank_class @s0 stage 0 devices 2 state <> footprint <> breakdown <compute = 3.0 s> {
    schedule.segment forward chunk 0 count 1 space <> span <compute = 2.0 s> {
      %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
      %b = schedule.task "b" after(%a) #schedule.work<class = memory_bound> cost <device = 1.0 s> at <start = 1.0 s, duration = 1.0 s>
    }
    schedule.segment backward chunk 0 count 1 space <> span <> {
    }
  }
}

// -----

schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> at <duration = 3.0 s> {
  // expected-error @below {{expected a span}}
  schedule.body @b {
    %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
  }
  schedule.rank_class @s0 stage 0 devices 2 state <> footprint <> breakdown <compute = 3.0 s> {
    schedule.segment forward chunk 0 count 1 space <> span <compute = 2.0 s> {
      %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
      %b = schedule.task "b" after(%a) #schedule.work<class = memory_bound> cost <device = 1.0 s> at <start = 1.0 s, duration = 1.0 s>
    }
    schedule.segment backward chunk 0 count 1 space <> span <> {
    }
  }
}

// -----

schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> at <duration = 3.0 s> {
  schedule.body @b span <compute = 1.0 s> {
    %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
  }
  schedule.rank_class @s0 stage 0 devices 2 state <> footprint <> breakdown <compute = 3.0 s> {
    // expected-error @below {{expected a span}}
    schedule.segment forward chunk 0 count 1 space <> {
      %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
      %b = schedule.task "b" after(%a) #schedule.work<class = memory_bound> cost <device = 1.0 s> at <start = 1.0 s, duration = 1.0 s>
    }
    schedule.segment backward chunk 0 count 1 space <> span <> {
    }
  }
}

// -----

schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> at <duration = 3.0 s> {
  schedule.body @b span <compute = 1.0 s> {
    %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
  }
  // expected-error @below {{expected a footprint and a breakdown}}
  schedule.rank_class @s0 stage 0 devices 2 state <> breakdown <compute = 3.0 s> {
    schedule.segment forward chunk 0 count 1 space <> span <compute = 2.0 s> {
      %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
      %b = schedule.task "b" after(%a) #schedule.work<class = memory_bound> cost <device = 1.0 s> at <start = 1.0 s, duration = 1.0 s>
    }
    schedule.segment backward chunk 0 count 1 space <> span <> {
    }
  }
}

// -----

// expected-error @below {{expected a breakdown of class 's0' that sums to the step, of 3.0 s, found 2.5 s}}
schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> at <duration = 3.0 s> {
  schedule.body @b span <compute = 1.0 s> {
    %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
  }
  schedule.rank_class @s0 stage 0 devices 2 state <> footprint <> breakdown <compute = 2.5 s> {
    schedule.segment forward chunk 0 count 1 space <> span <compute = 2.0 s> {
      %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
      %b = schedule.task "b" after(%a) #schedule.work<class = memory_bound> cost <device = 1.0 s> at <start = 1.0 s, duration = 1.0 s>
    }
    schedule.segment backward chunk 0 count 1 space <> span <> {
    }
  }
}

// -----

schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> at <duration = 3.0 s> {
  schedule.body @b span <compute = 1.0 s> {
    %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
  }
  schedule.rank_class @s0 stage 0 devices 2 state <> footprint <> breakdown <compute = 3.0 s> {
    schedule.segment forward chunk 0 count 1 space <> span <compute = 2.0 s> {
      // expected-error @below {{expected a cost}}
      %a = schedule.task "a" #schedule.work<class = memory_bound>
    }
    schedule.segment backward chunk 0 count 1 space <> span <> {
    }
  }
}

// -----

schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> at <duration = 3.0 s> {
  schedule.body @b span <compute = 1.0 s> {
    %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
  }
  schedule.rank_class @s0 stage 0 devices 2 state <> footprint <> breakdown <compute = 3.0 s> {
    schedule.segment forward chunk 0 count 1 space <> span <compute = 2.0 s> {
      // expected-error @below {{expected a start}}
      %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s>
    }
    schedule.segment backward chunk 0 count 1 space <> span <> {
    }
  }
}

// -----

// expected-error @below {{'s0', 'forward': task 1 starts at 500.0 ms, before task 0 that it waits for is ready, at 1.0 s}}
schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> at <duration = 3.0 s> {
  schedule.body @b span <compute = 1.0 s> {
    %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
  }
  schedule.rank_class @s0 stage 0 devices 2 state <> footprint <> breakdown <compute = 3.0 s> {
    schedule.segment forward chunk 0 count 1 space <> span <compute = 2.0 s> {
      %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
      %b = schedule.task "b" after(%a) #schedule.work<class = memory_bound> cost <device = 1.0 s> at <start = 500.0 ms, duration = 1.0 s>
    }
    schedule.segment backward chunk 0 count 1 space <> span <> {
    }
  }
}

// -----

// A lane runs its tasks one at a time.
// expected-error @below {{task 1 starts at 500.0 ms, when resource 'compute' has no room for it yet}}
schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> at <duration = 3.0 s> {
  schedule.body @b span <compute = 1.0 s> {
    %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
  }
  schedule.rank_class @s0 stage 0 devices 2 state <> footprint <> breakdown <compute = 3.0 s> {
    schedule.segment forward chunk 0 count 1 space <> span <compute = 2.0 s> {
      %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
      %b = schedule.task "b" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <start = 500.0 ms, duration = 1.0 s>
    }
    schedule.segment backward chunk 0 count 1 space <> span <> {
    }
  }
}
// -----
// Memory too is tested by allocating it.
schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> at <duration = 2.0 s> {
  schedule.rank_class @s0 stage 0 devices 2 state <parameters = 1.0 GiB> footprint <parameters = 1.0 GiB, activations = 2.0 MiB> breakdown <compute = 2.0 s> {
    schedule.segment forward chunk 0 count 1 space <saved = 2.0 MiB> span <compute = 1.0 s> {
      %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
    }
    schedule.segment backward chunk 0 count 1 space <> span <compute = 1.0 s> {
      %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
    }
  }
}
// -----
// expected-error @below {{expected a footprint of class 's0' of}}
schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> at <duration = 2.0 s> {
  schedule.rank_class @s0 stage 0 devices 2 state <parameters = 1.0 GiB> footprint <parameters = 1.0 GiB, activations = 1.0 MiB> breakdown <compute = 2.0 s> {
    schedule.segment forward chunk 0 count 1 space <saved = 2.0 MiB> span <compute = 1.0 s> {
      %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
    }
    schedule.segment backward chunk 0 count 1 space <> span <compute = 1.0 s> {
      %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
    }
  }
}
// -----
// expected-error @below {{expected a step of 2.0 s, found 3.0 s}}
schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> at <duration = 3.0 s> {
  schedule.rank_class @s0 stage 0 devices 2 state <parameters = 1.0 GiB> footprint <parameters = 1.0 GiB, activations = 2.0 MiB> breakdown <compute = 3.0 s> {
    schedule.segment forward chunk 0 count 1 space <saved = 2.0 MiB> span <compute = 1.0 s> {
      %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
    }
    schedule.segment backward chunk 0 count 1 space <> span <compute = 1.0 s> {
      %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
    }
  }
}
// -----
// expected-error @below {{expected compute of 's0', 'forward' of 1.0 s, found 1.5 s}}
schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> at <duration = 2.0 s> {
  schedule.rank_class @s0 stage 0 devices 2 state <parameters = 1.0 GiB> footprint <parameters = 1.0 GiB, activations = 2.0 MiB> breakdown <compute = 2.0 s> {
    schedule.segment forward chunk 0 count 1 space <saved = 2.0 MiB> span <compute = 1.5 s> {
      %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
      %b = schedule.task "b" #schedule.comm<kind = all_reduce, axes = ["tp"]> cost <device = 1.5 s> at <duration = 1.5 s, ready = 1.5 s>
    }
    schedule.segment backward chunk 0 count 1 space <> span <compute = 1.0 s> {
      %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
    }
  }
}
