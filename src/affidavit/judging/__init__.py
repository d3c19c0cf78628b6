"""What judges are asked, and on which terms."""
