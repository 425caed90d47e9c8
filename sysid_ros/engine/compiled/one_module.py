# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Functions that are compiled only as parts of those that Python calls.

numba optimizes every function by itself and generates its machine code, with all that it calls,
before its callers do so again: a function five calls deep is compiled five times. Here the parts
are only lowered to LLVM's language, and what Python calls takes them all into its module, which is
optimized once, from the callees to the callers. With the references below that is a quarter of the
work, and the code is not slower. numba also hands a named tuple over field by field, and loads all
of it for each field that is read. For the tables of a model that is hundreds of instructions in
each caller and each callee, so parts see named tuples by reference: they read fields of one, hand
it over and make new ones, but none outlives the function that made it, nor the turn of the loop.
All this builds on classes of numba that are not documented. It was tried with 0.58, 0.61, 0.62,
0.65, 0.67 and 0.68; with later ones numba's own way is taken.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numba

_FIRST, _LAST = (0, 58), (0, 68)  # of those tried
OPTIONS_OF_PARTS: dict[str, Any] = {}
OPTIONS_OF_WHOLES: dict[str, Any] = {}  # of functions that Python calls

if _FIRST <= numba.version_info[:2] <= _LAST:
    from llvmlite import binding, ir
    from numba.core import cgutils, datamodel, typed_passes, types
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import CompilerBase, DefaultPassBuilder
    from numba.core.compiler_machinery import LoweringPass, register_pass

    _register: Any = register_pass  # numba's own annotations are few
    _pipeline: Any = DefaultPassBuilder.define_nopython_pipeline
    _untyped: Any = datamodel
    _build: Any = cgutils

    def _struct_of(named_tuple: Any) -> Any:
        """Return the layout in memory of a named tuple's fields."""
        name = hashlib.sha256(named_tuple.name.encode()).hexdigest()[:16]
        found = ir.global_context.get_identified_type(f"sysid_ros.{name}")
        if found.is_opaque:
            fields = [
                _struct_of(each)
                if isinstance(each, types.BaseNamedTuple)
                else _untyped.default_manager[each].get_value_type()
                for each in named_tuple
            ]
            found.set_body(*fields)
        return found

    class _Reference(datamodel.models.PrimitiveModel):
        """A named tuple as parts see it: the place of its fields, which nobody writes."""

        def __init__(self, dmm: Any, fe_type: Any) -> None:
            begin: Any = super().__init__
            begin(dmm, fe_type, _struct_of(fe_type).as_pointer())

        def from_argument(self, _builder: Any, value: Any) -> Any:
            value.add_attribute("noalias")
            return value

    def _handed_over(model: Any) -> Any:
        """Return numba's model of a named tuple, which is handed over as a reference."""

        class HandedOver(model):  # type: ignore[misc]
            def get_argument_type(self) -> Any:
                return _struct_of(self._fe_type).as_pointer()

            def as_argument(self, builder: Any, value: Any) -> Any:
                place = _build.alloca_once_value(builder, value)
                return builder.bitcast(place, self.get_argument_type())

            def from_argument(self, builder: Any, value: Any) -> Any:
                return builder.load(builder.bitcast(value, self.get_value_type().as_pointer()))

        return HandedOver

    def _models(of_tuple: Any, of_uniform_tuple: Any) -> Any:
        """Return numba's models of types, with others of named tuples."""
        own = _untyped.DataModelManager()
        own.register(types.NamedTuple, of_tuple)
        own.register(types.NamedUniTuple, of_uniform_tuple)
        return own.chain(_untyped.default_manager)

    _MODELS_OF_PARTS = _models(_Reference, _Reference)
    _MODELS_OF_WHOLES = _models(
        _handed_over(_untyped.models.TupleModel), _handed_over(_untyped.models.UniTupleModel)
    )

    def _field(_context: Any, builder: Any, typ: Any, value: Any, attribute: str) -> Any:
        """Return a field of a named tuple in a part."""
        index = typ.fields.index(attribute)
        place = _build.gep_inbounds(builder, value, 0, index)
        return place if isinstance(typ[index], types.BaseNamedTuple) else builder.load(place)

    def _target_of_parts(context: Any) -> Any:
        """Return the context in which parts are lowered: named tuples are references."""
        found = context.subtarget(data_model_manager=_MODELS_OF_PARTS)
        numbas_field, numbas_tuple = found.get_getattr, found.make_tuple

        def get_getattr(typ: Any, attribute: str) -> Any:
            own = isinstance(typ, types.BaseNamedTuple)
            return _field if own else numbas_field(typ, attribute)

        def make_tuple(builder: Any, typ: Any, values: Any) -> Any:
            kinds = typ
            if not isinstance(typ, types.BaseNamedTuple):
                return numbas_tuple(builder, typ, values)
            made = _build.alloca_once(builder, _struct_of(typ))
            for i, value in enumerate(values):
                nested = isinstance(kinds[i], types.BaseNamedTuple)
                content = builder.load(value) if nested else value
                builder.store(content, _build.gep_inbounds(builder, made, 0, i))
            return made

        return found.subtarget(get_getattr=get_getattr, make_tuple=make_tuple)

    def _target_of_wholes(context: Any) -> Any:
        """Return the context in which wholes are lowered."""
        return context.subtarget(data_model_manager=_MODELS_OF_WHOLES)

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
            passes = codegen._module_pass_manager()
            manager, *more = passes if isinstance(passes, tuple) else (passes,)  # before 0.62
            manager.run(self._final_module, *more)

        def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes]]:
            """Return what is kept: machine code, and in LLVM's language the names in it alone.

            What callers would link in is kept of no whole, which has none: reading that took
            longer than all else that is done to load the machine code.
            """
            own: Any = self
            own._ensure_finalized()
            names = [each.name for each in own._final_module.functions if not each.is_declaration]
            text = "".join(f'define void @"{name}"() {{ ret void }}\n' for name in names)
            bitcode = binding.parse_assembly(text).as_bitcode()
            return own.name, "object", (own._get_compiled_object(), bitcode)

    def _compiler(library: Any, target: Any) -> Any:
        """Return numba's compiler with another library for the code, and another target."""

        @_register(mutates_CFG=False, analysis_only=False)
        class Begin(LoweringPass):
            _name = f"begin_{library.__name__}"

            def __init__(self) -> None:
                """Nothing to prepare; numba's own is abstract."""

            def run_pass(self, state: Any) -> bool:
                state.targetctx = target(state.targetctx)
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

    OPTIONS_OF_PARTS = {"pipeline_class": _compiler(_PartLibrary, _target_of_parts)}
    OPTIONS_OF_WHOLES = {
        "pipeline_class": _compiler(_WholeLibrary, _target_of_wholes),
        "no_cfunc_wrapper": True,
    }
