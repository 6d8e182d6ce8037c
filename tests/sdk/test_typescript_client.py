"""The TypeScript client: its settings and options, without a server."""

from dataclasses import replace
from pathlib import Path

import pytest

from sdk.generator.model import Event, ProblemType, Reference
from sdk.generator.typescript import FOLDER, write_typescript
from tests.sdk.samples import api
from tests.sdk.typescript import linked_sdk, needs_typescript, run

PROGRAM = Path(__file__).parent / "typescript_programs" / "settings.mjs"


@pytest.mark.needs_node
@needs_typescript
def test_settings_and_options(tmp_path: Path) -> None:
    program = linked_sdk(tmp_path) / PROGRAM.name
    program.write_text(PROGRAM.read_text())
    run("node", program, folder=tmp_path)


def test_events_are_a_union_of_types() -> None:
    events = (
        Event("email.delivered", "The message was delivered.", Reference("SendResult")),
        Event("contact.unsubscribed", "", Reference("Contact")),
    )
    types = write_typescript(replace(api(), events=events))[f"{FOLDER}/types.ts"]
    assert (
        "/** The message was delivered. */\n"
        "export interface EmailDeliveredEvent extends WebhookEventBase {\n"
        '  type: "email.delivered";\n'
        "  data: SendResult;\n"
        "}\n"
    ) in types
    assert "WebhookEvent =\n  | CustomWebhookEvent\n  | EmailDeliveredEvent\n  | ContactUnsubscribedEvent;\n" in types


def test_a_name_with_two_meanings_is_an_error() -> None:
    problem = ProblemType("contact", 404, "Contact", "")
    with pytest.raises(ValueError, match="two meanings in the TypeScript SDK: Contact"):
        write_typescript(replace(api(), problems=(*api().problems, problem)))
