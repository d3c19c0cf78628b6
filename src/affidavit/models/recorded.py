"""What a model said once, as a record tells it."""

from affidavit.archive.record import Judgement, Response
from affidavit.models.model import Completion


def completion_of(record: Response | Judgement) -> Completion:
    """What arrived."""
    return Completion(
        record.raw_output,
        record.finish_reason,
        record.reasoning,
        record.usage,
        record.rendered_prompt,
        record.server_model,
        record.system_fingerprint,
    )
