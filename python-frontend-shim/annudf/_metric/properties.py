# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What is proved of a metric's formula: the compiler's words and data as Python objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from annudf._frontend.source.report import excerpt
from annudf._support.repr import of_whole


@dataclass(frozen=True, slots=True)
class Claim:
    """Whether one statement about a formula is proved, and why not; true in an ``if`` when it is.

    ``str()`` gives a sentence, with the source line that prevents the proof.

    Attributes
    ----------
    proved : bool or None
        None if that is not recorded: compiled code records only the form of the formula.
    text : str
        The statement, such as ``"terms >= 0 where w >= 0"``.
    exact : bool
        Whether it holds for computed values, to the bit; otherwise for the formula in real numbers.
    value : str
        A sign is ``">= 0"`` or ``"<= 0"``, a monotone field ``"never falls"`` or ``"never grows"``; else empty.
    where : tuple of (str, str)
        Conditions on all entries of captures, ``(("w", ">= 0"),)``.
    why : str
        The reason why it is not proved, or not recorded.
    file : str
        The source file that prevents the proof, or empty.
    line, column : int
        Place in the file, counted from 1; 0 if unknown.
    """

    proved: bool | None
    text: str
    exact: bool = False
    value: str = ""
    where: tuple[tuple[str, str], ...] = ()
    why: str = ""
    file: str = ""
    line: int = 0
    column: int = 0

    def __bool__(self) -> bool:
        return bool(self.proved)

    @property
    def _place(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file

    def _sentence(self) -> str:
        if self.proved:
            return self.text
        return f"{self.text}: {self.why}{f' ({self._place})' if self._place else ''}"

    def __str__(self) -> str:
        return self._sentence() + (excerpt(self.file, self.line, self.column) if self.line else "")

    @of_whole("column")
    def __repr__(self) -> str:
        return f"<{'proved' if self.proved else 'unproved' if self.proved is False else 'unknown'}: {self._sentence()}>"


@dataclass(frozen=True, slots=True)
class Form:
    """A distance as a quadratic form: a sum over the dimensions of a polynomial in x and y.

    A normalised distance is such a sum of x y, divided by the roots of the sums of x^2 and y^2.

    Attributes
    ----------
    text : str
        ``"w[dim] x^2 - 2 w[dim] x y + w[dim] y^2, of x - y"``, ``"normalised: x y / sqrt(x^2 * y^2), finalize falls"``.
    coefficients : dict of str to str
        The coefficients that are not 0, by power: ``{"x^2": "w[dim]", "x y": "-2 w[dim]", "y^2": "w[dim]"}``; ``"1"``
        is the constant. Long expressions are shortened to ``"(...)"``; `data` has them in full.
    of_difference : bool
        Whether x and y are used only as the rounded x - y, so that bounds stay tight far from the origin.
    initial : float
        The accumulator before the first dimension.
    finalize : {"identity", "rises", "falls"}
        How the distance follows the accumulator.
    data : dict
        The form as in manifests (docs/spec/artifact.md, "Forms"): expressions as nodes, and bounds of the rounding.
    """

    text: str
    coefficients: Mapping[str, str]
    of_difference: bool
    initial: float
    finalize: str
    data: Mapping[str, Any]

    def __str__(self) -> str:
        return self.text

    @of_whole("data")
    def __repr__(self) -> str:
        return f"<annudf form: {self.text}>"


_OF_ALL = ("symmetric", "difference", "sign", "monotone")
"""Claims that there are of a field and of all fields."""


@dataclass(frozen=True, slots=True)
class FieldProperties:
    """What is proved of one field of an accumulator.

    Attributes
    ----------
    joined : Claim
        The field is joined with terms by one operation, such as a sum or a maximum. Nothing else is proved without it.
    polynomial : Claim
        Its terms add up to a polynomial of degree 2 in x and y.
    coefficients : dict of str to str
        The coefficients of that polynomial, as in :class:`Form`; empty if there is none.
    symmetric : Claim
        Its terms are the same with x and y exchanged.
    difference : Claim
        Its terms are a function of x - y.
    sign : Claim
        Its terms are never negative, or never positive.
    monotone : Claim
        No dimension makes it smaller, or none makes it larger.
    """

    joined: Claim
    polynomial: Claim
    coefficients: Mapping[str, str]
    symmetric: Claim
    difference: Claim
    sign: Claim
    monotone: Claim

    def _claims(self) -> Iterator[tuple[str, Claim]]:
        if not self.joined:
            yield "joined", self.joined
            return
        for name in ("polynomial", *_OF_ALL):
            yield name, getattr(self, name)

    @of_whole("monotone")
    def __repr__(self) -> str:
        return f"<annudf field: {_summary(claim for _, claim in self._claims())}>"


@dataclass(frozen=True, slots=True)
class Properties:
    """What is proved about a metric's formula, and why other statements are not: :attr:`Metric.properties`.

    ``print()`` shows all of it, with the lines of the source. docs/spec/numerics.md says what each claim means.

    Attributes
    ----------
    name : str
        The metric's name.
    quadratic : Claim
        The whole distance is a quadratic form, or a normalised form (cosine), so that searches run as matrix products.
    form : Form or None
        That form.
    fields : tuple of FieldProperties
        One per field of the accumulator; empty if they are not recorded.
    symmetric, difference, sign, monotone : Claim
        The claim about all fields together.
    row_only_indexes : bool or None
        Whether ``ctx.row`` only indexes captures with one entry per row; None if that is not recorded.
    raised : bool or None
        Whether the metric was written for whole vectors, and the compiler made one pass over coordinates of it. What is
        proved is about that pass. None if that is not recorded, as of compiled code.
    cost : str or None
        How the steps of one pair grow with the number of dimensions d, ``"O(d)"`` or ``"O(d^2)"``, of a metric that is
        no such pass. CPUs compute it as it is written. None for other metrics, and if that is not recorded.
    """

    name: str
    quadratic: Claim
    form: Form | None
    fields: tuple[FieldProperties, ...]
    symmetric: Claim
    difference: Claim
    sign: Claim
    monotone: Claim
    row_only_indexes: bool | None
    raised: bool | None
    cost: str | None = None

    @of_whole("cost")
    def __repr__(self) -> str:
        claims = [self.quadratic, self.symmetric, self.difference, self.sign, self.monotone]
        return f"<annudf properties of {self.name}: {_summary(claims)}>"

    def __str__(self) -> str:
        how = ", raised to one pass over coordinates" if self.raised else ""
        if self.cost is not None:
            how = f", computed as it is written, in {self.cost} steps a pair"
        lines = [f"metric {self.name}{how}"]
        told, reason = "", ""
        claims = [("", [("form", self.quadratic)])]
        if self.fields:
            titles = [f"field {i}" for i in range(len(self.fields))] if len(self.fields) > 1 else [""]
            claims += [(title, list(one._claims())) for title, one in zip(titles, self.fields, strict=True)]
        else:
            claims += [("", [(name, getattr(self, name)) for name in _OF_ALL])]
        for title, group in claims:
            lines += [title] if title else []
            for label, claim in group:
                # What nothing is recorded of has one reason, and so has what is lost at one place.
                is_told = claim.proved is None and claim.why == reason
                lines.append(f"  {label:<13} {claim.text if is_told else claim._sentence()}")
                reason = claim.why
                if claim.line and claim._place != told:
                    told = claim._place
                    lines += [f"  {one}" for one in excerpt(claim.file, claim.line, claim.column).splitlines()[1:]]
        return "\n".join(lines)


def _summary(claims: Iterator[Claim] | list[Claim]) -> str:
    return "; ".join(claim.text for claim in claims)


def _claim(data: Mapping[str, Any]) -> Claim:
    return Claim(**{**data, "where": tuple((capture, relation) for capture, relation in data.get("where", ()))})


_POWERS = ("x^2", "x y", "y^2", "x", "y", "1")


def _coefficients(texts: Mapping[str, str]) -> dict[str, str]:
    """By falling powers, as a text has them."""
    return {power: texts[power] for power in sorted(texts, key=_POWERS.index)}


def _form(data: Mapping[str, Any]) -> Form:
    shown = ("text", "coefficients")
    return Form(
        text=data["text"],
        coefficients=_coefficients(data["coefficients"]),
        of_difference=bool(data.get("of_difference", False)),
        initial=float(data.get("initial", 0)),
        finalize=str(data.get("finalize", "identity")),
        data={key: value for key, value in data.items() if key not in shown},
    )


def _of_all(claims: list[Claim]) -> Claim:
    """What holds of every field: the first that does not is the reason."""
    if len(claims) == 1 or not all(claims):
        return next((claim for claim in claims if not claim), claims[0])
    return Claim(
        proved=True,
        text="; ".join(f"field {i}: {claim.text}" for i, claim in enumerate(claims)),
        exact=all(claim.exact for claim in claims),
        value=claims[0].value if len({claim.value for claim in claims}) == 1 else "",
        where=tuple(sorted({one for claim in claims for one in claim.where})),
    )


def proved_of(data: Mapping[str, Any], in_users_words: Callable[[str], str] = str) -> Properties:
    """What the compiler proves about a source; reasons go through `in_users_words`."""
    if "pairwise" in data:
        return _as_written(data)

    def claim(one: Mapping[str, Any]) -> Claim:
        made = _claim(one)
        return made if made.proved else replace(made, why=in_users_words(made.why))

    fields = tuple(
        FieldProperties(
            **{key: claim(one[key]) for key in ("joined", "polynomial", *_OF_ALL)},
            coefficients=_coefficients(one.get("coefficients", {})),
        )
        for one in data["fields"]
    )
    return Properties(
        name=data["metric"],
        quadratic=claim(data["quadratic"]),
        form=_form(data["form"]) if "form" in data else None,
        fields=fields,
        row_only_indexes=data["row_only_indexes"],
        raised=False,
        **dict[str, Any]({key: _of_all([getattr(one, key) for one in fields]) for key in _OF_ALL}),
    )


def _as_written(data: Mapping[str, Any]) -> Properties:
    """Nothing is proved of the formula of a distance of whole vectors that is no single pass."""
    why = "it is computed as it is written, not in one pass over coordinates"
    return Properties(
        name=data["pairwise"],
        quadratic=Claim(proved=False, text="no form", why=why),
        form=None,
        fields=(),
        row_only_indexes=data["row_only_indexes"],
        raised=False,
        cost=data["cost"],
        **dict[str, Any]({key: Claim(proved=False, text=f"not proved {key}", why=why) for key in _OF_ALL}),
    )


def recorded_in(name: str, proved: Mapping[str, Any], whose: str, verified: bool) -> Properties:
    """What a manifest records. `whose` names what lacks the rest, such as "artifact m.annudf"."""
    form = proved.get("form")
    source = "ask the metric that it was compiled from"
    if form is not None:
        reason = f"{whose} has the form alone; {source}"
    elif verified:
        reason = f"{whose} has no form: none was proved, or it was compiled without; {source}"
    else:
        reason = f"what {whose} computes was not verified, so nothing is proved of it"

    def unknown(what: str) -> Claim:
        return Claim(proved=None, text=f"{what} not recorded", why=reason)

    return Properties(
        name=name,
        quadratic=unknown("form") if form is None else Claim(proved=True, text=form["text"]),
        form=None if form is None else _form(form),
        fields=(),
        row_only_indexes=proved.get("row_only_indexes"),
        raised=None,
        **dict[str, Any]({key: unknown(key) for key in _OF_ALL}),
    )
