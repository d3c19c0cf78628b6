"""What tests share: servers, studies, processes, and the ways to look at what they left."""
