"""What will be asked: the study file, its prompts, its plan."""
