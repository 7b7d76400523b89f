"""Asks the stand-in with the packages of the providers, and says what they read.

Reads a list of [anthropic, responses or chat; whole or stream; the address], and
writes a list of what was heard.
"""

import json
import sys

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}
NAME = "submit_verdict"
ASKED = "how many?"


def parsed(arguments):
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def anthropic(mode, address):
    from anthropic import Anthropic

    client = Anthropic(api_key="sk-test", base_url=address.removesuffix("/v1"), max_retries=0)
    request = dict(
        model="model-1",
        max_tokens=77,
        messages=[{"role": "user", "content": ASKED}],
        tools=[{"name": NAME, "input_schema": SCHEMA}],
        tool_choice={"type": "tool", "name": NAME, "disable_parallel_tool_use": True},
    )
    if mode == "stream":
        with client.messages.stream(**request) as stream:
            message = stream.get_final_message()
    else:
        message = client.messages.create(**request)
    details = message.stop_details
    return {
        "calls": [[b.name, b.input] for b in message.content if b.type == "tool_use"],
        "text": "".join(b.text for b in message.content if b.type == "text"),
        "refusal": details.explanation if details else None,
        "stop": message.stop_reason,
        "usage": [message.usage.input_tokens, message.usage.output_tokens],
    }


def responses(mode, address):
    from openai import OpenAI

    client = OpenAI(api_key="sk-test", base_url=address, max_retries=0)
    request = dict(
        model="model-1",
        input=ASKED,
        tools=[{"type": "function", "name": NAME, "parameters": SCHEMA, "strict": True}],
        tool_choice={"type": "function", "name": NAME},
    )
    if mode == "stream":
        with client.responses.stream(**request) as stream:
            for event in stream:
                # This package hands errors on as events.
                if event.type == "error":
                    return {"error": type(event).__name__, "words": event.message}
            response = stream.get_final_response()
    else:
        response = client.responses.create(**request)
    parts = [p for i in response.output if i.type == "message" for p in i.content]
    stop = response.status
    if response.incomplete_details:
        stop = f"{stop}: {response.incomplete_details.reason}"
    calls = [i for i in response.output if i.type == "function_call"]
    return {
        "calls": [[c.name, parsed(c.arguments)] for c in calls],
        "text": response.output_text,
        "refusal": next((p.refusal for p in parts if p.type == "refusal"), None),
        "stop": stop,
        "usage": [response.usage.input_tokens, response.usage.output_tokens],
    }


def chat(mode, address):
    from openai import OpenAI

    client = OpenAI(api_key="sk-test", base_url=address, max_retries=0)
    function = {"name": NAME, "parameters": SCHEMA, "strict": True}
    request = dict(
        model="model-1",
        messages=[{"role": "user", "content": ASKED}],
        tools=[{"type": "function", "function": function}],
        tool_choice={"type": "function", "function": {"name": NAME}},
    )
    if mode == "stream":
        options = {"include_usage": True}
        with client.chat.completions.stream(**request, stream_options=options) as stream:
            for _ in stream:
                pass
            completion = stream.get_final_completion()
    else:
        completion = client.chat.completions.create(**request)
    choice = completion.choices[0]
    calls = choice.message.tool_calls or []
    return {
        "calls": [[c.function.name, parsed(c.function.arguments)] for c in calls],
        "text": choice.message.content or "",
        "refusal": choice.message.refusal,
        "stop": choice.finish_reason,
        "usage": [completion.usage.prompt_tokens, completion.usage.completion_tokens],
    }


def main():
    ways = {"anthropic": anthropic, "responses": responses, "chat": chat}
    heard = []
    for family, mode, address in json.load(sys.stdin):
        try:
            heard.append(ways[family](mode, address))
        except Exception as error:
            heard.append({"error": type(error).__name__, "words": str(error)})
    print(json.dumps(heard))


main()
