"""The types that the demo page asks a model for."""

from typing import Literal

from pydantic import BaseModel, Field

Continent = Literal["Africa", "Asia", "Europe", "North America", "South America", "Oceania"]
Day = Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
Genre = Literal["adventure", "mystery", "comedy", "science fiction"]


class City(BaseModel):
    city: str
    country: str
    continent: Continent
    known_for: str
    sights: list[str] = Field(max_length=3)


class Person(BaseModel):
    name: str
    born: int = Field(ge=1000, le=2025)
    country: str
    fields: list[str] = Field(max_length=2)
    known_for: str


class Event(BaseModel):
    what: str
    who: list[str]
    day: Day
    time: str = Field(pattern=r"^\d{2}:\d{2}$")
    place: str


class Character(BaseModel):
    name: str
    role: str


class Story(BaseModel):
    title: str
    genre: Genre
    characters: list[Character] = Field(max_length=3)
    opening: str
