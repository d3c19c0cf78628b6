"""The contract of the task in quiz.yaml: what is asked, how the answer is read, and what is counted."""

from affidavit.integrations.lm_eval import TaskContract

quiz = TaskContract("mcqa")
prompt, read, figures = quiz.prompt, quiz.read, quiz.figures
