from affidavit import AnswerReading, Validation


class Own:
    name, version, params = "own", 1, {}

    def instruction(self, item=None):
        return "Say the number."

    def read(self, raw, item=None):
        return AnswerReading(raw.strip() or None)

    def validate(self, reading, item):
        return Validation(
            reading.extracted_answer == item["answer"],
            "ok" if reading.extracted_answer == item["answer"] else "wrong",
        )

    def grammar(self, item=None):
        return None


own = Own()
