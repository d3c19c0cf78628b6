"""Files of any size, read range by range into part files: by one process, by several, by shards of a job array."""
