"""The whitespace that every contract trims (ruling M1)."""

WHITESPACE = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""Every code point that Python's `str.isspace` knows; Rust's own idea differs at U+001C to U+001F."""
