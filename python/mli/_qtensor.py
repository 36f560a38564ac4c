# SPDX-License-Identifier: BSD-3-Clause
"""Quantised tensors: elements with scale and zero point, of the tensor or of an axis."""
from __future__ import annotations

import difflib
import operator
from typing import Any, SupportsIndex

import numpy
from numpy.typing import ArrayLike, NDArray

from ._errors import Error
from ._typing import AnyArray

# The parameters of a tensor, or of one index of its axis. All of one tensor are one array, so that
# they are joined, sliced and compared together.
PARAMETERS = numpy.dtype([("scale", numpy.int16), ("zero_point", numpy.int16),
                          ("scale_frac_bits", numpy.int8)], align=True)
NEUTRAL = numpy.array((1, 0, 0), PARAMETERS)  # of padding
_PARAMS = ("type", "axis", *(PARAMETERS.names or ()))  # members of QTensor.params
TYPES = {numpy.dtype(numpy.int8): "sa8", numpy.dtype(numpy.int32): "sa32"}

SCALE_BITS = 15  # of a scale, without its sign


def refuse(field: str, given: Any, allowed: str) -> Error:
    """Return the exception for parameters that contradict one another or the tensor."""
    return Error("SPEC_PARAM_MISMATCH", field, given, allowed)


def _axis_of(axis: SupportsIndex | None, rank: int) -> int | None:
    if axis is None:
        return None
    number = operator.index(axis)
    if not -rank <= number < rank:
        allowed = f"{-rank} to {rank - 1} are allowed" if rank else "a tensor of rank 0 has no axis"
        raise refuse("axis", number, allowed)
    return number % rank


def _check_range(name: str, values: AnyArray, least: int, most: int) -> None:
    outside = numpy.argwhere((values < least) | (values > most))
    if len(outside):
        place = tuple(outside[0])
        index = "".join(f"[{i}]" for i in place)
        raise refuse(name + index, int(values[place]), f"{least} to {most} are allowed")


def _read_parameter(parameters: AnyArray, name: str, value: ArrayLike, axis: int | None) -> None:
    """Check one parameter, a number or one for each index of the axis, and store it."""
    values = numpy.asarray(value)
    if values.size == 0:  # of an axis of length 0; NumPy takes [] for real numbers
        values = values.astype(parameters.dtype[name])
    if values.dtype.kind not in "iu":
        raise TypeError(f"{name}: integers are required, not {values.dtype}; QTensor.from_float() "
                        "takes real scales")
    if values.ndim > 0 and values.shape != parameters.shape:
        places = ("an `axis` is required for one number for each of its indices" if axis is None
                  else f"a number, or {parameters.size} numbers for axis {axis} are required")
        raise refuse(name, values.shape, places)
    limits = numpy.iinfo(parameters.dtype[name])
    _check_range(name, values, limits.min, limits.max)
    parameters[name] = values


def split_scale(scale: ArrayLike) -> tuple[NDArray[numpy.int16], NDArray[numpy.int8]]:
    """Return real scales as (scale, scale_frac_bits), with the least error that 16 bits allow.

    Of pairs with an equal error, the one with the least scale_frac_bits from 0 on.

    >>> split_scale([0.5, 3, 1 / 3])
    (array([    1,     3, 21845], dtype=int16), array([ 1,  0, 16], dtype=int8))
    """
    real = numpy.asarray(scale, numpy.float64)
    if not numpy.isfinite(real).all():
        raise refuse("scale", None, "finite numbers are required")
    limits = numpy.iinfo(numpy.int8)
    bits = SCALE_BITS - numpy.frexp(real)[1].astype(numpy.int64)
    bits = numpy.where(real == 0, 0, numpy.minimum(bits, limits.max))
    whole = numpy.rint(numpy.ldexp(real, bits)).astype(numpy.int64)
    for _ in range(2 * SCALE_BITS):  # 32768 becomes 16384; 2 / 2^4 becomes 1 / 2^3
        halved = (numpy.abs(whole) > numpy.iinfo(numpy.int16).max) | (
            (whole % 2 == 0) & (bits > 0) & (whole != 0))
        whole, bits = numpy.where(halved, whole // 2, whole), bits - halved
    if (bits < limits.min).any() or ((whole == 0) & (real != 0)).any():
        raise refuse("scale", None, "0, or scales from 2^-128 to 2^142 are required")
    return whole.astype(numpy.int16), bits.astype(numpy.int8)


def _check_params(params: dict[str, Any]) -> None:
    """Raise Error if a dictionary has other members than QTensor.params, or no scale."""
    for name in params:
        if name not in _PARAMS:
            near = difflib.get_close_matches(str(name), _PARAMS, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"allowed are {', '.join(_PARAMS)}"
            raise refuse("params", name, hint)
    if "scale" not in params:
        raise refuse("params", None, "the member 'scale' is required")


def _elements_of(data: Any) -> AnyArray:
    """Return an array of an element type of MLI, not copied. Raises Error for other types."""
    array = numpy.asarray(data)
    if array.dtype not in TYPES:
        raise Error("TYPE_MISMATCH", "data", str(array.dtype),
                    "int8 (sa8) or int32 (sa32) is required")
    return array


class QTensor:
    """A quantised tensor: real value = (element - zero_point) * scale / 2^scale_frac_bits.

    Moves of mli (`move`, `permute`, `concatenate`) take a QTensor and return one: the parameters of
    an axis are padded, sliced and placed like the axis.

    Parameters
    ----------
    data : array
        Elements: int8 (the type sa8 of MLI) or int32 (sa32). Not copied.
    scale, zero_point, scale_frac_bits : int or sequence of int
        Parameters of the tensor; with `axis`, also one for each index of that dimension.
        16 bits, 16 bits and 8 bits, with a sign.
    axis : int, optional
        The dimension that the parameters belong to.

    Raises mli.Error if the parameters do not fit the tensor.

    Elements and parameters can be changed in place, and assigned if they fit the tensor; the axis
    cannot be changed. `==` compares axis, parameters and elements, bit by bit.

    >>> weights = mli.QTensor(np.ones((2, 3), np.int8), scale=[3, 5], scale_frac_bits=1, axis=0)
    >>> mli.move(weights, pad=((0, 1), (0, 0)), perm=(1, 0)).real()
    array([[1.5, 2.5, 0. ],
           [1.5, 2.5, 0. ],
           [1.5, 2.5, 0. ]])
    """

    __slots__ = ("_axis", "_data", "_parameters", "__weakref__")

    def __init__(self, data: Any, scale: ArrayLike, zero_point: ArrayLike = 0,
                 axis: SupportsIndex | None = None,
                 scale_frac_bits: ArrayLike | None = None) -> None:
        self._data = _elements_of(data)
        self._axis = _axis_of(axis, self._data.ndim)
        shape = () if self._axis is None else (self._data.shape[self._axis],)
        self._parameters: AnyArray = numpy.empty(shape, PARAMETERS)
        self._store("scale", scale)
        self._store("zero_point", zero_point)
        self._store("scale_frac_bits", 0 if scale_frac_bits is None else scale_frac_bits)

    def _store(self, name: str, value: ArrayLike) -> None:
        _read_parameter(self._parameters, name, value, self._axis)

    @classmethod
    def from_float(cls, data: Any, scale_float: ArrayLike, zero_point: ArrayLike = 0,
                   axis: SupportsIndex | None = None) -> QTensor:
        """Return a QTensor of elements that are quantised already, with real scales.

        Chooses `scale` and `scale_frac_bits` as exactly as 16 bits allow: the relative error is at
        most 2^-15 for scales from 2^-112 on.

        >>> mli.QTensor.from_float(np.zeros(2, np.int8), [0.1, 0.25], axis=0).real_scale
        array([0.10000038, 0.25      ])
        """
        scale, scale_frac_bits = split_scale(scale_float)
        return cls(data, scale, zero_point, axis, scale_frac_bits)

    @classmethod
    def from_params(cls, data: Any, params: dict[str, Any]) -> QTensor:
        """Return a QTensor with parameters in the form of the property `params`.

        `scale` is required; the others are neutral if they are missing. Raises mli.Error for
        members with other names.
        """
        _check_params(params)
        tensor = cls(data, params["scale"], params.get("zero_point", 0), params.get("axis"),
                     params.get("scale_frac_bits", 0))
        if params.get("type", tensor.type) != tensor.type:
            raise Error("TYPE_MISMATCH", "data", str(tensor.data.dtype),
                        f"elements of the type {params['type']} are required")
        return tensor

    @classmethod
    def _of(cls, data: Any, parameters: AnyArray, axis: int | None) -> QTensor:
        """Return a QTensor with an array of parameters of the type PARAMETERS."""
        return cls(data, parameters["scale"], parameters["zero_point"], axis,
                   parameters["scale_frac_bits"])

    @property
    def data(self) -> AnyArray:
        """The elements. Another array of the same shape can be assigned."""
        return self._data

    @data.setter
    def data(self, value: AnyArray) -> None:
        array = _elements_of(value)
        if array.shape != self.shape:
            raise Error("SHAPE_MISMATCH", "data", array.shape,
                        f"the shape {self.shape} is required; make a new QTensor for another shape")
        self._data = array

    @property
    def axis(self) -> int | None:
        """The dimension that the parameters belong to, from 0 on; None: they are of the tensor."""
        return self._axis

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "axis":
            raise AttributeError("axis cannot be changed, because the parameters belong to it: make "
                                 "a new QTensor")
        super().__setattr__(name, value)

    @property
    def scale(self) -> NDArray[numpy.int16]:
        """Scales: an array of the shape (), or of one entry for each index of `axis`."""
        return self._parameters["scale"]

    @scale.setter
    def scale(self, value: NDArray[numpy.int16]) -> None:
        self._store("scale", value)

    @property
    def zero_point(self) -> NDArray[numpy.int16]:
        """Zero points, an array with the shape of `scale`."""
        return self._parameters["zero_point"]

    @zero_point.setter
    def zero_point(self, value: NDArray[numpy.int16]) -> None:
        self._store("zero_point", value)

    @property
    def scale_frac_bits(self) -> NDArray[numpy.int8]:
        """Fractional bits of the scales, an array with the shape of `scale`."""
        return self._parameters["scale_frac_bits"]

    @scale_frac_bits.setter
    def scale_frac_bits(self, value: NDArray[numpy.int8]) -> None:
        self._store("scale_frac_bits", value)

    @property
    def real_scale(self) -> NDArray[numpy.float64]:
        """The scales as real numbers, which are exact: scale / 2^scale_frac_bits."""
        return numpy.ldexp(self.scale.astype(numpy.float64), -self.scale_frac_bits.astype(int))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of `data`."""
        return self.data.shape

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """The dtype of `data`."""
        return self.data.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions of `data`."""
        return self.data.ndim

    def __len__(self) -> int:
        return len(self.data)

    @property
    def type(self) -> str:
        """The element type of MLI: "sa8" or "sa32"."""
        return TYPES[self.data.dtype]

    @property
    def params(self) -> dict[str, Any]:
        """Type and parameters, as in job files and in the file that `dst.params` of a job names."""
        named = {} if self.axis is None else {"axis": self.axis}
        return {"type": self.type, **named, "scale": self.scale.tolist(),
                "scale_frac_bits": self.scale_frac_bits.tolist(),
                "zero_point": self.zero_point.tolist()}

    def real(self) -> NDArray[numpy.float64]:
        """Return the real values, which are exact, as a new array."""
        shape = [1] * self.data.ndim
        if self.axis is not None:
            shape[self.axis] = -1
        zero_point = self.zero_point.astype(numpy.float64).reshape(shape)
        return numpy.asarray((self.data - zero_point) * self.real_scale.reshape(shape))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, numpy.ndarray):
            raise TypeError("a QTensor is not an array: compare its elements, `data`, or `real()`")
        if not isinstance(other, QTensor):
            return NotImplemented
        return (self.axis == other.axis and self.dtype == other.dtype
                and numpy.array_equal(self._parameters, other._parameters)
                and numpy.array_equal(self.data, other.data))

    __hash__ = None  # type: ignore[assignment] # changes in place change the value

    def __array__(self, *_: Any) -> Any:
        """Refuse a conversion by NumPy, which would lose the parameters."""
        raise TypeError("a QTensor is not an array: use its elements, `data`, or `real()`")

    def __repr__(self) -> str:
        axis = "" if self.axis is None else f", axis {self.axis}"
        names = ("scale", "scale_frac_bits", "zero_point")
        parameters = ", ".join(
            f"{name} " + numpy.array2string(self._parameters[name], threshold=8, edgeitems=3)
            for name in names)
        return f"<mli.QTensor {self.type} {self.shape}{axis}, {parameters}>"
