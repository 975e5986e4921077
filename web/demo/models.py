"""The types that the demo page asks a model for."""

from typing import Literal

from pydantic import BaseModel, Field


class City(BaseModel):
    city: str
    country: str
    continent: Literal[
        "Africa", "Asia", "Europe", "North America", "South America", "Oceania"
    ]
    known_for: str
    sights: list[str] = Field(min_length=3, max_length=3)


class Person(BaseModel):
    name: str
    born: int = Field(ge=1000, le=2025)
    country: str
    fields: list[str] = Field(min_length=2, max_length=2)
    known_for: str


class Event(BaseModel):
    what: str
    who: list[str]
    day: Literal[
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"
    ]
    time: str = Field(pattern=r"^\d{2}:\d{2}$")
    place: str


class Character(BaseModel):
    name: str
    role: str


class Story(BaseModel):
    title: str
    genre: Literal["adventure", "mystery", "comedy", "science fiction"]
    characters: list[Character] = Field(min_length=2, max_length=3)
    opening: str
