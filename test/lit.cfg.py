"""lit configuration of dtrain's .mlir tests. `-Droundtrip=1` reruns every dtrain-opt with
--verify-roundtrip: what is printed must parse back to the same IR, as text and as bytecode."""

import os

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "dtrain"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".onnxtxt"]
config.excludes = ["Fuzz", "Inputs", "Unit", "CMakeLists.txt", "lit.cfg.py", "lit.site.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.dtrain_obj_root, "test")

config.substitutions.append(("%models", os.path.join(config.dtrain_src_root, "models")))
config.substitutions.append(("%inputs", os.path.join(config.test_source_root, "Inputs")))

# Real models that the repository does not hold: DTRAIN_SHARED, or ../shared.
shared = os.environ.get("DTRAIN_SHARED") or os.path.join(os.path.dirname(config.dtrain_src_root), "shared")
if os.path.isdir(shared):
    config.available_features.add("shared")
config.substitutions.append(("%shared", shared))

opt_arguments = []
if lit_config.params.get("roundtrip", "0") not in ("0", "", "off"):
    opt_arguments.append("--verify-roundtrip")
    config.available_features.add("roundtrip")

llvm_config.add_tool_substitutions(
    [
        ToolSubst("dtrain-opt", extra_args=opt_arguments, unresolved="fatal"),
        # With the dialects of test/lib.
        ToolSubst("dtrain-test-opt", extra_args=opt_arguments, unresolved="ignore"),
        # Built later than dtrain-opt in a partial build: a test that needs one then fails by name.
        ToolSubst("dtrain-translate", unresolved="ignore"),
        ToolSubst("dtrain-lsp-server", unresolved="ignore"),
        # Not part of another tool's name or of a path or dialect prefix.
        ToolSubst("dtrain", unresolved="ignore", pre=r".-^/\<=", post="-./"),
        ToolSubst("FileCheck", unresolved="fatal"),
        ToolSubst("count", unresolved="fatal"),
        ToolSubst("not", unresolved="fatal"),
        ToolSubst("split-file", unresolved="fatal"),
    ],
    [config.dtrain_tools_dir, config.llvm_tools_dir, os.path.join(config.test_exec_root, "bin")],
)
