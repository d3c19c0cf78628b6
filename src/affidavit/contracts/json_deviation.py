"""What an output that should be one JSON object did instead: a closed list, in the order of ruling O3."""

from enum import StrEnum


class JsonDeviation(StrEnum):
    """The first that applies is the deviation; those from `SCHEMA_REQUIRED` on need an object to begin with."""

    EMPTY = "empty"
    TOO_LARGE = "too_large"
    TOO_DEEP = "too_deep"
    FENCED = "fenced"
    TEXT_AROUND_JSON = "text_around_json"
    NOT_AN_OBJECT = "not_an_object"
    NO_JSON = "no_json"
    JSON_SYNTAX = "json_syntax"
    DUPLICATE_KEY = "duplicate_key"
    NOT_FINITE = "not_finite"
    BAD_TEXT = "bad_text"
    SCHEMA_REQUIRED = "schema_required"
    SCHEMA_ADDITIONAL_PROPERTIES = "schema_additional_properties"
    SCHEMA_TYPE = "schema_type"
    SCHEMA_ENUM = "schema_enum"
    SCHEMA_CONST = "schema_const"
    SCHEMA_PATTERN = "schema_pattern"
    SCHEMA_MIN_LENGTH = "schema_min_length"
    SCHEMA_MAX_LENGTH = "schema_max_length"
    SCHEMA_MINIMUM = "schema_minimum"
    SCHEMA_MAXIMUM = "schema_maximum"
    SCHEMA_EXCLUSIVE_MINIMUM = "schema_exclusive_minimum"
    SCHEMA_EXCLUSIVE_MAXIMUM = "schema_exclusive_maximum"
    SCHEMA_MULTIPLE_OF = "schema_multiple_of"
    SCHEMA_MIN_ITEMS = "schema_min_items"
    SCHEMA_MAX_ITEMS = "schema_max_items"
    SCHEMA_UNIQUE_ITEMS = "schema_unique_items"
    SCHEMA_CONTAINS = "schema_contains"
    SCHEMA_MIN_PROPERTIES = "schema_min_properties"
    SCHEMA_MAX_PROPERTIES = "schema_max_properties"
    SCHEMA_ANY_OF = "schema_any_of"
    SCHEMA_ONE_OF = "schema_one_of"
    SCHEMA_NOT = "schema_not"
    SCHEMA_OTHER = "schema_other"


ORDER = {deviation: place for place, deviation in enumerate(JsonDeviation)}
"""The place of each in the list."""
