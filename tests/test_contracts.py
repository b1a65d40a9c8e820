"""Models and schemas never disagree about a document, and feedback is what its contract says it is."""

import json
from collections import Counter
from pathlib import Path
from random import Random

import jsonschema
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from playtest.contracts import MODELS
from playtest.protocol.schema import SCHEMAS
from tests.made_documents import spoilt, valid

SAMPLES = Path(__file__).parent.parent / "contracts" / "samples"
SCHEMA = {name: SCHEMAS[f"{name}.schema.json"]() for name in MODELS}
VALIDATOR = {name: jsonschema.Draft202012Validator(schema) for name, schema in SCHEMA.items()}
SPOILT = 10
DOCUMENTS = 2000
EXAMPLES = DOCUMENTS // (1 + SPOILT) + 1


def samples(name):
    return [json.loads(file.read_text("utf-8")) for file in sorted(SAMPLES.glob(f"{name}/*/*.json"))]


def accepted(name, document):
    """By the model, and by the schema."""
    try:
        model = MODELS[name].from_wire(document)
    except ValidationError:
        return None, VALIDATOR[name].is_valid(document)
    return model, VALIDATOR[name].is_valid(document)


@pytest.mark.parametrize("name", MODELS)
def test_model_and_schema_agree_on_every_document(name):
    """Each example is a valid document, made or a sample, and ten that are spoilt in ways drawn by the seed."""
    told = Counter()

    @settings(
        max_examples=EXAMPLES,
        phases=[Phase.generate],  # to make a failing document smaller takes minutes; most have one edit anyway
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[*HealthCheck],
    )
    @given(valid(SCHEMA[name]) | st.sampled_from(samples(name)), st.integers(0, 2**32))
    def agree(document, seed):
        random = Random(seed)
        for candidate in (document, *(spoilt(document, random) for _ in range(SPOILT))):
            model, by_schema = accepted(name, candidate)
            told[by_schema] += 1
            assert (model is not None) == by_schema, json.dumps(candidate)
            if model is not None:
                again = model.to_json()
                assert VALIDATOR[name].is_valid(again), candidate
                assert MODELS[name].from_wire(again).to_json() == again, candidate

    agree()
    assert sum(told.values()) >= DOCUMENTS
    assert min(told[True], told[False]) > DOCUMENTS / 8, told
