"""Numbers become estimates: a value, its interval, its n and its method."""
