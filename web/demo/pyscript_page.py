"""A typed answer, streamed by Python on the page."""

import pyscript_card as card
from pydantic import BaseModel, Field
from pyscript import when

import unspool as us


class Trip(BaseModel):
    city: str
    days: int = Field(ge=1)
    sights: list[str]
    tip: str = Field(description="One sentence.")


@when("click", "#ask")
async def ask(_: object) -> None:
    card.begin()
    lm = us.llms.OpenAIChat(card.form("model"), base_url=card.server())
    stream = us.query_stream(card.form("prompt"), Trip, lm=lm)
    async for event in stream:
        card.draw([event], stream.partial_value)


await card.ready("pyscript_page.py")
