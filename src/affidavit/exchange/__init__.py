"""What other harnesses wrote: the outputs, and apart from them the source's own word on each."""
