"""Our contracts inside other harnesses, and writers of their formats that need our tables."""
