#!/usr/bin/env python3
"""Writes public.tsv, the list prices in the binary, from the table in the Python package litellm (MIT).

    pip download --no-deps litellm -d /tmp/litellm
    pip download --no-deps litellm==1.76.0 -d /tmp/litellm
    python3 crates/toolmark-feed/prices/update.py /tmp/litellm/litellm-*.whl

Of several packages, the newest that lists a model counts: old sessions use models that were retired.

Prices are US dollars per million tokens. A model of a provider that makes models is listed by its
name alone; a model that another provider serves keeps the provider's prefix.
"""

import argparse
import datetime
import decimal
import json
import pathlib
import re
import zipfile

TABLE = "litellm/model_prices_and_context_window_backup.json"
# Providers that make the models they serve, by the prefix of their names.
MAKERS = {
    "anthropic": "", "openai": "", "text-completion-openai": "", "vertex_ai-language-models": "",
    "gemini": "gemini/", "deepseek": "deepseek/", "xai": "xai/", "mistral": "mistral/",
    "dashscope": "dashscope/", "moonshot": "moonshot/", "zai": "zai/", "minimax": "minimax/",
    "cohere_chat": "", "codestral": "codestral/", "meta_llama": "meta_llama/",
}
# Providers whose own names for models occur in traces.
SELLERS = {"bedrock", "bedrock_converse", "vertex_ai-anthropic_models", "groq", "openrouter", "azure"}
COLUMNS = [
    ("input", "input_cost_per_token"),
    ("output", "output_cost_per_token"),
    ("cache_read", "cache_read_input_token_cost"),
    ("cache_write", "cache_creation_input_token_cost"),
    ("cache_write_1h", "cache_creation_input_token_cost_above_1hr"),
]
LONG = re.compile(r"input_cost_per_token_above_(\d+)k_tokens$")


def per_million(row, key):
    value = row.get(key)
    if not isinstance(value, (int, float)):
        return "-"
    usd = decimal.Decimal(repr(value)) * 1_000_000
    return format(usd.quantize(decimal.Decimal("1e-9")).normalize(), "f")


def cells(row):
    prices = [per_million(row, key) for _, key in COLUMNS]
    limits = sorted(int(found[1]) for key in row if (found := LONG.match(key)))
    if not limits:
        return prices
    # One limit is enough: no maker has two.
    suffix = f"_above_{limits[0]}k_tokens"
    return [*prices, str(limits[0] * 1000), *(per_million(row, key + suffix) for _, key in COLUMNS)]


def name_of(name, row):
    provider = row.get("litellm_provider")
    if provider in MAKERS:
        return name.removeprefix(MAKERS[provider])
    if provider in SELLERS and not re.match(r"(bedrock/|azure/(eu|us|global))", name):
        return name
    return None


def read(rows):
    found = {}
    # A name without a prefix takes precedence over the same name below a prefix.
    for name, row in sorted(rows.items(), key=lambda item: ("/" in item[0], item[0])):
        if row.get("mode") not in ("chat", "responses", "completion"):
            continue
        if not isinstance(row.get("input_cost_per_token"), (int, float)):
            continue
        kept = name_of(name, row)
        # A price of zero is an offer for trying a model out, not what its tokens cost.
        is_free = not row["input_cost_per_token"] and not row.get("output_cost_per_token")
        if kept is not None and not kept.startswith("ft:") and not is_free:
            found.setdefault(kept.lower(), cells(row))
    return found


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("wheels", type=pathlib.Path, nargs="+", help="wheels of the package litellm")
    args.add_argument("--date", default=datetime.date.today().isoformat(), help="date of the prices")
    options = args.parse_args()
    number = lambda wheel: [int(part) for part in wheel.name.split("-")[1].split(".")]
    wheels = sorted(options.wheels, key=number, reverse=True)
    found = {}
    for wheel in wheels:
        for name, prices in read(json.loads(zipfile.ZipFile(wheel).read(TABLE))).items():
            found.setdefault(name, prices)
    version = ".".join(map(str, number(wheels[0])))
    lines = [f"# date\t{options.date}", f"# source\tthe table of litellm {version} (MIT)"]
    lines += ["\t".join([name, *prices]) for name, prices in sorted(found.items(), key=lambda item: item[0].encode())]
    path = pathlib.Path(__file__).with_name("public.tsv")
    path.write_text("\n".join(lines) + "\n")
    print(f"{path}: {len(found)} models, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
