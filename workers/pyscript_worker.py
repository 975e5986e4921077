"""A typed answer, streamed by Python in a worker."""

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
    # Each touch of the document waits for the page: draw once a read.
    while events := await stream.read():
        card.draw(events, stream.partial_value)


await card.ready("pyscript_worker.py")
